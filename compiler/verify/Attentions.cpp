// Where a model looks, by the interpreter.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/Attentions.h"

#include "compiler/verify/VerifyBatch.h"
#include "compiler/verify/VerifyWeights.h"

using namespace mlir;
using namespace tfc;

namespace {

/// The attentions of one kind, in the order of layers.
struct Maps {
  int64_t layers = 0, heads = 0, queries = 0, keys = 0;
  std::vector<reference::AttentionRow> rows;
  std::vector<std::vector<double>> probabilities; // of each row
};

} // namespace

static void collect(const reference::AttentionRow &row, Maps &maps) {
  auto end = row.begin + static_cast<int64_t>(row.probabilities.size());
  maps.layers = std::max(maps.layers, row.number + 1);
  maps.heads = std::max(maps.heads, row.head + 1);
  maps.queries = std::max(maps.queries, row.row + 1);
  maps.keys = std::max(maps.keys, end);
  maps.rows.push_back(row);
  maps.rows.back().probabilities = {}; // theirs, not ours
  maps.probabilities.push_back(row.probabilities.vec());
}

static std::vector<float> flatten(const Maps &maps) {
  std::vector<float> values(maps.layers * maps.heads * maps.queries *
                            maps.keys);
  for (auto [row, probabilities] : llvm::zip(maps.rows, maps.probabilities)) {
    size_t at =
        ((row.number * maps.heads + row.head) * maps.queries + row.row) *
            maps.keys +
        row.begin;
    for (double value : probabilities) {
      values[at++] = static_cast<float>(value);
    }
  }
  return values;
}

/// What nobody else checks: the runtime is not asked.
static rt::Status checkBatch(const EntryInfo &info, const PaddedBatch &batch,
                             const std::string &path) {
  if (batch.batch != 1) {
    return rt::makeError(rt::Code::InvalidArgument, path,
                         ": expected one sequence, got ", batch.batch);
  }
  if (info.maxPositions > 0 && batch.length > info.maxPositions) {
    return rt::makeError(rt::Code::InvalidArgument, path, ": expected at most ",
                         info.maxPositions, " tokens, got ", batch.length);
  }
  if (llvm::count(batch.mask, 0) != 0) {
    return rt::makeError(rt::Code::InvalidArgument, path, ": expected ",
                         rt::quoteName(info.maskName()),
                         " without zeros (one sequence needs no padding)");
  }
  for (transformer::InputAttr input : info.inputs) {
    auto given = batch.inputs.find(input.getName().str());
    if (given == batch.inputs.end()) {
      continue;
    }
    for (int32_t value : given->second) {
      if (value < 0 || value >= input.getLimit()) {
        return rt::makeError(rt::Code::InvalidArgument, path, ": ",
                             rt::quoteName(input.getName().str()),
                             ": expected values from 0 to ",
                             input.getLimit() - 1, ", got ", value);
      }
    }
  }
  return {};
}

/// The maps by name; nothing when the interpreter fails, which has said why.
static rt::Result<std::vector<std::pair<std::string, Maps>>>
interpret(ModuleOp module, const AttentionFiles &files) {
  std::vector<EntryInfo> entries;
  for (auto entry : module.getOps<func::FuncOp>()) {
    entries.emplace_back(entry);
  }
  auto weights = VerifyWeights::open(module, files.weights);
  if (!weights) {
    return std::move(weights.error());
  }
  auto batches = readBatches(files.inputs, entries);
  if (!batches) {
    return std::move(batches.error());
  }
  for (auto [info, batch] : llvm::zip(entries, *batches)) {
    if (rt::Status status = checkBatch(info, batch, files.inputs); !status) {
      return std::move(status.error());
    }
  }
  auto provider = [&](transformer::ParameterOp parameter,
                      int64_t layer) -> FailureOr<std::vector<double>> {
    return weights->read(parameter, layer);
  };
  bool isPair = entries.size() > 1;
  reference::Cache cache;
  std::vector<std::pair<std::string, Maps>> all;
  for (auto [info, batch] : llvm::zip(entries, *batches)) {
    Maps own, cross;
    auto watch = [&](const reference::AttentionRow &row) {
      collect(row, row.isCross ? cross : own);
    };
    reference::Step step = packForward(info, batch, batches->front());
    if (failed(runEntry(info.entry, step, provider, cache, {}, watch))) {
      return rt::makeError(rt::Code::Internal,
                           "expected the interpreter to run the model, got "
                           "the fault above");
    }
    std::string stack = !isPair               ? ""
                        : info.prefix.empty() ? "encoder_"
                                              : "decoder_";
    all.emplace_back(stack + "attentions", std::move(own));
    if (cross.layers > 0) {
      all.emplace_back("cross_attentions", std::move(cross));
    }
  }
  return all;
}

bool tfc::writeAttentions(ModuleOp module, const AttentionFiles &files,
                          llvm::raw_ostream &errors) {
  auto fail = [&](const rt::Error &error) {
    SmallVector<StringRef> lines;
    StringRef(error.message).split(lines, '\n');
    for (StringRef line : lines) {
      errors << "tfc: error: " << line << '\n';
    }
    return false;
  };
  auto all = interpret(module, files);
  if (!all) {
    return fail(all.error());
  }
  std::vector<std::vector<float>> values;
  std::vector<rt::TensorToWrite> tensors;
  for (const auto &[name, maps] : *all) {
    values.push_back(flatten(maps));
    tensors.push_back({name,
                       rt::DType::F32,
                       {maps.layers, maps.heads, maps.queries, maps.keys},
                       values.back().data()});
  }
  rt::Status status = rt::writeSafetensors(files.outputs, tensors);
  return status || fail(status.error());
}
