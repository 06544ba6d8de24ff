// What a machine can do at most, and what that says of a piece of work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_MACHINE_H
#define TFC_COMPILER_COST_MACHINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tfc::cost {

/// What is to be done. Numbers are exact below 2^53, as doubles are.
struct Work {
  /// Multiplications and additions of products of matrices, which machines
  /// have units for, and all other floating-point operations.
  double products = 0, others = 0;
  /// To and from memory, each value once.
  double bytes = 0;

  double operations() const { return products + others; }
  /// Operations a byte; 0 where nothing is moved.
  double intensity() const { return bytes > 0 ? operations() / bytes : 0; }
  Work &operator+=(const Work &other);
};

/// A product of `rows` x `inner` by `inner` x `columns`: every element of the
/// three matrices is moved once, and a term is two operations.
Work productOf(double rows, double columns, double inner, double elementBytes);

/// A machine's peaks, in operations and bytes a second.
struct Machine {
  std::string name;
  /// Of products of 16-bit matrices with f32 sums, and of f32.
  double narrowProducts = 0, f32 = 0;
  double bandwidth = 0;
  /// Whether values between ops are as narrow as the matrices; on CPUs they
  /// are f32.
  bool isDevice = false;
  /// Of a device: what tfc compile --target calls it.
  std::string target;
};

/// "a100", "h100", "h200", "l40s", "rtx4090": as their data sheets say (dense);
/// "cpu": this machine, measured, which takes a quarter of a second. The error
/// says what is expected.
llvm::Expected<Machine> findMachine(llvm::StringRef name);

/// What the units allow, in seconds.
struct Roofline {
  double arithmetic = 0, memory = 0;

  double seconds() const { return arithmetic > memory ? arithmetic : memory; }
  bool isArithmeticBound() const { return arithmetic > memory; }
};

/// `isNarrow`: products are of 16-bit matrices. Arithmetic and memory work at
/// the same time, so that the slower of the two is what it takes.
Roofline rooflineOf(const Work &work, const Machine &machine, bool isNarrow);

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_MACHINE_H
