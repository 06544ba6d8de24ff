// The probes: chains of one instruction that leave no port idle.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/DotProbes.h"

#include "runtime/src/Roofline.h"
#include "runtime/src/load/Module.h"
#include "runtime/src/load/TilePermission.h"
#include "runtime/src/load/X86Levels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tfc::rt {

Dot dotOf(uint32_t isa, uint64_t features, bool ofBytes) {
  if (isa != TFC_ISA_X86_64) {
    bool isArm = isa == TFC_ISA_AARCH64 && ofBytes;
    return isArm && features & TFC_FEATURE_ARM_I8MM      ? Dot::BytesI8mm
           : isArm && features & TFC_FEATURE_ARM_DOTPROD ? Dot::BytesNeon
                                                         : Dot::None;
  }
  if (!ofBytes) {
    return features & TFC_FEATURE_AMX_BF16           ? Dot::Bf16Tiles
           : features & TFC_FEATURE_FAST_AVX512_BF16 ? Dot::Bf16x512
                                                     : Dot::None;
  }
  return features & TFC_FEATURE_AMX_INT8      ? Dot::BytesTiles
         : features & TFC_FEATURE_AVX512_VNNI ? Dot::Bytes512
         : features & TFC_FEATURE_AVX_VNNI    ? Dot::Bytes256
         : features & TFC_FEATURE_X86_64_V4   ? Dot::Words512
                                              : Dot::Words256;
}

const char *nameOf(Dot dot) {
  switch (dot) {
  case Dot::None:
    return "";
  case Dot::Bf16x512:
    return "vdpbf16ps";
  case Dot::Bytes512:
  case Dot::Bytes256:
    return "vpdpbusd";
  case Dot::Words512:
  case Dot::Words256:
    return "vpmaddwd";
  case Dot::Bf16Tiles:
    return "tdpbf16ps";
  case Dot::BytesTiles:
    return "tdpbusd";
  case Dot::BytesNeon:
    return "sdot";
  case Dot::BytesI8mm:
    return "smmla";
  }
  return "";
}

#if defined(__x86_64__)

namespace {

// As many sums as hide the latency (6 cycles at most) of two ports and leave
// registers for the factors. The instructions are assembly, so that no compiler
// folds a loop whose factors never change; they add to sum 0, or, where they
// only multiply, to a number beside it first.
#define TFC_DOT_PROBE(name, features, Vector, constraint, numSums,             \
                      instructions)                                            \
  __attribute__((target(features), noinline)) uint32_t name(                   \
      int64_t iterations) {                                                    \
    Vector sums[numSums] = {}, x = {}, y = {}, product = {};                   \
    for (int64_t k = 0; k < iterations; ++k) {                                 \
      _Pragma("clang loop unroll(full)") for (Vector &sum : sums) {            \
        asm volatile(instructions                                              \
                     : "+" constraint(sum), "=&" constraint(product)           \
                     : constraint(x), constraint(y));                          \
      }                                                                        \
    }                                                                          \
    for (Vector &sum : sums) {                                                 \
      x = x ^ sum;                                                             \
    }                                                                          \
    return static_cast<uint32_t>(x[0]);                                        \
  }

TFC_DOT_PROBE(dotBf16x512, "avx512f", __m512i, "v", 20, "vdpbf16ps %3, %2, %0")
TFC_DOT_PROBE(dotBytes512, "avx512f", __m512i, "v", 20, "vpdpbusd %3, %2, %0")
TFC_DOT_PROBE(dotBytes256, "avx2", __m256i, "x", 12,
              "%{vex%} vpdpbusd %3, %2, %0")
TFC_DOT_PROBE(dotWords512, "avx512f", __m512i, "v", 20,
              "vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0")
TFC_DOT_PROBE(dotWords256, "avx2", __m256i, "x", 12,
              "vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0")

#undef TFC_DOT_PROBE

// Six registers of sums, and both factors; all are whole, and zero. Nobody else
// in this function uses any.
#define TFC_TILE_PROBE(name, instruction)                                      \
  uint32_t name(int64_t iterations) {                                          \
    alignas(64) uint8_t configuration[64] = {1};                               \
    for (int tile = 0; tile < 8; ++tile) {                                     \
      configuration[16 + 2 * tile] = 64;                                       \
      configuration[48 + tile] = 16;                                           \
    }                                                                          \
    asm volatile("ldtilecfg %0" : : "m"(configuration));                       \
    for (int64_t k = 0; k < iterations; ++k) {                                 \
      asm volatile(instruction " %tmm7, %tmm6, %tmm0\n\t" instruction          \
                               " %tmm7, %tmm6, %tmm1\n\t" instruction          \
                               " %tmm7, %tmm6, %tmm2\n\t" instruction          \
                               " %tmm7, %tmm6, %tmm3\n\t" instruction          \
                               " %tmm7, %tmm6, %tmm4\n\t" instruction          \
                               " %tmm7, %tmm6, %tmm5");                        \
    }                                                                          \
    asm volatile("tilerelease");                                               \
    return 0;                                                                  \
  }

TFC_TILE_PROBE(tilesBf16, "tdpbf16ps")
TFC_TILE_PROBE(tilesBytes, "tdpbusd")

#undef TFC_TILE_PROBE

/// What the machine must have for a probe, and the probe.
struct DotProbe {
  uint64_t needs;
  OperationProbe probe;
};

DotProbe probeOf(Dot dot) {
  switch (dot) {
  case Dot::None:
  case Dot::BytesNeon:
  case Dot::BytesI8mm:
    break;
  case Dot::Bf16x512:
    return {TFC_FEATURE_FAST_AVX512_BF16, {dotBf16x512, 20 * 32 * 2}};
  case Dot::Bytes512:
    return {TFC_FEATURE_AVX512_VNNI, {dotBytes512, 20 * 64 * 2}};
  case Dot::Bytes256:
    return {TFC_FEATURE_AVX_VNNI, {dotBytes256, 12 * 32 * 2}};
  case Dot::Words512:
    return {TFC_FEATURE_X86_64_V4, {dotWords512, 20 * 32 * 2}};
  case Dot::Words256:
    return {TFC_FEATURE_X86_64_V3, {dotWords256, 12 * 16 * 2}};
  case Dot::Bf16Tiles:
    return {TFC_FEATURE_AMX_BF16, {tilesBf16, 6 * 16 * 16 * 32 * 2}};
  case Dot::BytesTiles:
    return {TFC_FEATURE_AMX_INT8, {tilesBytes, 6 * 16 * 16 * 64 * 2}};
  }
  return {};
}

} // namespace

double measureDots(const tfc_host_v0 &host, Dot dot) {
  DotProbe found = probeOf(dot);
  bool isHere = found.needs && (machineFeatures() & found.needs) == found.needs;
  bool isRefused =
      isHere && (found.needs & tileFeatures) && !tileRefusal().empty();
  return isHere && !isRefused ? measureOperations(host, found.probe) : 0;
}

#elif defined(__aarch64__)

namespace {

// Chains that cover four units of a latency of 4 cycles; written out in
// assembly, in which the instruction may stand whatever the build is for.
constexpr int kSums = 16;

#define TFC_SUM(instruction, i) instruction " v" #i ".4s, v30.16b, v31.16b\n\t"
#define TFC_EIGHT(instruction, a, b, c, d, e, f, g, h)                         \
  TFC_SUM(instruction, a)                                                      \
  TFC_SUM(instruction, b)                                                      \
  TFC_SUM(instruction, c)                                                      \
  TFC_SUM(instruction, d)                                                      \
  TFC_SUM(instruction, e)                                                      \
  TFC_SUM(instruction, f)                                                      \
  TFC_SUM(instruction, g)                                                      \
  TFC_SUM(instruction, h)
#define TFC_NEON_PROBE(name, extension, instruction)                           \
  uint32_t name(int64_t iterations) {                                          \
    for (int64_t k = 0; k < iterations; ++k) {                                 \
      asm volatile(".arch armv8.2-a+" extension                                \
                   "\n\t" TFC_EIGHT(instruction, 0, 1, 2, 3, 4, 5, 6, 7)       \
                       TFC_EIGHT(instruction, 16, 17, 18, 19, 20, 21, 22, 23)  \
                   :                                                           \
                   :                                                           \
                   : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16",    \
                     "v17", "v18", "v19", "v20", "v21", "v22", "v23");         \
    }                                                                          \
    return 0;                                                                  \
  }

TFC_NEON_PROBE(bytesNeon, "dotprod", "sdot")
TFC_NEON_PROBE(bytesI8mm, "i8mm", "smmla")

#undef TFC_NEON_PROBE
#undef TFC_EIGHT
#undef TFC_SUM

} // namespace

double measureDots(const tfc_host_v0 &host, Dot dot) {
  auto measure = [&](uint64_t needs, OperationProbe probe) {
    bool isHere = (machineFeatures() & needs) != 0;
    return isHere ? measureOperations(host, probe) : 0;
  };
  switch (dot) {
  case Dot::BytesNeon:
    return measure(TFC_FEATURE_ARM_DOTPROD, {bytesNeon, kSums * 16 * 2});
  case Dot::BytesI8mm:
    return measure(TFC_FEATURE_ARM_I8MM, {bytesI8mm, kSums * 32 * 2});
  default:
    return 0;
  }
}

#else

double measureDots(const tfc_host_v0 &, Dot) { return 0; }

#endif

} // namespace tfc::rt
