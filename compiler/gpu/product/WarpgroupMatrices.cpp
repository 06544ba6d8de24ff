// wgmma, its descriptors, groups and fences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/WarpgroupMatrices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tfc;

/// What a description has beside the address: in units of 16 bytes, from eight
/// rows to the next ones, and, which tiles along k do not use, from panel to
/// panel; the swizzle's number.
static constexpr int64_t kLayout =
    int64_t(1) << 62 | int64_t(kSwizzleBytes / 16) << 32;
/// Bits of an address that a description has.
static constexpr int64_t kAddressBits = 0x3ffff;

static Value describe(ImplicitLocOpBuilder &b, Value address, int64_t layout) {
  auto number = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, value, 64).getResult();
  };
  Value place = LLVM::PtrToIntOp::create(b, b.getI64Type(), address);
  place = arith::AndIOp::create(b, place, number(kAddressBits));
  place = arith::ShRUIOp::create(b, place, number(4));
  return arith::OrIOp::create(b, place, number(layout));
}

Value tfc::describeTile(ImplicitLocOpBuilder &b, Value address) {
  return describe(b, address, kLayout | int64_t(1) << 16);
}

Value tfc::describeRows(ImplicitLocOpBuilder &b, Value address,
                        int64_t panelBytes) {
  return describe(b, address, kLayout | panelBytes / 16 << 16);
}

Value tfc::zeroSums(ImplicitLocOpBuilder &b, int32_t columns) {
  SmallVector<Type> all(static_cast<size_t>(columns) / 2, b.getF32Type());
  return LLVM::ZeroOp::create(
      b, LLVM::LLVMStructType::getLiteral(b.getContext(), all));
}

Value tfc::makeSums(ImplicitLocOpBuilder &b, ArrayRef<Value> own) {
  SmallVector<Type> all(own.size(), b.getF32Type());
  Value sums = LLVM::UndefOp::create(
      b, LLVM::LLVMStructType::getLiteral(b.getContext(), all));
  for (auto [i, value] : llvm::enumerate(own)) {
    sums = LLVM::InsertValueOp::create(b, sums, value, int64_t(i));
  }
  return sums;
}

SmallVector<Value> tfc::takeSums(ImplicitLocOpBuilder &b, Value sums) {
  auto count = static_cast<int64_t>(
      cast<LLVM::LLVMStructType>(sums.getType()).getBody().size());
  SmallVector<Value> own;
  for (int64_t i = 0; i < count; ++i) {
    own.push_back(LLVM::ExtractValueOp::create(b, sums, i));
  }
  return own;
}

void tfc::orderSums(ImplicitLocOpBuilder &b) {
  NVVM::WgmmaFenceAlignedOp::create(b);
}

Value tfc::multiplyTiles(ImplicitLocOpBuilder &b, Type element, Value left,
                         Value right, Value sums, bool isFirst) {
  MLIRContext *context = b.getContext();
  auto columns = static_cast<int>(
      2 * cast<LLVM::LLVMStructType>(sums.getType()).getBody().size());
  auto typeOf = [&](NVVM::WGMMATypes type) {
    return NVVM::WGMMATypesAttr::get(context, type);
  };
  auto factors =
      typeOf(element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16);
  auto isKept = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  // Rows of both are along k.
  return NVVM::WgmmaMmaAsyncOp::create(
      b, sums.getType(), sums, left, right,
      NVVM::MMAShapeAttr::get(context, kWarpgroupRows, columns, 16), factors,
      factors, typeOf(NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, isFirst ? NVVM::WGMMAScaleOut::zero
                                                    : NVVM::WGMMAScaleOut::one),
      isKept, isKept, NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::col),
      NVVM::MMAIntOverflowAttr());
}

/// NVVM has no op for this form.
Value tfc::multiplyRows(ImplicitLocOpBuilder &b, Type element,
                        const LeftFragment &left, Value right, Value sums) {
  SmallVector<Value> own = takeSums(b, sums);
  size_t count = own.size();
  std::string text, constraints;
  llvm::raw_string_ostream stream(text), kinds(constraints);
  StringRef type = element.isBF16() ? "bf16" : "f16";
  stream << "wgmma.mma_async.sync.aligned.m64n" << 2 * count << "k16.f32."
         << type << '.' << type << " {";
  for (size_t i = 0; i < count; ++i) {
    stream << (i ? ", $" : "$") << i;
    kinds << (i ? ",=f" : "=f");
  }
  stream << "}, {";
  for (size_t i = 0; i < count; ++i) {
    kinds << ',' << i;
  }
  for (size_t i = 0; i < left.size(); ++i) {
    stream << (i ? ", $" : "$") << 2 * count + i;
    kinds << ",r";
  }
  // Added to the sums; neither side is negative, the right one transposed.
  stream << "}, $" << 2 * count + left.size() << ", 1, 1, 1, 1;";
  kinds << ",l";
  own.append(left.begin(), left.end());
  own.push_back(right);
  return LLVM::InlineAsmOp::create(
             b, sums.getType(), own, text, constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

void tfc::commitProducts(ImplicitLocOpBuilder &b) {
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
}

void tfc::waitForProducts(ImplicitLocOpBuilder &b, unsigned pending) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, uint64_t(pending));
}

void tfc::showProducts(ImplicitLocOpBuilder &b) {
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}
