// Instructions on the registers of AMX's tiles, by number.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_AMXREGISTERS_H
#define TFC_COMPILER_CPU_AMXREGISTERS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cstdint>

namespace tfc {

/// A register has up to 16 rows of 64 bytes. LLVM allocates none of them: who
/// emits says which, configures them before the first use in a function and
/// releases them before it returns, and calls nobody in between who uses them.
/// Instructions: Intel 64 and IA-32 Architectures Software Developer's Manual,
/// LDTILECFG, TILELOADD, TDPBF16PS, TDPBUSD, TILESTORED, TILERELEASE.
class AmxRegisters {
public:
  static constexpr int64_t kRows = 16;
  static constexpr int64_t kRowBytes = 64;
  static constexpr int64_t kNumber = 8;

  explicit AmxRegisters(mlir::ImplicitLocOpBuilder &builder) : b(builder) {}

  /// `memory` is 64 bytes that nobody else writes until `release`; `operands`
  /// are registers that keep 16 rows whatever `configure` is told: right
  /// factors.
  void begin(mlir::Value memory, llvm::ArrayRef<int64_t> operands);
  /// All others have `rows` rows, an index in [1, 16]. All begin at zero.
  void configure(mlir::Value rows);
  void release();

  void zero(int64_t number);
  /// Rows of 64 bytes, `stride` bytes, an i64, from one to the next.
  void load(int64_t number, mlir::Value pointer, mlir::Value stride);
  void store(int64_t number, mlir::Value pointer, mlir::Value stride);
  /// sums += left . right: of bf16 in pairs, or of unsigned and signed bytes in
  /// fours.
  void multiplyBf16(int64_t sums, int64_t left, int64_t right);
  void multiplyBytes(int64_t sums, int64_t left, int64_t right);

  /// An i64.
  mlir::Value stride(int64_t bytes);

private:
  void call(llvm::StringRef intrinsic, mlir::ValueRange operands);
  mlir::Value number(int64_t value);

  mlir::ImplicitLocOpBuilder &b;
  mlir::Value configuration; // its memory
  int64_t operandRows = 0;   // a byte a register: those of `operands`
};

} // namespace tfc

#endif // TFC_COMPILER_CPU_AMXREGISTERS_H
