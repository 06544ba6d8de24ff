// A query and its candidates, log probabilities, memories of zeros.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>

namespace tfc::reference {

static int64_t visibleOf(const Sequence &sequence) {
  return std::min(sequence.count, sequence.keys - sequence.past);
}

/// Where it is in its sequence.
static int64_t placeOf(const Sequence &sequence,
                       transformer::QueryPlace query) {
  return query == transformer::QueryPlace::First
             ? 0
             : std::max<int64_t>(visibleOf(sequence), 1) - 1;
}

void pairRows(const Matrix &x, const Sequence &sequence,
              transformer::QueryPlace query, Matrix &result) {
  int64_t asking = sequence.first + placeOf(sequence, query);
  for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t) {
    for (int64_t c = 0; c < x.cols; ++c) {
      double q = x.at(asking, c), k = x.at(t, c);
      result.at(t, c) = q;
      result.at(t, x.cols + c) = k;
      result.at(t, 2 * x.cols + c) = q - k;
      result.at(t, 3 * x.cols + c) = q * k;
    }
  }
}

void weighRows(const Matrix &x, const Matrix &weights, const Sequence &sequence,
               transformer::QueryPlace query, int64_t row, Matrix &result) {
  int64_t asking = placeOf(sequence, query);
  for (int64_t c = 0; c < x.cols; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < visibleOf(sequence); ++i) {
      if (i != asking) {
        sum += weights.at(sequence.first + i, 0) * x.at(sequence.first + i, c);
      }
    }
    result.at(row, c) = sum;
    result.at(row, x.cols + c) = x.at(sequence.first + asking, c);
  }
}

/// ln(sum exp) of a row of each of `parts`.
static double logSum(int64_t row, llvm::ArrayRef<const Matrix *> parts) {
  double greatest = -HUGE_VAL, sum = 0;
  for (const Matrix *part : parts) {
    for (int64_t c = 0; c < part->cols; ++c) {
      greatest = std::max(greatest, part->at(row, c));
    }
  }
  for (const Matrix *part : parts) {
    for (int64_t c = 0; c < part->cols; ++c) {
      sum += std::exp(part->at(row, c) - greatest);
    }
  }
  return greatest + std::log(sum);
}

Matrix logSoftmax(const Matrix &x, const Matrix *gates,
                  llvm::ArrayRef<const Matrix *> clusters) {
  int64_t width = x.cols;
  for (const Matrix *cluster : clusters) {
    width += cluster->cols;
  }
  llvm::SmallVector<const Matrix *> together = {&x};
  if (gates) {
    together.push_back(gates);
  }
  Matrix y(x.rows, width);
  for (int64_t t = 0; t < x.rows; ++t) {
    double all = logSum(t, together);
    int64_t column = 0;
    for (int64_t c = 0; c < x.cols; ++c) {
      y.at(t, column++) = x.at(t, c) - all;
    }
    for (size_t i = 0; i < clusters.size(); ++i) {
      double own = logSum(t, clusters[i]);
      double gate = gates->at(t, static_cast<int64_t>(i)) - all;
      for (int64_t c = 0; c < clusters[i]->cols; ++c) {
        y.at(t, column++) = gate + clusters[i]->at(t, c) - own;
      }
    }
  }
  return y;
}

void memorySinks(const Matrix &query, const Sequence &sequence,
                 const ZeroMemory &memory, Matrix &result) {
  int64_t width = query.cols / memory.heads;
  for (int64_t i = 0; i < sequence.count; ++i) {
    int64_t row = sequence.first + i;
    for (int64_t head = 0; head < memory.heads; ++head) {
      std::vector<double> scores;
      for (int64_t d = sequence.past + i + 1; d <= memory.left; ++d) {
        int64_t back = memory.span - 1 - std::min(d, memory.span - 1);
        int64_t own = memory.keys.rows - 1 - back;
        double score = 0;
        for (int64_t c = head * width; c < (head + 1) * width; ++c) {
          double bias = memory.bias ? memory.bias->at(0, c) : 0;
          score += (query.at(row, c) + bias) * memory.keys.at(own, c);
        }
        scores.push_back(memory.scale * score);
      }
      double greatest =
          scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double score : scores) {
        sum += std::exp(score - greatest);
      }
      result.at(row, head) = scores.empty() ? -1e30 : greatest + std::log(sum);
    }
  }
}

} // namespace tfc::reference
