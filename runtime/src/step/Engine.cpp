// Runs the encoder of an encoder-decoder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Engine.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>

namespace tfc::rt {

// Where nobody says how large a step may be, room is left for one of so many
// tokens: a prompt of a page or two.
static constexpr int64_t usualStepTokens = 2048;

Engine::Engine(const Model &model)
    : device(model.makeDevice()), stepLimit(model.stepLimit()) {
  if (model.encoder()) {
    encode = std::make_unique<Runner>(model, *model.encoder(), *device);
    noOutputs.assign(model.encoder()->n_outputs, 0);
  }
  if (model.decoder()) {
    step = std::make_unique<Runner>(model, *model.decoder(), *device);
  }
  if (model.isEncoderDecoder()) {
    encode->setCross(cross);
    step->setCross(cross);
  }
}

uint64_t Engine::stepBytes(int64_t tokens) const {
  int64_t most = std::min(tokens > 0 ? tokens : usualStepTokens, stepLimit);
  uint64_t bytes = 0;
  for (const Runner *runner : {encode.get(), step.get()}) {
    bytes += runner ? runner->stepBytes(most) : 0;
  }
  return bytes;
}

Status Engine::open(const EngineOptions &options) {
  uint64_t maxBytes = options.maxCacheBytes;
  setStop(options.stop);
  budget = {maxBytes, 0};
  // An encoder-decoder's limit is for what stays: not for the scratch blocks.
  Status status = device->open();
  device->keepForSteps(stepBytes(options.stepTokens));
  if (status && encode) {
    status = encode->openCache(step ? 0 : maxBytes);
  }
  if (status && step) {
    bool isShared = encode || step->hasStates();
    status = step->openCache(maxBytes, isShared ? &budget : nullptr);
  }
  if (!status || !encode || !step) {
    return status;
  }
  Result<BlockCache> created = BlockCache::create(
      cacheOf(step->entry(), TFC_CACHE_CROSS), maxBytes, &budget, device.get());
  if (!created) {
    return std::move(created.error());
  }
  cross = std::move(*created);
  return {};
}

BlockCounts Engine::used() const {
  return {step->cache.used(), cross.used(), step->states.used()};
}

bool Engine::canHold(const BlockCounts &blocks) const {
  return blocks.self <= step->cache.capacity() &&
         blocks.cross <= cross.capacity() &&
         blocks.states <= step->states.capacity() &&
         (budget.limit == 0 || step->cache.bytesOf(blocks.self) +
                                       cross.bytesOf(blocks.cross) +
                                       step->states.bytesOf(blocks.states) <=
                                   budget.limit);
}

void Engine::setStop(const StopRequest &request) {
  for (Runner *runner : {encode.get(), step.get()}) {
    if (runner) {
      runner->setStop(request);
    }
  }
}

void Engine::clear() {
  for (Runner *runner : {encode.get(), step.get()}) {
    if (runner) {
      runner->cache.clear();
      runner->states.clear();
    }
  }
  cross.clear();
}

/// A source's tokens, whose rows come behind those of the sources before it.
void Engine::addValues(const Source &source) {
  Batch &batch = encode->batch;
  auto before = static_cast<int32_t>(batch.numGiven);
  for (size_t p = 0; p < source.values.size(); ++p) {
    std::vector<int32_t> &to = batch.inputs[p];
    bool isGiven = encode->entry().inputs[p].fill == TFC_FILL_GIVEN;
    for (int32_t value : source.values[p]) {
      to.push_back(isGiven && value < 0 ? value - before : value);
    }
  }
  given.insert(given.end(), source.given.begin(), source.given.end());
  batch.numGiven += source.numGiven;
}

Status Engine::encodeSources(const std::vector<Source *> &sources) {
  Batch &batch = encode->batch;
  batch.clear();
  given.clear();
  encode->cache.clear();
  std::vector<BlockTable> scratch(sources.size());
  for (size_t s = 0; s < sources.size(); ++s) {
    Source &source = *sources[s];
    if (source.count != 0) {
      continue;
    }
    int64_t count = source.numTokens();
    if (count > stepLimit - batch.numTokens()) {
      return makeError(Code::Exhausted, "expected at most ", stepLimit,
                       " tokens in a step, got more");
    }
    Status status = encode->cache.grow(scratch[s], count);
    if (status) {
      status = cross.grow(source.blocks, count);
    }
    if (!status) {
      return status;
    }
    batch.add(count, 0, count, scratch[s], count, &source.blocks);
    addValues(source);
  }
  batch.given = given.data();
  if (batch.numTokens() == 0) {
    return {};
  }
  Status status = encode->run(noOutputs);
  for (Source *source : sources) {
    if (status && source->count == 0) {
      source->count = source->numTokens();
    }
  }
  return status;
}

} // namespace tfc::rt
