// The formulas of mixtures of experts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tfc::reference {

using transformer::GroupRank;
using transformer::Renormalize;
using transformer::RouterScore;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static std::vector<double> softmax(std::vector<double> x) {
  double greatest = *std::max_element(x.begin(), x.end()), sum = 0;
  for (double &each : x) {
    each = std::exp(each - greatest);
    sum += each;
  }
  for (double &each : x) {
    each /= sum;
  }
  return x;
}

/// The numbers of the `count` greatest, greatest first; of equal ones the lower
/// number first.
static std::vector<int64_t> findGreatest(const std::vector<double> &values,
                                         int64_t count) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return values[a] > values[b] || (values[a] == values[b] && a < b);
  });
  order.resize(count);
  return order;
}

/// Leaves the groups that are used; others are never chosen.
static void dropGroups(std::vector<double> &choice, const Router &router) {
  auto size = static_cast<int64_t>(choice.size()) / router.groups;
  std::vector<double> ranks;
  for (int64_t group = 0; group < router.groups; ++group) {
    std::vector<double> own(choice.begin() + group * size,
                            choice.begin() + (group + 1) * size);
    std::sort(own.rbegin(), own.rend());
    ranks.push_back(router.groupRank == GroupRank::Max ? own[0]
                                                       : own[0] + own[1]);
  }
  std::vector<int64_t> used = findGreatest(ranks, router.groupsUsed);
  for (int64_t e = 0; e < static_cast<int64_t>(choice.size()); ++e) {
    if (std::find(used.begin(), used.end(), e / size) == used.end()) {
      choice[e] = -std::numeric_limits<double>::infinity();
    }
  }
}

static std::vector<double> renormalize(std::vector<double> w,
                                       const Router &router) {
  if (router.renormalize == Renormalize::Softmax) {
    w = softmax(std::move(w));
  }
  double divisor = 1;
  if (router.renormalize == Renormalize::Sum) {
    double sum = std::accumulate(w.begin(), w.end(), 0.0);
    divisor = std::max(sum + router.plus, router.floor);
  }
  for (double &each : w) {
    each = each / divisor * router.factor;
  }
  return w;
}

/// The greatest that is left, again and again; its weight is its share of those
/// left that are near to it.
static std::vector<double> mixSparsely(const std::vector<double> &z,
                                       const Router &router,
                                       std::vector<int64_t> &chosen) {
  std::vector<double> w(z.size()), left = z;
  for (int64_t j = 0; j < router.perToken; ++j) {
    int64_t best = findGreatest(left, 1).front();
    double m = left[best], sum = 0;
    for (size_t e = 0; e < z.size(); ++e) {
      double distance = (m - z[e]) / std::max(std::fabs(z[e]), m);
      sum += distance > router.tolerance ? 0 : std::exp(left[e] - m);
    }
    w[best] = 1 / sum;
    chosen.push_back(best);
    left[best] = -std::numeric_limits<double>::infinity();
  }
  return w;
}

Matrix route(const Matrix &logits, const Router &router,
             std::vector<int32_t> &ids) {
  Matrix result(logits.rows, router.perToken);
  for (int64_t t = 0; t < logits.rows; ++t) {
    auto row = logits.data.begin() + t * logits.cols;
    std::vector<double> score(row, row + logits.cols);
    if (router.score == RouterScore::Softmax) {
      score = softmax(std::move(score));
    } else if (router.score == RouterScore::Sigmoid) {
      std::transform(score.begin(), score.end(), score.begin(), sigmoid);
    }
    std::vector<double> choice = score;
    for (int64_t e = 0; router.choiceBias && e < logits.cols; ++e) {
      choice[e] += router.choiceBias->data[e];
    }
    if (router.groups > 1) {
      dropGroups(choice, router);
    }
    std::vector<int64_t> chosen;
    if (router.score == RouterScore::Sparsemixer) {
      score = mixSparsely(score, router, chosen);
    } else {
      chosen = findGreatest(choice, router.perToken);
    }
    std::sort(chosen.begin(), chosen.end());
    std::vector<double> w;
    for (int64_t e : chosen) {
      ids.push_back(static_cast<int32_t>(e));
      w.push_back(router.score == RouterScore::LateSigmoid ? sigmoid(score[e])
                                                           : score[e]);
    }
    w = renormalize(std::move(w), router);
    std::copy(w.begin(), w.end(), result.data.begin() + t * result.cols);
  }
  return result;
}

/// Matrix `number` of those that are one below the other.
static Matrix matrixOf(const Matrix &all, int64_t number, int64_t rows) {
  Matrix own(rows, all.cols);
  auto first = all.data.begin() + number * rows * all.cols;
  std::copy(first, first + rows * all.cols, own.data.begin());
  return own;
}

Matrix experts(const Matrix &x, const std::vector<int32_t> &ids,
               const Matrix &weights, const FfnWeights &matrices,
               transformer::Activation act) {
  int64_t width = matrices.down->cols;
  auto of = [](const Matrix *all, int64_t expert, int64_t rows) {
    return all ? matrixOf(*all, expert, rows) : Matrix();
  };
  Matrix result(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t) {
    Matrix row = matrixOf(x, t, 1);
    for (int64_t j = 0; j < weights.cols; ++j) {
      int64_t e = ids[t * weights.cols + j];
      Matrix up = of(matrices.up, e, width), gate = of(matrices.gate, e, width);
      Matrix down = of(matrices.down, e, x.cols);
      Matrix upBias = of(matrices.upBias, e, 1);
      Matrix gateBias = of(matrices.gateBias, e, 1);
      Matrix downBias = of(matrices.downBias, e, 1);
      auto given = [](const Matrix *all, const Matrix &own) {
        return all ? &own : nullptr;
      };
      Matrix y = ffn(
          row,
          {&up, &down, given(matrices.gate, gate),
           given(matrices.upBias, upBias), given(matrices.gateBias, gateBias),
           given(matrices.downBias, downBias), matrices.alpha, matrices.limit},
          act);
      for (int64_t c = 0; c < x.cols; ++c) {
        result.at(t, c) += weights.at(t, j) * y.data[c];
      }
    }
  }
  return result;
}

GroupedRows groupBy(const std::vector<int32_t> &ids, int64_t perToken,
                    int64_t experts) {
  GroupedRows grouped;
  grouped.places.resize(ids.size());
  for (int64_t expert = 0; expert < experts; ++expert) {
    for (size_t pair = 0; pair < ids.size(); ++pair) {
      if (ids[pair] == expert) {
        grouped.places[pair] = static_cast<int32_t>(grouped.rows.size());
        grouped.rows.push_back(
            static_cast<int32_t>(static_cast<int64_t>(pair) / perToken));
        grouped.experts.push_back(static_cast<int32_t>(expert));
      }
    }
  }
  return grouped;
}

Matrix expertLinear(const Matrix &x, const std::vector<int32_t> &experts,
                    const Matrix &weight, int64_t width, const Matrix *bias) {
  Matrix result(x.rows, width);
  for (int64_t i = 0; i < x.rows; ++i) {
    Matrix ownBias = bias ? matrixOf(*bias, experts[i], 1) : Matrix();
    Matrix y = linear(matrixOf(x, i, 1), matrixOf(weight, experts[i], width),
                      bias ? &ownBias : nullptr);
    std::copy(y.data.begin(), y.data.end(), result.data.begin() + i * width);
  }
  return result;
}

Matrix combine(const Matrix &x, const std::vector<int32_t> &places,
               const Matrix &weights) {
  Matrix result(weights.rows, x.cols);
  for (int64_t t = 0; t < weights.rows; ++t) {
    for (int64_t j = 0; j < weights.cols; ++j) {
      int64_t from = places[t * weights.cols + j];
      for (int64_t c = 0; c < x.cols; ++c) {
        result.at(t, c) += weights.at(t, j) * x.at(from, c);
      }
    }
  }
  return result;
}

Matrix clampedGate(const Matrix &x, const Matrix &gate, double alpha,
                   double limit) {
  Matrix result = x;
  for (size_t i = 0; i < x.data.size(); ++i) {
    double g = std::min(gate.data[i], limit);
    double u = std::clamp(x.data[i], -limit, limit);
    result.data[i] = (u + 1) * g * sigmoid(alpha * g);
  }
  return result;
}

Matrix gateRows(const Matrix &x, const Matrix &gate,
                transformer::Activation act) {
  Matrix result = x, factors = activation(act, gate);
  int64_t part = x.cols / gate.cols;
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t c = 0; c < x.cols; ++c) {
      result.at(t, c) *= factors.at(t, c / part);
    }
  }
  return result;
}

} // namespace tfc::reference
