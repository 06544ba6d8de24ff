// The probes: chains of fused multiply-adds that leave no port idle, and loads
// of whole lines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Roofline.h"

#include "runtime/src/load/CpuFeatures.h"
#include "runtime/src/load/Module.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tfc::rt {

namespace {

// Keeps results alive: a probe without a result is no work.
std::atomic<uint32_t> sink;

using ReadProbe = uint32_t (*)(const uint8_t *data, uint64_t bytes);

#if defined(__x86_64__)

// The accumulators cover the latency (4 cycles) of two ports; the empty
// assembly keeps the compiler from folding a loop whose factors never change.

__attribute__((target("avx512f"), noinline)) uint32_t
multiplyAdd512(int64_t iterations) {
  constexpr int chains = 20;
  __m512 sums[chains];
  for (int i = 0; i < chains; ++i) {
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  }
  __m512 x = _mm512_setzero_ps(), y = x;
  for (int64_t k = 0; k < iterations; ++k) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i) {
      sums[i] = _mm512_fmadd_ps(x, y, sums[i]);
    }
    asm volatile("" : "+v"(x), "+v"(y));
  }
  __m512 sum = sums[0];
  for (int i = 1; i < chains; ++i) {
    sum = _mm512_add_ps(sum, sums[i]);
  }
  return static_cast<uint32_t>(_mm512_reduce_add_ps(sum));
}

__attribute__((target("avx2,fma"), noinline)) uint32_t
multiplyAdd256(int64_t iterations) {
  constexpr int chains = 12;
  __m256 sums[chains];
  for (int i = 0; i < chains; ++i) {
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  }
  __m256 x = _mm256_setzero_ps(), y = x;
  for (int64_t k = 0; k < iterations; ++k) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i) {
      sums[i] = _mm256_fmadd_ps(x, y, sums[i]);
    }
    asm volatile("" : "+x"(x), "+x"(y));
  }
  __m256 sum = sums[0];
  for (int i = 1; i < chains; ++i) {
    sum = _mm256_add_ps(sum, sums[i]);
  }
  return static_cast<uint32_t>(_mm256_cvtss_f32(sum));
}

uint32_t multiplyThenAdd128(int64_t iterations) {
  constexpr int chains = 12;
  __m128 sums[chains];
  for (int i = 0; i < chains; ++i) {
    sums[i] = _mm_set1_ps(static_cast<float>(i));
  }
  __m128 x = _mm_setzero_ps(), y = x;
  for (int64_t k = 0; k < iterations; ++k) {
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i) {
      __m128 product = _mm_mul_ps(x, y);
      // One product a sum, as a machine without fused ones computes.
      asm volatile("" : "+x"(product));
      sums[i] = _mm_add_ps(product, sums[i]);
    }
    asm volatile("" : "+x"(x), "+x"(y));
  }
  __m128 sum = sums[0];
  for (int i = 1; i < chains; ++i) {
    sum = _mm_add_ps(sum, sums[i]);
  }
  return static_cast<uint32_t>(_mm_cvtss_f32(sum));
}

__attribute__((target("avx512f"), noinline)) uint32_t
readLines512(const uint8_t *data, uint64_t bytes) {
  __m512i sums[8];
  for (__m512i &sum : sums) {
    sum = _mm512_setzero_si512();
  }
  for (uint64_t i = 0; i + 512 <= bytes; i += 512) {
#pragma clang loop unroll(full)
    for (int j = 0; j < 8; ++j) {
      sums[j] = _mm512_xor_si512(sums[j], _mm512_load_si512(data + i + 64 * j));
    }
  }
  for (int j = 1; j < 8; ++j) {
    sums[0] = _mm512_xor_si512(sums[0], sums[j]);
  }
  return static_cast<uint32_t>(_mm512_reduce_add_epi32(sums[0]));
}

uint32_t readLines128(const uint8_t *data, uint64_t bytes) {
  __m128i sums[8];
  for (__m128i &sum : sums) {
    sum = _mm_setzero_si128();
  }
  for (uint64_t i = 0; i + 128 <= bytes; i += 128) {
#pragma clang loop unroll(full)
    for (int j = 0; j < 8; ++j) {
      auto *place = reinterpret_cast<const __m128i *>(data + i + 16 * j);
      sums[j] = _mm_xor_si128(sums[j], _mm_load_si128(place));
    }
  }
  for (int j = 1; j < 8; ++j) {
    sums[0] = _mm_xor_si128(sums[0], sums[j]);
  }
  return static_cast<uint32_t>(_mm_cvtsi128_si32(sums[0]));
}

OperationProbe flopProbe() {
  uint64_t features = machineFeatures();
  return features & TFC_FEATURE_X86_64_V4
             ? OperationProbe{multiplyAdd512, 20 * 16 * 2}
         : features & TFC_FEATURE_X86_64_V3
             ? OperationProbe{multiplyAdd256, 12 * 8 * 2}
             : OperationProbe{multiplyThenAdd128, 12 * 4 * 2};
}

ReadProbe readProbe() {
  return machineFeatures() & TFC_FEATURE_X86_64_V4 ? readLines512
                                                   : readLines128;
}

#elif defined(__aarch64__)

// Chains cover four units of a latency of 4 cycles, the widest machines'; those
// with vectors of 256 bits have half as many units for them. Chains are written
// out by the preprocessor: compilers disagree about pragmas that unroll.
#define TFC_CHAINS_4(step, i) step(i) step(i + 1) step(i + 2) step(i + 3)
#define TFC_CHAINS_8(step, i) TFC_CHAINS_4(step, i) TFC_CHAINS_4(step, i + 4)
#define TFC_CHAINS_20(step)                                                    \
  TFC_CHAINS_8(step, 0) TFC_CHAINS_8(step, 8) TFC_CHAINS_4(step, 16)

uint32_t multiplyAddNeon(int64_t iterations) {
  constexpr int chains = 20;
  float32x4_t sums[chains];
  for (int i = 0; i < chains; ++i) {
    sums[i] = vdupq_n_f32(static_cast<float>(i));
  }
  float32x4_t x = vdupq_n_f32(0), y = x;
  for (int64_t k = 0; k < iterations; ++k) {
#define TFC_STEP(i) sums[i] = vfmaq_f32(sums[i], x, y);
    TFC_CHAINS_20(TFC_STEP)
#undef TFC_STEP
    __asm__ volatile("" : "+w"(x), "+w"(y));
  }
  float32x4_t sum = sums[0];
  for (int i = 1; i < chains; ++i) {
    sum = vaddq_f32(sum, sums[i]);
  }
  return static_cast<uint32_t>(vaddvq_f32(sum));
}

uint32_t readLinesNeon(const uint8_t *data, uint64_t bytes) {
  uint8x16_t sums[8];
  for (uint8x16_t &sum : sums) {
    sum = vdupq_n_u8(0);
  }
  for (uint64_t i = 0; i + 128 <= bytes; i += 128) {
#define TFC_STEP(j) sums[j] = veorq_u8(sums[j], vld1q_u8(data + i + 16 * (j)));
    TFC_CHAINS_8(TFC_STEP, 0)
#undef TFC_STEP
  }
  for (int j = 1; j < 8; ++j) {
    sums[0] = veorq_u8(sums[0], sums[j]);
  }
  return vaddlvq_u8(sums[0]);
}

#undef TFC_CHAINS_4
#undef TFC_CHAINS_8
#undef TFC_CHAINS_20

OperationProbe flopProbe() { return {multiplyAddNeon, 20 * 4 * 2}; }
ReadProbe readProbe() { return readLinesNeon; }

#else

uint32_t multiplyAddScalar(int64_t iterations) {
  float sums[8] = {}, x = 0;
  for (int64_t k = 0; k < iterations; ++k) {
    for (float &sum : sums) {
      sum = __builtin_fmaf(x, x, sum);
    }
    asm volatile("" : "+m"(x));
  }
  float total = 0;
  for (float sum : sums) {
    total += sum;
  }
  return static_cast<uint32_t>(total);
}

uint32_t readWords(const uint8_t *data, uint64_t bytes) {
  uint64_t sums[8] = {};
  auto *words = reinterpret_cast<const uint64_t *>(data);
  for (uint64_t i = 0; i + 8 <= bytes / 8; i += 8) {
    for (int j = 0; j < 8; ++j) {
      sums[j] ^= words[i + j];
    }
  }
  for (int j = 1; j < 8; ++j) {
    sums[0] ^= sums[j];
  }
  return static_cast<uint32_t>(sums[0]);
}

#if defined(__riscv) && __riscv_xlen == 64

/// Of vectors as long as the machine has them. The compiler makes no use of
/// these registers.
uint32_t multiplyAddVector(int64_t iterations) {
  __asm__ volatile(".option push\n\t.option arch, +v\n\t"
                   "vsetvli t0, zero, e32, m8, ta, ma\n\t"
                   "vmv.v.i v0, 0\n\tvmv.v.i v8, 0\n\tvmv.v.i v16, 0\n\t"
                   "vmv.v.i v24, 0\n\t"
                   "vsetvli t0, zero, e32, m1, ta, ma\n1:\n\t"
                   ".irp sum, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
                   "15, 16, 17, 18, 19, 20\n\t"
                   "vfmacc.vf v\\sum, %1, v31\n\t.endr\n\t"
                   "addi %0, %0, -1\n\tbnez %0, 1b\n\t.option pop"
                   : "+r"(iterations)
                   : "f"(0.0F)
                   : "t0");
  return 0;
}

OperationProbe flopProbe() {
  int64_t lanes = static_cast<int64_t>(readCpu().vectorBits / 32);
  return lanes ? OperationProbe{multiplyAddVector, 20 * lanes * 2}
               : OperationProbe{multiplyAddScalar, 16};
}

#else

OperationProbe flopProbe() { return {multiplyAddScalar, 16}; }

#endif

ReadProbe readProbe() { return readWords; }

#endif

// Items a worker gets on average: enough that one that is interrupted does not
// hold up the others for long.
constexpr int64_t itemsPerWorker = 8;
// A shorter probe would measure the start of the threads.
constexpr uint64_t leastBytes = uint64_t(16) << 20;

double secondsOf(const tfc_host_v0 &host, int64_t items, tfc_body_fn body,
                 void *arg) {
  auto begin = std::chrono::steady_clock::now();
  host.parallel_for(host.ctx, items, body, arg);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  return spent.count();
}

} // namespace

double measureOperations(const tfc_host_v0 &host, const OperationProbe &probe) {
  constexpr int64_t operationsPerItem = 16'000'000;
  int64_t items = itemsPerWorker * host.n_workers;
  struct Job {
    const OperationProbe &probe;
    int64_t iterations;
  } job{probe, operationsPerItem / probe.operationsPerIteration};
  auto body = [](void *arg, int64_t begin, int64_t end, uint32_t) {
    const Job &job = *static_cast<const Job *>(arg);
    for (int64_t i = begin; i < end; ++i) {
      sink += job.probe.run(job.iterations);
    }
  };
  double done = static_cast<double>(job.iterations *
                                    probe.operationsPerIteration * items);
  return done / secondsOf(host, items, body, &job);
}

double measureFlops(const tfc_host_v0 &host) {
  return measureOperations(host, flopProbe());
}

double measureReads(const tfc_host_v0 &host, const void *data, uint64_t bytes) {
  struct Job {
    ReadProbe run;
    const uint8_t *data;
    uint64_t bytesPerItem;
    uint64_t passes;
  };
  constexpr uint64_t granule = 512;
  int64_t items = itemsPerWorker * host.n_workers;
  uint64_t perItem = bytes / static_cast<uint64_t>(items) / granule * granule;
  if (bytes < 65536 || perItem == 0) {
    return 0;
  }
  uint64_t passes = std::max<uint64_t>(1, leastBytes / bytes);
  Job job{readProbe(), static_cast<const uint8_t *>(data), perItem, passes};
  auto body = [](void *arg, int64_t begin, int64_t end, uint32_t) {
    const Job &job = *static_cast<const Job *>(arg);
    uint64_t first = static_cast<uint64_t>(begin) * job.bytesPerItem;
    uint64_t last = static_cast<uint64_t>(end) * job.bytesPerItem;
    for (uint64_t pass = 0; pass < job.passes; ++pass) {
      sink += job.run(job.data + first, last - first);
    }
  };
  double seconds = secondsOf(host, items, body, &job);
  return static_cast<double>(perItem * passes) * static_cast<double>(items) /
         seconds;
}

} // namespace tfc::rt
