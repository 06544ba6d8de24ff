// Captures, instantiates, launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaGraphs.h"

#include <algorithm>
#include <iterator>

namespace tfc::rt {

// Steps that are remembered: a batch grows and shrinks by a sequence at a time.
static constexpr size_t mostSteps = 64;

static uint64_t wordOf(const void *address) {
  return reinterpret_cast<uint64_t>(address);
}

/// What `step` has in its order; of the host's own arrays what is in them. The
/// list of head_rows is the host's, too, and programs of devices leave it
/// alone.
void listWords(const tfc_entry_v0 &entry, const tfc_step_v0 &step,
               StepWords &words) {
  words = {wordOf(&entry),
           step.host->n_workers,
           wordOf(step.weights),
           wordOf(step.workspace),
           wordOf(step.block_table),
           uint64_t(step.n_tokens),
           uint64_t(step.n_sequences),
           wordOf(step.sequences),
           uint64_t(step.n_items),
           wordOf(step.items),
           uint64_t(step.n_rows),
           wordOf(step.rows),
           wordOf(step.device_step),
           uint64_t(step.n_head_rows),
           uint64_t(step.n_adapters),
           wordOf(step.greatest)};
  auto add = [&](auto *const *addresses, int64_t count) {
    std::transform(addresses, addresses + count, std::back_inserter(words),
                   wordOf);
  };
  add(step.caches, entry.n_caches);
  add(step.inputs, entry.n_inputs);
  add(step.outputs, entry.n_outputs);
  add(step.adapters, step.n_adapters);
}

CudaGraphs::~CudaGraphs() {
  CudaScope scope(context);
  for (Known &known : steps) {
    if (scope.status()) {
      forget(known);
    }
  }
}

/// What it launched is done all the same.
void CudaGraphs::forget(Known &known) const {
  if (known.graph) {
    context.functions().cuGraphExecDestroy(known.graph);
    known.graph = nullptr;
  }
}

CudaGraphs::Known &CudaGraphs::findOrAdd(const StepWords &words) {
  auto found =
      std::find_if(steps.begin(), steps.end(),
                   [&](const Known &known) { return known.words == words; });
  if (found != steps.end()) {
    steps.splice(steps.begin(), steps, found);
    return steps.front();
  }
  if (steps.size() == mostSteps) {
    forget(steps.back());
    steps.pop_back();
  }
  steps.push_front({words, false, nullptr});
  return steps.front();
}

Result<int32_t> CudaGraphs::run(const StepWords &words,
                                cuda::StreamHandle stream,
                                const std::function<int32_t()> &launchAll) {
  Known &known = findOrAdd(words);
  if (!known.graph && !known.hasCome) {
    known.hasCome = true;
    return launchAll();
  }
  if (!known.graph) {
    Result<int32_t> code = capture(known, stream, launchAll);
    if (!code || *code != TFC_STATUS_DONE) {
      return code;
    }
  }
  Status status =
      context.check(context.functions().cuGraphLaunch(known.graph, stream),
                    "cuGraphLaunch", "to launch the kernels of a step");
  if (!status) {
    return std::move(status.error());
  }
  return int32_t(TFC_STATUS_DONE);
}

/// An entry that does not end has launched a part: nothing of that is run.
Result<int32_t> CudaGraphs::capture(Known &known, cuda::StreamHandle stream,
                                    const std::function<int32_t()> &launchAll) {
  const cuda::Functions &driver = context.functions();
  Status status =
      context.check(driver.cuStreamBeginCapture(stream, cuda::captureOfThread),
                    "cuStreamBeginCapture", "to capture a step");
  if (!status) {
    return std::move(status.error());
  }
  int32_t code = launchAll();
  cuda::Graph graph = nullptr;
  status = context.check(driver.cuStreamEndCapture(stream, &graph),
                         "cuStreamEndCapture", "to capture a step");
  if (!status) {
    return std::move(status.error());
  }
  if (code == TFC_STATUS_DONE) {
    status = context.check(
        driver.cuGraphInstantiateWithFlags(&known.graph, graph, 0),
        "cuGraphInstantiateWithFlags", "to make a graph of a step");
    known.graph = status ? known.graph : nullptr;
  }
  Status freed = context.check(driver.cuGraphDestroy(graph), "cuGraphDestroy",
                               "to give back what was captured");
  if (!status || !freed) {
    return std::move(status ? freed.error() : status.error());
  }
  return code;
}

} // namespace tfc::rt
