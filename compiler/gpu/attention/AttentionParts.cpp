// Attention of few queries over many positions is done in parts, by blocks of
// their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/AttentionParts.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

/// Floats behind a row's sums: two numbers, and what keeps rows at multiples of
/// 16 bytes.
static constexpr int64_t kNumbers = 4;

Value AttentionParts::allocate(AttentionBlock &block, Value step) {
  ImplicitLocOpBuilder &b = block.b;
  int64_t kvHeads = block.op.getNumHeads() / block.group;
  auto type =
      MemRefType::get({ShapedType::kDynamic, kvHeads, kMost, block.fewRows(),
                       block.cache.valueDim + kNumbers},
                      b.getF32Type());
  Value sequences = loadIndex(b, step, offsetof(tfc_step_v0, n_sequences), 64);
  return memref::AllocOp::create(b, type, ValueRange{sequences});
}

Value AttentionParts::countBlocks(AttentionBlock &block, Value step) {
  KernelBuilder &k = block.k;
  Value items = loadIndex(block.b, step, offsetof(tfc_step_v0, n_items), 64);
  Value heads = k.scale(items, block.op.getNumHeads() / block.group);
  Value each = arith::DivUIOp::create(block.b, k.constant(kBlocks),
                                      k.max(heads, k.constant(1)));
  return k.max(k.min(each, k.constant(kMost)), k.constant(1));
}

void AttentionParts::cut(const WorkItem &item, Value head, Value begin,
                         Value end) {
  sequence = item.sequence;
  kvHead = head;
  firstStretch = k.divide(begin, kStretch);
  // One also where nothing is seen: its part writes that.
  stretches = k.max(k.subtract(k.roundUpDivide(end, kStretch), firstStretch),
                    k.constant(1));
  perPart = k.roundUpDivide(stretches, kMost);
}

Value AttentionParts::isAlone() { return k.isAtMost(stretches, k.constant(1)); }

Value AttentionParts::isSome(Value number) {
  return k.isLess(arith::MulIOp::create(b, number, perPart), stretches);
}

Value AttentionParts::beginOf(Value number) {
  Value stretch = arith::MulIOp::create(b, number, perPart);
  return k.scale(k.add(firstStretch, stretch), kStretch);
}

/// So many floats that lie at a multiple of as many.
static llvm::MaybeAlign alignmentOf(int64_t count) {
  return llvm::MaybeAlign(count * sizeof(float));
}

void AttentionParts::storeSums(Value sums, Value number, Value row,
                               Value column) {
  int64_t count = cast<VectorType>(sums.getType()).getNumElements();
  vector::StoreOp::create(b, sums, scratch,
                          ValueRange{sequence, kvHead, number, row, column},
                          /*nontemporal=*/false, alignmentOf(count));
}

Value AttentionParts::loadSums(int64_t count, Value number, Value row,
                               Value column) {
  return vector::LoadOp::create(
      b, VectorType::get(count, b.getF32Type()), scratch,
      ValueRange{sequence, kvHead, number, row, column},
      /*nontemporal=*/false, alignmentOf(count));
}
