// What compiled code and interpreter reported, side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_VERIFYTAPS_H
#define TFC_COMPILER_VERIFY_VERIFYTAPS_H

#include "compiler/reference/Interpreter.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tfc {

/// How far a compiled value may be from the reference's: a part of the largest
/// of them, which counts as at least `least`, and a part of the element itself,
/// what a step of the type that it is rounded to is.
struct Tolerance {
  double relative = 1e-4, least = 1, step = 0;
};

/// A named value; `layer` is -1 outside the layers.
template <typename Element> struct Tap {
  std::string id;
  int64_t layer = -1, rows = 0, cols = 0;
  std::vector<Element> data;
  Tolerance tolerance = {}; // of the reference's
};
using CompiledTap = Tap<float>;
using ReferenceTap = Tap<double>;

/// What has agreed so far.
struct Agreement {
  size_t values = 0;
  std::set<std::string> ops;
  double worst = 0; // largest absolute difference
};

/// The first value, in order of execution, in which compiled code is not within
/// the reference's tolerance of it, by default 1e-4 max(1, largest reference
/// value), in words; nothing when all agree. A NaN agrees with a NaN. `step`
/// tells which token a row is.
std::optional<std::string>
findDifference(const std::vector<CompiledTap> &compiled,
               const std::vector<ReferenceTap> &reference,
               const reference::Step &step, Agreement &agreement);

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFYTAPS_H
