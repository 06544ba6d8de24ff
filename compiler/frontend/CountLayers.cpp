// The numbers of layers, among all and among those that keep something.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/CountLayers.h"

#include "compiler/frontend/LayerNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

bool tfc::keepsKeys(const spec::LayerRun &run) {
  const spec::Attention *attn = spec::selfAttentionOf(run.sublayers);
  return attn && !attn->sharedKeys;
}

bool tfc::keepsState(const spec::LayerRun &run) {
  return llvm::any_of(run.sublayers, [](const spec::Sublayer &sublayer) {
    return std::holds_alternative<spec::Conv>(sublayer.f) ||
           std::holds_alternative<spec::Recurrent>(sublayer.f);
  });
}

bool tfc::countsApart(const spec::Stack &stack) {
  bool isByLayer = false, areUnlike = false;
  const spec::Attention *first = nullptr;
  for (const spec::LayerRun &run : stack.runs) {
    if (const spec::Attention *attn = spec::selfAttentionOf(run.sublayers)) {
      isByLayer |= attn->scaleByInverseLayer;
      first = first ? first : attn;
      areUnlike |= attn->sharedKeys || !attn->hasKeysLike(*first);
    }
  }
  return !isByLayer && (areUnlike || llvm::any_of(stack.runs, keepsState));
}

/// By the number of a layer, how many before it are so.
static SmallVector<int64_t> countBefore(const spec::Stack &stack,
                                        LayerPredicate has) {
  SmallVector<int64_t> before(stack.layers + 1);
  for (const spec::LayerRun &run : stack.runs) {
    for (int64_t i = 0; i < run.count && has(run); ++i) {
      before[run.layerOf(i) + 1] = 1;
    }
  }
  for (int64_t layer = 0; layer < stack.layers; ++layer) {
    before[layer + 1] += before[layer];
  }
  return before;
}

int64_t tfc::countLayers(const spec::Stack &stack, LayerPredicate has) {
  return countBefore(stack, has).back();
}

SmallVector<int64_t> tfc::numbersOf(const spec::Stack &stack,
                                    const spec::LayerRun &run,
                                    LayerPredicate has) {
  SmallVector<int64_t> before = countBefore(stack, has), numbers;
  for (int64_t i = 0; i < run.count; ++i) {
    numbers.push_back(before[run.layerOf(i)]);
  }
  return numbers;
}

SmallVector<int64_t> tfc::keyNumbersOf(const spec::Stack &stack,
                                       const spec::LayerRun &run) {
  std::vector<const spec::Attention *> all = stack.selfAttentions();
  auto keepsLike = [&](int64_t layer, const spec::Attention &own) {
    const spec::Attention *other = all[layer];
    return other && !other->sharedKeys && other->hasKeysLike(own);
  };
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < run.count; ++i) {
    int64_t layer = run.layerOf(i);
    const spec::Attention &own = *all[layer];
    while (own.sharedKeys && layer > 0 &&
           !(keepsLike(layer, own) && all[layer]->window == own.window)) {
      --layer;
    }
    numbers.push_back(
        llvm::count_if(llvm::seq<int64_t>(0, layer),
                       [&](int64_t before) { return keepsLike(before, own); }));
  }
  return numbers;
}

LayerCounter::LayerCounter(ImplicitLocOpBuilder &b, ArrayRef<int64_t> numbers,
                           bool hasFirst) {
  step = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  for (size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != step) {
      table.assign(numbers.begin(), numbers.end());
      return;
    }
  }
  if (hasFirst || numbers.front() != 0) {
    first = arith::ConstantIndexOp::create(b, numbers.front());
  }
}

Value LayerCounter::build(ImplicitLocOpBuilder &b, Value index) const {
  if (!table.empty()) {
    return buildLayerIndex(b, index, table);
  }
  if (step != 1) {
    index = arith::MulIOp::create(b, index,
                                  arith::ConstantIndexOp::create(b, step));
  }
  return first ? arith::AddIOp::create(b, index, first).getResult() : index;
}
