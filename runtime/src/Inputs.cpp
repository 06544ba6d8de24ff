// Checks the inputs of a forward pass or a generation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Inputs.h"

#include "runtime/src/Batch.h"

#include <cstring>

namespace tfc::rt {

static constexpr const char *maskName = "attention_mask";
static constexpr const char *tokenName = "input_ids";

int64_t tokenPort(const tfc_entry_v0 &entry) {
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    if (std::string_view(entry.inputs[i].name) == tokenName) {
      return i;
    }
  }
  return -1;
}

int32_t InputBatch::value(const tfc_port_v0 &port, uint32_t index, int64_t row,
                          int64_t column, int64_t position) const {
  if (!values[index].empty()) {
    return values[index][row * length + column];
  }
  return port.fill == TFC_FILL_POSITION ? static_cast<int32_t>(position)
         : port.fill == TFC_FILL_ABSENT ? -1
                                        : 0;
}

namespace {

class InputReader {
public:
  InputReader(const tfc_entry_v0 &entry, int64_t maxPositions)
      : entry(entry), maxPositions(maxPositions),
        seen(entry.n_inputs + 1, false) {
    batch.values.resize(entry.n_inputs);
  }

  Result<InputBatch> read(const tfc_tensor *inputs, uint32_t numInputs) {
    for (uint32_t i = 0; i < numInputs; ++i) {
      check(inputs[i]);
    }
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      if (entry.inputs[i].fill == TFC_FILL_REQUIRED && !seen[i]) {
        faults.add(invalid("input ", quoteName(entry.inputs[i].name),
                           ": expected a tensor", ", got none"));
      }
    }
    if (!faults.any()) {
      checkLength();
    }
    Status status = faults.take();
    if (!status) {
      return std::move(status.error());
    }
    return std::move(batch);
  }

private:
  template <typename... Ts> static Error invalid(const Ts &...parts) {
    return makeError(Code::InvalidArgument, parts...);
  }

  /// Index of the port of this name, n_inputs for the mask, -1 for neither.
  int64_t find(std::string_view name) const {
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      if (name == entry.inputs[i].name) {
        return i;
      }
    }
    return name == maskName ? int64_t(entry.n_inputs) : -1;
  }

  std::string knownNames() const {
    std::string names;
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      names += concat(entry.inputs[i].name, ", ");
    }
    return names + maskName;
  }

  void check(const tfc_tensor &tensor) {
    if (!tensor.name || !tensor.data) {
      faults.add(invalid("expected inputs with a name and data, got null"));
      return;
    }
    int64_t port = find(tensor.name);
    std::string where = concat("input ", quoteName(tensor.name), ": ");
    if (port < 0) {
      faults.add(invalid(where, "expected one of ", knownNames(),
                         ", got another name"));
    } else if (seen[port]) {
      faults.add(invalid(where, "expected once, got twice"));
    } else {
      seen[port] = true;
      if (checkShape(tensor, where)) {
        checkValues(tensor, static_cast<uint32_t>(port), where);
      }
    }
  }

  bool checkShape(const tfc_tensor &tensor, const std::string &where) {
    if (tensor.dtype != TFC_I32 && tensor.dtype != TFC_I64) {
      faults.add(invalid(where, "expected dtype I32 or I64, got another"));
      return false;
    }
    if (tensor.rank != 2 || tensor.shape[0] < 1 || tensor.shape[1] < 1) {
      uint32_t rank = tensor.rank < 3 ? tensor.rank : 3;
      std::vector<int64_t> shape(tensor.shape, tensor.shape + rank);
      faults.add(invalid(where, "expected shape [batch, length], each at ",
                         "least 1, got ", shapeText(shape)));
      return false;
    }
    int64_t rows = tensor.shape[0], columns = tensor.shape[1];
    if (rows > maxStepTokens / columns) {
      faults.add(invalid(where, "expected at most ", maxStepTokens,
                         " tokens, got shape ", shapeText({rows, columns})));
      return false;
    }
    if (batch.batch == 0) {
      batch.batch = rows;
      batch.length = columns;
      shapeOwner = tensor.name;
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
    int64_t limit = maxPositions;
    for (uint32_t i = 0; i < entry.n_inputs; ++i) {
      const tfc_port_v0 &port = entry.inputs[i];
      if (port.fill == TFC_FILL_POSITION && !seen[i] &&
          (limit == 0 || port.limit < limit)) {
        limit = port.limit;
      }
    }
    if (limit != 0 && batch.length > limit) {
      faults.add(invalid("input ", quoteName(shapeOwner),
                         ": expected a length of at most ", limit,
                         " (the model's positions), got ", batch.length));
    }
  }

  const tfc_entry_v0 &entry;
  int64_t maxPositions;
  std::vector<bool> seen;
  std::string shapeOwner;
  InputBatch batch;
  Faults faults;
};

} // namespace

Result<InputBatch> readInputs(const tfc_entry_v0 &entry, int64_t maxPositions,
                              const tfc_tensor *inputs, uint32_t numInputs) {
  if (numInputs && !inputs) {
    return makeError(Code::InvalidArgument, "expected inputs, got null");
  }
  return InputReader(entry, maxPositions).read(inputs, numInputs);
}

Status checkRows(const InputBatch &batch) {
  Faults faults;
  for (int64_t row = 0; row < batch.batch; ++row) {
    bool any = false;
    for (int64_t column = 0; column < batch.length && !any; ++column) {
      any = batch.exists(row, column);
    }
    if (!any) {
      faults.add(makeError(Code::InvalidArgument, "input \"", maskName,
                           "\": expected a token in every row, got none in ",
                           "row ", row));
    }
  }
  return faults.take();
}

} // namespace tfc::rt
