// A function of the math dialect, compiled in memory by way of
// tfc-expand-math.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_CPU_COMPILEDFUNCTION_H
#define TFC_TEST_UNIT_CPU_COMPILEDFUNCTION_H

#include "compiler/kernel/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>
#include <string>

namespace tfc {

class CompiledFunction {
public:
  /// Values in one call.
  static constexpr int kCount = 4096;

  /// `op` as in "math.exp"; `type` as in "f32" or "vector<16xf32>", of a number
  /// of lanes that divides kCount; `cpu` as LLVM names it. A failure is one of
  /// the test, and the function is then null.
  CompiledFunction(const std::string &op, const std::string &type, int lanes,
                   const std::string &cpu, Polynomials polynomials);

  explicit operator bool() const { return apply; }

  /// Reads kCount values of `from` and writes as many to `to`.
  void operator()(const float *from, float *to) const { apply(from, to); }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*apply)(const float *from, float *to) = nullptr;
};

/// Whether this machine runs programs for `cpu`: x86-64-v3 or x86-64-v4.
bool hostRuns(const std::string &cpu);

} // namespace tfc

#endif // TFC_TEST_UNIT_CPU_COMPILEDFUNCTION_H
