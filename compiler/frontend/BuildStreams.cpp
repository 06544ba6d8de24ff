// Streams of rows around the layers of a stack.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildStreams.h"

using namespace mlir;
using namespace tfc;

/// A product with <part>.<i - 1> of stream i, as long as `like`.
static Value buildStream(PathBuilder &path, const spec::Stack &stack,
                         const std::string &part, int64_t i, Value x,
                         Value like) {
  std::string name =
      stack.name + ".streams." + part + "." + std::to_string(i - 1);
  Value y = path.linear(x, name, /*bias=*/false);
  return transformer::MatchMagnitudeOp::create(
      path.getBuilder(), path.loc(name + ".magnitude"), y, like,
      APFloat(stack.streams->floor));
}

SmallVector<Value> tfc::openStreams(PathBuilder &path, const spec::Stack &stack,
                                    Value x) {
  SmallVector<Value> rows = {x};
  if (stack.streams && stack.streams->reversible) {
    rows.push_back(x);
    return rows;
  }
  for (int64_t i = 1; stack.streams && i < stack.streams->count; ++i) {
    rows.push_back(buildStream(path, stack, "in", i, x, x));
  }
  return rows;
}

Value tfc::closeStreams(PathBuilder &path, const spec::Stack &stack,
                        ValueRange rows) {
  Value sum = rows.front();
  if (!stack.streams) {
    return sum;
  }
  if (stack.streams->reversible) {
    return transformer::JoinColumnsOp::create(
        path.getBuilder(), path.loc(stack.name + ".streams.joined"), rows);
  }
  std::string name = stack.name + ".streams.sum";
  for (auto [number, stream] : llvm::enumerate(rows.drop_front())) {
    Value y = buildStream(path, stack, "out", static_cast<int64_t>(number) + 1,
                          stream, rows.front());
    sum = transformer::AddOp::create(path.getBuilder(), path.loc(name), sum, y);
  }
  return path.scale(sum, 1.0 / static_cast<double>(rows.size()),
                    stack.name + ".streams.mean");
}

Value StreamBuilder::buildWeights(Value x, const std::string &part) {
  std::string own = name + "." + part;
  x = path.norm(x, streams.norm, name + ".router_norm", layer);
  if (streams.routerScale != 1) {
    x = path.scale(x, streams.routerScale, own + ".routed");
  }
  x = path.linear(x, name + ".router", /*bias=*/false, layer);
  x = path.activation(x, spec::Activation::Tanh, own + ".tanh");
  return path.linear(x, own, /*bias=*/false, layer);
}

SmallVector<Value> StreamBuilder::predict(ValueRange rows) {
  Value weights =
      buildWeights(rows[static_cast<size_t>(streams.active)], "predict");
  SmallVector<Value> predicted;
  for (auto [number, x] : llvm::enumerate(rows)) {
    predicted.push_back(transformer::MixRowsOp::create(
        path.getBuilder(), path.loc(name + ".predicted"), x, rows, weights,
        number * rows.size(), APFloat(0.0)));
  }
  return predicted;
}

SmallVector<Value> StreamBuilder::correct(ValueRange predicted, Value y) {
  OpBuilder &b = path.getBuilder();
  Value weights = buildWeights(y, "correct");
  Value before = path.scale(predicted[static_cast<size_t>(streams.active)], -1,
                            name + ".negated");
  Value change =
      transformer::AddOp::create(b, path.loc(name + ".change"), y, before);
  SmallVector<Value> corrected;
  for (auto [number, x] : llvm::enumerate(predicted)) {
    corrected.push_back(
        transformer::MixRowsOp::create(b, path.loc(name + ".corrected"), x,
                                       change, weights, number, APFloat(1.0)));
  }
  return corrected;
}
