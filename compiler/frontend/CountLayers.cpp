// The numbers of layers, among all and among those that keep something.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/CountLayers.h"

#include "compiler/frontend/LayerNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

bool tfc::keepsKeys(const spec::LayerRun &run) {
  return llvm::any_of(run.sublayers, [](const spec::Sublayer &sublayer) {
    const auto *attn = std::get_if<spec::Attention>(&sublayer.f);
    return attn && !attn->cross;
  });
}

bool tfc::keepsState(const spec::LayerRun &run) {
  return llvm::any_of(run.sublayers, [](const spec::Sublayer &sublayer) {
    return std::holds_alternative<spec::Conv>(sublayer.f) ||
           std::holds_alternative<spec::Recurrent>(sublayer.f);
  });
}

bool tfc::countsApart(const spec::Stack &stack) {
  bool isByLayer = false;
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::Sublayer &sublayer : run.sublayers) {
      const auto *attn = std::get_if<spec::Attention>(&sublayer.f);
      isByLayer |= attn && attn->scaleByInverseLayer;
    }
  }
  return !isByLayer && llvm::any_of(stack.runs, keepsState);
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
