// The batch that `tfc verify` runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyBatch.h"

#include "mlir/IR/BuiltinOps.h"
#include "runtime/src/files/Safetensors.h"

#include <algorithm>
#include <cstring>
#include <random>

using namespace mlir;
using namespace tfc;
using transformer::Fill;
using transformer::Take;

static constexpr llvm::StringLiteral decoderPrefix = "decoder_";

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
    } else {
      givesTokens = true;
    }
  }
  isCausal = entry.getSymName() == "step";
  auto model =
      entry->getParentOfType<ModuleOp>()->getAttrOfType<transformer::ModelAttr>(
          transformer::kModelAttrName);
  pad = model ? model.getPad() : -1;
  maxPositions = model ? model.getMaxPositions() : 0;
  // Of two stacks one may have fewer positions.
  for (transformer::InputAttr input : inputs) {
    bool isFromPad = input.getFill() == Fill::FromPad;
    if (maxPositions > 0 && (isFromPad || input.getFill() == Fill::Position)) {
      int64_t own = input.getLimit() - (isFromPad ? pad + 1 : 0);
      maxPositions = std::min(maxPositions, std::max<int64_t>(own, 1));
    }
  }
  decoderStart = model ? model.getDecoderStart() : -1;
  if (ArrayAttr ids = model ? model.getEos() : ArrayAttr()) {
    for (auto id : ids.getAsRange<IntegerAttr>()) {
      eos.push_back(id.getInt());
    }
  }
  bool isSecond = isCausal && model &&
                  model.getKind() == transformer::ModelKind::EncoderDecoder;
  prefix = isSecond ? decoderPrefix.str() : "";
}

//===-- where batches come from -------------------------------------------===//

/// A token that means nothing: neither padding nor an end.
static int32_t plainToken(const EntryInfo &info, int64_t limit,
                          uint64_t random) {
  auto means = [&](int64_t id) {
    return id == info.pad || llvm::is_contained(info.eos, id);
  };
  auto id = static_cast<int64_t>(random % limit);
  for (int64_t tries = 0; tries < limit && means(id); ++tries) {
    id = (id + 1) % limit;
  }
  return static_cast<int32_t>(id);
}

bool EntryInfo::hasGiven() const {
  return llvm::any_of(inputs, [](transformer::InputAttr input) {
    return input.getFill() == Fill::Given;
  });
}

/// How many tokens at the start of a row have no row of floats, where others
/// have one; 0 where none has one.
static int64_t countLeading(const EntryInfo &info) {
  for (transformer::InputAttr input : info.inputs) {
    if (input.getFill() == Fill::Given) {
      return input.getLimit();
    }
  }
  return 0;
}

/// Rows as of a picture whose colours have been normalised.
static void drawGiven(const EntryInfo &info, transformer::InputAttr input,
                      std::mt19937_64 &random, PaddedBatch &batch) {
  reference::Matrix rows;
  rows.rows = batch.batch * (batch.length - countLeading(info));
  rows.cols = input.getWidth();
  for (int64_t i = 0; i < rows.rows * rows.cols; ++i) {
    // A float, as the library gets it.
    rows.data.push_back(static_cast<float>(random() % 4001) / 1000.0F - 2);
  }
  batch.given[input.getName().str()] = std::move(rows);
}

static PaddedBatch makeRandomBatch(const EntryInfo &info,
                                   std::vector<int64_t> lengths, bool endsInEos,
                                   std::mt19937_64 &random) {
  PaddedBatch batch;
  batch.batch = static_cast<int64_t>(lengths.size());
  int64_t leading = countLeading(info);
  for (int64_t &length : lengths) {
    length = leading > 0 ? std::max(length, leading + 1) : length;
    if (info.maxPositions > 0) {
      length = std::min(length, info.maxPositions);
    }
    batch.length = std::max(batch.length, length);
  }
  for (transformer::InputAttr input : info.inputs) {
    if (input.getFill() == Fill::Position ||
        input.getFill() == Fill::FromMask || input.getFill() == Fill::FromPad ||
        input.getFill() == Fill::Given) {
      continue;
    }
    if (input.getWidth() != 0) {
      drawGiven(info, input, random, batch);
      continue;
    }
    // Padding holds the pad token, and no token that exists does: which row a
    // classifier takes depends on it.
    bool isIds = input.getName() == info.idsName();
    auto padding = static_cast<int32_t>(isIds && info.pad >= 0 ? info.pad : 0);
    std::vector<int32_t> &values = batch.inputs[input.getName().str()];
    for (int64_t length : lengths) {
      for (int64_t column = 0; column < batch.length; ++column) {
        auto value = static_cast<int32_t>(random() % input.getLimit());
        if (isIds) {
          value =
              plainToken(info, input.getLimit(), static_cast<uint64_t>(value));
        }
        if (isIds && endsInEos && column + 1 == length) {
          value = static_cast<int32_t>(info.eos.front());
        }
        if (input.getFill() == Fill::Unseen && column == 0) {
          value = 0; // of each row one token is seen
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

std::vector<PaddedBatch> tfc::makeRandomBatches(ArrayRef<EntryInfo> entries,
                                                uint64_t seed) {
  std::mt19937_64 random(seed);
  const EntryInfo &last = entries.back();
  bool takesEos = (last.take == Take::LastEos || last.take == Take::FirstEos) &&
                  !last.eos.empty();
  std::vector<PaddedBatch> batches;
  for (const EntryInfo &info : entries) {
    std::vector<int64_t> lengths = {5, 1, 9};
    if (info.take == Take::LastNonpad && info.pad < 0) {
      lengths = {9};
    }
    // A head that takes the source's end needs that column in the decoder.
    if (!info.prefix.empty() && !takesEos) {
      lengths = {2, 7, 3};
    }
    batches.push_back(makeRandomBatch(info, lengths, takesEos, random));
  }
  return batches;
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

/// A tensor [batch, length, width] of floats, whose rows follow on tokens that
/// have ids.
static rt::Status readGiven(const EntryInfo &info, const rt::Tensor &tensor,
                            const std::string &where, PaddedBatch &batch) {
  auto input = llvm::find_if(info.inputs, [&](transformer::InputAttr each) {
    return each.getWidth() != 0 && each.getName() == tensor.name;
  });
  if (input == info.inputs.end() || tensor.shape.size() != 3 ||
      tensor.elements() == 0 || tensor.shape[2] != input->getWidth()) {
    return rt::makeError(rt::Code::InvalidArgument, where,
                         ": expected dtype I32 or I64, or an input of rows of "
                         "floats [batch, length, width], got F32 of shape ",
                         rt::shapeText(tensor.shape));
  }
  int64_t length = tensor.shape[1] + countLeading(info);
  if (batch.batch != 0 &&
      (batch.batch != tensor.shape[0] || batch.length != length)) {
    return rt::makeError(
        rt::Code::InvalidArgument, where, ": expected shape [", batch.batch,
        ", ", batch.length - countLeading(info), ", ", input->getWidth(),
        "] (beside the other inputs), got ", rt::shapeText(tensor.shape));
  }
  batch.batch = tensor.shape[0];
  batch.length = length;
  reference::Matrix rows(tensor.shape[0] * tensor.shape[1], tensor.shape[2]);
  for (size_t i = 0; i < rows.data.size(); ++i) {
    float value;
    std::memcpy(&value, tensor.data + 4 * i, 4);
    rows.data[i] = value;
  }
  batch.given[tensor.name] = std::move(rows);
  return {};
}

rt::Result<std::vector<PaddedBatch>>
tfc::readBatches(const std::string &path, ArrayRef<EntryInfo> entries) {
  auto file = rt::TensorFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  std::vector<PaddedBatch> batches(entries.size());
  for (const rt::Tensor &tensor : (*file)->tensors()) {
    std::string where = rt::concat(path, ": ", rt::quoteName(tensor.name));
    if (tensor.dtype == rt::DType::F32) {
      rt::Status status = readGiven(entries.front(), tensor, where, batches[0]);
      if (!status) {
        return std::move(status.error());
      }
      continue;
    }
    if (tensor.dtype != rt::DType::I32 && tensor.dtype != rt::DType::I64) {
      return rt::makeError(rt::Code::InvalidArgument, where,
                           ": expected dtype I32 or I64, got ",
                           rt::dtypeName(tensor.dtype));
    }
    bool isSecond =
        entries.size() > 1 && StringRef(tensor.name).starts_with(decoderPrefix);
    PaddedBatch &batch = batches[isSecond];
    bool isFirst = batch.batch == 0;
    if (tensor.shape.size() != 2 || tensor.elements() == 0 ||
        (!isFirst &&
         (tensor.shape[0] != batch.batch || tensor.shape[1] != batch.length))) {
      return rt::makeError(rt::Code::InvalidArgument, where,
                           ": expected a shape [batch, length], equal for all "
                           "tensors of a stack, got ",
                           rt::shapeText(tensor.shape));
    }
    batch.batch = tensor.shape[0];
    batch.length = tensor.shape[1];
    (tensor.name == entries[isSecond].maskName() ? batch.mask
                                                 : batch.inputs[tensor.name]) =
        integersOf(tensor);
  }
  for (auto [info, batch] : llvm::zip(entries, batches)) {
    bool isGiven = info.hasGiven();
    if (isGiven ? batch.given.empty() : !batch.inputs.count(info.idsName())) {
      return rt::makeError(rt::Code::InvalidArgument, path, ": expected ",
                           isGiven ? "rows of floats"
                                   : rt::quoteName(info.idsName()),
                           ", got none");
    }
    if (batch.mask.empty()) {
      batch.mask.assign(batch.batch * batch.length, 1);
    }
  }
  return batches;
}

//===-- a forward pass ----------------------------------------------------===//

/// How many columns of a row up to this one `counts` is true of.
static int32_t countUpTo(int64_t column, function_ref<bool(int64_t)> counts) {
  int32_t count = 0;
  for (int64_t c = 0; c <= column; ++c) {
    count += counts(c);
  }
  return count;
}

static int32_t valueOf(const EntryInfo &info, const PaddedBatch &batch,
                       transformer::InputAttr input, int64_t row,
                       int64_t column) {
  auto given = batch.inputs.find(input.getName().str());
  if (given != batch.inputs.end()) {
    return given->second[row * batch.length + column];
  }
  if (input.getFill() == Fill::Given) {
    int64_t leading = input.getLimit(), ahead = row * (batch.length - leading);
    return static_cast<int32_t>(
        column < leading ? column : -1 - (ahead + column - leading));
  }
  if (input.getFill() == Fill::FromMask) {
    auto exists = [&](int64_t c) {
      return batch.mask[row * batch.length + c] != 0;
    };
    return exists(column) ? countUpTo(column, exists) - 1 : -1;
  }
  if (input.getFill() == Fill::FromPad) {
    const std::vector<int32_t> &ids = batch.inputs.at(info.idsName());
    auto counts = [&](int64_t c) {
      return ids[row * batch.length + c] != info.pad;
    };
    auto pad = static_cast<int32_t>(info.pad);
    return counts(column) ? pad + countUpTo(column, counts) : pad;
  }
  return input.getFill() == Fill::Position ? static_cast<int32_t>(column)
         : input.getFill() == Fill::Absent ? -1
                                           : 0;
}

/// The one column whose row the outputs take, or -1.
static int64_t takenColumn(const EntryInfo &info, const PaddedBatch &batch,
                           const PaddedBatch &source, int64_t row) {
  auto last = [&](const PaddedBatch &of, const std::string &name,
                  function_ref<bool(int64_t)> isWanted) {
    const std::vector<int32_t> &ids = of.inputs.at(name);
    int64_t column = of.length - 1;
    while (column > 0 && !isWanted(ids[row * of.length + column])) {
      --column;
    }
    return column;
  };
  if (info.take == Take::First) {
    return 0;
  }
  if (info.take == Take::FirstVisible || info.take == Take::LastVisible) {
    bool isFirst = info.take == Take::FirstVisible;
    int64_t column = isFirst ? 0 : batch.length - 1;
    while (!batch.exists(row, column)) {
      column += isFirst ? 1 : -1;
    }
    return column;
  }
  if (info.take == Take::LastNonpad) {
    return last(batch, info.idsName(),
                [&](int64_t id) { return info.pad < 0 || id != info.pad; });
  }
  if (info.take == Take::FirstEos) {
    const std::vector<int32_t> &ids = batch.inputs.at(info.idsName());
    auto begin = ids.begin() + row * batch.length;
    return llvm::find_if(
               llvm::make_range(begin, begin + batch.length),
               [&](int64_t id) { return llvm::is_contained(info.eos, id); }) -
           begin;
  }
  if (info.take == Take::LastEos) {
    return last(source, "input_ids",
                [&](int64_t id) { return llvm::is_contained(info.eos, id); });
  }
  return -1;
}

reference::Step tfc::packForward(const EntryInfo &info,
                                 const PaddedBatch &batch,
                                 const PaddedBatch &source) {
  reference::Step step;
  step.given = batch.given;
  int32_t tokens = 0;
  auto addToken = [&](int64_t row, int64_t column) {
    for (transformer::InputAttr input : info.inputs) {
      if (input.getWidth() == 0) {
        step.inputs[input.getName().str()].push_back(
            valueOf(info, batch, input, row, column));
      }
    }
    return tokens++;
  };
  for (int64_t row = 0; row < batch.batch; ++row) {
    int64_t taken = takenColumn(info, batch, source, row);
    // Nothing depends on what is behind the one token that a causal decoder is
    // asked for.
    bool endsAtTaken = info.isCausal && !info.givesTokens && taken >= 0;
    int64_t end = endsAtTaken ? taken + 1 : batch.length;
    int32_t first = tokens, visible = 0;
    for (int64_t column = 0; column < end; ++column) {
      if (!batch.exists(row, column)) {
        continue;
      }
      visible += column < taken || !info.isCausal;
      int32_t token = addToken(row, column);
      if (info.take == Take::All || column == taken) {
        step.rows.push_back(token);
      }
    }
    int32_t count = tokens - first, sourceCount = 0;
    for (int64_t column = 0; column < source.length; ++column) {
      sourceCount += source.exists(row, column);
    }
    step.sequences.push_back({row, first, count, 0, count, sourceCount});
    if (taken >= 0 && !batch.exists(row, taken)) {
      // A masked token whose row is wanted: it sees and is not seen.
      step.rows.push_back(addToken(row, taken));
      step.sequences.push_back(
          {row, tokens - 1, 1, count, visible, sourceCount});
    }
  }
  return step;
}
