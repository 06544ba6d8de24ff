// One call of an entry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Runner.h"

#include "runtime/src/ModuleTables.h"

namespace tfc::rt {

Runner::Runner(const Model &model, const tfc_entry_v0 &entry)
    : batch(entry, model.isCausal(entry)), model(model), entryTable(entry),
      host(model.host()), outputs(entry.n_outputs),
      inputPointers(entry.n_inputs), outputPointers(entry.n_outputs),
      caches(entry.n_caches) {}

Status Runner::openCache(uint64_t maxBytes, CacheBudget *budget) {
  Result<BlockCache> created =
      BlockCache::create(cacheOf(entryTable, TFC_CACHE_SELF), maxBytes, budget);
  if (!created) {
    return std::move(created.error());
  }
  cache = std::move(*created);
  return {};
}

Status Runner::lendBuffers(const std::vector<uint8_t> &wanted) {
  int64_t numRows = static_cast<int64_t>(batch.rows.size());
  int64_t numSequences = static_cast<int64_t>(batch.sequences.size());
  Status status = workspace.lend(entryTable.workspace_bytes(
      batch.numTokens(), numRows, numSequences, model.numThreads()));
  for (uint32_t p = 0; status && p < entryTable.n_outputs; ++p) {
    const tfc_port_v0 &port = entryTable.outputs[p];
    outputPointers[p] = nullptr;
    if (wanted[p]) {
      uint64_t count = static_cast<uint64_t>(
          port.rows == TFC_ROWS_TOKENS ? batch.numTokens() : numRows);
      uint64_t bytes;
      if (__builtin_mul_overflow(count, uint64_t(port.width) * 4, &bytes)) {
        return makeError(Code::Exhausted, "expected memory for ", count,
                         " rows of output ", port.name, ", got none");
      }
      status = outputs[p].lend(bytes);
      outputPointers[p] = outputs[p].data();
    }
  }
  return status;
}

Status Runner::checkBuffers() const {
  auto fault = [&](const std::string &what, const LentBuffer &buffer) {
    return makeError(Code::Internal, model.path(), ": entry ", entryTable.name,
                     ": expected writes within the ", buffer.lentBytes(),
                     " bytes of ", what, ", got one beyond");
  };
  if (!workspace.isIntact()) {
    return fault("its workspace", workspace);
  }
  for (uint32_t p = 0; p < entryTable.n_outputs; ++p) {
    if (outputPointers[p] && !outputs[p].isIntact()) {
      return fault(concat("output ", entryTable.outputs[p].name), outputs[p]);
    }
  }
  return {};
}

Status Runner::run(const std::vector<uint8_t> &wanted) {
  batch.finish();
  if (!host.begin()) {
    return stoppedByCaller();
  }
  Status status = lendBuffers(wanted);
  if (!status) {
    return status;
  }
  for (uint32_t p = 0; p < entryTable.n_inputs; ++p) {
    inputPointers[p] = batch.inputs[p].data();
  }
  for (uint32_t c = 0; c < entryTable.n_caches; ++c) {
    bool isCross = entryTable.caches[c].role == TFC_CACHE_CROSS;
    caches[c] = !isCross ? cache.base() : cross ? cross->base() : nullptr;
  }
  tfc_step_v0 step{};
  step.struct_size = sizeof(step);
  step.weights = model.weights();
  step.workspace = workspace.data();
  step.caches = caches.data();
  step.block_table = batch.blockTable.data();
  step.n_tokens = batch.numTokens();
  step.inputs = inputPointers.data();
  step.n_sequences = static_cast<int64_t>(batch.sequences.size());
  step.sequences = batch.sequences.data();
  step.n_items = static_cast<int64_t>(batch.items.size());
  step.items = batch.items.data();
  step.n_rows = static_cast<int64_t>(batch.rows.size());
  step.rows = batch.rows.data();
  step.outputs = outputPointers.data();
  step.host = &host.host();
  step.device_step = &step;
  int32_t code = entryTable.run(&step);
  if (host.isStopped()) {
    return stoppedByCaller();
  }
  if (code != 0) {
    return makeError(Code::Internal, model.path(), ": entry ", entryTable.name,
                     ": expected status 0, got ", code);
  }
  return checkBuffers();
}

const float *Runner::output(uint32_t port) const {
  return reinterpret_cast<const float *>(outputs[port].data());
}

float *Runner::floats(uint32_t port) {
  return reinterpret_cast<float *>(outputs[port].data());
}

} // namespace tfc::rt
