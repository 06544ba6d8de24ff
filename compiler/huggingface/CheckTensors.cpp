// Binds a spec's parameters to tensors with the runtime's own functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/CheckTensors.h"

#include "compiler/spec/weights/StoredParts.h"
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
    std::vector<spec::Parameter> parts = spec::partsOf(parameter);
    rt::WeightSource weight =
        makeSource(parts.empty() ? parameter : parts.front());
    if (!parameter.tiedTo.empty()) {
      auto found = std::find_if(
          model.parameters.begin(), model.parameters.end(),
          [&](const spec::Parameter &p) { return p.name == parameter.tiedTo; });
      weight.tiedTo = found - model.parameters.begin();
    }
    table.weights.push_back(std::move(weight));
  }
  // Other parts behind them, so that a parameter's number is its place.
  for (const spec::Parameter &parameter : model.parameters) {
    std::vector<spec::Parameter> parts = spec::partsOf(parameter);
    for (size_t part = 1; part < parts.size(); ++part) {
      table.weights.push_back(makeSource(parts[part]));
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

/// The matrix of integers behind a tensor, or null.
static const rt::IntegerMatrix *integersOf(const rt::Tensor *tensor) {
  return tensor
             ? dynamic_cast<const rt::IntegerMatrix *>(tensor->quantized.get())
             : nullptr;
}

/// Whether groups of `group` columns, with the zeros of `use`, keep its
/// integers as they are, in four bits or else in bytes.
static bool isKept(const rt::IntegerMatrix &matrix, int64_t group,
                   const TensorUse &use) {
  return rt::findKept(
      matrix, {matrix.bits == 4, group, use.hasZeros, use.hasFloatZeros});
}

/// Whether groups of `group` columns would, with zeros of its own.
static bool isCut(const rt::IntegerMatrix &matrix, int64_t group) {
  return rt::findKept(
      matrix, {matrix.bits == 4, group, matrix.hasZeros, matrix.hasFloatZeros});
}

/// Fills use.scales, of the matrices that groups keep.
static void findScales(const std::vector<const rt::IntegerMatrix *> &matrices,
                       TensorUse &use) {
  std::set<rt::DType> types;
  for (const rt::IntegerMatrix *matrix : matrices) {
    if (matrix->bits == 4) {
      types.insert(matrix->scaleType);
    }
  }
  if (!types.empty()) {
    use.scales = types.size() == 1 ? *types.begin() : rt::DType::F32;
  }
}

/// Fills use.group and the zeros of groups: with the greatest group that keeps
/// all that the smallest one does. Bytes with a scale a row need none. Zeros
/// are floats where some are, which then are for those without, too.
static void findGroup(const rt::BoundWeights &bound, TensorUse &use) {
  constexpr int64_t least = 32;
  std::vector<const rt::IntegerMatrix *> matrices;
  for (const auto &tensors : bound) {
    for (const rt::Tensor *tensor : tensors) {
      const rt::IntegerMatrix *matrix = integersOf(tensor);
      if (!matrix) {
        continue;
      }
      bool isFour = matrix->bits == 4;
      use.hasFew |= matrix->bits < 8;
      if ((isFour || matrix->groups > 1) && isCut(*matrix, least)) {
        matrices.push_back(matrix);
        use.hasZeros |= isFour && matrix->hasZeros;
        use.hasFloatZeros |= isFour && matrix->hasFloatZeros;
      }
    }
  }
  use.hasZeros &= !use.hasFloatZeros;
  matrices.erase(std::remove_if(matrices.begin(), matrices.end(),
                                [&](const rt::IntegerMatrix *matrix) {
                                  return !isKept(*matrix, least, use);
                                }),
                 matrices.end());
  for (int64_t group : {int64_t(128), int64_t(64), least}) {
    bool keepsAll =
        std::all_of(matrices.begin(), matrices.end(), [&](const auto *matrix) {
          return isKept(*matrix, group, use);
        });
    if (!matrices.empty() && keepsAll) {
      use.group = group;
      findScales(matrices, use);
      return;
    }
  }
}

/// Fills use.keptByte.
static void findKeptByte(const spec::ModelSpec &model,
                         const rt::BoundWeights &bound, TensorUse &use) {
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    const spec::Parameter &parameter = model.parameters[i];
    std::string name = parameter.name.substr(0, parameter.name.rfind('.'));
    if (parameter.rank != 2 ||
        parameter.name.find(".layers.") == std::string::npos ||
        std::count(use.keptWide.begin(), use.keptWide.end(), name)) {
      continue;
    }
    bool isByte = false;
    for (const rt::Tensor *tensor : bound[i]) {
      const rt::IntegerMatrix *matrix = integersOf(tensor);
      bool isFour = matrix && matrix->bits == 4 && use.group > 0 &&
                    isKept(*matrix, use.group, use);
      isByte |= tensor && tensor->quantized && !isFour;
    }
    if (isByte) {
      use.keptByte.push_back(std::move(name));
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
  findKeptByte(model, *bound, use);
  reportUnclaimed(unclaimed, files.path(), strict, diagnostics);
  return use;
}
