// Continuous batching.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Session.h"

#include "runtime/src/Decoding.h"

#include <algorithm>

namespace tfc::rt {

Session::Session(const Model &model, const tfc_entry_v0 &entry)
    : model(model), entry(entry), runner(model, entry), ids(tokenPort(entry)),
      wanted(entry.n_outputs, 0), scores(model.host()) {
  wanted[model.logitsPort()] = 1;
}

Error cannotGenerate(const Model &model) {
  return makeError(Code::Unsupported, model.path(), ": expected a model ",
                   "that generates (an output \"logits\" of every token), ",
                   "got one that cannot");
}

Result<std::unique_ptr<Session>> Session::create(const Model &model,
                                                 uint64_t maxCacheBytes) {
  const tfc_entry_v0 *entry = model.generateEntry();
  if (!entry || tokenPort(*entry) < 0) {
    return cannotGenerate(model);
  }
  std::unique_ptr<Session> session(new Session(model, *entry));
  Status status = session->runner.openCache(maxCacheBytes);
  if (!status) {
    return std::move(status.error());
  }
  return session;
}

uint64_t Session::add(Prompt prompt) {
  Sequence sequence;
  sequence.id = ++lastId;
  sequence.next = std::move(prompt);
  sequences.push_back(std::move(sequence));
  return lastId;
}

Result<uint64_t> Session::add(const int64_t *tokens, int64_t count,
                              int64_t maxNewTokens,
                              std::optional<std::vector<int64_t>> eos,
                              const tfc_decoding_options *decoding) {
  if (!tokens || count < 1 || maxNewTokens < 1) {
    return makeError(Code::InvalidArgument,
                     "expected a prompt and new tokens, "
                     "at least 1 each, got ",
                     count, " and ", maxNewTokens);
  }
  tfc_tensor tensor{"input_ids", TFC_I64, 2, {1, count, 0}, tokens};
  Result<InputBatch> batch =
      readInputs(entry, model.table().max_positions, &tensor, 1);
  if (!batch) {
    return std::move(batch.error());
  }
  Result<Prompt> prompt = promptOfRow(model, entry, *batch, 0, maxNewTokens);
  if (!prompt) {
    return std::move(prompt.error());
  }
  const tfc_module_v0 &table = model.table();
  prompt->eos = eos ? std::move(*eos)
                    : std::vector<int64_t>(table.eos, table.eos + table.n_eos);
  tfc_decoding_options how = decoding ? *decoding : defaultDecoding(table);
  if (!decoding) {
    how.num_beams = 1;
  }
  Status status = checkDecoding(how, entry.inputs[ids].limit);
  if (status && (how.num_beams > 1 || how.num_return_sequences > 1)) {
    status = makeError(Code::Unsupported, "expected one beam and one returned ",
                       "sequence in a session, got ", how.num_beams, " and ",
                       how.num_return_sequences);
  }
  if (!status) {
    return std::move(status.error());
  }
  prompt->choice.rules = makeScoreRules(how, prompt->eos, count, maxNewTokens);
  prompt->choice.seed = how.seed;
  prompt->choice.tokens.assign(tokens, tokens + count);
  prompt->choice.promptLength = count;
  return add(std::move(*prompt));
}

Status Session::remove(uint64_t id) {
  auto found = std::find_if(sequences.begin(), sequences.end(),
                            [&](const Sequence &s) { return s.id == id; });
  if (found == sequences.end()) {
    return makeError(Code::NotFound, "expected a sequence of the session, got ",
                     id);
  }
  runner.cache.release(found->blocks);
  sequences.erase(found);
  return {};
}

Status Session::step() {
  results.clear();
  if (sequences.empty()) {
    return {};
  }
  Status status = fillBatch();
  if (status) {
    status = runner.run(wanted);
  }
  if (status) {
    status = pickTokens();
  }
  if (!status) {
    results.clear();
    return status;
  }
  for (size_t s = 0; s < sequences.size(); ++s) {
    Sequence &sequence = sequences[s];
    int64_t token = results[s].token;
    const std::vector<int64_t> &eos = sequence.next.eos;
    ++sequence.produced;
    if (std::find(eos.begin(), eos.end(), token) != eos.end()) {
      results[s].state = TFC_ENDED;
    } else if (sequence.produced == sequence.next.maxNewTokens) {
      results[s].state = TFC_LENGTH_REACHED;
    } else {
      advance(sequence, token);
      continue;
    }
    runner.cache.release(sequence.blocks);
    sequence.id = 0;
  }
  sequences.erase(std::remove_if(sequences.begin(), sequences.end(),
                                 [](const Sequence &s) { return s.id == 0; }),
                  sequences.end());
  return {};
}

Status Session::fillBatch() {
  Batch &batch = runner.batch;
  batch.clear();
  int64_t total = 0;
  for (Sequence &sequence : sequences) {
    int64_t count = sequence.count(ids);
    bool hasSpectator = !sequence.next.spectator.empty();
    total += count + hasSpectator;
    if (total > maxStepTokens) {
      return makeError(Code::Exhausted, "expected at most ", maxStepTokens,
                       " tokens in a step, got more");
    }
    Status status = runner.cache.grow(sequence.blocks,
                                      sequence.past + count + hasSpectator);
    if (!status) {
      return status;
    }
  }
  for (Sequence &sequence : sequences) {
    int64_t count = sequence.count(ids), keys = sequence.past + count;
    const int32_t *blocks = sequence.blocks.data();
    int32_t first = batch.add(count, sequence.past, keys, blocks);
    int32_t last = first + static_cast<int32_t>(count) - 1;
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      const std::vector<int32_t> &values = sequence.next.values[p];
      batch.inputs[p].insert(batch.inputs[p].end(), values.begin(),
                             values.end());
    }
    if (!sequence.next.spectator.empty()) {
      last = batch.add(1, keys, keys, blocks);
      for (uint32_t p = 0; p < entry.n_inputs; ++p) {
        batch.inputs[p].push_back(sequence.next.spectator[p]);
      }
    }
    batch.rows.push_back(last);
  }
  return {};
}

Status Session::pickTokens() {
  choices.clear();
  for (const Sequence &sequence : sequences) {
    choices.push_back(&sequence.next.choice);
  }
  uint32_t port = model.logitsPort();
  scores.choose(runner.output(port), entry.outputs[port].width, choices,
                chosen);
  for (size_t s = 0; s < sequences.size(); ++s) {
    if (chosen[s] >= entry.inputs[ids].limit) {
      return makeError(Code::Incompatible, model.path(), ": expected token ",
                       "ids below ", entry.inputs[ids].limit,
                       " (the embedding's rows), got ", chosen[s]);
    }
    results.push_back({sequences[s].id, chosen[s], TFC_RUNNING, 0});
  }
  return {};
}

void Session::advance(Sequence &sequence, int64_t token) {
  Prompt &next = sequence.next;
  next.choice.tokens.push_back(static_cast<int32_t>(token));
  sequence.past += sequence.count(ids);
  next.spectator.clear();
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    bool isPosition = entry.inputs[p].fill == TFC_FILL_POSITION;
    int64_t value = p == ids     ? token
                    : isPosition ? next.nextPosition
                                 : next.carry[p];
    next.values[p].assign(1, static_cast<int32_t>(value));
  }
  ++next.nextPosition;
}

} // namespace tfc::rt
