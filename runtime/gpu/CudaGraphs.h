// Steps of generation that come again, as graphs of what they launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDAGRAPHS_H
#define TFC_RUNTIME_GPU_CUDAGRAPHS_H

#include "runtime/gpu/CudaContext.h"
#include "tfc/abi.h"

#include <functional>
#include <list>

namespace tfc::rt {

/// All that an entry's host code may read of a step: numbers and addresses, not
/// what lies there. Steps of equal words launch the same kernels on the same
/// grids with the same arguments.
using StepWords = std::vector<uint64_t>;
void listWords(const tfc_entry_v0 &entry, const tfc_step_v0 &step,
               StepWords &words);

/// The graphs of one stream's steps. Belongs to the thread that has the
/// context.
class CudaGraphs {
public:
  /// The context outlives it.
  explicit CudaGraphs(const CudaContext &context) : context(context) {}
  ~CudaGraphs();
  CudaGraphs(const CudaGraphs &) = delete;
  CudaGraphs &operator=(const CudaGraphs &) = delete;

  /// Runs `launchAll`, which launches on the stream what follows from `words`
  /// and returns what an entry does; or the graph of it. A graph is made when
  /// words come for the second time: most never do. Returns what the entry
  /// returned, of a graph TFC_STATUS_DONE. Errors: those of a device.
  Result<int32_t> run(const StepWords &words, cuda::StreamHandle stream,
                      const std::function<int32_t()> &launchAll);

private:
  struct Known {
    StepWords words;
    bool hasCome = false;            // before
    cuda::GraphExec graph = nullptr; // null: there is none yet
  };
  Known &findOrAdd(const StepWords &words);
  void forget(Known &known) const;
  Result<int32_t> capture(Known &known, cuda::StreamHandle stream,
                          const std::function<int32_t()> &launchAll);

  const CudaContext &context;
  std::list<Known> steps; // the last one that came first
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDAGRAPHS_H
