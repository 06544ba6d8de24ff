// One step of given lengths, over and over.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_STEP_H
#define TFC_RUNTIME_TOOLS_STEP_H

#include "runtime/src/step/Engine.h"
#include "runtime/tools/CostSheet.h"
#include "runtime/tools/Workload.h"

namespace tfc::bench {

/// A workload of one step made ready: its cache is filled, its tables are
/// there, and every run is the same step again.
class Step {
public:
  /// The model must outlive it. Errors: InvalidArgument (a workload that the
  /// model does not have: kind, positions), those of Runner.
  static rt::Result<std::unique_ptr<Step>> create(const rt::Model &model,
                                                  const Workload &workload);

  rt::Status run() { return runner.run(wanted); }
  /// What the device's clock said of the last run; see Runner.
  std::optional<rt::StepTimes> times() const { return runner.times(); }
  /// Where it runs.
  rt::Device &where() const { return engine.where(); }
  /// Lends another host from now on; see Runner.
  void setHost(const tfc_host_v0 &host) { runner.setHost(host); }

  std::vector<NamedCost> costs(const CostSheet &sheet) const;
  int64_t numTokens() const { return runner.batch.numTokens(); }
  int64_t numSequences() const {
    return static_cast<int64_t>(runner.batch.sequences.size());
  }
  uint64_t cacheBytes() const {
    return runner.cache.committedBytes() + engine.cross.committedBytes() +
           runner.states.committedBytes();
  }
  uint64_t workspaceBytes() const;

private:
  Step(const rt::Model &model, const tfc_entry_v0 &entry);
  rt::Status prepare(const Workload &workload);
  rt::Status prepareSources(const Workload &workload);
  rt::Status fillCache(const std::vector<int64_t> &lengths);
  rt::Status fillSequence(int64_t sequence, int64_t length);
  rt::Status copyBlocks(const rt::BlockTable &from, const rt::BlockTable &to);
  /// Also lends the step a block for what the sequence's state becomes.
  rt::Status addTokens(int64_t sequence, int64_t count, int64_t past);
  void growGiven(const tfc_port_v0 &port, int64_t tokens);
  void giveRows(const tfc_port_v0 &port, int64_t tokens);
  void chooseOutputs(Kind kind);

  const rt::Model &model;
  const tfc_entry_v0 &entry;
  rt::Engine engine;
  rt::Runner &runner;                 // of the entry
  std::vector<rt::BlockTable> tables; // by sequence
  /// The same; a measured step reads what is there and never goes on from it.
  std::vector<rt::SequenceState> states;
  std::vector<rt::Source> sources; // the same, of an encoder-decoder
  std::vector<uint8_t> wanted;     // by output port
  std::vector<float> given;        // of a port of embeddings
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_STEP_H
