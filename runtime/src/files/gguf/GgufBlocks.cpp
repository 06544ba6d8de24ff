// Blocks of GGUF: 32 elements with a scale of 16 bits (the low nibbles are the
// first 16 elements), or 256 whose scales are integers times one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufFile.h"

#include "runtime/src/files/quantized/NarrowFloats.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

namespace {

float halfAt(const uint8_t *bytes) {
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return f16Value(bits);
}

/// Element `i` of the 32 nibbles in 16 bytes.
int nibble(const uint8_t *bytes, int i) {
  return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
}

void readQ8(const uint8_t *block, int32_t *out) {
  for (int i = 0; i < 32; ++i) {
    out[i] = static_cast<int8_t>(block[2 + i]);
  }
}

void readQ40(const uint8_t *block, int32_t *out) {
  for (int i = 0; i < 32; ++i) {
    out[i] = nibble(block + 2, i);
  }
}

void decodeQ8(const uint8_t *block, float *out) {
  float scale = halfAt(block);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(static_cast<int8_t>(block[2 + i]));
  }
}

void decodeQ40(const uint8_t *block, float *out) {
  float scale = halfAt(block);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(nibble(block + 2, i) - 8);
  }
}

void decodeQ41(const uint8_t *block, float *out) {
  float scale = halfAt(block), least = halfAt(block + 2);
  for (int i = 0; i < 32; ++i) {
    // The product is exact.
    out[i] = scale * static_cast<float>(nibble(block + 4, i)) + least;
  }
}

void readQ41(const uint8_t *block, int32_t *out) {
  for (int i = 0; i < 32; ++i) {
    out[i] = nibble(block + 4, i);
  }
}

/// A scale of f16 in front.
void readScale(const uint8_t *block, float *scales, float *) {
  scales[0] = halfAt(block);
}

void readQ41Group(const uint8_t *block, float *scales, float *zeros) {
  scales[0] = halfAt(block);
  zeros[0] = -halfAt(block + 2);
}

/// Of 5 bits: the nibble, and bit i of a word above it.
int fiveBits(const uint8_t *word, const uint8_t *nibbles, int i) {
  return nibble(nibbles, i) | (word[i / 8] >> i % 8 & 1) << 4;
}

void readQ50(const uint8_t *block, int32_t *out) {
  for (int i = 0; i < 32; ++i) {
    out[i] = fiveBits(block + 2, block + 6, i);
  }
}

void decodeQ50(const uint8_t *block, float *out) {
  float scale = halfAt(block);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(fiveBits(block + 2, block + 6, i) - 16);
  }
}

void decodeQ51(const uint8_t *block, float *out) {
  float scale = halfAt(block), least = halfAt(block + 2);
  for (int i = 0; i < 32; ++i) {
    out[i] =
        scale * static_cast<float>(fiveBits(block + 4, block + 8, i)) + least;
  }
}

void decodeMx(const uint8_t *block, float *out) {
  float scale = e8m0Value(block[0]);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * e2m1Value(static_cast<uint8_t>(nibble(block + 1, i)));
  }
}

/// Twice a code is an integer.
void readMx(const uint8_t *block, int32_t *out) {
  for (int i = 0; i < 32; ++i) {
    auto code = static_cast<uint8_t>(nibble(block + 1, i));
    out[i] = static_cast<int32_t>(2 * e2m1Value(code));
  }
}

void readMxScale(const uint8_t *block, float *scales, float *) {
  scales[0] = e8m0Value(block[0]) / 2;
}

/// Scale and minimum of group j of 8: 6 bits each in 12 bytes.
void readPair(const uint8_t *bytes, int j, float &scale, float &least) {
  int first =
      j < 4 ? bytes[j] & 63 : (bytes[j + 4] & 15) | bytes[j - 4] >> 6 << 4;
  int second =
      j < 4 ? bytes[j + 4] & 63 : bytes[j + 4] >> 4 | bytes[j] >> 6 << 4;
  scale = static_cast<float>(first);
  least = static_cast<float>(second);
}

/// The eight groups of Q4_K and Q5_K. Products are exact: 11 bits by 6.
void readGroupsK(const uint8_t *block, float *scales, float *zeros) {
  float scale = halfAt(block), least = halfAt(block + 2);
  for (int group = 0; group < 8; ++group) {
    readPair(block + 4, group, scales[group], zeros[group]);
    scales[group] *= scale;
    zeros[group] *= least;
  }
}

/// Element `i` of group `group`: of 64 elements the first 32 are low nibbles.
int nibbleK(const uint8_t *nibbles, int group, int i) {
  uint8_t byte = nibbles[group / 2 * 32 + i];
  return group % 2 ? byte >> 4 : byte & 15;
}

void readQ4K(const uint8_t *block, int32_t *out) {
  for (int i = 0; i < 256; ++i) {
    out[i] = nibbleK(block + 16, i / 32, i % 32);
  }
}

/// Q4_K, and with `high` (bit g of byte i: the fifth bit of element 32g + i)
/// Q5_K.
void decodeQ45K(const uint8_t *block, const uint8_t *high,
                const uint8_t *nibbles, float *out) {
  float scales[8], zeros[8];
  readGroupsK(block, scales, zeros);
  for (int group = 0; group < 8; ++group) {
    for (int i = 0; i < 32; ++i) {
      int q = nibbleK(nibbles, group, i);
      q |= high ? (high[i] >> group & 1) << 4 : 0;
      out[group * 32 + i] =
          scales[group] * static_cast<float>(q) - zeros[group];
    }
  }
}

void decodeQ4K(const uint8_t *block, float *out) {
  decodeQ45K(block, nullptr, block + 16, out);
}

void decodeQ5K(const uint8_t *block, float *out) {
  decodeQ45K(block, block + 16, block + 48, out);
}

void decodeQ6K(const uint8_t *block, float *out) {
  float scale = halfAt(block + 208);
  for (int e = 0; e < 256; ++e) {
    int half = e / 128, k = e % 128 / 32, i = e % 32;
    uint8_t low = block[64 * half + 32 * (k % 2) + i];
    uint8_t high = block[128 + 32 * half + i];
    int q = (k / 2 ? low >> 4 : low & 15) | (high >> 2 * k & 3) << 4;
    auto step = static_cast<float>(static_cast<int8_t>(block[192 + e / 16]));
    out[e] = scale * step * static_cast<float>(q - 32);
  }
}

constexpr GgufType types[] = {{0, "F32", 1, 4, nullptr, DType::F32},
                              {1, "F16", 1, 2, nullptr, DType::F16},
                              {2, "Q4_0", 32, 18, decodeQ40, DType::F32,
                               readQ40, 4, 8, readScale, false, DType::F16},
                              {3, "Q4_1", 32, 20, decodeQ41, DType::F32,
                               readQ41, 4, 8, readQ41Group, true, DType::F16},
                              {6, "Q5_0", 32, 22, decodeQ50, DType::F32,
                               readQ50, 5, 16, readScale, false, DType::F16},
                              {7, "Q5_1", 32, 24, decodeQ51, DType::F32},
                              {8, "Q8_0", 32, 34, decodeQ8, DType::F32, readQ8,
                               8, 0, readScale, false, DType::F16},
                              {12, "Q4_K", 256, 144, decodeQ4K, DType::F32,
                               readQ4K, 4, 8, readGroupsK, true},
                              {13, "Q5_K", 256, 176, decodeQ5K, DType::F32},
                              {14, "Q6_K", 256, 210, decodeQ6K, DType::F32},
                              {30, "BF16", 1, 2, nullptr, DType::BF16},
                              {39, "MXFP4", 32, 17, decodeMx, DType::BF16,
                               readMx, 5, 0, readMxScale, false, DType::BF16}};

} // namespace

const GgufType *findGgufType(uint32_t code) {
  const GgufType *found =
      std::find_if(std::begin(types), std::end(types),
                   [&](const GgufType &type) { return type.code == code; });
  return found == std::end(types) ? nullptr : found;
}

} // namespace tfc::rt
