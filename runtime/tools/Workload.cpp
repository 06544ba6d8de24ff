// Makes steps of given lengths.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Workload.h"

#include "runtime/src/Inputs.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tfc::bench {

using rt::Code;
using rt::makeError;
using rt::Status;

static constexpr const char *kindNames[] = {"encode", "prefill", "decode"};

// More would be a slip of the finger.
static constexpr int64_t maxLength = int64_t(1) << 20;
static constexpr int64_t maxSequences = 4096;

// A prompt goes into the cache in pieces of this many tokens, so that the
// workspace stays that of a step.
static constexpr int64_t fillTokens = 512;

static std::optional<int64_t> parseCount(std::string_view text, int64_t limit) {
  int64_t value = 0;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  bool isWhole = stop == text.data() + text.size();
  if (error != std::errc() || !isWhole || value < 1 || value > limit) {
    return std::nullopt;
  }
  return value;
}

/// "4x128", or a list of lengths.
static std::vector<int64_t> parseLengths(std::string_view text) {
  size_t cross = text.find('x');
  if (cross != std::string_view::npos) {
    auto count = parseCount(text.substr(0, cross), maxSequences);
    auto length = parseCount(text.substr(cross + 1), maxLength);
    return count && length
               ? std::vector<int64_t>(static_cast<size_t>(*count), *length)
               : std::vector<int64_t>();
  }
  std::vector<int64_t> lengths;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    auto length = parseCount(text.substr(begin, end - begin), maxLength);
    if (!length || lengths.size() == static_cast<size_t>(maxSequences)) {
      return {};
    }
    lengths.push_back(*length);
    begin = end + 1;
  }
  return lengths;
}

std::optional<Workload> parseWorkload(const std::string &text) {
  size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  Workload workload;
  workload.text = text;
  workload.lengths = parseLengths(std::string_view(text).substr(colon + 1));
  for (int kind = 0; kind < 3; ++kind) {
    if (text.substr(0, colon) == kindNames[kind] && !workload.lengths.empty()) {
      workload.kind = static_cast<Kind>(kind);
      return workload;
    }
  }
  return std::nullopt;
}

std::vector<Workload> defaultWorkloads(const rt::Model &model) {
  bool isDecoder = model.isCausal(model.forwardEntry());
  std::vector<std::string> texts =
      isDecoder ? std::vector<std::string>{"prefill:1x512", "decode:1x128",
                                           "decode:1x1024", "decode:4x128",
                                           "decode:16x128"}
                : std::vector<std::string>{"encode:1x128", "encode:1x384",
                                           "encode:12,128,33,71,95,50,110,27"};
  int64_t limit = model.table().max_positions;
  std::vector<Workload> workloads;
  for (const std::string &text : texts) {
    Workload workload = *parseWorkload(text);
    for (int64_t &length : workload.lengths) {
      int64_t most = limit - (workload.kind == Kind::Decode);
      if (limit != 0 && length > most) {
        length = std::max<int64_t>(1, most);
        workload.text = rt::concat(kindNames[static_cast<int>(workload.kind)],
                                   ":", workload.lengths.size(), "x", length);
      }
    }
    bool isNew = std::none_of(
        workloads.begin(), workloads.end(),
        [&](const Workload &other) { return other.text == workload.text; });
    if (isNew) {
      workloads.push_back(std::move(workload));
    }
  }
  return workloads;
}

/// Errors when a sequence needs more positions than there are (0: no limit).
static Status checkLength(const Workload &workload, int64_t limit) {
  int64_t longest =
      *std::max_element(workload.lengths.begin(), workload.lengths.end()) +
      (workload.kind == Kind::Decode);
  if (limit != 0 && longest > limit) {
    return makeError(Code::InvalidArgument, "workload ", workload.text,
                     ": expected sequences within ", limit,
                     " tokens (the model's positions), got ", longest);
  }
  return {};
}

/// Errors when the model cannot run the workload.
static Status checkWorkload(const rt::Model &model, const Workload &workload) {
  bool isDecoder = model.isCausal(model.forwardEntry());
  if (!isDecoder && workload.kind != Kind::Encode) {
    return makeError(Code::InvalidArgument, "workload ", workload.text,
                     ": expected encode:... (the model is an encoder), got ",
                     kindNames[static_cast<int>(workload.kind)]);
  }
  return checkLength(workload, model.table().max_positions);
}

rt::Result<std::unique_ptr<Step>> Step::create(const rt::Model &model,
                                               const Workload &workload) {
  Status status = checkWorkload(model, workload);
  if (!status) {
    return std::move(status.error());
  }
  bool generates = workload.kind != Kind::Encode && model.generateEntry();
  const tfc_entry_v0 &entry =
      generates ? *model.generateEntry() : model.forwardEntry();
  for (uint32_t p = 0; status && p < entry.n_inputs; ++p) {
    if (entry.inputs[p].fill == TFC_FILL_POSITION) {
      status = checkLength(workload, entry.inputs[p].limit);
    }
  }
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
    : model(model), entry(entry), runner(model, entry) {}

void Step::chooseOutputs(Kind kind) {
  bool onlyLogits = kind != Kind::Encode && model.generateEntry();
  wanted.assign(entry.n_outputs, !onlyLogits);
  if (onlyLogits) {
    wanted[model.logitsPort()] = 1;
  }
}

Status Step::prepare(const Workload &workload) {
  Status status = runner.openCache(0);
  bool isDecode = workload.kind == Kind::Decode;
  tables.resize(workload.lengths.size());
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
    addTokens(static_cast<int64_t>(s), count, isDecode ? length : 0, tables[s]);
    for (int64_t row = takesAll || takesFirst ? first : last;
         row <= (takesFirst ? first : last); ++row) {
      runner.batch.rows.push_back(static_cast<int32_t>(row));
    }
  }
  return {};
}

Status Step::fillCache(const std::vector<int64_t> &lengths) {
  for (size_t s = 0; s < lengths.size(); ++s) {
    // What a block holds depends on its sequence alone, so equal lengths may
    // have equal blocks.
    size_t like = static_cast<size_t>(
        std::find(lengths.begin(), lengths.end(), lengths[s]) -
        lengths.begin());
    if (like < s) {
      copyBlocks(tables[like], tables[s]);
      continue;
    }
    Status status = fillSequence(tables[s], lengths[s]);
    if (!status) {
      return status;
    }
  }
  return {};
}

Status Step::fillSequence(const rt::BlockTable &table, int64_t length) {
  wanted.assign(entry.n_outputs, 0);
  for (int64_t past = 0; past < length; past += fillTokens) {
    int64_t count = std::min(fillTokens, length - past);
    runner.batch.clear();
    addTokens(0, count, past, table);
    Status status = runner.run(wanted);
    if (!status) {
      return status;
    }
  }
  return {};
}

void Step::copyBlocks(const rt::BlockTable &from, const rt::BlockTable &to) {
  auto *base = static_cast<uint8_t *>(runner.cache.base());
  for (size_t i = 0; base && i < from.size(); ++i) {
    std::memcpy(base + uint64_t(to[i]) * entry.self.block_bytes,
                base + uint64_t(from[i]) * entry.self.block_bytes,
                entry.self.block_bytes);
  }
}

void Step::addTokens(int64_t sequence, int64_t count, int64_t past,
                     const rt::BlockTable &table) {
  runner.batch.add(count, past, past + count, table.data());
  int64_t ids = rt::tokenPort(entry);
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const tfc_port_v0 &port = entry.inputs[p];
    for (int64_t t = past; t < past + count; ++t) {
      // Spread over the table, so that look-ups are not all in one place.
      int64_t mixed = (t * 7919 + sequence * 104729 + 13) % port.limit;
      int64_t value = p == ids                         ? mixed
                      : port.fill == TFC_FILL_POSITION ? t
                      : port.fill == TFC_FILL_ABSENT   ? -1
                                                       : 0;
      runner.batch.inputs[p].push_back(static_cast<int32_t>(value));
    }
  }
}

std::vector<NamedCost> Step::costs(const CostSheet &sheet) const {
  return sheet.list(entry, runner.batch, model.isCausal(entry), wanted);
}

uint64_t Step::workspaceBytes() const {
  return entry.workspace_bytes(numTokens(),
                               static_cast<int64_t>(runner.batch.rows.size()),
                               numSequences(), model.numThreads());
}

} // namespace tfc::bench
