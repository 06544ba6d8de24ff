// Requests that are served together: whole prompts, then token after token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_GENERATION_H
#define TFC_RUNTIME_TOOLS_GENERATION_H

#include "runtime/src/session/Session.h"
#include "runtime/tools/CostSheet.h"
#include "runtime/tools/Workload.h"

namespace tfc::bench {

/// A generate workload made ready. A run is the same requests again, in buffers
/// that are warm from the run before. None ends before its last token.
class Generation {
public:
  /// The model must outlive it. Errors: InvalidArgument (see checkWorkload),
  /// those of Session::create.
  static rt::Result<std::unique_ptr<Generation>>
  create(const rt::Model &model, const Workload &workload);

  /// From the moment at which all requests are there, to their last tokens.
  rt::Status run();
  /// The times at which the steps of the last run ended, in seconds after its
  /// start; a step gives each request a token.
  const std::vector<double> &stepEnds() const { return ends; }

  /// The costs of each step.
  std::vector<Cost> costs(const CostSheet &sheet) const;
  int64_t numSequences() const {
    return static_cast<int64_t>(workload.lengths.size());
  }
  /// Of cache blocks that have been in use.
  uint64_t cacheBytes() const {
    return session->cache().committedBytes() +
           session->crossCache().committedBytes();
  }
  /// The most that a step needs.
  uint64_t workspaceBytes() const;

private:
  Generation(const rt::Model &model, const Workload &workload)
      : model(model), workload(workload) {}
  /// The tables of a step, without blocks.
  rt::Batch batchOf(int64_t step) const;
  /// The same of the encoder's, in an encoder-decoder.
  rt::Batch sources() const;

  const rt::Model &model;
  Workload workload;
  std::vector<std::vector<int64_t>> prompts;
  std::unique_ptr<rt::Session> session;
  std::vector<double> ends;
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_GENERATION_H
