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
  auto session = rt::Session::create(model, /*maxCacheBytes=*/0);
  if (!session) {
    return std::move(session.error());
  }
  std::unique_ptr<Generation> made(new Generation(model, workload));
  made->session = std::move(*session);
  int64_t limit = entry.inputs[rt::tokenPort(entry)].limit;
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
                     workload.newTokens, std::vector<int64_t>() /* no eos */);
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
  for (int64_t length : workload.lengths) {
    int64_t past = step == 0 ? 0 : length + step - 1;
    int64_t count = step == 0 ? length : 1;
    int32_t first = batch.add(count, past, past + count, nullptr);
    batch.rows.push_back(first + static_cast<int32_t>(count - 1));
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
  return costs;
}

uint64_t Generation::workspaceBytes() const {
  const tfc_entry_v0 &entry = *model.generateEntry();
  return entry.workspace_bytes(batchOf(0).numTokens(), numSequences(),
                               numSequences(), model.numThreads());
}

} // namespace tfc::bench
