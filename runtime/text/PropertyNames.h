// The names of sets of characters in patterns: \p{Lu}, \p{Uppercase_Letter},
// [[:upper:]].
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PROPERTYNAMES_H
#define TFC_RUNTIME_TEXT_PROPERTYNAMES_H

#include "runtime/text/CharacterSet.h"

namespace tfc::text {

/// A set that a pattern names.
struct NamedSet {
  const CharacterSet *set = nullptr; // null: no such name
  /// Where case is ignored there are more characters than these.
  bool dependsOnCase = false;
};

/// Of a property; upper and lower case, spaces, '-' and '_' do not count.
NamedSet findProperty(std::string_view name);

/// Of a class in brackets, "alpha" of [[:alpha:]]. "word" is also what \w
/// stands for inside brackets: fewer characters than outside.
NamedSet findClass(std::string_view name);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PROPERTYNAMES_H
