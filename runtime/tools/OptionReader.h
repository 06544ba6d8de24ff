// How the tools' command lines are read: one library, options, flags.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_OPTIONREADER_H
#define TFC_RUNTIME_TOOLS_OPTIONREADER_H

#include "runtime/tools/Completion.h"

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace tfc::tools {

/// A whole text as a number, or nothing.
template <typename T> std::optional<T> parseNumber(const std::string &text) {
  T value = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

/// Reads a command line into the places that a tool names. What is wrong with
/// it becomes texts in `faults`, all of them.
class OptionReader {
public:
  void read(const std::vector<std::string> &arguments);
  /// Every option but --print-completion.
  CompletedProgram describe() const;

protected:
  /// False when the value is not what the option expects.
  using Read = std::function<bool(const std::string &)>;
  struct Option {
    const char *expected;
    Read read;
    bool mayRepeat = false;
  };

  /// `help`: the text of --help. `completion` becomes the script of
  /// --print-completion.
  OptionReader(const char *tool, const char *help, std::string &library,
               std::string &completion, std::vector<std::string> &faults)
      : tool(tool), help(help), library(library), completion(completion),
        faults(faults) {}
  ~OptionReader() = default;

  /// What must hold of the whole line; not asked where --help, --version or
  /// --print-completion is given.
  virtual void checkAll() = 0;

  void fault(const std::string &text) { faults.push_back(text); }
  static Read readText(std::string &target);
  template <typename T>
  static Read readNumber(T &target, double least, double most) {
    using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    return [&target, least, most](const std::string &value) {
      std::optional<Wide> number = parseNumber<Wide>(value);
      bool isGood = number && *number >= least && *number <= most;
      target = isGood ? static_cast<T>(*number) : target;
      return isGood;
    };
  }

  std::map<std::string, Option> options;
  std::map<std::string, bool *> flags;
  std::set<std::string> seen; // options with a value

private:
  void readLibrary(const std::string &argument);
  void readValue(const std::string &name, const Option &option,
                 const std::optional<std::string> &value);

  const char *tool, *help;
  std::string &library, &completion;
  std::vector<std::string> &faults;
};

/// What a help text says of an option, whose description stands beside it or on
/// the next lines: its first clause; "" where it is not there.
std::string describeOption(const std::string &help, const std::string &name);

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_OPTIONREADER_H
