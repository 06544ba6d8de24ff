// Binds a spec's parameters to tensors with the runtime's own functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/CheckTensors.h"

#include "compiler/spec/weights/HeadNames.h"
#include "runtime/src/files/quantized/Quantized.h"

#include <algorithm>
#include <set>

using namespace tfc;
using namespace tfc::huggingface;

void huggingface::reportError(const rt::Error &error,
                              spec::Diagnostics &diagnostics) {
  std::istringstream lines(error.message);
  for (std::string line; std::getline(lines, line);) {
    spec::Diagnostic diagnostic;
    diagnostic.message = line;
    diagnostics.push_back(std::move(diagnostic));
  }
}

bool huggingface::matchesGlob(std::string_view name, std::string_view glob) {
  size_t at = 0, pattern = 0;
  // Where to go on when the text after the last star does not fit.
  size_t star = std::string_view::npos, retry = 0;
  while (at < name.size()) {
    if (pattern < glob.size() && glob[pattern] == '*') {
      star = pattern++;
      retry = at;
    } else if (pattern < glob.size() && glob[pattern] == name[at]) {
      ++pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      pattern = star + 1;
      at = ++retry;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', pattern) == std::string_view::npos;
}

static rt::WeightTable makeTable(const spec::ModelSpec &model) {
  rt::WeightTable table;
  table.prefixes = model.prefixes;
  table.aliases = model.aliases;
  auto makeSource = [](const spec::Parameter &parameter) {
    rt::WeightSource weight;
    weight.name = parameter.name;
    weight.patterns = parameter.patterns;
    weight.firstLayer = std::max<int64_t>(parameter.firstLayer, 0);
    weight.layerStep = parameter.layerStep;
    weight.experts = parameter.experts;
    weight.layers = parameter.layers * std::max<int64_t>(parameter.experts, 1);
    weight.rank = parameter.rank;
    weight.rows = parameter.rows;
    weight.cols = parameter.cols;
    weight.firstRow = parameter.firstRow;
    weight.storedRows = parameter.storedRows;
    weight.rowStep = parameter.rowStep;
    weight.storedCols = parameter.storedCols;
    weight.inOut = parameter.inOut;
    weight.fillZeros = parameter.fillZeros;
    weight.stacked = parameter.stacked;
    return weight;
  };
  for (const spec::Parameter &parameter : model.parameters) {
    bool byHead = spec::isStoredByHead(parameter);
    rt::WeightSource weight =
        makeSource(byHead ? spec::rowsOfHead(parameter, 0) : parameter);
    if (!parameter.tiedTo.empty()) {
      auto found = std::find_if(
          model.parameters.begin(), model.parameters.end(),
          [&](const spec::Parameter &p) { return p.name == parameter.tiedTo; });
      weight.tiedTo = found - model.parameters.begin();
    }
    table.weights.push_back(std::move(weight));
  }
  // The other heads behind them, so that a parameter's number is its place.
  for (const spec::Parameter &parameter : model.parameters) {
    for (int64_t head = 1;
         spec::isStoredByHead(parameter) && head < parameter.heads; ++head) {
      table.weights.push_back(makeSource(spec::rowsOfHead(parameter, head)));
    }
  }
  return table;
}

/// One diagnostic for all tensors that nobody wants; more names than a few
/// help nobody.
static void reportUnclaimed(const std::vector<std::string> &names,
                            const std::string &path, bool strict,
                            spec::Diagnostics &diagnostics) {
  constexpr size_t shown = 10;
  if (names.empty()) {
    return;
  }
  std::string text;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) {
    text += (i ? ", " : "") + spec::inQuotes(names[i]);
  }
  if (names.size() > shown) {
    text += " and " + std::to_string(names.size() - shown) + " more";
  }
  spec::Diagnostic diagnostic;
  diagnostic.severity =
      strict ? spec::Severity::Error : spec::Severity::Warning;
  diagnostic.file = path;
  diagnostic.message =
      "expected only tensors of this model (others have no effect), got " +
      text;
  diagnostic.code = 55;
  diagnostics.push_back(std::move(diagnostic));
}

/// Whether a tensor is the bias of a quantised matrix and all zeros: old files
/// of GPTQ have them where the model has none.
static bool isEmptyBias(const rt::Tensor &tensor,
                        const rt::TensorFiles &files) {
  constexpr std::string_view end = ".bias";
  std::string_view name = tensor.name;
  if (name.size() <= end.size() || !rt::isWeightDType(tensor.dtype) ||
      name.substr(name.size() - end.size()) != end) {
    return false;
  }
  name.remove_suffix(end.size());
  const rt::Tensor *matrix = files.find(std::string(name) + ".weight");
  return matrix && matrix->quantized && !tensor.quantized &&
         std::all_of(tensor.data, tensor.data + tensor.bytes,
                     [](uint8_t byte) { return byte == 0; });
}

/// Fills use.keptWide.
static void findKeptWide(const spec::ModelSpec &model,
                         const rt::BoundWeights &bound, TensorUse &use) {
  bool isQuantised = false;
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const spec::Parameter &parameter = model.parameters[i];
    if (parameter.rank != 2 ||
        parameter.name.find(".layers.") == std::string::npos) {
      continue;
    }
    bool isWide = false;
    for (const rt::Tensor *tensor : bound[i]) {
      bool isNarrow = tensor && tensor->quantized;
      isQuantised |= isNarrow;
      isWide |= !isNarrow;
    }
    if (isWide) {
      use.keptWide.push_back(
          parameter.name.substr(0, parameter.name.rfind('.')));
    }
  }
  if (!isQuantised) {
    use.keptWide.clear();
  }
}

/// Fills use.group and use.hasZeros.
static void findGroup(const rt::BoundWeights &bound, TensorUse &use) {
  std::vector<const rt::QuantizedMatrix *> matrices;
  for (const auto &tensors : bound) {
    for (const rt::Tensor *tensor : tensors) {
      const auto *matrix =
          tensor
              ? dynamic_cast<const rt::IntegerMatrix *>(tensor->quantized.get())
              : nullptr;
      if (matrix && matrix->bits == 4) {
        matrices.push_back(matrix);
        use.hasZeros |= matrix->hasZeros;
      }
    }
  }
  for (int64_t group : {128, 64, 32}) {
    bool keepsAll =
        std::all_of(matrices.begin(), matrices.end(), [&](const auto *matrix) {
          return rt::findKept(*matrix, {true, group, use.hasZeros});
        });
    if (!matrices.empty() && keepsAll) {
      use.group = group;
      return;
    }
  }
}

TensorUse huggingface::checkTensors(const spec::ModelSpec &model,
                                    const rt::TensorFiles &files, bool strict,
                                    spec::Diagnostics &diagnostics) {
  TensorUse use;
  auto bound = rt::bindWeights(files, makeTable(model));
  if (!bound) {
    reportError(bound.error(), diagnostics);
    return use;
  }
  std::set<const rt::Tensor *> claimed;
  for (size_t i = 0; i < bound->size(); ++i) {
    for (const rt::Tensor *tensor : (*bound)[i]) {
      if (tensor) {
        claimed.insert(tensor);
        if (i < model.parameters.size() && model.parameters[i].rank == 2) {
          use.matrices.insert(tensor->dtype);
        }
      }
    }
  }
  std::vector<std::string> unclaimed;
  for (const rt::Tensor *tensor : files.tensors()) {
    if (claimed.count(tensor)) {
      use.elements += tensor->elements();
      continue;
    }
    bool ignored = std::any_of(model.ignore.begin(), model.ignore.end(),
                               [&](const std::string &glob) {
                                 return matchesGlob(tensor->name, glob);
                               });
    if (ignored || !isEmptyBias(*tensor, files)) {
      (ignored ? use.ignored : unclaimed).push_back(tensor->name);
    }
  }
  use.claimed = claimed.size();
  findKeptWide(model, *bound, use);
  findGroup(*bound, use);
  reportUnclaimed(unclaimed, files.path(), strict, diagnostics);
  return use;
}
