// Checks the inputs of a forward pass or a generation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Inputs.h"

#include "runtime/src/step/Batch.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

int64_t tokenPort(const tfc_entry_v0 &entry) {
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    std::string_view name = entry.inputs[i].name;
    if (name == "input_ids" || name == "decoder_input_ids") {
      return i;
    }
  }
  return -1;
}

bool hasGiven(const tfc_entry_v0 &entry) {
  int64_t ids = tokenPort(entry);
  return ids >= 0 && entry.inputs[ids].fill == TFC_FILL_GIVEN;
}

int64_t countLeading(const tfc_entry_v0 &entry) {
  return hasGiven(entry) ? entry.inputs[tokenPort(entry)].limit : 0;
}

int32_t InputBatch::value(const tfc_port_v0 &port, uint32_t index, int64_t row,
                          int64_t column, int64_t position) const {
  if (!values[index].empty()) {
    return values[index][row * length + column];
  }
  switch (port.fill) {
  case TFC_FILL_POSITION:
  case TFC_FILL_FROM_MASK:
    return static_cast<int32_t>(position);
  case TFC_FILL_FROM_PAD:
    return pad + 1 + static_cast<int32_t>(position);
  case TFC_FILL_ABSENT:
    return -1;
  case TFC_FILL_GIVEN:
    return static_cast<int32_t>(
        column < port.limit
            ? column
            : -1 - (row * (length - port.limit) + column - port.limit));
  default:
    return 0;
  }
}

int64_t lengthLimit(const tfc_entry_v0 &entry, int64_t maxPositions,
                    const InputBatch &batch) {
  int64_t limit = maxPositions;
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const tfc_port_v0 &port = entry.inputs[p];
    if (fillsByPosition(port) && batch.values[p].empty() &&
        (limit == 0 || port.limit < limit)) {
      limit = port.limit;
    }
  }
  return limit;
}

namespace {

class InputReader {
public:
  InputReader(const Model &model, const tfc_entry_v0 &entry,
              const char *maskName, Faults &faults)
      : entry(entry), maxPositions(model.table().max_positions),
        pad(model.table().pad), stepLimit(model.stepLimit()),
        seen(entry.n_inputs + 1, false), faults(faults) {
    batch.values.resize(entry.n_inputs);
    batch.maskName = maskName;
    batch.pad = static_cast<int32_t>(pad);
  }

  /// Whether the tensor is an input of the entry.
  bool read(const tfc_tensor &tensor) {
    int64_t port = find(tensor.name);
    if (port < 0) {
      return false;
    }
    std::string where = concat("input ", quoteName(tensor.name), ": ");
    if (seen[port]) {
      faults.add(invalid(where, "expected once, got twice"));
      return true;
    }
    seen[port] = true;
    if (isGiven(port)) {
      readGiven(tensor, entry.inputs[port], where);
    } else if (checkShape(tensor, where)) {
      checkValues(tensor, static_cast<uint32_t>(port), where);
    }
    return true;
  }

  /// Once all tensors have been read. `rows`: of another entry's inputs, 0 when
  /// there are none.
  InputBatch finish(int64_t rows) {
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      uint32_t fill = entry.inputs[i].fill;
      if ((fill == TFC_FILL_REQUIRED || fill == TFC_FILL_SHIFTED) && !seen[i]) {
        faults.add(invalid("input ", quoteName(entry.inputs[i].name),
                           ": expected a tensor", ", got none"));
      }
    }
    if (rows != 0 && batch.batch != 0 && batch.batch != rows) {
      faults.add(invalid("input ", quoteName(shapeOwner), ": expected ", rows,
                         " rows (those of input_ids), got ", batch.batch));
    }
    checkLength();
    if (!faults.any()) {
      fillPositions();
    }
    return std::move(batch);
  }

  bool hasAny() const {
    return std::find(seen.begin(), seen.end(), true) != seen.end();
  }
  int64_t numRows() const { return batch.batch; }

  std::string knownNames() const {
    std::string names;
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      if (entry.inputs[i].fill != TFC_FILL_GIVEN) {
        names += concat(entry.inputs[i].name, ", ");
      }
    }
    return names + batch.maskName;
  }

private:
  template <typename... Ts> static Error invalid(const Ts &...parts) {
    return makeError(Code::InvalidArgument, parts...);
  }

  /// Index of the port of this name, n_inputs for the mask, -1 for neither.
  int64_t find(std::string_view name) const {
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      if (name == entry.inputs[i].name &&
          entry.inputs[i].fill != TFC_FILL_GIVEN) {
        return i;
      }
    }
    return name == batch.maskName ? int64_t(entry.n_inputs) : -1;
  }

  bool isGiven(int64_t port) const {
    return port < int64_t(entry.n_inputs) &&
           entry.inputs[port].flags & TFC_PORT_EMBEDS;
  }

  /// Rows of floats, which make the columns behind those that have ids.
  void readGiven(const tfc_tensor &tensor, const tfc_port_v0 &port,
                 const std::string &where) {
    if (tensor.dtype != TFC_F32) {
      faults.add(invalid(where, "expected dtype F32, got another"));
      return;
    }
    uint32_t rank = tensor.rank < 3 ? tensor.rank : 3;
    std::vector<int64_t> shape(tensor.shape, tensor.shape + rank);
    if (tensor.rank != 3 || shape[0] < 1 || shape[1] < 1 ||
        shape[2] != int64_t(port.width)) {
      faults.add(invalid(where, "expected shape [batch, length, ", port.width,
                         "], each at least 1, got ", shapeText(shape)));
      return;
    }
    int64_t leading = countLeading(entry);
    if (batch.batch != 0 &&
        (batch.batch != shape[0] || batch.length - leading != shape[1])) {
      faults.add(
          invalid(where, "expected shape ",
                  shapeText({batch.batch, batch.length - leading, port.width}),
                  " (columns of ", shapeOwner, ", of which ", leading,
                  " are the model's own), got ", shapeText(shape)));
      return;
    }
    if (checkSize(tensor.name, shape[0],
                  std::min(shape[1], stepLimit) + leading, where)) {
      batch.given = static_cast<const float *>(tensor.data);
      batch.numGiven = shape[0] * shape[1];
    }
  }

  bool checkShape(const tfc_tensor &tensor, const std::string &where) {
    if (tensor.dtype != TFC_I32 && tensor.dtype != TFC_I64) {
      faults.add(invalid(where, "expected dtype I32 or I64, got ",
                         tensor.dtype == TFC_F32 ? "F32" : "another"));
      return false;
    }
    if (tensor.rank != 2 || tensor.shape[0] < 1 || tensor.shape[1] < 1) {
      uint32_t rank = tensor.rank < 3 ? tensor.rank : 3;
      std::vector<int64_t> shape(tensor.shape, tensor.shape + rank);
      faults.add(invalid(where, "expected shape [batch, length], each at ",
                         "least 1, got ", shapeText(shape)));
      return false;
    }
    return checkSize(tensor.name, tensor.shape[0], tensor.shape[1], where);
  }

  /// `rows` of `columns` tokens, as many as all tensors have.
  bool checkSize(const char *name, int64_t rows, int64_t columns,
                 const std::string &where) {
    if (rows > stepLimit / columns) {
      faults.add(invalid(where, "expected at most ", stepLimit,
                         " tokens, got shape ", shapeText({rows, columns})));
      return false;
    }
    if (batch.batch == 0) {
      batch.batch = rows;
      batch.length = columns;
      shapeOwner = name;
    } else if (batch.batch != rows || batch.length != columns) {
      faults.add(invalid(where, "expected shape ",
                         shapeText({batch.batch, batch.length}), " (that of ",
                         shapeOwner, "), got ", shapeText({rows, columns})));
      return false;
    }
    return true;
  }

  void checkValues(const tfc_tensor &tensor, uint32_t port,
                   const std::string &where) {
    bool isMask = port == entry.n_inputs;
    int64_t limit = isMask ? 2 : entry.inputs[port].limit;
    int64_t total = batch.batch * batch.length;
    isMask ? batch.mask.resize(total) : batch.values[port].resize(total);
    for (int64_t i = 0; i < total; ++i) {
      int64_t value = load(tensor, i);
      if (value < 0 || value >= limit || value > INT32_MAX) {
        faults.add(invalid(where, "expected values from 0 to ", limit - 1,
                           ", got ", value, " at [", i / batch.length, ", ",
                           i % batch.length, "]"));
        return;
      }
      if (isMask) {
        batch.mask[i] = value != 0;
      } else {
        batch.values[port][i] = static_cast<int32_t>(value);
      }
    }
  }

  static int64_t load(const tfc_tensor &tensor, int64_t i) {
    const char *data = static_cast<const char *>(tensor.data);
    if (tensor.dtype == TFC_I64) {
      int64_t value;
      std::memcpy(&value, data + 8 * i, 8);
      return value;
    }
    int32_t value;
    std::memcpy(&value, data + 4 * i, 4);
    return value;
  }

  void checkLength() {
    int64_t limit = lengthLimit(entry, maxPositions, batch);
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      // The last token of a row without padding has position pad + length.
      int64_t own = entry.inputs[p].limit - 1 - pad;
      if (entry.inputs[p].fill == TFC_FILL_FROM_PAD && !seen[p] &&
          (limit == 0 || own < limit)) {
        limit = std::max<int64_t>(own, 1);
      }
    }
    // Other faults may be why the length is wrong.
    if (!faults.any() && limit != 0 && batch.length > limit) {
      faults.add(invalid("input ", quoteName(shapeOwner),
                         ": expected a length of at most ", limit,
                         " (the model's positions), got ", batch.length));
    }
  }

  /// Ports whose positions depend on the tokens before.
  void fillPositions() {
    int64_t ids = tokenPort(entry);
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      uint32_t fill = entry.inputs[p].fill;
      bool isOpen = batch.values[p].empty() && batch.batch != 0;
      if (fill == TFC_FILL_FROM_PAD && isOpen && ids >= 0) {
        fillFromPad(batch.values[ids], batch.values[p]);
      } else if (fill == TFC_FILL_FROM_MASK && isOpen) {
        countUnmasked();
      }
    }
  }

  void fillFromPad(const std::vector<int32_t> &ids,
                   std::vector<int32_t> &positions) {
    int64_t count = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      count = i % size_t(batch.length) == 0 ? 0 : count;
      count += ids[i] != pad;
      positions.push_back(
          static_cast<int32_t>(ids[i] != pad ? pad + count : pad));
    }
  }

  void countUnmasked() {
    int32_t count = 0;
    batch.unmaskedBefore.clear();
    for (int64_t i = 0; i < batch.batch * batch.length; ++i) {
      count = i % batch.length == 0 ? 0 : count;
      bool exists = batch.exists(i / batch.length, i % batch.length);
      batch.unmaskedBefore.push_back(exists ? count++ : -1);
    }
  }

  const tfc_entry_v0 &entry;
  int64_t maxPositions, pad, stepLimit;
  std::vector<bool> seen;
  std::string shapeOwner;
  InputBatch batch;
  Faults &faults;
};

} // namespace

Result<ModelInputs> readInputs(const Model &model, const tfc_tensor *inputs,
                               uint32_t numInputs) {
  if (numInputs && !inputs) {
    return makeError(Code::InvalidArgument, "expected inputs, got null");
  }
  Faults faults;
  bool isPair = model.isEncoderDecoder();
  InputReader first(model, model.forwardEntry(), "attention_mask", faults);
  std::optional<InputReader> second;
  if (isPair) {
    second.emplace(model, *model.decoder(), decoderMaskName, faults);
  }
  for (uint32_t i = 0; i < numInputs; ++i) {
    if (!inputs[i].name || !inputs[i].data) {
      faults.add(makeError(Code::InvalidArgument, "expected inputs with a ",
                           "name and data, got null"));
    } else if (!first.read(inputs[i]) && !(second && second->read(inputs[i]))) {
      faults.add(makeError(
          Code::InvalidArgument, "input ", quoteName(inputs[i].name),
          ": expected one of ", first.knownNames(),
          second ? ", " + second->knownNames() : "", ", got another name"));
    }
  }
  ModelInputs read;
  int64_t rows = first.numRows();
  bool hasSecond = second && second->hasAny();
  (model.encoder() ? read.encoder : read.decoder) = first.finish(0);
  if (hasSecond) {
    read.decoder = second->finish(rows);
  }
  Status status = faults.take();
  if (!status) {
    return std::move(status.error());
  }
  return read;
}

/// Whether a row has a token that others see.
static Status checkSeen(const tfc_entry_v0 &entry, const InputBatch &batch,
                        int64_t row) {
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const tfc_port_v0 &port = entry.inputs[p];
    bool isSeen = port.fill != TFC_FILL_UNSEEN || batch.values[p].empty();
    for (int64_t column = 0; !isSeen && column < batch.length; ++column) {
      isSeen = batch.exists(row, column) &&
               batch.values[p][row * batch.length + column] == 0;
    }
    if (!isSeen) {
      return makeError(Code::InvalidArgument, "input ", quoteName(port.name),
                       ": expected a 0 in every row (tokens that have a 1 see ",
                       "those that have none), got none in row ", row);
    }
  }
  return {};
}

static Status checkRow(const tfc_entry_v0 &entry, const InputBatch &batch,
                       int64_t row) {
  int64_t first = 0, last = batch.length - 1;
  while (first <= last && !batch.exists(row, first)) {
    ++first;
  }
  while (last >= first && !batch.exists(row, last)) {
    --last;
  }
  std::string where = concat("input ", quoteName(batch.maskName), ": ");
  if (last < first) {
    return makeError(Code::InvalidArgument, where, "expected a token in every ",
                     "row, got none in row ", row);
  }
  const char *why = findCache(entry, TFC_CACHE_STATE) >= 0
                        ? "the model's state is of all tokens"
                    : entry.flags & TFC_ENTRY_DISTANCES
                        ? "the model counts distances"
                        : nullptr;
  for (int64_t column = first; why && column <= last; ++column) {
    if (!batch.exists(row, column)) {
      return makeError(Code::InvalidArgument, where, "expected no masked ",
                       "token between others (", why, "), got one at [", row,
                       ", ", column, "]");
    }
  }
  return checkSeen(entry, batch, row);
}

Status checkRows(const tfc_entry_v0 &entry, const InputBatch &batch) {
  Faults faults;
  for (int64_t row = 0; row < batch.batch; ++row) {
    faults.add(checkRow(entry, batch, row));
  }
  return faults.take();
}

Status checkTokenIds(const char *name, const std::vector<int64_t> &tokens,
                     int64_t vocabulary) {
  Faults faults;
  for (int64_t token : tokens) {
    if (token < 0 || token >= vocabulary) {
      faults.add(makeError(Code::InvalidArgument, name, ": expected token ids ",
                           "from 0 to ", vocabulary - 1, ", got ", token));
    }
  }
  return faults.take();
}

} // namespace tfc::rt
