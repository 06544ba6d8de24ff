// Smooths, then rounds matrix by matrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/QuantizeModel.h"

#include <cmath>

using namespace tfc;
using namespace tfc::quantize;

std::vector<std::string> QuantizedModel::groups() const {
  std::vector<std::string> names;
  for (const Matrix &matrix : products.matrices) {
    if (!llvm::is_contained(names, matrix.group)) {
      names.push_back(matrix.group);
    }
  }
  return names;
}

/// Of what is not rounded, in dB.
static constexpr double kExact = 200;

static double snrOf(const std::vector<float> &exact,
                    const std::vector<float> &other) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    double error = static_cast<double>(exact[i]) - other[i];
    signal += static_cast<double>(exact[i]) * exact[i];
    noise += error * error;
  }
  return noise == 0 ? kExact : 10 * std::log10(signal / noise);
}

QuantizedModel
tfc::quantize::quantizeModel(Products products, const rt::TensorFiles &files,
                             std::vector<RowStatistics> statistics,
                             bool smooths, int64_t group) {
  QuantizedModel model{
      std::move(products), Checkpoint(files), {}, {}, {}, {}, {}, group};
  if (smooths) {
    model.smoothed = smooth(model.products, model.checkpoint, statistics);
  } else {
    for (const Fold &fold : model.products.folds) {
      model.smoothed.push_back({fold.site, fold.layer, 0});
    }
  }
  for (auto [matrix, own] : llvm::zip(model.products.matrices, statistics)) {
    std::vector<float> elements = model.checkpoint.read(matrix.tensor);
    bool isHalf =
        model.checkpoint.tensor(matrix.tensor).dtype == rt::DType::F16;
    rt::DType scaleType = isHalf ? rt::DType::F16 : rt::DType::BF16;
    int64_t columns = static_cast<int64_t>(elements.size()) / matrix.rows;
    if (group != 0 && columns % group != 0) {
      model.rounded.emplace_back();
      model.weightSnr.push_back(kExact);
      model.productSnr.push_back(kExact);
      continue;
    }
    model.rounded.push_back(
        group == 0 ? roundMatrix(elements, matrix.rows, own.squares, scaleType)
                   : roundGroups(elements, matrix.rows, group, own.squares,
                                 scaleType));
    model.weightSnr.push_back(snrOf(elements, model.rounded.back().decode()));
    model.productSnr.push_back(productSnr(elements, model.rounded.back(), own));
  }
  return model;
}
