// Looks for factors of columns, and moves them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/Smooth.h"

#include <algorithm>
#include <cmath>

using namespace tfc;
using namespace tfc::quantize;

/// Rows of a matrix that a candidate is tried on.
static constexpr int64_t kTriedRows = 128;
/// 2^kMaxExponent is the most that a column is changed by.
static constexpr int kMaxExponent = 6;
/// What smoothing must leave of the squared errors to be done.
static constexpr double kWorthwhile = 0.8;

/// `count` numbers as an int8 program has them.
static void roundRow(const float *numbers, size_t count, int8_t *integers,
                     float &scale) {
  float greatest = std::ldexp(1.0F, -100);
  for (size_t i = 0; i < count; ++i) {
    greatest = std::max(greatest, std::fabs(numbers[i]));
  }
  scale = greatest / 127;
  float inverse = 127 / greatest;
  for (size_t i = 0; i < count; ++i) {
    integers[i] = static_cast<int8_t>(std::nearbyintf(numbers[i] * inverse));
  }
}

namespace {

/// Squares of products, and of their errors.
struct Energy {
  double signal = 0, noise = 0;
};

/// Rows with a scale each, or one for each group of their columns.
struct Integers {
  Integers() = default;
  Integers(const std::vector<float> &numbers, size_t rows)
      : integers(numbers.size()), scales(rows) {
    size_t columns = numbers.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      roundRow(numbers.data() + row * columns, columns,
               integers.data() + row * columns, scales[row]);
    }
  }
  std::vector<int8_t> integers;
  std::vector<float> scales; // [rows, groups]
  size_t groups = 1;
};

} // namespace

/// Integers beside what they stand for.
static Energy energyOf(const std::vector<float> &x, const Integers &xs,
                       const std::vector<float> &w, const Integers &ws) {
  Energy energy;
  size_t columns = x.size() / xs.scales.size(), size = columns / ws.groups;
  for (size_t t = 0; t < xs.scales.size(); ++t) {
    for (size_t n = 0; n < ws.scales.size() / ws.groups; ++n) {
      const float *xRow = x.data() + t * columns,
                  *wRow = w.data() + n * columns;
      const int8_t *xq = xs.integers.data() + t * columns;
      const int8_t *wq = ws.integers.data() + n * columns;
      float exact = 0;
      double rounded = 0;
      for (size_t group = 0; group < ws.groups; ++group) {
        int32_t sum = 0;
        for (size_t i = group * size; i < (group + 1) * size; ++i) {
          exact += xRow[i] * wRow[i];
          sum += xq[i] * wq[i];
        }
        rounded += static_cast<double>(sum) * xs.scales[t] *
                   ws.scales[n * ws.groups + group];
      }
      double error = exact - rounded;
      energy.signal += static_cast<double>(exact) * exact;
      energy.noise += error * error;
    }
  }
  return energy;
}

/// Which rows stand for all: evenly spread ones, at most kTriedRows.
static std::vector<int64_t> chooseRows(int64_t rows) {
  int64_t taken = std::min(rows, kTriedRows);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < taken; ++i) {
    chosen.push_back(i * rows / taken);
  }
  return chosen;
}

template <typename T>
static std::vector<T> takeRows(const std::vector<T> &matrix, int64_t rows) {
  int64_t columns = static_cast<int64_t>(matrix.size()) / rows;
  std::vector<T> some;
  for (int64_t row : chooseRows(rows)) {
    some.insert(some.end(), matrix.begin() + row * columns,
                matrix.begin() + (row + 1) * columns);
  }
  return some;
}

double tfc::quantize::productSnr(const std::vector<float> &exact,
                                 const RoundedMatrix &rounded,
                                 const RowStatistics &statistics) {
  Integers xs(statistics.samples, statistics.numSamples), ws;
  ws.integers = takeRows(rounded.integers, rounded.rows);
  ws.groups = rounded.groups;
  for (int64_t row : chooseRows(rounded.rows)) {
    for (int64_t group = 0; group < rounded.groups; ++group) {
      ws.scales.push_back(rounded.scale(row, group));
    }
  }
  Energy energy =
      energyOf(statistics.samples, xs, takeRows(exact, rounded.rows), ws);
  return energy.noise == 0 ? 200
                           : 10 * std::log10(energy.signal / energy.noise);
}

namespace {

/// One fold, and the matrices that read it.
class Smoother {
public:
  Smoother(const Fold &fold, const Products &products, Checkpoint &checkpoint,
           std::vector<RowStatistics> &statistics)
      : fold(fold), products(products), checkpoint(checkpoint),
        statistics(statistics) {
    for (size_t reader : fold.readers) {
      const Matrix &matrix = products.matrices[reader];
      tried.push_back(takeRows(checkpoint.read(matrix.tensor), matrix.rows));
    }
  }

  Smoothed run();

private:
  /// Exponents of the factors, a row of the writers each.
  std::vector<int> exponentsFor(double alpha) const;
  /// The relative error of all readers, summed.
  double costOf(const std::vector<int> &exponents) const;
  bool canDivide(const std::vector<int> &exponents) const;
  void apply(const std::vector<int> &exponents);

  const Fold &fold;
  const Products &products;
  Checkpoint &checkpoint;
  std::vector<RowStatistics> &statistics;
  std::vector<std::vector<float>> tried; // of each reader some rows
};

} // namespace

std::vector<int> Smoother::exponentsFor(double alpha) const {
  size_t columns = fold.rowOf.size();
  std::vector<double> x(fold.numRows), w(fold.numRows);
  for (size_t i = 0; i < fold.readers.size(); ++i) {
    const RowStatistics &own = statistics[fold.readers[i]];
    for (size_t column = 0; column < columns; ++column) {
      double &xs = x[fold.rowOf[column]], &ws = w[fold.rowOf[column]];
      xs = std::max<double>(xs, own.greatest[column]);
      for (size_t at = column; at < tried[i].size(); at += columns) {
        ws = std::max<double>(ws, std::fabs(tried[i][at]));
      }
    }
  }
  std::vector<double> logs(fold.numRows);
  double sum = 0;
  for (int64_t row = 0; row < fold.numRows; ++row) {
    logs[row] = alpha * std::log2(std::max(x[row], 1e-5)) -
                (1 - alpha) * std::log2(std::max(w[row], 1e-5));
    sum += logs[row];
  }
  double mean = sum / static_cast<double>(fold.numRows);
  std::vector<int> exponents;
  for (double each : logs) {
    exponents.push_back(std::clamp(static_cast<int>(std::lround(each - mean)),
                                   -kMaxExponent, kMaxExponent));
  }
  return exponents;
}

double Smoother::costOf(const std::vector<int> &exponents) const {
  size_t columns = fold.rowOf.size();
  double cost = 0;
  for (size_t i = 0; i < fold.readers.size(); ++i) {
    const RowStatistics &own = statistics[fold.readers[i]];
    std::vector<float> x = own.samples, w = tried[i];
    for (size_t at = 0; at < x.size(); ++at) {
      x[at] = std::ldexp(x[at], -exponents[fold.rowOf[at % columns]]);
    }
    for (size_t at = 0; at < w.size(); ++at) {
      w[at] = std::ldexp(w[at], exponents[fold.rowOf[at % columns]]);
    }
    Energy energy = energyOf(x, Integers(x, own.numSamples), w,
                             Integers(w, w.size() / columns));
    cost += energy.signal > 0 ? energy.noise / energy.signal : 0;
  }
  return cost;
}

/// Whether vectors of 16 bits hold what they become. Matrices that compute the
/// columns become integers with a scale a row, whatever that is.
bool Smoother::canDivide(const std::vector<int> &exponents) const {
  for (const Writer &writer : fold.writers) {
    const rt::Tensor &tensor = checkpoint.tensor(writer.tensor);
    if (tensor.dtype == rt::DType::F32) {
      continue;
    }
    std::vector<float> elements = checkpoint.read(writer.tensor);
    auto columns = static_cast<int64_t>(elements.size()) / tensor.shape[0];
    for (int64_t row = 0; row < fold.numRows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        float value =
            std::ldexp(elements[(writer.firstRow + row) * columns + column],
                       -exponents[row]);
        if (widen16(roundTo16(value, tensor.dtype), tensor.dtype) != value) {
          return false;
        }
      }
    }
  }
  return true;
}

void Smoother::apply(const std::vector<int> &exponents) {
  for (size_t reader : fold.readers) {
    const std::string &name = products.matrices[reader].tensor;
    std::vector<float> elements = checkpoint.read(name);
    RowStatistics &own = statistics[reader];
    size_t columns = fold.rowOf.size();
    auto of = [&](size_t at) { return exponents[fold.rowOf[at % columns]]; };
    for (size_t at = 0; at < elements.size(); ++at) {
      elements[at] = std::ldexp(elements[at], of(at));
    }
    for (size_t at = 0; at < own.samples.size(); ++at) {
      own.samples[at] = std::ldexp(own.samples[at], -of(at));
    }
    for (size_t column = 0; column < columns; ++column) {
      own.greatest[column] = std::ldexp(own.greatest[column], -of(column));
      own.squares[column] = std::ldexp(own.squares[column], -2 * of(column));
    }
    checkpoint.change(name, std::move(elements));
  }
  for (const Writer &writer : fold.writers) {
    std::vector<float> elements = checkpoint.read(writer.tensor);
    auto columns = static_cast<int64_t>(elements.size()) /
                   checkpoint.tensor(writer.tensor).shape[0];
    for (int64_t row = 0; row < fold.numRows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        float &element = elements[(writer.firstRow + row) * columns + column];
        element = std::ldexp(element, -exponents[row]);
      }
    }
    checkpoint.change(writer.tensor, std::move(elements));
  }
}

Smoothed Smoother::run() {
  // Samples are few: what is not much nearer with them may be further without.
  double least = kWorthwhile * costOf(std::vector<int>(fold.numRows, 0)),
         best = 0;
  for (double alpha : {0.5, 0.55, 0.6, 0.65}) {
    double cost = costOf(exponentsFor(alpha));
    if (cost < least) {
      least = cost;
      best = alpha;
    }
  }
  if (best != 0) {
    std::vector<int> exponents = exponentsFor(best);
    if (canDivide(exponents)) {
      apply(exponents);
    } else {
      best = 0;
    }
  }
  return {fold.site, fold.layer, best};
}

std::vector<Smoothed>
tfc::quantize::smooth(const Products &products, Checkpoint &checkpoint,
                      std::vector<RowStatistics> &statistics) {
  std::vector<Smoothed> done;
  for (const Fold &fold : products.folds) {
    done.push_back(Smoother(fold, products, checkpoint, statistics).run());
  }
  return done;
}
