// Packs the tokens of a padded batch, runs them, and puts the results back into
// their columns.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Forward.h"

#include "runtime/src/Inputs.h"
#include "runtime/src/Runner.h"

#include <algorithm>

namespace tfc::rt {

namespace {

class Forward {
public:
  Forward(const Model &model, Runner &runner, const InputBatch &inputs)
      : model(model), entry(model.forwardEntry()), runner(runner),
        inputs(inputs), tables(inputs.batch) {}

  Status chooseOutputs(const std::vector<std::string> &names) {
    wanted.assign(entry.n_outputs, names.empty());
    for (const std::string &name : names) {
      uint32_t p = 0;
      while (p < entry.n_outputs && name != entry.outputs[p].name) {
        ++p;
      }
      if (p == entry.n_outputs) {
        return makeError(Code::InvalidArgument, "output ", quoteName(name),
                         ": expected an output of the model, got another ",
                         "name");
      }
      wanted[p] = true;
    }
    for (uint32_t p = 0; p < entry.n_outputs; ++p) {
      if (wanted[p] && entry.outputs[p].rows == TFC_ROWS_WANTED) {
        take = entry.outputs[p].take;
      }
    }
    return takes(TFC_TAKE_LAST_NONPAD) ? checkPad() : Status();
  }

  Status run() {
    runner.batch.clear();
    runner.cache.clear();
    for (int64_t row = 0; row < inputs.batch; ++row) {
      Status status = addRow(row);
      if (!status) {
        return status;
      }
    }
    return runner.run(wanted);
  }

  std::vector<OutputTensor> collect() const {
    std::vector<OutputTensor> results;
    for (uint32_t p = 0; p < entry.n_outputs; ++p) {
      if (wanted[p]) {
        results.push_back(collectPort(p));
      }
    }
    return results;
  }

private:
  Status checkPad() const {
    if (model.table().pad >= 0 || inputs.batch == 1) {
      return {};
    }
    return makeError(Code::InvalidArgument, "expected a batch of 1 (the model ",
                     "has no pad token), got ", inputs.batch);
  }

  bool takes(uint32_t what) const { return take && *take == what; }

  /// The one column whose row the outputs take, or -1.
  int64_t takenColumn(int64_t row) const {
    if (takes(TFC_TAKE_FIRST)) {
      return 0;
    }
    int64_t ids = tokenPort(entry), pad = model.table().pad;
    if (!takes(TFC_TAKE_LAST_NONPAD)) {
      return -1;
    }
    if (pad < 0 || ids < 0) {
      return inputs.length - 1;
    }
    // By ids, not by mask: an all-pad row gives its first column.
    int64_t column = inputs.length - 1;
    while (column > 0 &&
           inputs.values[ids][row * inputs.length + column] == pad) {
      --column;
    }
    return column;
  }

  void addToken(int64_t row, int64_t column) {
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      runner.batch.inputs[p].push_back(
          inputs.value(entry.inputs[p], p, row, column, column));
    }
  }

  Status addRow(int64_t row) {
    int64_t count = 0, visible = 0, taken = takenColumn(row);
    for (int64_t column = 0; column < inputs.length; ++column) {
      if (inputs.exists(row, column)) {
        ++count;
        visible += column < taken || !model.isCausal(entry);
      }
    }
    bool hasSpectator = taken >= 0 && !inputs.exists(row, taken);
    Status status = runner.cache.grow(tables[row], count + hasSpectator);
    if (!status) {
      return status;
    }
    const int32_t *blocks = tables[row].data();
    int32_t first = runner.batch.add(count, 0, count, blocks);
    int32_t next = first;
    for (int64_t column = 0; column < inputs.length; ++column) {
      if (inputs.exists(row, column)) {
        addToken(row, column);
        if (takes(TFC_TAKE_ALL) || taken == column) {
          runner.batch.rows.push_back(next);
        }
        ++next;
      }
    }
    return hasSpectator ? addSpectator(row, taken, count, visible) : Status();
  }

  /// A masked token whose row is wanted: it sees and is not seen.
  Status addSpectator(int64_t row, int64_t column, int64_t past,
                      int64_t visible) {
    if (visible == 0) {
      return makeError(Code::InvalidArgument, "input \"attention_mask\": ",
                       "expected a token before column ", column, " of row ",
                       row, " (an output is taken there), got none");
    }
    const int32_t *blocks = tables[row].data();
    runner.batch.rows.push_back(runner.batch.add(1, past, visible, blocks));
    addToken(row, column);
    return {};
  }

  OutputTensor collectPort(uint32_t p) const {
    const tfc_port_v0 &port = entry.outputs[p];
    bool isPerToken = port.rows == TFC_ROWS_TOKENS || takes(TFC_TAKE_ALL);
    int64_t width = port.width;
    OutputTensor out;
    out.name = port.name;
    out.shape = {inputs.batch};
    if (isPerToken) {
      out.shape.push_back(inputs.length);
    }
    if (!(port.flags & TFC_PORT_SQUEEZED)) {
      out.shape.push_back(width);
    }
    const float *from = runner.output(p);
    int64_t numRows = inputs.batch * (isPerToken ? inputs.length : 1);
    out.floats.assign(static_cast<size_t>(numRows * width), 0);
    if (!isPerToken) {
      std::copy(from, from + numRows * width, out.floats.begin());
      return out;
    }
    bool skipSpectators = port.rows == TFC_ROWS_TOKENS;
    for (int64_t row = 0; row < inputs.batch; ++row) {
      for (int64_t column = 0; column < inputs.length; ++column) {
        if (inputs.exists(row, column)) {
          std::copy(from, from + width,
                    out.floats.begin() +
                        (row * inputs.length + column) * width);
          from += width;
        }
      }
      int64_t taken = takenColumn(row);
      if (skipSpectators && taken >= 0 && !inputs.exists(row, taken)) {
        from += width;
      }
    }
    return out;
  }

  const Model &model;
  const tfc_entry_v0 &entry;
  Runner &runner;
  const InputBatch &inputs;
  std::vector<BlockTable> tables; // by row
  std::vector<uint8_t> wanted;    // by output port
  std::optional<uint32_t> take;   // of the wanted rows, if there are any
};

} // namespace

Result<std::vector<OutputTensor>>
runForward(const Model &model, const tfc_tensor *inputs, uint32_t numInputs,
           const std::vector<std::string> &wanted) {
  Result<InputBatch> batch = readInputs(
      model.forwardEntry(), model.table().max_positions, inputs, numInputs);
  if (!batch) {
    return std::move(batch.error());
  }
  Status status = checkRows(*batch);
  if (!status) {
    return std::move(status.error());
  }
  std::unique_ptr<Runner> runner = model.borrowRunner();
  if (!runner->cache.base() && runner->entry().self.layers != 0) {
    status = runner->openCache(0);
  }
  Forward forward(model, *runner, *batch);
  if (status) {
    status = forward.chooseOutputs(wanted);
  }
  if (status) {
    status = forward.run();
  }
  if (!status) {
    return std::move(status.error());
  }
  std::vector<OutputTensor> results = forward.collect();
  model.giveBack(std::move(runner));
  return results;
}

} // namespace tfc::rt
