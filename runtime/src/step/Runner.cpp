// One call of an entry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Runner.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>

namespace tfc::rt {

// Of a batch of next tokens that there is room for beside a cache.
static constexpr int64_t mostReservedSequences = 64;

Runner::Runner(const Model &model, const tfc_entry_v0 &entry, Device &device)
    : batch(entry, model.isCausal(entry)), model(model), entryTable(entry),
      device(device), host(device.host()),
      memory(device.makeStep(entry.n_outputs)), inputPointers(entry.n_inputs),
      caches(entry.n_caches) {}

Status Runner::openCache(uint64_t maxBytes, CacheBudget *budget) {
  Result<BlockCache> created = BlockCache::create(
      cacheOf(entryTable, TFC_CACHE_SELF), maxBytes, budget, &device);
  if (!created) {
    return std::move(created.error());
  }
  cache = std::move(*created);
  tfc_cache_v0 state = cacheOf(entryTable, TFC_CACHE_STATE);
  state.block_tokens = 1;
  created = BlockCache::create(state, maxBytes, budget, &device);
  if (!created) {
    return std::move(created.error());
  }
  states = std::move(*created);
  return {};
}

bool Runner::hasStates() const {
  return findCache(entryTable, TFC_CACHE_STATE) >= 0;
}

uint64_t Runner::stepBytes(int64_t tokens) const {
  auto bytesOf = [&](int64_t rows, int64_t sequences, int64_t items) {
    uint64_t bytes = entryTable.workspace_bytes(rows, sequences, sequences,
                                                device.numWorkers(items));
    for (uint32_t p = 0; p < entryTable.n_outputs; ++p) {
      const tfc_port_v0 &port = entryTable.outputs[p];
      bytes += port.rows == TFC_ROWS_WANTED
                   ? uint64_t(sequences) * uint64_t(port.width) * 4
                   : 0;
    }
    return bytes;
  };
  int64_t sequences = std::min(tokens, mostReservedSequences);
  return std::max(bytesOf(tokens, 1, (tokens - 1) / entryTable.query_rows + 1),
                  bytesOf(sequences, sequences, sequences));
}

Status Runner::lendBuffers(const std::vector<uint8_t> &wanted) {
  int64_t numRows = static_cast<int64_t>(batch.rows.size());
  int64_t numSequences = static_cast<int64_t>(batch.sequences.size());
  Status status = memory->lendWorkspace(entryTable.workspace_bytes(
      batch.numTokens(), numRows, numSequences, host.host().n_workers));
  for (uint32_t p = 0; status && p < entryTable.n_outputs; ++p) {
    const tfc_port_v0 &port = entryTable.outputs[p];
    if (wanted[p]) {
      uint64_t count = static_cast<uint64_t>(
          port.rows == TFC_ROWS_TOKENS ? batch.numTokens() : numRows);
      uint64_t bytes;
      if (__builtin_mul_overflow(count, static_cast<uint64_t>(widthOf(p)) * 4,
                                 &bytes)) {
        return makeError(Code::Exhausted, "expected memory for ", count,
                         " rows of output ", port.name, ", got none");
      }
      status = memory->lendOutput(p, bytes, static_cast<Want>(wanted[p]));
    }
    if (status && wanted[p] == WantedGreatest) {
      status = memory->lendGreatest(numRows);
    }
  }
  return status;
}

Status Runner::checkBuffers() const {
  std::optional<Overrun> overrun = memory->overrun();
  if (!overrun) {
    return {};
  }
  return makeError(
      Code::Internal, model.path(), ": entry ", entryTable.name,
      ": expected writes within the ", overrun->bytes, " bytes of ",
      overrun->port ? concat("output ", entryTable.outputs[*overrun->port].name)
                    : "its workspace",
      ", got one beyond");
}

tfc_step_v0 Runner::fillStep() {
  for (uint32_t p = 0; p < entryTable.n_inputs; ++p) {
    bool isGiven = entryTable.inputs[p].flags & TFC_PORT_EMBEDS;
    inputPointers[p] = isGiven ? static_cast<const void *>(batch.given)
                               : batch.inputs[p].data();
  }
  for (uint32_t c = 0; c < entryTable.n_caches; ++c) {
    uint32_t role = entryTable.caches[c].role;
    const BlockCache *lent = role == TFC_CACHE_SELF    ? &cache
                             : role == TFC_CACHE_STATE ? &states
                                                       : cross;
    caches[c] = lent ? lent->base() : nullptr;
  }
  tfc_step_v0 step{};
  step.struct_size = sizeof(step);
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
  step.host = &host.host();
  step.n_head_rows = static_cast<int64_t>(headRows.size());
  step.head_rows = headRows.data();
  return step;
}

Status Runner::run(const std::vector<uint8_t> &wanted) {
  batch.finish();
  if (!host.begin(
          device.numWorkers(static_cast<int64_t>(batch.items.size())))) {
    return stoppedByCaller();
  }
  Status status = lendBuffers(wanted);
  if (!status) {
    return status;
  }
  tfc_step_v0 step = fillStep();
  Result<int32_t> code = memory->run(
      entryTable, step, {batch.blockTable.size(), batch.numGiven}, wanted);
  if (host.isStopped()) {
    return stoppedByCaller();
  }
  if (!host.callerFault().empty()) {
    return makeError(Code::InvalidArgument, host.callerFault());
  }
  if (!code) {
    return makeError(code.error().code, model.path(), ": entry ",
                     entryTable.name, ": ", code.error().message);
  }
  if (*code != 0) {
    return makeError(Code::Internal, model.path(), ": entry ", entryTable.name,
                     ": expected status 0, got ", *code);
  }
  return checkBuffers();
}

int64_t Runner::widthOf(uint32_t port) const {
  const tfc_port_v0 &table = entryTable.outputs[port];
  bool isNarrow = table.flags & TFC_PORT_HEAD_ROWS && !headRows.empty();
  return isNarrow ? static_cast<int64_t>(headRows.size()) : table.width;
}

const float *Runner::output(uint32_t port) const {
  return reinterpret_cast<const float *>(memory->output(port));
}

float *Runner::floats(uint32_t port) {
  return reinterpret_cast<float *>(memory->output(port));
}

} // namespace tfc::rt
