// Instructions on the registers of AMX's tiles, by number.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AmxRegisters.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// Where a configuration has the bytes of a row, two a register, and the rows,
/// one a register.
static constexpr int64_t kRowBytesAt = 16;
static constexpr int64_t kRowsAt = 48;

/// Of the form that an instruction wants it in: the palette, and bytes of a row
/// and rows of each register.
static SmallVector<int8_t> writeConfiguration() {
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (int64_t i = 0; i < AmxRegisters::kNumber; ++i) {
    bytes[kRowBytesAt + 2 * i] = AmxRegisters::kRowBytes;
    bytes[kRowsAt + i] = AmxRegisters::kRows;
  }
  return bytes;
}

void AmxRegisters::begin(Value memory, ArrayRef<int64_t> operands) {
  configuration = memory;
  operandRows = 0;
  for (int64_t each : operands) {
    operandRows |= kRows << (CHAR_BIT * each);
  }
  SmallVector<int8_t> bytes = writeConfiguration();
  auto type =
      VectorType::get(static_cast<int64_t>(bytes.size()), b.getI8Type());
  Value constant = LLVM::ConstantOp::create(
      b, type, DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
  LLVM::StoreOp::create(b, constant, configuration, /*alignment=*/1);
}

void AmxRegisters::configure(Value rows) {
  int64_t ones = 0;
  for (int64_t i = 0; i < kNumber; ++i) {
    bool isOperand = (operandRows >> (CHAR_BIT * i)) & 0xff;
    ones |= int64_t(!isOperand) << (CHAR_BIT * i);
  }
  // A byte each.
  Value all = arith::IndexCastOp::create(b, b.getI64Type(), rows);
  all = arith::MulIOp::create(b, all, stride(ones));
  all = arith::OrIOp::create(b, all, stride(operandRows));
  LLVM::StoreOp::create(b, all, buildAddress(b, configuration, kRowsAt),
                        /*alignment=*/1);
  call("ldtilecfg", configuration);
}

void AmxRegisters::release() { call("tilerelease", {}); }

void AmxRegisters::zero(int64_t number) {
  call("tilezero", this->number(number));
}

void AmxRegisters::load(int64_t number, Value pointer, Value stride) {
  call("tileloadd64", {this->number(number), pointer, stride});
}

void AmxRegisters::store(int64_t number, Value pointer, Value stride) {
  call("tilestored64", {this->number(number), pointer, stride});
}

void AmxRegisters::multiplyBf16(int64_t sums, int64_t left, int64_t right) {
  call("tdpbf16ps", {number(sums), number(left), number(right)});
}

void AmxRegisters::multiplyBytes(int64_t sums, int64_t left, int64_t right) {
  call("tdpbusd", {number(sums), number(left), number(right)});
}

Value AmxRegisters::stride(int64_t bytes) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(bytes));
}

void AmxRegisters::call(StringRef intrinsic, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(
      b, b.getStringAttr(("llvm.x86." + intrinsic).str()), operands);
}

Value AmxRegisters::number(int64_t value) {
  return arith::ConstantOp::create(b, b.getI8IntegerAttr(value));
}
