// The batch that `tfc verify` runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/VerifyBatch.h"

#include "mlir/IR/BuiltinOps.h"
#include "runtime/src/Safetensors.h"

#include <algorithm>
#include <cstring>
#include <random>

using namespace mlir;
using namespace tfc;
using transformer::Fill;
using transformer::Take;

static const char *const maskName = "attention_mask";
static const char *const idsName = "input_ids";

EntryInfo::EntryInfo(func::FuncOp entry) : entry(entry) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    if (auto input = entry.getArgAttrOfType<transformer::InputAttr>(
            i, transformer::kInputAttrName)) {
      inputs.push_back(input);
    }
  }
  for (auto output : entry.getOps<transformer::OutputOp>()) {
    if (output.getRows() == transformer::RowKind::Wanted) {
      take = output.getTake();
    }
  }
  isCausal = entry.getSymName() == "step";
  auto model =
      entry->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(
          transformer::kModelAttrName);
  auto integer = [&](StringRef name, int64_t byDefault) {
    auto value = model ? model.getAs<IntegerAttr>(name) : IntegerAttr();
    return value ? value.getInt() : byDefault;
  };
  pad = integer("pad", -1);
  maxPositions = integer("max_positions", 0);
}

//===-- where batches come from -------------------------------------------===//

PaddedBatch tfc::makeRandomBatch(const EntryInfo &info, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> lengths = {5, 1, 9};
  if (info.take == Take::LastNonpad && info.pad < 0) {
    lengths = {9};
  }
  PaddedBatch batch;
  batch.batch = static_cast<int64_t>(lengths.size());
  for (int64_t &length : lengths) {
    if (info.maxPositions > 0) {
      length = std::min(length, info.maxPositions);
    }
    batch.length = std::max(batch.length, length);
  }
  for (transformer::InputAttr input : info.inputs) {
    if (input.getFill() == Fill::Position) {
      continue;
    }
    // Padding holds the pad token, and no token that exists does: which row a
    // classifier takes depends on it.
    bool isIds = input.getName() == idsName;
    auto padding = static_cast<int32_t>(isIds && info.pad >= 0 ? info.pad : 0);
    std::vector<int32_t> &values = batch.inputs[input.getName().str()];
    for (int64_t length : lengths) {
      for (int64_t column = 0; column < batch.length; ++column) {
        auto value = static_cast<int32_t>(random() % input.getLimit());
        if (isIds && value == info.pad) {
          value = static_cast<int32_t>((value + 1) % input.getLimit());
        }
        values.push_back(column < length ? value : padding);
      }
    }
  }
  for (int64_t length : lengths) {
    for (int64_t column = 0; column < batch.length; ++column) {
      batch.mask.push_back(column < length);
    }
  }
  return batch;
}

/// The elements of an I32 or I64 tensor.
static std::vector<int32_t> integersOf(const rt::Tensor &tensor) {
  std::vector<int32_t> values(tensor.elements());
  for (size_t i = 0; i < values.size(); ++i) {
    if (tensor.dtype == rt::DType::I32) {
      std::memcpy(&values[i], tensor.data + 4 * i, 4);
    } else {
      int64_t wide;
      std::memcpy(&wide, tensor.data + 8 * i, 8);
      // What does not fit is no id of any model; the runtime refuses it.
      values[i] =
          static_cast<int32_t>(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX));
    }
  }
  return values;
}

rt::Result<PaddedBatch> tfc::readBatch(const std::string &path) {
  auto file = rt::TensorFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  PaddedBatch batch;
  for (const rt::Tensor &tensor : (*file)->tensors()) {
    std::string where = rt::concat(path, ": ", rt::quoteName(tensor.name));
    if (tensor.dtype != rt::DType::I32 && tensor.dtype != rt::DType::I64) {
      return rt::makeError(rt::Code::InvalidArgument, where,
                           ": expected dtype I32 or I64, got ",
                           rt::dtypeName(tensor.dtype));
    }
    bool isFirst = batch.batch == 0;
    if (tensor.shape.size() != 2 || tensor.elements() == 0 ||
        (!isFirst &&
         (tensor.shape[0] != batch.batch || tensor.shape[1] != batch.length))) {
      return rt::makeError(rt::Code::InvalidArgument, where,
                           ": expected a shape [batch, length], equal for all "
                           "tensors, got ",
                           rt::shapeText(tensor.shape));
    }
    batch.batch = tensor.shape[0];
    batch.length = tensor.shape[1];
    (tensor.name == maskName ? batch.mask : batch.inputs[tensor.name]) =
        integersOf(tensor);
  }
  if (batch.mask.empty()) {
    batch.mask.assign(batch.batch * batch.length, 1);
  }
  return batch;
}

//===-- a forward pass ----------------------------------------------------===//

static int32_t valueOf(const PaddedBatch &batch, transformer::InputAttr input,
                       int64_t row, int64_t column) {
  auto given = batch.inputs.find(input.getName().str());
  if (given != batch.inputs.end()) {
    return given->second[row * batch.length + column];
  }
  return input.getFill() == Fill::Position ? static_cast<int32_t>(column)
         : input.getFill() == Fill::Absent ? -1
                                           : 0;
}

/// The one column whose row the outputs take, or -1.
static int64_t takenColumn(const EntryInfo &info, const PaddedBatch &batch,
                           int64_t row) {
  if (info.take == Take::First) {
    return 0;
  }
  if (info.take != Take::LastNonpad) {
    return -1;
  }
  const std::vector<int32_t> &ids = batch.inputs.at(idsName);
  int64_t column = batch.length - 1;
  while (info.pad >= 0 && column > 0 &&
         ids[row * batch.length + column] == info.pad) {
    --column;
  }
  return column;
}

reference::Step tfc::packForward(const EntryInfo &info,
                                 const PaddedBatch &batch) {
  reference::Step step;
  int32_t tokens = 0;
  auto addToken = [&](int64_t row, int64_t column) {
    for (transformer::InputAttr input : info.inputs) {
      step.inputs[input.getName().str()].push_back(
          valueOf(batch, input, row, column));
    }
    return tokens++;
  };
  for (int64_t row = 0; row < batch.batch; ++row) {
    int64_t taken = takenColumn(info, batch, row);
    int32_t first = tokens, visible = 0;
    for (int64_t column = 0; column < batch.length; ++column) {
      if (!batch.exists(row, column)) {
        continue;
      }
      visible += column < taken || !info.isCausal;
      int32_t token = addToken(row, column);
      if (info.take == Take::All || column == taken) {
        step.rows.push_back(token);
      }
    }
    int32_t count = tokens - first;
    step.sequences.push_back({row, first, count, 0, count});
    if (taken >= 0 && !batch.exists(row, taken)) {
      // A masked token whose row is wanted: it sees and is not seen.
      step.rows.push_back(addToken(row, taken));
      step.sequences.push_back({row, tokens - 1, 1, count, visible});
    }
  }
  return step;
}

//===-- decoding ----------------------------------------------------------===//

void DecodeSteps::add(int64_t id, const std::vector<int64_t> &tokens) {
  sequences.push_back({id, 0, tokens});
}

reference::Step DecodeSteps::next(const std::string &output) {
  reference::Step step;
  step.outputs = {output};
  int32_t tokens = 0;
  for (const Decoding &sequence : sequences) {
    auto count = static_cast<int32_t>(sequence.tokens.size());
    step.sequences.push_back(
        {sequence.id, tokens, count, sequence.past, sequence.past + count});
    tokens += count;
    step.rows.push_back(tokens - 1);
    for (transformer::InputAttr input : info.inputs) {
      std::vector<int32_t> &values = step.inputs[input.getName().str()];
      for (int32_t i = 0; i < count; ++i) {
        values.push_back(input.getName() == idsName
                             ? static_cast<int32_t>(sequence.tokens[i])
                         : input.getFill() == Fill::Position ? sequence.past + i
                         : input.getFill() == Fill::Absent   ? -1
                                                             : 0);
      }
    }
  }
  return step;
}

void DecodeSteps::advance(int64_t id, int64_t token) {
  for (Decoding &sequence : sequences) {
    if (sequence.id == id) {
      sequence.past += static_cast<int32_t>(sequence.tokens.size());
      sequence.tokens = {token};
    }
  }
}
