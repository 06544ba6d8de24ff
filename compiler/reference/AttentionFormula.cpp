// Attention of one sequence over its cached positions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

/// To the nearest bf16, the even one of two.
static double roundToBf16(double value) {
  auto number = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  std::memcpy(&number, &bits, sizeof(bits));
  return number;
}

/// The softmax of the scores, and of a sink where there is one, largest first
/// subtracted: exp cannot overflow. `rounds`: what is divided is rounded.
static void softmax(std::vector<double> &scores, std::optional<double> sink,
                    bool rounds = false) {
  if (scores.empty()) {
    return;
  }
  double largest = *std::max_element(scores.begin(), scores.end());
  largest = std::max(largest, sink.value_or(largest));
  double sum = sink ? std::exp(*sink - largest) : 0;
  for (double &score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (double &score : scores) {
    score = (rounds ? roundToBf16(score) : score) / sum;
  }
}

void latentWrite(const Matrix &ropeKey, const Matrix &latent,
                 const Sequence &sequence, Cache::Layer &cache) {
  Matrix rows(latent.rows, ropeKey.cols + latent.cols);
  for (int64_t t = 0; t < latent.rows; ++t) {
    for (int64_t c = 0; c < ropeKey.cols; ++c) {
      rows.at(t, c) = ropeKey.at(t, c);
    }
    for (int64_t c = 0; c < latent.cols; ++c) {
      rows.at(t, ropeKey.cols + c) = latent.at(t, c);
    }
  }
  append(rows, sequence, cache.keys);
  append(latent, sequence, cache.values);
}

void latentAttention(const Matrix &query, const Sequence &sequence,
                     int64_t heads, double scale, const Cache::Layer &cache,
                     Matrix &result, const WatchFn &watch) {
  int64_t width = cache.keys.cols, values = cache.values.cols;
  for (int64_t i = 0; i < sequence.count; ++i) {
    int64_t row = sequence.first + i;
    int64_t end = std::min<int64_t>(sequence.keys, sequence.past + i + 1);
    for (int64_t head = 0; head < heads; ++head) {
      std::vector<double> scores(end);
      for (int64_t j = 0; j < end; ++j) {
        for (int64_t d = 0; d < width; ++d) {
          scores[j] += query.at(row, head * width + d) * cache.keys.at(j, d);
        }
        scores[j] *= scale;
      }
      softmax(scores, std::nullopt);
      if (watch) {
        watch(row, head, 0, scores);
      }
      for (int64_t c = 0; c < values; ++c) {
        double sum = 0;
        for (int64_t j = 0; j < end; ++j) {
          sum += scores[j] * cache.values.at(j, c);
        }
        result.at(row, head * values + c) = sum;
      }
    }
  }
}

Matrix headLinear(const Matrix &x, const Matrix &weight, int64_t heads,
                  int64_t width) {
  int64_t own = x.cols / heads, inner = weight.cols, rest = own - inner;
  Matrix result(x.rows, heads * (rest + width));
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t head = 0; head < heads; ++head) {
      int64_t from = head * own, to = head * (rest + width);
      for (int64_t c = 0; c < rest; ++c) {
        result.at(t, to + c) = x.at(t, from + inner + c);
      }
      for (int64_t n = 0; n < width; ++n) {
        double sum = 0;
        for (int64_t c = 0; c < inner; ++c) {
          sum += weight.at(head * width + n, c) * x.at(t, from + c);
        }
        result.at(t, to + rest + n) = sum;
      }
    }
  }
  return result;
}

/// What a head adds to the score of a key at this distance from the query.
static double biasAt(const Matrix &bias, int64_t head, int64_t distance) {
  int64_t farthest = bias.cols / 2;
  distance = std::clamp(distance, -farthest, farthest);
  return bias.at(head, farthest + distance);
}

int64_t relativeRow(const AttentionShape &shape, int64_t distance) {
  int64_t middle = shape.span / 2, length = std::abs(distance);
  int64_t bucket = distance;
  if (shape.maxDistance && length > middle) {
    // In f32, as models were trained: at the border of two rows the quotient is
    // close to a whole number.
    float all =
        std::log(float(double(*shape.maxDistance - 1) / double(middle)));
    float part = std::log(float(length) / float(middle)) / all;
    bucket = middle + int64_t(std::ceil(part * float(middle - 1)));
    bucket = distance < 0 ? -bucket : bucket;
  }
  int64_t less = shape.oddSpan ? 1 : 0;
  return std::clamp<int64_t>(bucket + shape.span - less, 0,
                             2 * shape.span - 1 - less);
}

/// The table's number for column `d` of a head, or of all heads.
static double tableAt(const Matrix &table, const AttentionShape &shape,
                      int64_t row, int64_t head, int64_t d) {
  bool isOfAll = table.cols == shape.headDim;
  return table.at(row, isOfAll ? d : head * shape.headDim + d);
}

/// Of `blocks` in a circle: a block is seen as often as it is near.
static double circleTerm(const AttentionShape &shape, int64_t own,
                         int64_t block, int64_t blocks) {
  if (blocks == 1) {
    return 0;
  }
  int64_t count = 0;
  for (int64_t step = -*shape.blocksBefore; step <= *shape.blocksAfter;
       ++step) {
    count += (own + step + blocks) % blocks == block ? 1 : 0;
  }
  return std::log(double(count));
}

double sparseTerm(const AttentionShape &shape, int64_t query, int64_t key,
                  int64_t keys) {
  int64_t size = shape.sparseBlock, last = (keys - 1) / size;
  int64_t own = query / size, block = key / size;
  if (shape.blocksBefore) {
    return circleTerm(shape, std::min(own, last), block, last + 1);
  }
  bool isDense = keys <= (5 + 2 * shape.randomBlocks) * size;
  if (isDense || own == 0 || own == last) {
    return 0;
  }
  if (block == 0) {
    return std::log(1 + double(shape.randomBlocks));
  }
  bool isSeen = std::abs(block - own) <= 1 || block == last;
  return isSeen ? 0 : -std::numeric_limits<double>::infinity();
}

double roundedSlope(double slope, int64_t position) {
  return roundToBf16(roundToBf16(slope) * roundToBf16(double(position)));
}

/// The columns of a head of `query`, a row, and of what is added to them.
static std::vector<double> queryOf(const Matrix &query, const Matrix *bias,
                                   int64_t row, int64_t column, int64_t width) {
  std::vector<double> result(width);
  for (int64_t d = 0; d < width; ++d) {
    result[d] =
        query.at(row, column + d) + (bias ? bias->at(0, column + d) : 0);
  }
  return result;
}

/// What a query has for keys of its own type, or of another one.
static double segmentTerm(const AttentionShape &shape, const Matrix &query,
                          int64_t row, int64_t column, bool isOther) {
  std::vector<double> own =
      queryOf(query, shape.segmentBias, row, column, shape.headDim);
  double sum = 0;
  for (int64_t d = 0; d < shape.headDim; ++d) {
    sum += own[d] * shape.segments->at(isOther, column + d);
  }
  return sum;
}

/// The terms of distances, without the scale.
static double relativeTerms(const AttentionShape &shape, const double *query,
                            const double *key, int64_t head, int64_t distance) {
  double sum = 0;
  int64_t row = relativeRow(shape, distance);
  for (auto [table, factor] : {std::pair(shape.relativeKeys, query),
                               std::pair(shape.relativeQueries, key)}) {
    for (int64_t d = 0; table && d < shape.headDim; ++d) {
      sum += factor[d] * tableAt(*table, shape, row, head, d);
    }
  }
  return sum;
}

void attention(const Matrix &query, const Sequence &sequence,
               const AttentionShape &shape, const Cache::Layer &cache,
               Matrix &result, const WatchFn &watch) {
  int64_t width = shape.headDim, group = shape.numHeads / shape.kvHeads;
  for (int64_t i = 0; i < sequence.count; ++i) {
    int64_t position = sequence.past + i, begin = 0, end = sequence.keys;
    if (shape.causal) {
      end = std::min(end, position + 1);
    }
    if (shape.right) {
      end = std::min(end, position + *shape.right + 1);
    }
    if (shape.left) {
      begin = std::clamp<int64_t>(position - *shape.left, 0, end);
    }
    bool isLocal = shape.causal && shape.blocksBefore;
    if (isLocal) {
      int64_t block = position / shape.sparseBlock - *shape.blocksBefore;
      begin = std::clamp<int64_t>(block * shape.sparseBlock, 0, end);
    }
    double scale = shape.scale;
    if (shape.logBase) {
      auto seen = static_cast<double>(shape.causal ? end : sequence.keys);
      scale *= std::log(seen) / std::log(*shape.logBase);
    }
    for (int64_t head = 0; head < shape.numHeads; ++head) {
      int64_t row = sequence.first + i, column = head * width;
      int64_t kvColumn = head / group * width;
      std::vector<double> scores(end - begin);
      std::vector<double> own =
          queryOf(query, shape.queryBias, row, column, width);
      auto factor = [&](double value) {
        return shape.roundsFactors ? roundToBf16(value) : value;
      };
      std::vector<double> distant =
          queryOf(query, shape.relativeBias, row, column, width);
      for (int64_t j = begin; j < end; ++j) {
        double &score = scores[j - begin];
        // A spectator's row is behind its sequence's, as its place is.
        int64_t keyRow = sequence.first - sequence.past + j;
        if (shape.unseen && shape.unseen->at(keyRow) != 0) {
          score = -std::numeric_limits<double>::infinity();
          continue;
        }
        for (int64_t d = 0; d < width; ++d) {
          score +=
              scale * factor(own[d]) * factor(cache.keys.at(j, kvColumn + d));
        }
        if (shape.relativeKeys || shape.relativeQueries) {
          score += scale * relativeTerms(
                               shape, distant.data(),
                               &cache.keys.data[j * cache.keys.cols + kvColumn],
                               head, position - j);
        }
        if (shape.segments) {
          int32_t type = shape.types->at(keyRow);
          score += scale * segmentTerm(shape, query, row, column,
                                       type != shape.types->at(row));
        }
        if (shape.bias) {
          score += biasAt(*shape.bias, head, j - position);
        }
        if (shape.roundedSlopes) {
          score += scale * roundedSlope(shape.slopes[head], j);
        } else if (!shape.slopes.empty()) {
          score += shape.slopes[head] * static_cast<double>(j - position);
        }
        if (shape.sparseBlock > 0 && !isLocal) {
          score += sparseTerm(shape, position, j, sequence.keys);
        }
        if (shape.cap) {
          score = *shape.cap * std::tanh(score / *shape.cap);
        }
      }
      softmax(scores,
              shape.sinks ? std::optional(shape.sinks->at(
                                shape.sinks->rows > 1 ? row : 0, head))
                          : std::nullopt,
              shape.roundsFactors);
      if (watch) {
        watch(row, head, begin, scores);
      }
      for (int64_t d = 0; d < width; ++d) {
        double sum = scores.empty() ? std::nan("") : 0;
        for (int64_t j = begin; j < end; ++j) {
          double value = factor(cache.values.at(j, kvColumn + d));
          if (shape.relativeValues) {
            int64_t own = relativeRow(shape, position - j);
            value += tableAt(*shape.relativeValues, shape, own, head, d);
          }
          sum += scores[j - begin] * value;
        }
        result.at(row, column + d) = sum;
      }
    }
  }
}

} // namespace tfc::reference
