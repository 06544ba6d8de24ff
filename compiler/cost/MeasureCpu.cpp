// This machine's peaks, by short loops that do nothing else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/MeasureCpu.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace {
/// Eight lanes, and sixteen.
using Half = float __attribute__((vector_size(32)));
using Whole = float __attribute__((vector_size(64)));
constexpr int64_t kSteps = 2000000;
constexpr int kSums = 12;            // enough to hide the latency of two units
constexpr int64_t kBytes = 32 << 20; // a thread's, more than a cache's share
} // namespace

/// The sums go round in registers, each from a beginning of its own, so that
/// they stay apart; what is added keeps them finite.
template <typename Vector>
[[gnu::always_inline]] static inline double multiplyAndAdd() {
  Vector sums[kSums] = {};
  for (int number = 0; number < kSums; ++number) {
    sums[number] += static_cast<float>(number);
  }
  Vector factor = {}, term = {};
  factor += 0.5F;
  term += 1.0F;
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12 // without -O3 it would be memory that is measured
    for (Vector &sum : sums) {
      sum = sum * factor + term;
    }
  }
  Vector total = {};
  for (const Vector &sum : sums) {
    total += sum;
  }
  return static_cast<double>(total[0]);
}

[[gnu::target("avx2,fma")]] static double multiplyByEight() {
  return multiplyAndAdd<Half>();
}

[[gnu::target("avx512f")]] static double multiplyBySixteen() {
  return multiplyAndAdd<Whole>();
}

/// The seconds of the fastest of some runs of `work(thread)` by all threads.
static double fastest(int runs, const std::function<void(unsigned)> &work) {
  unsigned count = std::max(1U, std::thread::hardware_concurrency());
  double best = 1e9;
  for (int run = 0; run < runs; ++run) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (unsigned index = 0; index < count; ++index) {
      threads.emplace_back(work, index);
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

double tfc::cost::measureArithmetic() {
  bool isWide = __builtin_cpu_supports("avx512f") != 0;
  volatile double kept = 0;
  double seconds = fastest(4, [&](unsigned) {
    kept = isWide ? multiplyBySixteen() : multiplyByEight();
  });
  double lanes = isWide ? 16 : 8;
  return 2.0 * lanes * kSums * static_cast<double>(kSteps) *
         std::max(1U, std::thread::hardware_concurrency()) / seconds;
}

double tfc::cost::measureBandwidth() {
  unsigned count = std::max(1U, std::thread::hardware_concurrency());
  std::vector<uint64_t> words(count * kBytes / sizeof(uint64_t), 1);
  std::vector<uint64_t> sums(count);
  double seconds = fastest(4, [&](unsigned thread) {
    size_t each = words.size() / count;
    const uint64_t *first = words.data() + thread * each;
    uint64_t sum = 0;
    for (size_t index = 0; index < each; ++index) {
      sum += first[index];
    }
    sums[thread] += sum;
  });
  return static_cast<double>(words.size() * sizeof(uint64_t)) / seconds;
}
