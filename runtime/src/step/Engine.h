// A model's entries, each with its runner, and between those of an
// encoder-decoder the cross blocks: keys and values of the sources.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_ENGINE_H
#define TFC_RUNTIME_SRC_STEP_ENGINE_H

#include "runtime/src/step/Runner.h"

namespace tfc::rt {

/// What an encoder-decoder reads before it writes: first tokens, then, once
/// they have been encoded, cross blocks.
struct Source {
  std::vector<std::vector<int32_t>> values; // by input port of the encoder
  /// Of the port of embeddings: its rows one after the other, and their number;
  /// ids below zero name them.
  std::vector<float> given;
  int64_t numGiven = 0;
  BlockTable blocks;
  int64_t count = 0; // positions in the blocks; 0: not encoded yet

  int64_t numTokens() const {
    return static_cast<int64_t>(values.front().size());
  }
};

struct EngineOptions {
  uint64_t maxCacheBytes = 0; // 0: as BlockCache::create for each cache
  StopRequest stop{};
  int64_t stepTokens = 0; // most of them; 0: nobody knows
};

/// Of the decoder's cache, of the cross cache, and of states.
struct BlockCounts {
  int64_t self = 0, cross = 0, states = 0;

  BlockCounts operator+(const BlockCounts &other) const {
    return {self + other.self, cross + other.cross, states + other.states};
  }
};

class Engine {
public:
  /// Belongs to one thread at a time; the model must outlive it.
  explicit Engine(const Model &model);
  // The runners point at `cross`.
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// Opens the device and gives all entries their caches, before the first
  /// step; the limit is for what stays from step to step. Errors: those of
  /// Device::open and BlockCache::create.
  Status open(const EngineOptions &options);

  /// Of what stays from step to step, all caches together; 0: none was given.
  uint64_t cacheLimit() const { return budget.limit; }

  /// Blocks that are in use.
  BlockCounts used() const;
  /// Whether so many can be at all.
  bool canHold(const BlockCounts &blocks) const;

  /// What steps of all entries ask whether to go on.
  void setStop(const StopRequest &request);

  /// Where its steps run.
  Device &where() const { return *device; }

  /// Frees all blocks, whose tables are void then.
  void clear();

  /// Encodes sources, all in one step; those that have been are passed over.
  /// Gives them their blocks, which the caller releases from `cross`. Errors:
  /// Exhausted, those of Runner::run; a source that is not encoded may have
  /// blocks nevertheless.
  Status encodeSources(const std::vector<Source *> &sources);

private:
  uint64_t stepBytes(int64_t tokens) const;
  void addValues(const Source &source);

  std::unique_ptr<Device> device; // outlives what is on it

public:
  /// Null when the model has no such entry.
  std::unique_ptr<Runner> encode, step;
  BlockCache cross;

private:
  int64_t stepLimit;              // most tokens of a step
  CacheBudget budget;             // of all blocks but the encoder's own
  std::vector<uint8_t> noOutputs; // of the encoder
  std::vector<float> given;       // rows of the sources of a step
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_ENGINE_H
