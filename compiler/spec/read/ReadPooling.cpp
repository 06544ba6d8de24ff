// Steps of heads that make one vector of a sequence: pooling, the first
// columns, the length.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

std::optional<HeadStep>
SpecReader::readPooling(const Head &head, const Json &step, Result &result) {
  std::string op = wordOf(step, "op", "");
  if (op == "pool") {
    std::string how = wordOf(step, "how", "mean");
    PoolStep pool{how == "max"             ? PoolStep::How::Max
                  : how == "mean_sqrt_len" ? PoolStep::How::MeanSqrtLen
                                           : PoolStep::How::Mean,
                  sizeOf(step, "skip").value_or(0),
                  wordOf(step, "beside", "none") == "first_visible"};
    if (pool.besideFirst && result.root == "decoder") {
      error(step.find("beside")->place, BadStep,
            "expected \"none\" in a decoder (it computes no rows behind the "
            "one that is asked for), got \"first_visible\"");
    }
    // Any row of the sequence says which one is meant.
    takeRows(head, step,
             pool.besideFirst ? TakeStep::At::FirstVisible
                              : TakeStep::At::LastVisible,
             result);
    result.width *= pool.besideFirst ? 2 : 1;
    return pool;
  }
  if (op == "activation_unit") {
    return readActivationUnit(head, step, result);
  }
  if (op == "probe") {
    return readProbe(head, step, result);
  }
  if (op == "truncate") {
    return readTruncate(step, result);
  }
  if (op == "l2_normalize") {
    L2NormalizeStep normalize;
    if (const Json *eps = step.find("eps"); eps && eps->isNumber()) {
      normalize.eps = readPositive(*eps);
    }
    return normalize;
  }
  return std::nullopt;
}

/// As of a pool, any row of the sequence says which one is meant.
HeadStep SpecReader::readActivationUnit(const Head &head, const Json &step,
                                        Result &result) {
  ActivationUnitStep unit;
  unit.path = readStepPath(head, step);
  unit.first = wordOf(step, "query", "last") == "first";
  for (const Json &width : itemsOf(step.find("hidden"))) {
    unit.hidden.push_back(width.isInteger() ? width.integer : 0);
  }
  unit.act = activationOf(step, "act");
  takeRows(head, step, TakeStep::At::LastVisible, result);
  result.width *= 2;
  return unit;
}

/// Its query is the same for each row, so that the first one has it, too; it
/// uses the cache of the stack's layers once more.
HeadStep SpecReader::readProbe(const Head &head, const Json &step,
                               Result &result) {
  ProbeStep probe;
  probe.path = readStepPath(head, step);
  probe.norm = readNorm(step.find("norm")).value_or(Norm());
  probe.width = sizeOf(step, "width").value_or(0);
  probe.act = activationOf(step, "act");
  takeRows(head, step, TakeStep::At::First, result);
  const Attention *like = nullptr;
  bool hasPositions = false;
  for (const Stack *each : model.stacks()) {
    if (each->name != result.root) {
      continue;
    }
    hasPositions = each->embeddings.position.has_value();
    for (const Attention *attn : each->selfAttentions()) {
      like = like ? like : attn;
    }
  }
  if (result.root != "encoder" || model.decoder || !like || !hasPositions) {
    error(step.place, Unsupported,
          "expected an encoder with attention and a \"position\" of its "
          "embeddings in front of a probe (other stacks are not supported by "
          "this tfc), got another stack");
  } else {
    probe.numHeads = like->numHeads;
    probe.headDim = like->headDim;
    if (like->numKvHeads != like->numHeads) {
      error(step.place, Unsupported,
            "expected as many key heads as heads in the stack's attention (not "
            "supported by this tfc), got " +
                std::to_string(like->numKvHeads));
    }
  }
  return probe;
}

TruncateStep SpecReader::readTruncate(const Json &step, Result &result) {
  TruncateStep truncate{sizeOf(step, "dims").value_or(0)};
  if (result.width && truncate.width > result.width) {
    error(step.find("dims")->place, BadStep,
          "expected at most " + std::to_string(result.width) +
              " (the width before the step), got " +
              std::to_string(truncate.width));
  }
  result.width = truncate.width;
  return truncate;
}

} // namespace tfc::spec
