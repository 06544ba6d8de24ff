// A model's parameters for the interpreter.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyWeights.h"

#include "runtime/src/files/quantized/Quantized.h"

using namespace mlir;
using namespace tfc;

/// None where there is no array.
static std::vector<std::string> stringsOf(ArrayAttr array) {
  std::vector<std::string> strings;
  if (array) {
    for (auto text : array.getAsRange<StringAttr>()) {
      strings.push_back(text.str());
    }
  }
  return strings;
}

static rt::WeightSource sourceOf(transformer::ParameterOp parameter) {
  transformer::SourceAttr source = *parameter.getSource();
  ArrayRef<int64_t> shape = parameter.getTensorType().getShape();
  rt::WeightSource weight;
  weight.name = parameter.getSymName().str();
  for (StringAttr pattern : source.getPatterns()) {
    weight.patterns.push_back(pattern.str());
  }
  weight.firstLayer = source.getFirstLayer();
  weight.layerStep = source.getLayerStep();
  weight.experts = parameter.getExperts().value_or(0);
  weight.layers =
      parameter.getLayers().value_or(1) * parameter.getExperts().value_or(1);
  weight.rank = static_cast<int64_t>(shape.size());
  weight.rows = shape.front();
  weight.cols = shape.size() == 2 ? shape.back() : 1;
  weight.firstRow = source.getFirstRow();
  weight.storedRows = source.getStoredRows();
  weight.rowStep = source.getRowStep();
  weight.storedCols = source.getStoredCols();
  weight.inOut = source.getInOut();
  weight.fillZeros = source.getFillZeros();
  weight.stacked = source.getStacked();
  return weight;
}

rt::Result<VerifyWeights> VerifyWeights::open(ModuleOp module,
                                              const std::string &path) {
  rt::Result<rt::TensorFiles> files = rt::TensorFiles::open(path);
  if (!files) {
    return std::move(files.error());
  }
  VerifyWeights weights(std::move(*files));
  auto model = module->getAttrOfType<transformer::ModelAttr>(
      transformer::kModelAttrName);
  rt::WeightTable table;
  table.prefixes = stringsOf(model ? model.getPrefixes() : ArrayAttr());
  std::vector<std::string> aliases =
      stringsOf(model ? model.getAliases() : ArrayAttr());
  for (size_t i = 0; i + 1 < aliases.size(); i += 2) {
    table.aliases.emplace_back(aliases[i], aliases[i + 1]);
  }
  for (transformer::ParameterOp parameter : transformer::listStored(module)) {
    weights.indices[parameter.getSymName()] = table.weights.size();
    table.weights.push_back(sourceOf(parameter));
  }
  for (transformer::ParameterOp parameter : transformer::listStored(module)) {
    if (StringAttr tied = parameter.getSource()->getTiedTo()) {
      table.weights[weights.indices.lookup(parameter.getSymName())].tiedTo =
          static_cast<int64_t>(weights.indices.lookup(tied.getValue()));
    }
  }
  rt::Result<rt::BoundWeights> bound = rt::bindWeights(weights.files, table);
  if (!bound) {
    return std::move(bound.error());
  }
  weights.tensors = std::move(*bound);
  return weights;
}

const rt::Tensor *VerifyWeights::find(transformer::ParameterOp parameter,
                                      int64_t layer) const {
  return tensors[indices.lookup(parameter.getSymName())][layer];
}

std::vector<double> VerifyWeights::read(transformer::ParameterOp parameter,
                                        int64_t layer) const {
  rt::WeightSource weight = sourceOf(parameter);
  std::vector<double> elements(weight.rows * weight.cols);
  const rt::Tensor *tensor = find(parameter, layer);
  if (!tensor) {
    return elements;
  }
  int64_t first = 0, count = tensor->elements();
  if (weight.stacked) {
    count /= weight.experts;
    first = weight.expertOf(layer) * count;
  }
  std::vector<float> stored(count);
  rt::convertToF32(*tensor, first, count, stored.data());
  bool isInOut = rt::isStoredInOut(*tensor, weight.inOut);
  for (int64_t row = 0; row < weight.rows; ++row) {
    int64_t storedRow = weight.firstRow + row * weight.rowStep;
    for (int64_t col = 0; col < weight.cols; ++col) {
      elements[row * weight.cols + col] =
          isInOut ? stored[col * weight.storedRows + storedRow]
                  : stored[storedRow * weight.storedWidth() + col];
    }
  }
  return elements;
}

std::optional<reference::IntegerElements>
VerifyWeights::readIntegers(transformer::ParameterOp parameter, int64_t layer,
                            const reference::IntegerForm &form) const {
  rt::WeightSource weight = sourceOf(parameter);
  const rt::Tensor *tensor = find(parameter, layer);
  if (!tensor || !tensor->quantized || weight.storedCols != 0 ||
      (weight.inOut && !tensor->quantized->isOutIn)) {
    return std::nullopt;
  }
  const rt::IntegerMatrix *matrix =
      rt::findKept(*tensor->quantized, {form.isFour, form.group, form.hasZeros,
                                        form.hasFloatZeros});
  if (!matrix) {
    return std::nullopt;
  }
  int64_t columns = form.group > 0 ? form.group : matrix->columns;
  std::vector<int32_t> integers(matrix->columns), zeros(matrix->groups);
  std::vector<float> scales(matrix->groups), floatZeros(matrix->groups);
  reference::IntegerElements elements;
  // `layer` counts the experts of all layers.
  int64_t before =
      weight.stacked ? layer % weight.experts * (matrix->rows / weight.experts)
                     : 0;
  for (int64_t row = 0; row < weight.rows; ++row) {
    int64_t stored = before + weight.firstRow + row * weight.rowStep;
    matrix->readIntegers(stored, integers.data());
    matrix->readGroups(stored, scales.data(), zeros.data());
    if (matrix->hasFloatZeros) {
      matrix->readFloatZeros(stored, floatZeros.data());
    }
    for (int64_t first = 0; first < matrix->columns; first += columns) {
      int32_t from = matrix->groupOf[first];
      // Of bytes, which have no zero points here, those are taken off.
      int32_t off = form.isFour ? matrix->middle : zeros[from];
      elements.scales.push_back(scales[from]);
      elements.zeros.push_back(!form.hasFloatZeros ? zeros[from] - off
                               : matrix->hasFloatZeros
                                   ? floatZeros[from]
                                   : double(scales[from]) * zeros[from]);
      for (int64_t i = 0; i < columns; ++i) {
        elements.integers.push_back(integers[first + i] - off);
      }
    }
  }
  return elements;
}
