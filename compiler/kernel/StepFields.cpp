// Reading the ABI's structs in generated code: a pointer and typed loads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/StepFields.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

static Value toI64(ImplicitLocOpBuilder &b, Value index) {
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

/// Whether `value` is what the step has at `offset`.
static bool isField(Value value, Value step, int32_t offset) {
  auto load = value.getDefiningOp<LLVM::LoadOp>();
  auto field = load ? load.getAddr().getDefiningOp<LLVM::GEPOp>() : nullptr;
  return field && field.getBase() == step &&
         field.getRawConstantIndices() == ArrayRef<int32_t>(offset);
}

/// Whether `pointer` is what the step says of its host.
static bool isHostTable(Value pointer, Value step) {
  return isField(pointer, step, offsetof(tfc_step_v0, host));
}

bool tfc::isSequenceCount(Value index, Value step) {
  auto cast = index.getDefiningOp<arith::IndexCastOp>();
  return cast &&
         isField(cast.getIn(), step, offsetof(tfc_step_v0, n_sequences));
}

bool tfc::isOfStep(Value address, Value step) {
  while (auto gep = address.getDefiningOp<LLVM::GEPOp>()) {
    address = gep.getBase();
  }
  return address == step || isHostTable(address, step);
}

Value tfc::buildAddress(ImplicitLocOpBuilder &b, Value base, int64_t offset) {
  if (offset == 0) {
    return base;
  }
  // A constant of the op has 29 bits beside a sign.
  constexpr int64_t most = int64_t(1) << 27;
  bool fits = offset < most && offset > -most;
  LLVM::GEPArg index = fits ? LLVM::GEPArg(static_cast<int32_t>(offset))
                            : LLVM::GEPArg(Value(arith::ConstantIntOp::create(
                                  b, b.getI64Type(), offset)));
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value tfc::buildAddress(ImplicitLocOpBuilder &b, Value base, Value index,
                        int64_t scale, int64_t offset) {
  Value scaled =
      arith::MulIOp::create(b, index, arith::ConstantIndexOp::create(b, scale));
  Value address = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                      ArrayRef<LLVM::GEPArg>{toI64(b, scaled)});
  return buildAddress(b, address, offset);
}

Value tfc::loadPointer(ImplicitLocOpBuilder &b, Value base, int64_t offset) {
  return LLVM::LoadOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                              buildAddress(b, base, offset));
}

Value tfc::loadIndex(ImplicitLocOpBuilder &b, Value base, int64_t offset,
                     unsigned bits) {
  Value value = LLVM::LoadOp::create(b, b.getIntegerType(bits),
                                     buildAddress(b, base, offset));
  return arith::IndexCastOp::create(b, b.getIndexType(), value);
}

bool tfc::isPlain(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getLayout().isIdentity() &&
         llvm::none_of(memref.getShape().drop_front(memref.getRank() > 0),
                       ShapedType::isDynamic);
}

Value tfc::buildPointer(ImplicitLocOpBuilder &b, Value memref) {
  LLVMTypeConverter converter(b.getContext());
  Type type = converter.convertType(memref.getType());
  Value converted =
      UnrealizedConversionCastOp::create(b, TypeRange(type), memref)
          .getResult(0);
  return MemRefDescriptor(converted).alignedPtr(b, b.getLoc());
}

Value tfc::buildMemRef(ImplicitLocOpBuilder &b, MemRefType type, Value pointer,
                       Value rows) {
  LLVMTypeConverter converter(b.getContext());
  Location loc = b.getLoc();
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, pointer);
  descriptor.setAlignedPtr(b, loc, pointer);
  descriptor.setConstantOffset(b, loc, 0);
  int64_t stride = 1;
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    if (type.isDynamicDim(axis)) {
      assert(axis == 0 && "only the rows are dynamic");
      descriptor.setSize(b, loc, axis, toI64(b, rows));
    } else {
      descriptor.setConstantSize(b, loc, axis, type.getDimSize(axis));
    }
    descriptor.setConstantStride(b, loc, axis, stride);
    stride *= type.isDynamicDim(axis) ? 1 : type.getDimSize(axis);
  }
  return UnrealizedConversionCastOp::create(b, TypeRange(type),
                                            Value(descriptor))
      .getResult(0);
}
