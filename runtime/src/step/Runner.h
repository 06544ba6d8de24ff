// Runs an entry: lends it workspace, cache and output buffers, which stay warm
// from step to step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_RUNNER_H
#define TFC_RUNTIME_SRC_STEP_RUNNER_H

#include "runtime/src/load/Model.h"
#include "runtime/src/memory/Cache.h"
#include "runtime/src/step/Batch.h"
#include "runtime/src/step/StepHost.h"

namespace tfc::rt {

class Runner {
public:
  /// Belongs to one thread at a time; the model and the device outlive it.
  Runner(const Model &model, const tfc_entry_v0 &entry, Device &device);

  /// Gives the runner its caches; before the first step. Errors: those of
  /// BlockCache::create.
  Status openCache(uint64_t maxBytes, CacheBudget *budget = nullptr);

  /// Bytes of workspace and outputs of the larger of two steps: a prompt of so
  /// many tokens, and the next ones of as many sequences, up to 64; outputs of
  /// all tokens, for which few ask, are not among them.
  uint64_t stepBytes(int64_t tokens) const;

  /// Lends the entry another host than the model's, for measuring; it must have
  /// no more workers and outlive the runner.
  void setHost(const tfc_host_v0 &lent) { host.setLent(lent); }

  /// What steps from now on ask whether to go on.
  void setStop(const StopRequest &request) { host.setStop(request); }

  /// Lends the entry the blocks of cross-attention, which several runners may
  /// share; they must outlive the runner.
  void setCross(const BlockCache &lent) { cross = &lent; }

  /// The step to run; fill it, then call run.
  Batch batch;
  BlockCache cache;
  /// Columns that heads are to give alone, each in [0, width); empty: all.
  std::vector<int32_t> headRows;
  /// Of the entry's layers that keep a state: a block is one, which counts as
  /// one position. Where there are none, no table needs a block.
  BlockCache states;
  bool hasStates() const;

  /// Runs the batch. wanted[p]: a Want, of output p. Errors:
  /// Exhausted, Cancelled (the batch may be run again), InvalidArgument
  /// (functions of the caller that throw, threads that do not run loops),
  /// Internal (the compiled code's status, a write beyond its workspace or an
  /// output, a fault of the device).
  Status run(const std::vector<uint8_t> &wanted);

  /// Columns of output p in a run as things stand: those of `headRows` where it
  /// is a head that heeds them (another has all, of which the caller picks).
  int64_t widthOf(uint32_t port) const;
  /// The rows of output p, [tokens or rows, widthOf]; valid until the next run.
  const float *output(uint32_t port) const;
  /// The same, for whoever changes them in place.
  float *floats(uint32_t port);
  /// Of an output with WantedGreatest, as tfc_step_v0.greatest has them; valid
  /// until the next run.
  const int32_t *greatest() const { return memory->greatest(); }
  const tfc_entry_v0 &entry() const { return entryTable; }
  /// What the device's clock said of the last step, if it was asked.
  std::optional<StepTimes> times() const { return memory->times(); }
  /// Of the last step.
  uint32_t workers() const { return host.host().n_workers; }

private:
  Status lendBuffers(const std::vector<uint8_t> &wanted);
  tfc_step_v0 fillStep();
  Status checkBuffers() const;

  const Model &model;
  const tfc_entry_v0 &entryTable;
  Device &device;
  StepHost host;
  const BlockCache *cross = nullptr;
  std::unique_ptr<DeviceStep> memory;
  std::vector<const void *> inputPointers;
  std::vector<void *> caches;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_RUNNER_H
