// Runs beam searches on a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/BeamGenerate.h"

#include "runtime/src/threads/ForEach.h"

namespace tfc::rt {

BeamGeneration::BeamGeneration(const Model &model, const tfc_entry_v0 &entry)
    : model(model), entry(entry), engine(model), runner(*engine.step),
      ids(tokenPort(entry)), wanted(entry.n_outputs, 0),
      scores(model.workers()) {
  wanted[model.logitsPort()] = WantedRows;
}

Result<std::unique_ptr<BeamGeneration>>
BeamGeneration::create(const Model &model, const EngineOptions &options) {
  const tfc_entry_v0 *entry = model.generateEntry();
  if (!entry || tokenPort(*entry) < 0) {
    return cannotGenerate(model);
  }
  std::unique_ptr<BeamGeneration> made(new BeamGeneration(model, *entry));
  Status status = made->engine.open(options);
  if (!status) {
    return std::move(status.error());
  }
  return made;
}

void BeamGeneration::add(Prompt prompt, const BeamOptions &options) {
  all.emplace_back(options, prompt.choice.tokens,
                   entry.outputs[model.logitsPort()].width);
  Group group;
  group.prompt = std::move(prompt);
  group.blocks.resize(static_cast<size_t>(options.numBeams));
  group.nextBlocks.resize(group.blocks.size());
  group.states.resize(group.blocks.size());
  group.nextStates.resize(group.blocks.size());
  groups.push_back(std::move(group));
}

bool BeamGeneration::isDone() const {
  return std::all_of(all.begin(), all.end(),
                     [](const BeamSearch &search) { return search.isDone(); });
}

Status BeamGeneration::step() {
  Status status = encodeSources();
  if (status) {
    status = growCache();
  }
  if (status) {
    fillBatch();
    status = runner.run(wanted);
  }
  if (!status) {
    return status;
  }
  search();
  for (size_t g = 0; status && g < groups.size(); ++g) {
    if (groups[g].firstRow >= 0) {
      status = advance(all[g], groups[g]);
    }
  }
  return status;
}

Status BeamGeneration::encodeSources() {
  if (!model.encoder() || groups.front().prompt.source->count != 0) {
    return {};
  }
  // All prompts are there before the first step.
  std::vector<Source *> sources;
  for (const Group &group : groups) {
    sources.push_back(group.prompt.source.get());
  }
  return engine.encodeSources(sources);
}

Status BeamGeneration::growCache() {
  BlockCache &cache = runner.cache;
  int64_t total = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    Group &group = groups[g];
    const Prompt &prompt = group.prompt;
    int64_t count = 1;
    size_t numTables = group.blocks.size();
    if (!group.isStarted) {
      count = static_cast<int64_t>(prompt.values[ids].size()) +
              !prompt.spectator.empty();
      numTables = 1;
    }
    for (size_t b = 0; b < numTables && !all[g].isDone(); ++b) {
      total += count;
      int64_t end = group.past + count;
      Status status = cache.makeWritable(group.blocks[b], group.past, end);
      if (status) {
        status = cache.grow(group.blocks[b], end);
      }
      if (status) {
        status = group.states[b].prepare(runner.states);
      }
      if (!status) {
        return status;
      }
    }
  }
  if (total > model.stepLimit()) {
    return makeError(Code::Exhausted, "expected at most ", model.stepLimit(),
                     " tokens in a step, got ", total);
  }
  return {};
}

void BeamGeneration::fillBatch() {
  runner.batch.clear();
  rules.clear();
  rows.clear();
  for (size_t g = 0; g < groups.size(); ++g) {
    Group &group = groups[g];
    group.firstRow = -1;
    if (all[g].isDone()) {
      continue;
    }
    group.firstRow = static_cast<int64_t>(rows.size());
    group.isStarted ? addBeams(all[g], group) : addPrompt(group);
    const Choice &choice = group.prompt.choice;
    size_t numRows = group.isStarted ? group.blocks.size() : 1;
    for (size_t beam = 0; beam < numRows; ++beam) {
      const std::vector<int32_t> &tokens =
          all[g].sequence(static_cast<int64_t>(beam));
      rules.push_back(&choice.rules);
      rows.push_back({tokens.data(), all[g].length(), choice.promptLength,
                      choice.numPadding});
    }
  }
}

/// The prompt once: its beams do not differ yet.
void BeamGeneration::addPrompt(Group &group) {
  Batch &batch = runner.batch;
  const Prompt &prompt = group.prompt;
  int64_t count = static_cast<int64_t>(prompt.values[ids].size());
  const BlockTable &blocks = group.blocks[0];
  int32_t last = batch.add(count, 0, count, blocks, group.crossCount(),
                           group.crossBlocks(), &group.states[0]) +
                 static_cast<int32_t>(count) - 1;
  bool hasSpectator = !prompt.spectator.empty();
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const std::vector<int32_t> &values = prompt.values[p];
    batch.inputs[p].insert(batch.inputs[p].end(), values.begin(), values.end());
    if (hasSpectator) {
      batch.inputs[p].push_back(prompt.spectator[p]);
    }
  }
  if (hasSpectator) {
    last = batch.add(1, count, count, blocks, group.crossCount(),
                     group.crossBlocks());
  }
  batch.rows.push_back(last);
}

void BeamGeneration::addBeams(const BeamSearch &search, Group &group) {
  Batch &batch = runner.batch;
  const Prompt &prompt = group.prompt;
  for (size_t beam = 0; beam < group.blocks.size(); ++beam) {
    batch.rows.push_back(batch.add(1, group.past, group.past + 1,
                                   group.blocks[beam], group.crossCount(),
                                   group.crossBlocks(), &group.states[beam]));
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      batch.inputs[p].push_back(p == ids ? search.tokens()[beam]
                                         : prompt.carried(entry.inputs[p], p));
    }
  }
}

void BeamGeneration::search() {
  uint32_t port = model.logitsPort();
  int64_t width = entry.outputs[port].width;
  const float *table =
      scores.logProbabilities(runner.output(port), width, rules, rows);
  forEach(model.workers(), static_cast<int64_t>(groups.size()),
          [&](int64_t g, uint32_t) {
            const Group &group = groups[g];
            if (group.firstRow < 0) {
              return;
            }
            const Choice &choice = group.prompt.choice;
            std::optional<DrawKey> noise;
            if (choice.rules.isSampled) {
              int64_t position = all[g].length() - choice.promptLength;
              noise = {choice.seed, choice.returnIndex,
                       static_cast<uint32_t>(position)};
            }
            all[g].step(table + group.firstRow * width,
                        group.isStarted ? width : 0, noise);
          });
}

/// Gives every beam the blocks of the one it continues.
Status BeamGeneration::advance(BeamSearch &search, Group &group) {
  Prompt &prompt = group.prompt;
  for (SequenceState &state : group.states) {
    state.advance(runner.states);
  }
  // The prompt was run once for all beams: whichever of them one continues, the
  // first has the blocks.
  bool isFirst = !group.isStarted;
  if (group.isStarted) {
    ++group.past;
    ++prompt.nextPosition;
  } else {
    group.past = static_cast<int64_t>(prompt.values[ids].size());
    group.isStarted = true;
  }
  for (size_t beam = 0; beam < group.blocks.size() && !search.isDone();
       ++beam) {
    int32_t token = search.tokens()[beam];
    if (token >= entry.inputs[ids].limit) {
      return makeError(Code::Incompatible, model.path(), ": expected token ",
                       "ids below ", entry.inputs[ids].limit,
                       " (the embedding's rows), got ", token);
    }
    int32_t parent = isFirst ? 0 : search.parents()[beam];
    runner.cache.share(group.blocks[parent], group.nextBlocks[beam]);
    group.nextStates[beam].follow(runner.states, group.states[parent]);
  }
  std::swap(group.blocks, group.nextBlocks);
  std::swap(group.states, group.nextStates);
  for (SequenceState &state : group.nextStates) {
    state.release(runner.states);
  }
  for (BlockTable &table : group.nextBlocks) {
    runner.cache.release(table);
  }
  if (search.isDone() && prompt.source) {
    engine.cross.release(prompt.source->blocks);
  }
  return {};
}

} // namespace tfc::rt
