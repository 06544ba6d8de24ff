// Attention of one sequence over its cached positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>

namespace tfc::reference {

/// Makes row `past + i` of `cached` the row `first + i` of `fresh`.
static void append(const Matrix &fresh, const Sequence &sequence,
                   Matrix &cached) {
  cached.cols = fresh.cols;
  cached.rows = std::max<int64_t>(cached.rows, sequence.past + sequence.count);
  cached.data.resize(cached.rows * cached.cols);
  for (int64_t i = 0; i < sequence.count; ++i) {
    for (int64_t c = 0; c < fresh.cols; ++c) {
      cached.at(sequence.past + i, c) = fresh.at(sequence.first + i, c);
    }
  }
}

void cacheWrite(const Matrix &key, const Matrix &value,
                const Sequence &sequence, Cache::Layer &cache) {
  append(key, sequence, cache.keys);
  append(value, sequence, cache.values);
}

/// The softmax of the scores, largest first subtracted: exp cannot overflow.
static void softmax(std::vector<double> &scores) {
  double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double &score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (double &score : scores) {
    score /= sum;
  }
}

void attention(const Matrix &query, const Sequence &sequence,
               const AttentionShape &shape, const Cache::Layer &cache,
               Matrix &result) {
  int64_t width = shape.headDim, group = shape.numHeads / shape.kvHeads;
  for (int64_t i = 0; i < sequence.count; ++i) {
    int64_t visible = sequence.keys;
    if (shape.causal) {
      visible = std::min<int64_t>(visible, sequence.past + i + 1);
    }
    for (int64_t head = 0; head < shape.numHeads; ++head) {
      int64_t row = sequence.first + i, column = head * width;
      int64_t kvColumn = head / group * width;
      std::vector<double> scores(visible);
      for (int64_t j = 0; j < visible; ++j) {
        for (int64_t d = 0; d < width; ++d) {
          scores[j] += shape.scale * query.at(row, column + d) *
                       cache.keys.at(j, kvColumn + d);
        }
      }
      softmax(scores);
      for (int64_t d = 0; d < width; ++d) {
        double sum = 0;
        for (int64_t j = 0; j < visible; ++j) {
          sum += scores[j] * cache.values.at(j, kvColumn + d);
        }
        result.at(row, column + d) = sum;
      }
    }
  }
}

} // namespace tfc::reference
