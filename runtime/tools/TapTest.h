// Values of ops inside a step, of two programs beside each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_TAPTEST_H
#define TFC_RUNTIME_TOOLS_TAPTEST_H

#include "runtime/src/step/Tap.h"

#include <set>
#include <string>
#include <vector>

namespace tfc::run {

/// Of a library compiled with --taps. One program's values are recorded, those
/// of the other are compared with them and replaced by them: so what is wrong
/// in an op is that op's own fault. What the former goes on with is rounded to
/// what the other one keeps, so that ops of both read the same.
class TapTest {
public:
  /// Wrong is what is further from the recorded value than `tolerance` times
  /// its largest element (at least 1), or than its own type can tell. `dtype`:
  /// the TFC_DTYPE_* of floats that values of the other program are rounded to.
  explicit TapTest(double tolerance, uint32_t dtype = 0)
      : tolerance(tolerance), dtype(dtype) {}

  /// For the program that is right, and for the other one. This outlives both.
  rt::TapListener recorder();
  rt::TapListener checker();

  /// Forgets the values of the last case.
  void begin();
  /// How many values the case had.
  size_t count() const { return recorded.size(); }
  /// Of this case, a line a wrong value in order of execution: op, layer,
  /// kernel, pattern.
  const std::vector<std::string> &faults() const { return lines; }
  /// Ops that were wrong in any case, each with the kernel behind which.
  const std::set<std::string> &wrongOps() const { return wrong; }

private:
  struct Value {
    std::string id;
    int64_t layer, rows, width;
    std::vector<float> data;
  };
  bool check(const rt::TappedValue &value);
  void addFault(const rt::TappedValue &value, const std::string &what);

  double tolerance;
  uint32_t dtype;
  std::vector<Value> recorded;
  size_t next = 0; // of those, that the other program has yet to give
  bool isLost = false;
  std::vector<std::string> lines;
  std::set<std::string> wrong;
};

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_TAPTEST_H
