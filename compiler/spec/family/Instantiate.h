// Fills the holes of a family's table with what a config.json says. Values keep
// the place where the user wrote them, so that a fault which only the reader of
// specs finds still names the user's line.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_FAMILY_INSTANTIATE_H
#define TFC_COMPILER_SPEC_FAMILY_INSTANTIATE_H

#include "compiler/spec/family/Config.h"

#include <functional>
#include <map>

namespace tfc::family {

/// Whether an object stands for a value: it has a member "$...".
bool isHole(const spec::Json &value);

class Instantiator {
public:
  /// A rule that needs more than config.json; nothing leaves its place out.
  using Rule = std::function<std::optional<spec::Json>(const spec::Json &hole)>;

  /// `table` is a table's root, `file` the object behind `config`. All outlive
  /// the instantiator.
  Instantiator(const spec::Json &table, const spec::Json &file, Config &config,
               spec::Diagnostics &diagnostics)
      : config(config), diagnostics(diagnostics), table(table), file(file) {}

  void addRule(const std::string &name, Rule rule) {
    rules[name] = std::move(rule);
  }

  /// The value that a part of the table becomes; nothing when it is a hole that
  /// leaves its member or item out. What the table says itself has the place of
  /// the whole file. After a fault, which is reported, a harmless value.
  std::optional<spec::Json> make(const spec::Json &value);

  /// The member of a hole, made; nothing when it is missing or left out.
  std::optional<spec::Json> member(const spec::Json &hole,
                                   std::string_view name);
  /// The same as an integer from `least` to `most`; `fallback` without a value
  /// and after a fault.
  int64_t integer(const spec::Json &hole, std::string_view name,
                  int64_t fallback, int64_t least, int64_t most);

  /// A fault of the table itself, at its own line.
  void tableFault(const spec::Json &where, const std::string &message);

  Config &config;
  spec::Diagnostics &diagnostics;
  /// Unknown keys of nested objects are errors.
  bool strict = false;
  /// Tokens of a decoder see those after them as well.
  bool bothSides = false;
  /// Then windows reach half as many positions to each side; else there are
  /// none.
  bool halvesWindows = false;

private:
  const spec::Json &table, &file;
  std::map<std::string, Rule> rules;
  int depth = 0;

  std::optional<spec::Json> makeHole(const spec::Json &hole);
  std::optional<spec::Json> readKey(const spec::Json &hole);
  std::optional<spec::Json> itemOf(const spec::Json &hole,
                                   const std::string &key,
                                   const spec::Json &list);
  std::optional<spec::Json> readSpec(const spec::Json &hole);
  std::optional<spec::Json> readInside(const spec::Json &hole);
  std::optional<spec::Json> choose(const spec::Json &hole);
  std::optional<spec::Json> applyRule(const spec::Json &hole);
  spec::Json compute(const spec::Json &hole);
  spec::Json divide(const spec::Json &a, const spec::Json &b);
};

} // namespace tfc::family

#endif // TFC_COMPILER_SPEC_FAMILY_INSTANTIATE_H
