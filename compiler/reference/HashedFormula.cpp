// Attention by hashes, from the definition: rows with their buckets are sorted,
// and scores are made of all that a row sees.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>

namespace tfc::reference {

/// Of row `row` in one round, whose products begin at `column`.
static int64_t findBucket(const HashedRows &of, int64_t head, int64_t row,
                          int64_t column) {
  int64_t width = of.query.cols / of.heads, bucket = 0, factor = 1;
  for (int64_t buckets : of.buckets) {
    std::vector<double> z(static_cast<size_t>(buckets));
    for (int64_t i = 0; i < buckets / 2; ++i) {
      double sum = 0;
      for (int64_t c = head * width; c < (head + 1) * width; ++c) {
        sum += of.query.at(row, c) * of.rotations.at(c, column + i);
      }
      z[static_cast<size_t>(i)] = sum;
      z[static_cast<size_t>(buckets / 2 + i)] = -sum;
    }
    bucket += factor * (std::max_element(z.begin(), z.end()) - z.begin());
    factor *= buckets;
    column += buckets / 2;
  }
  return bucket;
}

/// By chunk of the circle the rows that are in it.
static std::vector<std::vector<int64_t>> fillChunks(const HashedRows &of,
                                                    const Sequence &sequence,
                                                    int64_t head,
                                                    int64_t visible) {
  if (visible <= of.block) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < visible; ++i) {
      all.push_back(i);
    }
    return {all};
  }
  int64_t room = (visible + of.multiple - 1) / of.multiple * of.multiple;
  int64_t products = of.rotations.cols / of.hashes;
  std::vector<std::vector<int64_t>> chunks(
      static_cast<size_t>(of.hashes * room / of.block));
  for (int64_t round = 0; round < of.hashes; ++round) {
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int64_t i = 0; i < visible; ++i) {
      rows.emplace_back(
          findBucket(of, head, sequence.first + i, round * products), i);
    }
    std::sort(rows.begin(), rows.end());
    for (int64_t i = 0; i < visible; ++i) {
      chunks[static_cast<size_t>((round * room + i) / of.block)].push_back(
          rows[static_cast<size_t>(i)].second);
    }
  }
  return chunks;
}

/// Row `own` of the sequence; `seen` are the rows that it sees.
static void attend(const HashedRows &of, const Sequence &sequence, int64_t head,
                   int64_t own, const std::vector<int64_t> &seen,
                   Matrix &result) {
  int64_t width = of.query.cols / of.heads, row = sequence.first + own;
  std::vector<double> scores;
  for (int64_t other : seen) {
    double score = 0;
    for (int64_t c = head * width; c < (head + 1) * width; ++c) {
      score += of.query.at(row, c) * of.key.at(sequence.first + other, c);
    }
    scores.push_back(other == own ? -1e5 : of.scale * score);
  }
  double greatest =
      scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double &score : scores) {
    score = std::exp(score - greatest);
    total += score;
  }
  for (int64_t c = head * width; c < (head + 1) * width; ++c) {
    double sum = 0;
    for (size_t j = 0; j < seen.size(); ++j) {
      sum += scores[j] * of.value.at(sequence.first + seen[j], c);
    }
    result.at(row, c) = sum / total;
  }
}

void attendHashed(const HashedRows &of, const Sequence &sequence,
                  Matrix &result) {
  int64_t visible =
      std::min<int64_t>(sequence.count, sequence.keys - sequence.past);
  for (int64_t head = 0; head < of.heads; ++head) {
    auto chunks = fillChunks(of, sequence, head, visible);
    auto count = static_cast<int64_t>(chunks.size());
    int64_t rounds = visible <= of.block ? 1 : of.hashes;
    for (int64_t own = 0; own < sequence.count; ++own) {
      std::vector<int64_t> seen;
      for (int64_t round = 0; round < rounds; ++round) {
        int64_t first = round * count / rounds, chunk = first;
        for (int64_t i = first; i < first + count / rounds; ++i) {
          const auto &rows = chunks[static_cast<size_t>(i)];
          // What is not visible is where the last one is.
          bool isThere = own < visible
                             ? std::count(rows.begin(), rows.end(), own) > 0
                             : !rows.empty();
          chunk = isThere ? i : chunk;
        }
        bool isWhole = visible <= of.block;
        int64_t before = isWhole ? 0 : of.before,
                after = isWhole ? 0 : of.after;
        for (int64_t near = -before; near <= after; ++near) {
          const auto &rows =
              chunks[static_cast<size_t>((chunk + near + count) % count)];
          seen.insert(seen.end(), rows.begin(), rows.end());
        }
      }
      attend(of, sequence, head, own, seen, result);
    }
  }
}

} // namespace tfc::reference
