/* What the C of a translated kernel is made of: checked memory, registers as
 * numbers, and the arithmetic that C has no word for.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_TEST_EMULATOR_KERNEL_PRELUDE_H
#define TFC_TEST_EMULATOR_KERNEL_PRELUDE_H

#include "test/emulator/kernel_context.h"

#include <math.h>
#include <string.h>

#define EMU static inline __attribute__((always_inline, unused))

/* ---- Memory ---------------------------------------------------------------
 */

EMU void *emu_within(emu_block *b, const emu_thread *t, unsigned char *area,
                     uint64_t size, uint64_t at, uint64_t bytes,
                     const char *what, int line) {
  if (at % bytes) {
    b->fail(b, t, "access that is not aligned", line);
  }
  if (at > size || bytes > size - at) {
    b->fail(b, t, what, line);
  }
  return area + at;
}

EMU void *emu_shared(emu_block *b, const emu_thread *t, uint64_t at,
                     uint64_t bytes, int writes, int line) {
  void *memory = emu_within(b, t, b->shared, b->shared_bytes, at, bytes,
                            "access outside of shared memory", line);
  if (b->note) {
    b->note(b, t, EMU_SHARED, at, bytes, writes, line);
  }
  return memory;
}

EMU void *emu_local(emu_block *b, const emu_thread *t, uint64_t at,
                    uint64_t bytes, int writes, int line) {
  (void)writes;
  return emu_within(b, t, t->local, t->local_bytes, at, bytes,
                    "access outside of local memory", line);
}

EMU void *emu_global(emu_block *b, const emu_thread *t, uint64_t address,
                     uint64_t bytes, int writes, int line) {
  emu_range *range = &b->recent[(address >> 12) % EMU_RECENT];
  if (address % bytes) {
    b->fail(b, t, "access that is not aligned", line);
  }
  if (address < range->begin || address + bytes > range->end) {
    b->locate(b, t, address, bytes, line);
  }
  if (b->note) {
    b->note(b, t, EMU_GLOBAL, address, bytes, writes, line);
  }
  return range->memory + (address - range->begin);
}

/* Nothing is read: nobody notes it. */
EMU void emu_prefetch(emu_block *b, const emu_thread *t, uint64_t address,
                      uint32_t bytes, int line) {
  if ((address | bytes) % 16) {
    b->fail(b, t, "access that is not aligned", line);
  }
  if (bytes) {
    b->locate(b, t, address, bytes, line);
  }
}

EMU void *emu_generic(emu_block *b, const emu_thread *t, uint64_t address,
                      uint64_t bytes, int writes, int line) {
  uint64_t shared = address - b->base - EMU_SHARED_WINDOW;
  uint64_t local = address - b->base - EMU_LOCAL_WINDOW;
  return shared < EMU_WINDOW_BYTES
             ? emu_shared(b, t, shared, bytes, writes, line)
         : local < EMU_WINDOW_BYTES
             ? emu_local(b, t, local, bytes, writes, line)
             : emu_global(b, t, address, bytes, writes, line);
}

/* ---- Warps ----------------------------------------------------------------
 */

/* The lane that shfl reads from; its own, and p = 0, where that is outside of
 * the segment that c names. */
EMU uint32_t emu_source(uint32_t lane, char mode, uint32_t by, uint32_t c,
                        uint8_t *p) {
  uint32_t clamp = c & 31, segment = c >> 8 & 31;
  uint32_t last = (lane & segment) | (clamp & ~segment & 31);
  uint32_t first = lane & segment;
  by &= 31;
  uint32_t from = mode == 'u'   ? lane - by
                  : mode == 'd' ? lane + by
                  : mode == 'b' ? lane ^ by
                                : first | (by & ~segment & 31);
  *p = mode == 'u' ? (int32_t)from >= (int32_t)last : from <= last;
  return *p ? from : lane;
}

EMU uint32_t emu_shuffle(emu_block *b, const emu_thread *t, uint32_t value,
                         char mode, uint32_t by, uint32_t c, uint32_t mask,
                         uint8_t *p, int line) {
  uint32_t from = emu_source(t->number & 31, mode, by, c, p);
  const emu_lane *lanes = b->exchange(b, t, mask, &value, 1, line);
  if (!(mask >> from & 1)) {
    b->fail(b, t, "shuffle from a lane that its mask has not got", line);
  }
  return lanes[from].words[0];
}

/* The lanes of the mask whose value is not zero. */
EMU uint32_t emu_ballot(emu_block *b, const emu_thread *t, uint32_t value,
                        uint32_t mask, int line) {
  uint32_t result = 0;
  const emu_lane *lanes = b->exchange(b, t, mask, &value, 1, line);
  for (int i = 0; i < 32; ++i) {
    result |= (mask >> i & 1 && lanes[i].words[0] ? 1u : 0u) << i;
  }
  return result;
}

/* ---- Registers ------------------------------------------------------------
 */

EMU float as_f32(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
EMU double as_f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
EMU uint32_t bits_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
EMU uint64_t bits_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
EMU float as_bf16(uint16_t bits) { return as_f32((uint32_t)bits << 16); }
EMU uint16_t bits_bf16(float value) {
  uint32_t bits = bits_f32(value);
  return value != value ? 0x7fff
                        : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
EMU float as_f16(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return (float)value;
}
EMU uint16_t bits_f16(float value) {
  _Float16 half = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &half, sizeof bits);
  return value != value ? 0x7fff : bits;
}

/* x * y + z of numbers of 16 bits, to be rounded to 16 bits: the exact result,
 * cut off behind an f32 whose last bit says whether something was, so that the
 * second rounding is that of the exact one. */
EMU float fma_16(float x, float y, float z) {
  double product = (double)x * y, sum = product + z, part = sum - product;
  double lost = (product - (sum - part)) + (z - part);
  float cut = (float)sum;
  double rest = sum - cut + lost;
  if (!(rest < 0) && !(rest > 0)) {
    return cut;
  }
  if (cut == 0) {
    return rest < 0 ? -0x1p-149f : 0x1p-149f;
  }
  uint32_t bits = bits_f32(cut) - ((cut > 0) == (rest < 0));
  return as_f32(bits | 1);
}

/* ---- Arithmetic -----------------------------------------------------------
 */

/* A quotient by zero is unspecified, and so a fault of whoever asks for it. */
#define EMU_DIVISION(type, suffix, is_signed)                                  \
  EMU type div_##suffix(emu_block *b, emu_thread *t, type x, type y,           \
                        int line) {                                            \
    if (y == 0) {                                                              \
      b->fail(b, t, "division by zero", line);                                 \
    }                                                                          \
    return (is_signed) && y == (type) - 1 ? (type)(0 - (uint64_t)x)            \
                                          : (type)(x / y);                     \
  }                                                                            \
  EMU type rem_##suffix(emu_block *b, emu_thread *t, type x, type y,           \
                        int line) {                                            \
    if (y == 0) {                                                              \
      b->fail(b, t, "division by zero", line);                                 \
    }                                                                          \
    return (is_signed) && y == (type) - 1 ? (type)0 : (type)(x % y);           \
  }
EMU_DIVISION(uint16_t, u16, 0)
EMU_DIVISION(uint32_t, u32, 0)
EMU_DIVISION(uint64_t, u64, 0)
EMU_DIVISION(int16_t, s16, 1)
EMU_DIVISION(int32_t, s32, 1)
EMU_DIVISION(int64_t, s64, 1)

/* The smaller and the greater; a number before a NaN, -0 before +0. */
EMU double min_float(double x, double y) {
  return x != x   ? y
         : y != y ? x
         : x == y ? (signbit(x) ? x : y)
         : x < y  ? x
                  : y;
}
EMU double max_float(double x, double y) {
  return x != x   ? y
         : y != y ? x
         : x == y ? (signbit(x) ? y : x)
         : x > y  ? x
                  : y;
}
EMU double min_nan(double x, double y) {
  return x != x || y != y ? (double)NAN : min_float(x, y);
}
EMU double max_nan(double x, double y) {
  return x != x || y != y ? (double)NAN : max_float(x, y);
}

/* An integral number to an integer: the nearest that there is, 0 of a NaN. */
#define EMU_FROM_FLOAT(type, suffix, least, most, beyond)                      \
  EMU type suffix##_from_float(double x) {                                     \
    return x != x          ? 0                                                 \
           : x >= (beyond) ? (most)                                            \
           : x <= (least)  ? (least)                                           \
                           : (type)x;                                          \
  }
EMU_FROM_FLOAT(int8_t, s8, INT8_MIN, INT8_MAX, 0x1p7)
EMU_FROM_FLOAT(int16_t, s16, INT16_MIN, INT16_MAX, 0x1p15)
EMU_FROM_FLOAT(int32_t, s32, INT32_MIN, INT32_MAX, 0x1p31)
EMU_FROM_FLOAT(int64_t, s64, INT64_MIN, INT64_MAX, 0x1p63)
EMU_FROM_FLOAT(uint8_t, u8, 0, UINT8_MAX, 0x1p8)
EMU_FROM_FLOAT(uint16_t, u16, 0, UINT16_MAX, 0x1p16)
EMU_FROM_FLOAT(uint32_t, u32, 0, UINT32_MAX, 0x1p32)
EMU_FROM_FLOAT(uint64_t, u64, 0, UINT64_MAX, 0x1p64)

/* Bits [from, from + count) of x, its sign extended where it has one. */
EMU uint64_t extract(uint64_t x, uint32_t from, uint32_t count, int width,
                     int is_signed) {
  from &= 255;
  count &= 255;
  if (count == 0) {
    return 0;
  }
  uint64_t top = is_signed && x >> (width - 1) & 1 ? ~0ull : 0;
  uint64_t whole = width == 64 ? x : (x & 0xffffffff) | top << 32;
  uint64_t shifted = from >= (uint32_t)width ? top
                     : from == 0
                         ? whole
                         : whole >> from | (top ? top << (64 - from) : 0);
  if (count >= 64) {
    return shifted;
  }
  uint64_t sign = is_signed ? shifted >> (count - 1) & 1 : 0;
  uint64_t mask = (1ull << count) - 1;
  return sign ? shifted | ~mask : shifted & mask;
}

/* The bytes of y:x that the digits of s name; digits from 8 on, its sign. */
EMU uint32_t permute(uint32_t x, uint32_t y, uint32_t s) {
  uint64_t both = (uint64_t)y << 32 | x;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t digit = s >> (4 * i) & 15;
    uint32_t byte = both >> (8 * (digit & 7)) & 255;
    result |= (digit & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return result;
}

/* By bits: the table's bit of number xyz. */
EMU uint32_t logic3(uint32_t x, uint32_t y, uint32_t z, uint32_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i) {
    uint32_t number = (x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1);
    result |= (table >> number & 1) << i;
  }
  return result;
}

#endif
