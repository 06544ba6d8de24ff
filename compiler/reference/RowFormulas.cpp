// Ops that look at each row by itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tfc::reference {

using transformer::Activation;

Matrix embedding(const std::vector<int32_t> &ids, const Matrix &table,
                 int64_t offset) {
  Matrix y(static_cast<int64_t>(ids.size()), table.cols);
  for (int64_t t = 0; t < y.rows; ++t) {
    for (int64_t c = 0; c < y.cols; ++c) {
      y.at(t, c) = ids[t] < 0 ? 0.0 : table.at(ids[t] + offset, c);
    }
  }
  return y;
}

/// y = (x - mean) / sqrt(mean((x - mean)^2) + eps) in each part, the mean being
/// 0 unless it is subtracted; then weight and bias.
static Matrix normalise(const Matrix &x, const NormShape &shape,
                        bool subtractsMean) {
  Matrix y(x.rows, x.cols);
  int64_t width = x.cols / shape.parts;
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t first = 0; first < x.cols; first += width) {
      double mean = 0, squares = 0;
      for (int64_t c = 0; subtractsMean && c < width; ++c) {
        mean += x.at(t, first + c);
      }
      mean /= width;
      for (int64_t c = 0; c < width; ++c) {
        double centred = x.at(t, first + c) - mean;
        squares += centred * centred;
      }
      double divisor = shape.unbiasedStd
                           ? std::sqrt(squares / (width - 1)) + shape.eps
                           : std::sqrt(squares / width + shape.eps);
      for (int64_t c = 0; c < width; ++c) {
        double unit = (x.at(t, first + c) - mean) / divisor;
        // A weight as long as a part is of all parts.
        bool isOfAll =
            shape.weight && int64_t(shape.weight->data.size()) == width;
        double weight =
            shape.weight
                ? shape.offset + shape.weight->data[isOfAll ? c : first + c]
                : 1.0;
        y.at(t, first + c) =
            unit * weight + (shape.bias ? shape.bias->at(0, c) : 0.0);
      }
    }
  }
  return y;
}

Matrix layerNorm(const Matrix &x, const NormShape &shape) {
  return normalise(x, shape, /*subtractsMean=*/true);
}

Matrix rmsNorm(const Matrix &x, const NormShape &shape) {
  return normalise(x, shape, /*subtractsMean=*/false);
}

Matrix l2Normalize(const Matrix &x, double eps) {
  Matrix y = x;
  for (int64_t t = 0; t < x.rows; ++t) {
    double squares = 0;
    for (int64_t c = 0; c < x.cols; ++c) {
      squares += x.at(t, c) * x.at(t, c);
    }
    for (int64_t c = 0; c < x.cols; ++c) {
      y.at(t, c) /= std::max(std::sqrt(squares), eps);
    }
  }
  return y;
}

Matrix linear(const Matrix &x, const Matrix &weight, const Matrix *bias) {
  Matrix y(x.rows, weight.rows);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t n = 0; n < weight.rows; ++n) {
      double sum = bias ? bias->at(0, n) : 0.0;
      for (int64_t k = 0; k < x.cols; ++k) {
        sum += x.at(t, k) * weight.at(n, k);
      }
      y.at(t, n) = sum;
    }
  }
  return y;
}

Matrix quantizeRows(const Matrix &x, Matrix &scales) {
  Matrix y(x.rows, x.cols);
  scales = Matrix(1, x.rows);
  for (int64_t t = 0; t < x.rows; ++t) {
    double greatest = std::ldexp(1.0, -100);
    bool isFinite = true;
    for (int64_t w = 0; w < x.cols; ++w) {
      isFinite &= std::isfinite(x.at(t, w));
      greatest = std::max(greatest, std::fabs(x.at(t, w)));
    }
    scales.at(0, t) =
        isFinite ? greatest / 127 : std::numeric_limits<double>::quiet_NaN();
    // In f32, as whoever makes integers has it, to the last bit.
    float steps = 127 / static_cast<float>(greatest);
    for (int64_t w = 0; w < x.cols; ++w) {
      float quotient = static_cast<float>(x.at(t, w)) * steps;
      y.at(t, w) = isFinite ? std::nearbyint(quotient) : 0;
    }
  }
  return y;
}

Matrix quantizeGroups(const Matrix &x, Matrix &scales,
                      llvm::function_ref<double(double)> keep) {
  Matrix y(x.rows, x.cols);
  int64_t columns = x.cols / scales.cols;
  for (int64_t n = 0; n < x.rows; ++n) {
    for (int64_t g = 0; g < scales.cols; ++g) {
      double extreme = std::ldexp(1.0, -100);
      for (int64_t i = 0; i < columns; ++i) {
        double element = x.at(n, g * columns + i);
        extreme = std::fabs(element) > std::fabs(extreme) ? element : extreme;
      }
      scales.at(n, g) = keep(extreme / -8);
      // As packed weights have them, to the last bit: in f32.
      auto steps = static_cast<float>(1 / scales.at(n, g));
      for (int64_t i = 0; i < columns; ++i) {
        auto element = static_cast<float>(x.at(n, g * columns + i));
        y.at(n, g * columns + i) =
            std::min<double>(std::nearbyint(element * steps), 7);
      }
    }
  }
  return y;
}

Matrix scaleGroups(const Matrix &integers, const Matrix &scales,
                   const Matrix *zeros, bool areFloat) {
  Matrix y = integers;
  int64_t columns = y.cols / scales.cols;
  for (int64_t n = 0; n < y.rows; ++n) {
    for (int64_t k = 0; k < y.cols; ++k) {
      double zero = zeros ? zeros->at(n, k / columns) : 0;
      double scale = scales.at(n, k / columns);
      y.at(n, k) = areFloat ? (y.at(n, k) + 8) * scale - zero
                            : (y.at(n, k) - zero) * scale;
    }
  }
  return y;
}

Matrix scaleRows(const Matrix &integers, const Matrix &scales) {
  Matrix y = integers;
  for (int64_t n = 0; n < y.rows; ++n) {
    for (int64_t k = 0; k < y.cols; ++k) {
      y.at(n, k) *= scales.at(0, n);
    }
  }
  return y;
}

Matrix scaleBoth(const Matrix &x, const Matrix &rowScales,
                 const Matrix &columnScales, const Matrix *bias) {
  Matrix y(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t n = 0; n < x.cols; ++n) {
      double scale = columnScales.data.empty() ? 1 : columnScales.at(0, n);
      y.at(t, n) =
          x.at(t, n) * rowScales.at(0, t) * scale + (bias ? bias->at(0, n) : 0);
    }
  }
  return y;
}

double activate(Activation act, double x) {
  const double pi = 3.14159265358979323846;
  switch (act) {
  case Activation::Identity:
    return x;
  case Activation::Gelu:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case Activation::GeluNew:
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
  case Activation::Relu:
    // Not std::max, which would turn a NaN into zero.
    return x < 0 ? 0.0 : x;
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  case Activation::Tanh:
    return std::tanh(x);
  case Activation::Relu2:
    return x < 0 ? 0.0 : x * x;
  case Activation::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Activation::Softplus:
    return (x < 0 ? 0.0 : x) + std::log1p(std::exp(-std::fabs(x)));
  case Activation::QuickGelu:
    return x / (1 + std::exp(-1.702 * x));
  }
  return x;
}

Matrix activation(Activation act, const Matrix &x) {
  Matrix y = x;
  for (double &element : y.data) {
    element = activate(act, element);
  }
  return y;
}

Matrix ffn(const Matrix &x, const FfnWeights &weights, Activation act) {
  Matrix inner = linear(x, *weights.up, weights.upBias);
  if (!weights.gate) {
    inner = activation(act, inner);
  } else if (weights.limit > 0) {
    inner = clampedGate(inner, linear(x, *weights.gate, weights.gateBias),
                        weights.alpha, weights.limit);
  } else {
    inner = multiply(
        inner, activation(act, linear(x, *weights.gate, weights.gateBias)));
  }
  return linear(inner, *weights.down, weights.downBias);
}

Matrix add(const Matrix &a, const Matrix &b) {
  Matrix y = a;
  for (size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] += b.data[i];
  }
  return y;
}

Matrix multiply(const Matrix &a, const Matrix &b) {
  Matrix y = a;
  for (size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] *= b.data[i];
  }
  return y;
}

Matrix scale(const Matrix &x, double factor) {
  Matrix y = x;
  for (double &element : y.data) {
    element *= factor;
  }
  return y;
}

Matrix clamp(const Matrix &x, double least) {
  Matrix y = x;
  for (double &element : y.data) {
    element = element < least ? least : element;
  }
  return y;
}

Matrix xielu(const Matrix &x, double positive, double negative, double beta,
             double least) {
  double p = activate(Activation::Softplus, positive);
  double n = beta + activate(Activation::Softplus, negative);
  Matrix y = x;
  for (double &element : y.data) {
    // Not std::min, which may lose a NaN.
    double low = element > least ? least : element;
    double curved =
        element > 0 ? p * element * element : n * (std::expm1(low) - element);
    element = curved + beta * element;
  }
  return y;
}

Matrix gatherRows(const Matrix &x, const std::vector<int32_t> &rows) {
  Matrix y(static_cast<int64_t>(rows.size()), x.cols);
  for (int64_t r = 0; r < y.rows; ++r) {
    for (int64_t c = 0; c < x.cols; ++c) {
      y.at(r, c) = x.at(rows[r], c);
    }
  }
  return y;
}

void poolRows(const Matrix &x, const Sequence &sequence,
              transformer::Pooling how, int64_t skip, int64_t row,
              Matrix &result) {
  int64_t visible = std::min(sequence.count, sequence.keys - sequence.past);
  int64_t count = std::max<int64_t>(visible - skip, 0);
  for (int64_t c = 0; c < x.cols; ++c) {
    double sum = 0, greatest = std::nan("");
    for (int64_t i = 0; i < count; ++i) {
      double element = x.at(sequence.first + skip + i, c);
      sum += element;
      greatest = i == 0 ? element : std::max(greatest, element);
    }
    double &y = result.at(row, c);
    switch (how) {
    case transformer::Pooling::Mean:
      y = sum / static_cast<double>(count);
      break;
    case transformer::Pooling::Max:
      y = greatest;
      break;
    case transformer::Pooling::MeanSqrtLen:
      y = sum / std::sqrt(static_cast<double>(count));
      break;
    }
  }
}

void unfold(const std::vector<const Matrix *> &inputs, const Sequence &sequence,
            const Taps &taps, Matrix &result) {
  int64_t visible = std::min(sequence.count, sequence.keys - sequence.past);
  int64_t width = result.cols / taps.taps, each = inputs.front()->cols;
  for (int64_t t = 0; t < sequence.count; ++t) {
    for (int64_t c = 0; c < width; ++c) {
      for (int64_t i = 0; i < taps.taps; ++i) {
        int64_t frame = taps.frames * t + taps.first + i;
        int64_t column = frame % taps.frames * width + c;
        bool isSeen = frame >= 0 && frame < taps.frames * visible;
        result.at(sequence.first + t, taps.taps * c + i) =
            isSeen ? inputs[static_cast<size_t>(column / each)]->at(
                         sequence.first + frame / taps.frames, column % each)
                   : 0;
      }
    }
  }
}

Matrix layerScale(const Matrix &x, const Matrix &weight) {
  Matrix y(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t c = 0; c < x.cols; ++c) {
      size_t own = weight.data.size() == 1 ? 0 : static_cast<size_t>(c);
      y.at(t, c) = weight.data[own] * x.at(t, c);
    }
  }
  return y;
}

Matrix sliceColumns(const Matrix &x, int64_t first, int64_t width) {
  Matrix y(x.rows, width);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t c = 0; c < width; ++c) {
      y.at(t, c) = x.at(t, first + c);
    }
  }
  return y;
}

} // namespace tfc::reference
