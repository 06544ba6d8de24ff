// Finds the columns by token ids, as Hugging Face's heads do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/TakenColumns.h"

#include <algorithm>

namespace tfc::rt {

namespace {

using Columns = std::vector<int64_t>;

/// By ids, not by mask: an all-pad row gives its first column.
Result<Columns> lastNonpad(const Model &model, const tfc_entry_v0 &entry,
                           const InputBatch &inputs) {
  int64_t ids = tokenPort(entry), pad = model.table().pad;
  Columns columns(static_cast<size_t>(inputs.batch), inputs.length - 1);
  if (pad < 0 && inputs.batch != 1) {
    return makeError(Code::InvalidArgument, "expected a batch of 1 (the model ",
                     "has no pad token), got ", inputs.batch);
  }
  for (int64_t row = 0; pad >= 0 && ids >= 0 && row < inputs.batch; ++row) {
    int64_t &column = columns[row];
    while (column > 0 &&
           inputs.values[ids][row * inputs.length + column] == pad) {
      --column;
    }
  }
  return columns;
}

/// The first column that the mask leaves, from column `begin` on in steps of 1
/// or -1. Every row has one.
Columns visible(const InputBatch &inputs, int64_t begin, int64_t step) {
  Columns columns(static_cast<size_t>(inputs.batch), begin);
  for (int64_t row = 0; row < inputs.batch; ++row) {
    while (!inputs.exists(row, columns[row])) {
      columns[row] += step;
    }
  }
  return columns;
}

/// Of the model's input_ids, masked tokens too.
Result<Columns> lastEos(const Model &model, const InputBatch &inputs) {
  const tfc_module_v0 &table = model.table();
  int64_t ids = tokenPort(model.forwardEntry());
  Columns columns;
  int64_t expected = 0;
  for (int64_t row = 0; row < inputs.batch; ++row) {
    int64_t last = -1, count = 0;
    for (int64_t column = 0; column < inputs.length; ++column) {
      int64_t token = inputs.values[ids][row * inputs.length + column];
      if (std::find(table.eos, table.eos + table.n_eos, token) !=
          table.eos + table.n_eos) {
        last = column;
        ++count;
      }
    }
    if (last < 0) {
      return makeError(Code::InvalidArgument, "input \"input_ids\": expected ",
                       "an end token in every row (an output is taken at the ",
                       "last one), got none in row ", row);
    }
    expected = row == 0 ? count : expected;
    if (count != expected) {
      return makeError(Code::InvalidArgument, "input \"input_ids\": expected ",
                       "equally many end tokens in all rows (", expected,
                       ", as in row 0), got ", count, " in row ", row);
    }
    columns.push_back(last);
  }
  return columns;
}

/// Masked tokens too: a pad token that is the end token stands behind it.
Result<Columns> firstEos(const Model &model, const tfc_entry_v0 &entry,
                         const InputBatch &inputs) {
  const tfc_module_v0 &table = model.table();
  int64_t ids = tokenPort(entry);
  Columns columns;
  for (int64_t row = 0; row < inputs.batch; ++row) {
    auto begin = inputs.values[ids].begin() + row * inputs.length;
    auto end = begin + inputs.length;
    auto found =
        std::find_first_of(begin, end, table.eos, table.eos + table.n_eos);
    if (found == end) {
      return makeError(Code::InvalidArgument, "input \"input_ids\": expected ",
                       "an end token in every row (an output is taken at the ",
                       "first one), got none in row ", row);
    }
    columns.push_back(found - begin);
  }
  return columns;
}

} // namespace

Result<Columns> takenColumns(const Model &model, const tfc_entry_v0 &entry,
                             uint32_t take, const ModelInputs &inputs) {
  bool isDecoder = &entry == model.decoder();
  const InputBatch &own = isDecoder ? inputs.decoder : inputs.encoder;
  if (take == TFC_TAKE_FIRST) {
    return Columns(static_cast<size_t>(own.batch), 0);
  }
  if (take == TFC_TAKE_LAST_NONPAD) {
    return lastNonpad(model, entry, own);
  }
  if (take == TFC_TAKE_FIRST_VISIBLE) {
    return visible(own, 0, 1);
  }
  if (take == TFC_TAKE_LAST_VISIBLE) {
    return visible(own, own.length - 1, -1);
  }
  if (take == TFC_TAKE_FIRST_EOS) {
    return firstEos(model, entry, own);
  }
  if (take != TFC_TAKE_LAST_EOS) {
    return Columns();
  }
  const InputBatch &source = model.encoder() ? inputs.encoder : inputs.decoder;
  if (own.length != source.length) {
    return makeError(Code::InvalidArgument, "input \"decoder_input_ids\": ",
                     "expected the length of input_ids, ", source.length,
                     " (an output is taken at their last end token), got ",
                     own.length);
  }
  return lastEos(model, source);
}

} // namespace tfc::rt
