// Where the states of recurrent and convolutional layers lie.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/StateBlocks.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tfc;

/// A layer begins a line of the cache.
static constexpr int64_t kLineBytes = 64;

StateLayout::StateLayout(transformer::StateType type)
    : layers(type.getLayers()),
      layerBytes(static_cast<int64_t>(
          llvm::alignTo(type.getWidth() * sizeof(float), kLineBytes))),
      blockBytes(layers * layerBytes) {}

LogicalResult tfc::describeState(func::FuncOp entry,
                                 transformer::StateType type) {
  if (entry->hasAttr(transformer::kStateAttrName)) {
    return entry.emitOpError()
           << "expected states of one kind at most (the step has a place for "
              "one), got others "
           << type;
  }
  StateLayout layout(type);
  entry->setAttr(transformer::kStateAttrName,
                 transformer::CacheLayoutAttr::get(
                     entry.getContext(), /*block_tokens=*/0, layout.layers,
                     layout.blockBytes, layout.layerBytes, /*query_rows=*/1,
                     /*window=*/0, transformer::Storage::F32, /*key_width=*/0));
  return success();
}

unsigned tfc::alignmentOfState(int64_t first, int64_t multiple) {
  constexpr int64_t line = kLineBytes / sizeof(float);
  int64_t common = std::gcd(line, std::gcd(first, multiple));
  return static_cast<unsigned>(common * sizeof(float));
}

Value tfc::countSequences(KernelBuilder &k, Value step) {
  return loadIndex(k.builder(), step, offsetof(tfc_step_v0, n_sequences), 64);
}

SequenceState tfc::loadState(KernelBuilder &k, Value step,
                             const StateLayout &layout, Value number,
                             Value layer, int64_t first) {
  ImplicitLocOpBuilder &b = k.builder();
  Value sequences = loadPointer(b, step, offsetof(tfc_step_v0, sequences));
  Value table = buildAddress(b, sequences, number, sizeof(tfc_sequence_v0));
  auto field = [&](int64_t offset) { return loadIndex(b, table, offset, 32); };
  constexpr int64_t place =
      offsetof(tfc_sequence_v0, blocks_at) + 4 * StateLayout::kNumber;
  Value blocks =
      buildAddress(b, loadPointer(b, step, offsetof(tfc_step_v0, block_table)),
                   field(place), 4);
  Value caches = loadPointer(b, step, offsetof(tfc_step_v0, caches));
  Value base = loadPointer(b, caches, StateLayout::kNumber * sizeof(void *));
  Value read = loadIndex(b, blocks, 0, 32),
        written = loadIndex(b, blocks, 4, 32);
  auto address = [&](Value block) {
    Value at = buildAddress(b, base, block, layout.blockBytes);
    return buildAddress(b, at, layer, layout.layerBytes,
                        first * static_cast<int64_t>(sizeof(float)));
  };
  SequenceState state;
  state.firstToken = field(offsetof(tfc_sequence_v0, first));
  state.count = field(offsetof(tfc_sequence_v0, count));
  state.isNew = k.isLess(read, k.constant(0));
  state.from = address(arith::SelectOp::create(b, state.isNew, written, read));
  state.to = address(written);
  return state;
}
