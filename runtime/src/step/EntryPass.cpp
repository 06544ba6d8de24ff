// Packs the tokens of a padded batch, runs them, unpacks the results.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/EntryPass.h"

#include "runtime/src/step/TakenColumns.h"

#include <algorithm>

namespace tfc::rt {

EntryPass::EntryPass(const Model &model, Runner &runner,
                     const InputBatch &inputs, std::vector<uint8_t> wanted,
                     std::vector<int64_t> headRows)
    : model(model), entry(runner.entry()), isCausal(model.isCausal(entry)),
      runner(runner), inputs(inputs), tables(inputs.batch),
      states(inputs.batch), wanted(std::move(wanted)),
      headRows(std::move(headRows)) {}

Status EntryPass::run(const ModelInputs &all, CrossRows *cross) {
  Status status = chooseColumns(all);
  runner.batch.clear();
  runner.batch.given = inputs.given;
  runner.batch.numGiven = inputs.numGiven;
  runner.headRows.assign(headRows.begin(), headRows.end());
  for (int64_t row = 0; status && row < inputs.batch; ++row) {
    status = addRow(row, cross);
  }
  return status ? runner.run(wanted) : status;
}

void EntryPass::collect(std::vector<OutputTensor> &results) const {
  for (uint32_t p = 0; p < entry.n_outputs; ++p) {
    if (wanted[p]) {
      results.push_back(collectPort(p));
    }
  }
}

Status EntryPass::chooseColumns(const ModelInputs &all) {
  bool wantsTokens = false;
  for (uint32_t p = 0; p < entry.n_outputs; ++p) {
    bool isTaken = entry.outputs[p].rows == TFC_ROWS_WANTED;
    wantsTokens |= wanted[p] && !isTaken;
    if (wanted[p] && isTaken) {
      take = entry.outputs[p].take;
    }
  }
  if (!take) {
    return {};
  }
  auto columns = takenColumns(model, entry, *take, all);
  if (!columns) {
    return std::move(columns.error());
  }
  taken = std::move(*columns);
  endsAtTaken = isCausal && !wantsTokens && !taken.empty();
  return {};
}

void EntryPass::addToken(int64_t row, int64_t column) {
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    if (entry.inputs[p].flags & TFC_PORT_EMBEDS) {
      continue;
    }
    runner.batch.inputs[p].push_back(
        inputs.value(entry.inputs[p], p, row, column,
                     inputs.positionOf(entry.inputs[p], row, column)));
  }
}

Status EntryPass::addRow(int64_t row, CrossRows *cross) {
  int64_t count = 0, visible = 0, column = takenColumn(row);
  int64_t end = endsAtTaken ? column + 1 : inputs.length;
  for (int64_t c = 0; c < end; ++c) {
    if (inputs.exists(row, c)) {
      ++count;
      visible += c < column || !isCausal;
    }
  }
  bool hasSpectator = column >= 0 && !inputs.exists(row, column);
  Status status =
      hasSpectator ? checkSpectator(row, column, count, visible) : Status();
  InputBatch::Unseen unseen = unseenOf(row);
  if (status) {
    status =
        runner.cache.grow(tables[row], count + hasSpectator + unseen.count);
  }
  if (status) {
    status = states[row].prepare(runner.states);
  }
  if (status && cross && !isCausal) {
    cross->counts[row] = count;
    status = cross->cache.grow(cross->tables[row], count);
  }
  if (!status) {
    return status;
  }
  auto addSequence = [&](int64_t tokens, int64_t past, int64_t keys) {
    return runner.batch.add(
        tokens, past, keys, tables[row], cross ? cross->counts[row] : 0,
        cross ? &cross->tables[row] : nullptr, &states[row]);
  };
  int32_t next = addSequence(count, 0, count);
  for (int64_t c = 0; c < end; ++c) {
    if (inputs.exists(row, c)) {
      addToken(row, c);
      if ((take && taken.empty()) || column == c) {
        runner.batch.rows.push_back(next);
      }
      ++next;
    }
  }
  if (hasSpectator) {
    runner.batch.rows.push_back(addSequence(1, count, visible));
    addToken(row, column);
  }
  for (int64_t i = 0; i < unseen.count; ++i) {
    addSequence(1, count + hasSpectator + i, count);
    addToken(row, unseen.first + i);
  }
  return {};
}

/// A masked token whose row is wanted: it sees and is not seen, and its place
/// is behind the others.
Status EntryPass::checkSpectator(int64_t row, int64_t column, int64_t count,
                                 int64_t visible) const {
  std::string where = concat("input ", quoteName(inputs.maskName), ": ");
  if (visible == 0) {
    return makeError(Code::InvalidArgument, where, "expected a token before ",
                     "column ", column, " of row ", row,
                     " (an output is taken there), got none");
  }
  if (runner.hasStates()) {
    return makeError(Code::InvalidArgument, where, "expected a token at ",
                     "column ", column, " of row ", row, " (an output is ",
                     "taken there, and the model's state would be of what the ",
                     "mask hides), got a masked one");
  }
  int64_t first = 0;
  while (!inputs.exists(row, first)) {
    ++first;
  }
  if (entry.flags & TFC_ENTRY_DISTANCES && column - first != count) {
    return makeError(Code::InvalidArgument, where, "expected a token at ",
                     "column ", column, " of row ", row, " (an output is ",
                     "taken there, and the model counts distances), got a ",
                     "masked one");
  }
  return {};
}

/// A row of output `p`, of a head the columns that are asked for. Returns where
/// the next one goes.
float *EntryPass::copyRow(const float *from, uint32_t p, float *to) const {
  int64_t width = runner.widthOf(p);
  bool isPicked = !headRows.empty() && isHead(entry, entry.outputs[p]) &&
                  !(entry.outputs[p].flags & TFC_PORT_HEAD_ROWS);
  if (!isPicked) {
    return std::copy(from, from + width, to);
  }
  for (int64_t column : headRows) {
    *to++ = from[column];
  }
  return to;
}

OutputTensor EntryPass::collectPort(uint32_t p) const {
  const tfc_port_v0 &port = entry.outputs[p];
  bool isPerToken = port.rows == TFC_ROWS_TOKENS || taken.empty();
  int64_t width = runner.widthOf(p); // of what was computed
  int64_t columns = !headRows.empty() && isHead(entry, port)
                        ? static_cast<int64_t>(headRows.size())
                        : width;
  OutputTensor out;
  out.name = port.name;
  out.shape = {inputs.batch};
  out.isPerToken = isPerToken;
  if (isPerToken) {
    out.shape.push_back(inputs.length);
  }
  if (!(port.flags & TFC_PORT_SQUEEZED)) {
    out.shape.push_back(columns);
  }
  const float *from = runner.output(p);
  int64_t numRows = inputs.batch * (isPerToken ? inputs.length : 1);
  out.floats.assign(static_cast<size_t>(numRows * columns), 0);
  float *to = out.floats.data();
  if (!isPerToken) {
    for (int64_t row = 0; row < inputs.batch; ++row, from += width) {
      to = copyRow(from, p, to);
    }
    return out;
  }
  bool skipSpectators = port.rows == TFC_ROWS_TOKENS;
  for (int64_t row = 0; row < inputs.batch; ++row) {
    for (int64_t c = 0; c < inputs.length; ++c, to += columns) {
      if (inputs.exists(row, c)) {
        copyRow(from, p, to);
        from += width;
      }
    }
    int64_t column = takenColumn(row);
    if (skipSpectators && column >= 0 && !inputs.exists(row, column)) {
      from += width;
    }
    InputBatch::Unseen unseen = unseenOf(row);
    if (port.rows == TFC_ROWS_TOKENS && unseen.count != 0) {
      int64_t size = unseen.count * width;
      std::copy(from, from + size,
                out.floats.begin() +
                    (row * inputs.length + unseen.first) * width);
      from += size;
    }
  }
  return out;
}

} // namespace tfc::rt
