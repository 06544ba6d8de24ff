// The numbers in which the layers of a run differ.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/LayerNumbers.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tfc;

AttentionOfLayers tfc::listAttentions(const spec::LayerRun &run,
                                      size_t sublayer) {
  AttentionOfLayers layers;
  for (const spec::LayerGroup &group : run.groups) {
    layers.append(group.count,
                  &std::get<spec::Attention>(group.sublayers[sublayer].f));
  }
  return layers;
}

RotaryKinds tfc::listRotations(const AttentionOfLayers &layers) {
  const auto *turned = llvm::find_if(layers, [](const spec::Attention *attn) {
    return attn->rotary.has_value();
  });
  spec::Rotary none;
  none.interleaved = (*turned)->rotary->interleaved;
  none.dim = (*turned)->rotary->dim;
  none.turned = none.dim;
  none.frequencies.assign((*turned)->rotary->frequencies.size(), 0);
  RotaryKinds result;
  for (const spec::Attention *attn : layers) {
    const spec::Rotary &own = attn->rotary ? *attn->rotary : none;
    auto found = llvm::find(result.kinds, own);
    result.ofLayers.push_back(found - result.kinds.begin());
    if (found == result.kinds.end()) {
      result.kinds.push_back(own);
    }
  }
  return result;
}

Value tfc::buildLayerIndex(ImplicitLocOpBuilder &b, Value index,
                           ArrayRef<int64_t> values) {
  if (llvm::all_equal(values)) {
    return arith::ConstantIndexOp::create(b, values.front());
  }
  return transformer::PerLayerOp::create(b, b.getDenseI64ArrayAttr(values),
                                         index);
}

WindowEnds tfc::buildWindow(ImplicitLocOpBuilder &b, Value index,
                            const AttentionOfLayers &layers) {
  bool hasWindow = false;
  SmallVector<int64_t> lefts, rights;
  for (const spec::Attention *attn : layers) {
    hasWindow |= attn->window.has_value();
    spec::Window window = attn->window.value_or(
        spec::Window{transformer::kUnlimited, transformer::kUnlimited});
    lefts.push_back(window.left);
    rights.push_back(window.right);
  }
  WindowEnds ends;
  if (hasWindow) {
    ends.left = buildLayerIndex(b, index, lefts);
  }
  if (hasWindow && !layers.front()->causal) {
    ends.right = buildLayerIndex(b, index, rights);
  }
  return ends;
}

LayerScale tfc::buildLayerScale(ImplicitLocOpBuilder &b, Value index,
                                const AttentionOfLayers &layers) {
  SmallVector<double> scales;
  for (const spec::Attention *attn : layers) {
    scales.push_back(attn->scale);
  }
  if (llvm::all_equal(scales)) {
    return {scales.front(), {}};
  }
  return {1, transformer::PerLayerOp::create(b, b.getDenseF64ArrayAttr(scales),
                                             index)};
}
