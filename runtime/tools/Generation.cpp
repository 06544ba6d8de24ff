// Serves requests by a session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Generation.h"

#include "runtime/tools/Clock.h"

#include <algorithm>

namespace tfc::bench {

rt::Result<std::unique_ptr<Generation>>
Generation::create(const rt::Model &model, const Workload &workload) {
  bool generates = model.generateEntry() != nullptr;
  const tfc_entry_v0 &entry =
      generates ? *model.generateEntry() : model.forwardEntry();
  rt::Status status = checkWorkload(model, entry, workload);
  if (!status) {
    return std::move(status.error());
  }
  auto session = rt::Session::create(model, {});
  if (!session) {
    return std::move(session.error());
  }
  std::unique_ptr<Generation> made(new Generation(model, workload));
  made->session = std::move(*session);
  const tfc_entry_v0 &reader = model.encoder() ? *model.encoder() : entry;
  int64_t limit = reader.inputs[rt::tokenPort(reader)].limit;
  for (size_t s = 0; s < workload.lengths.size(); ++s) {
    std::vector<int64_t> &prompt = made->prompts.emplace_back();
    for (int64_t t = 0; t < workload.lengths[s]; ++t) {
      prompt.push_back(promptToken(t, static_cast<int64_t>(s), limit));
    }
  }
  return made;
}

rt::Status Generation::run() {
  ends.clear();
  double start = now();
  for (const std::vector<int64_t> &prompt : prompts) {
    auto id =
        session->add({prompt.data(), static_cast<int64_t>(prompt.size())}, {},
                     workload.newTokens, {std::vector<int64_t>()} /* no eos */);
    if (!id) {
      return std::move(id.error());
    }
  }
  for (int64_t i = 0; i < workload.newTokens; ++i) {
    rt::Status status = session->step();
    if (!status) {
      return status;
    }
    ends.push_back(now() - start);
  }
  return {};
}

rt::Batch Generation::batchOf(int64_t step) const {
  const tfc_entry_v0 &entry = *model.generateEntry();
  rt::Batch batch(entry, model.isCausal(entry));
  for (int64_t source : workload.lengths) {
    // An encoder-decoder's decoder begins with one token.
    int64_t length = model.encoder() ? 1 : source;
    int64_t past = step == 0 ? 0 : length + step - 1;
    int64_t count = step == 0 ? length : 1;
    int32_t first =
        batch.add(count, past, past + count, {}, model.encoder() ? source : 0);
    batch.rows.push_back(first + static_cast<int32_t>(count - 1));
  }
  return batch;
}

rt::Batch Generation::sources() const {
  rt::Batch batch(*model.encoder(), false);
  for (int64_t length : workload.lengths) {
    batch.add(length, 0, length, {}, length);
  }
  return batch;
}

std::vector<Cost> Generation::costs(const CostSheet &sheet) const {
  const tfc_entry_v0 &entry = *model.generateEntry();
  std::vector<uint8_t> wanted(entry.n_outputs, 0);
  wanted[model.logitsPort()] = 1;
  std::vector<Cost> costs;
  for (int64_t i = 0; i < workload.newTokens; ++i) {
    costs.push_back(sheet.of(entry, batchOf(i), model.isCausal(entry), wanted));
  }
  // Sources are encoded in the first step.
  if (model.encoder()) {
    std::vector<uint8_t> none(model.encoder()->n_outputs, 0);
    costs.front() =
        costs.front() + sheet.of(*model.encoder(), sources(), false, none);
  }
  return costs;
}

uint64_t Generation::workspaceBytes() const {
  const tfc_entry_v0 &entry = *model.generateEntry();
  uint64_t bytes = entry.workspace_bytes(batchOf(0).numTokens(), numSequences(),
                                         numSequences(), model.numThreads());
  if (model.encoder()) {
    bytes += model.encoder()->workspace_bytes(
        sources().numTokens(), 0, numSequences(), model.numThreads());
  }
  return bytes;
}

} // namespace tfc::bench
