// Makes steps of given lengths.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Step.h"

#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/step/Inputs.h"

#include <algorithm>
#include <cstring>

namespace tfc::bench {

using rt::Status;

// A prompt goes into the cache in pieces of this many tokens, so that the
// workspace stays that of a step.
static constexpr int64_t fillTokens = 512;

rt::Result<std::unique_ptr<Step>> Step::create(const rt::Model &model,
                                               const Workload &workload) {
  bool isDecoder = workload.kind != Kind::Encode && model.decoder();
  const tfc_entry_v0 &entry =
      isDecoder ? *model.decoder() : model.forwardEntry();
  Status status = checkWorkload(model, entry, workload);
  if (!status) {
    return std::move(status.error());
  }
  std::unique_ptr<Step> step(new Step(model, entry));
  status = step->prepare(workload);
  if (!status) {
    return std::move(status.error());
  }
  return step;
}

Step::Step(const rt::Model &model, const tfc_entry_v0 &entry)
    : model(model), entry(entry), engine(model),
      runner(&entry == model.encoder() ? *engine.encode : *engine.step) {}

/// What port p gets of token t of a sequence.
static int32_t valueOf(const tfc_entry_v0 &entry, uint32_t p, int64_t t,
                       int64_t sequence) {
  const tfc_port_v0 &port = entry.inputs[p];
  int64_t value =
      port.fill == TFC_FILL_GIVEN ? (t < port.limit ? t : port.limit - 1 - t)
      : p == rt::tokenPort(entry) ? promptToken(t, sequence, port.limit)
      : rt::fillsByPosition(port) || port.fill == TFC_FILL_FROM_PAD ? t
      : port.fill == TFC_FILL_ABSENT                                ? -1
                                                                    : 0;
  return static_cast<int32_t>(value);
}

void Step::chooseOutputs(Kind kind) {
  bool onlyLogits = kind != Kind::Encode && model.generateEntry();
  wanted.assign(entry.n_outputs, !onlyLogits);
  if (onlyLogits) {
    // As of a session that chooses the greatest.
    wanted[model.logitsPort()] =
        model.givesGreatest() ? rt::WantedGreatest : rt::WantedRows;
  }
}

/// An encoder-decoder's blocks of sources as long as the sequences: to be
/// written when the encoder is measured, else filled by it.
Status Step::prepareSources(const Workload &workload) {
  if (!model.isEncoderDecoder()) {
    return {};
  }
  sources.resize(workload.lengths.size());
  std::vector<rt::Source *> all;
  const tfc_entry_v0 &encode = *model.encoder();
  for (size_t s = 0; s < sources.size(); ++s) {
    rt::Source &source = sources[s];
    int64_t length = workload.lengths[s];
    if (workload.kind == Kind::Encode) {
      Status status = engine.cross.grow(source.blocks, length);
      if (!status) {
        return status;
      }
      source.count = length;
      continue;
    }
    source.values.resize(encode.n_inputs);
    for (uint32_t p = 0; p < encode.n_inputs; ++p) {
      if (encode.inputs[p].flags & TFC_PORT_EMBEDS) {
        growGiven(encode.inputs[p], length);
        source.given.assign(given.begin(),
                            given.begin() + length * encode.inputs[p].width);
        source.numGiven = length;
        continue;
      }
      for (int64_t t = 0; t < length; ++t) {
        source.values[p].push_back(
            valueOf(encode, p, t, static_cast<int64_t>(s)));
      }
    }
    all.push_back(&source);
  }
  return all.empty() ? Status() : engine.encodeSources(all);
}

Status Step::prepare(const Workload &workload) {
  Status status = engine.open({});
  if (status) {
    status = prepareSources(workload);
  }
  bool isDecode = workload.kind == Kind::Decode;
  tables.resize(workload.lengths.size());
  states.resize(workload.lengths.size());
  for (size_t s = 0; status && s < tables.size(); ++s) {
    status =
        runner.cache.grow(tables[s], workload.lengths[s] + (isDecode ? 1 : 0));
  }
  if (status && isDecode) {
    status = fillCache(workload.lengths);
  }
  if (!status) {
    return status;
  }
  chooseOutputs(workload.kind);
  bool takesAll = false, takesFirst = false;
  for (uint32_t p = 0; p < entry.n_outputs; ++p) {
    bool isRows = entry.outputs[p].rows == TFC_ROWS_WANTED;
    takesFirst |= isRows && entry.outputs[p].take == TFC_TAKE_FIRST;
    takesAll |= isRows && entry.outputs[p].take == TFC_TAKE_ALL &&
                workload.kind == Kind::Encode;
  }
  runner.batch.clear();
  for (size_t s = 0; s < tables.size(); ++s) {
    int64_t length = workload.lengths[s], count = isDecode ? 1 : length;
    int64_t first = runner.batch.numTokens(), last = first + count - 1;
    status = addTokens(static_cast<int64_t>(s), count, isDecode ? length : 0);
    if (!status) {
      return status;
    }
    for (int64_t row = takesAll || takesFirst ? first : last;
         row <= (takesFirst ? first : last); ++row) {
      runner.batch.rows.push_back(static_cast<int32_t>(row));
    }
  }
  return {};
}

Status Step::fillCache(const std::vector<int64_t> &lengths) {
  for (size_t s = 0; s < lengths.size(); ++s) {
    // What is in the blocks matters to no time, so equal lengths may have equal
    // ones.
    size_t like = static_cast<size_t>(
        std::find(lengths.begin(), lengths.end(), lengths[s]) -
        lengths.begin());
    Status status = like < s
                        ? copyBlocks(tables[like], tables[s])
                        : fillSequence(static_cast<int64_t>(s), lengths[s]);
    if (!status) {
      return status;
    }
    if (like < s) {
      states[s].follow(runner.states, states[like]);
    }
  }
  return {};
}

Status Step::fillSequence(int64_t sequence, int64_t length) {
  wanted.assign(entry.n_outputs, 0);
  for (int64_t past = 0; past < length; past += fillTokens) {
    int64_t count = std::min(fillTokens, length - past);
    runner.batch.clear();
    Status status = addTokens(sequence, count, past);
    if (status) {
      status = runner.run(wanted);
    }
    if (!status) {
      return status;
    }
    states[static_cast<size_t>(sequence)].advance(runner.states);
  }
  return {};
}

Status Step::copyBlocks(const rt::BlockTable &from, const rt::BlockTable &to) {
  Status status;
  for (size_t i = 0; status && i < from.size(); ++i) {
    status = runner.cache.copyBlock(to[i], from[i]);
  }
  return status;
}

/// Rows of floats for as many tokens.
void Step::growGiven(const tfc_port_v0 &port, int64_t tokens) {
  size_t size = static_cast<size_t>(tokens) * port.width;
  for (size_t i = given.size(); i < size; ++i) {
    given.push_back(static_cast<float>(i * 37 % 101) / 50 - 1);
  }
}

/// Which all sequences have in common.
void Step::giveRows(const tfc_port_v0 &port, int64_t tokens) {
  growGiven(port, tokens);
  runner.batch.given = given.data();
  runner.batch.numGiven = static_cast<int64_t>(given.size() / port.width);
}

Status Step::addTokens(int64_t sequence, int64_t count, int64_t past) {
  auto number = static_cast<size_t>(sequence);
  Status status = states[number].prepare(runner.states);
  if (!status) {
    return status;
  }
  const rt::Source *source = sources.empty() ? nullptr : &sources[number];
  runner.batch.add(count, past, past + count, tables[number],
                   source ? source->count : 0,
                   source ? &source->blocks : nullptr, &states[number]);
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    if (entry.inputs[p].flags & TFC_PORT_EMBEDS) {
      giveRows(entry.inputs[p], count);
      continue;
    }
    for (int64_t t = past; t < past + count; ++t) {
      runner.batch.inputs[p].push_back(valueOf(entry, p, t, sequence));
    }
  }
  return {};
}

std::vector<NamedCost> Step::costs(const CostSheet &sheet) const {
  return sheet.list(entry, runner.batch, model.isCausal(entry), wanted);
}

uint64_t Step::workspaceBytes() const {
  return entry.workspace_bytes(numTokens(),
                               static_cast<int64_t>(runner.batch.rows.size()),
                               numSequences(), runner.workers());
}

} // namespace tfc::bench
