/* Tiles of matrices that the lanes of a warp share: ldmatrix and mma.sync, and
 * those of four warps: wgmma.
 * Which lane has which elements is the PTX ISA's ("Matrix fragments for
 * mma.m16n8k16", "ldmatrix", "wgmma": matrix descriptors, fragments).
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_TEST_EMULATOR_KERNEL_MATRIX_H
#define TFC_TEST_EMULATOR_KERNEL_MATRIX_H

#include "test/emulator/kernel_prelude.h"

enum { EMU_ALL_LANES = -1, EMU_ROW_BYTES = 16 };

/* `count` tiles of 8 x 8 words of 16 bits. Lane 8 * i + r has the address of
 * row r of tile i; lane l gets the words (l / 4, 2 * (l % 4)) and the one after
 * it of each tile, or of its transpose. */
EMU void emu_load_matrix(emu_block *b, const emu_thread *t, uint64_t address,
                         uint32_t count, int is_transposed, uint32_t *to,
                         int line) {
  uint32_t lane = t->number & 31, own = (uint32_t)address;
  if (lane < 8 * count) {
    emu_within(b, t, b->shared, b->shared_bytes, address, EMU_ROW_BYTES,
               "access outside of shared memory", line);
  }
  const emu_lane *lanes = b->exchange(b, t, EMU_ALL_LANES, &own, 1, line);
  for (uint32_t tile = 0; tile < count; ++tile) {
    to[tile] = 0;
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t row = lane / 4, column = 2 * (lane % 4) + i;
      uint32_t from = 8 * tile + (is_transposed ? column : row);
      uint64_t at =
          lanes[from].words[0] + 2 * (uint64_t)(is_transposed ? row : column);
      uint16_t *word = (uint16_t *)emu_shared(b, t, at, 2, 0, line);
      to[tile] |= (uint32_t)*word << (16 * i);
    }
  }
}

EMU double emu_element(uint32_t pair, uint32_t which, int is_bf16) {
  uint16_t bits = (uint16_t)(pair >> (16 * which));
  return is_bf16 ? as_bf16(bits) : as_f16(bits);
}

/* d = a * b + c of 16 x 16 and 16 x 8 elements of 16 bits and 16 x 8 of f32.
 * Sums are exact and rounded once: a GPU's, which are rounded in between, are
 * not theirs bit for bit. */
EMU void emu_mma_m16n8k16(emu_block *b, const emu_thread *t, int is_bf16,
                          const uint32_t *ab, const uint32_t *c, uint32_t *d,
                          int line) {
  const emu_lane *lanes = b->exchange(b, t, EMU_ALL_LANES, ab, 6, line);
  uint32_t lane = t->number & 31;
  b->tensor_operations += lane == 0 ? 2 * 16 * 8 * 16 : 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t row = lane / 4, below = i / 2, column = 2 * (lane % 4) + i % 2;
    double sum = as_f32(c[i]);
    for (uint32_t k = 0; k < 16; ++k) {
      uint32_t quarter = k % 8 / 2, behind = k / 8;
      uint32_t x = lanes[4 * row + quarter].words[below + 2 * behind];
      uint32_t y = lanes[4 * column + quarter].words[4 + behind];
      sum += emu_element(x, k % 2, is_bf16) * emu_element(y, k % 2, is_bf16);
    }
    d[i] = bits_f32((float)sum);
  }
}

enum { EMU_SWIZZLED_ROW = 128, EMU_SWIZZLED_ROWS = 8, EMU_GROUP_ROWS = 64 };

/* Where a tile of wgmma begins in shared memory: of those whose rows of 128
 * bytes are swizzled, with what else a descriptor says. */
EMU uint64_t emu_tile(emu_block *b, const emu_thread *t, uint64_t described,
                      int line) {
  uint64_t apart = described >> 32 & 0x3fff; /* eight rows, in 16 bytes */
  if (described >> 62 != 1 || apart != EMU_SWIZZLED_ROWS * 8 ||
      (described >> 46 & 0xffff) != 0) {
    b->fail(b, t, "tile of another layout than swizzled rows of 128 bytes",
            line);
  }
  return (described & 0x3fff) << 4;
}

/* Element k of row `row` of a tile: bits 4 to 6 of an address are swapped by
 * those above them, in the memory itself. */
EMU double emu_tile_element(const emu_block *b, uint64_t tile, uint32_t row,
                            uint32_t k, int is_bf16) {
  uint64_t at = tile + (uint64_t)row * EMU_SWIZZLED_ROW + 2 * k;
  at ^= (at >> 7 & 7) << 4;
  uint16_t bits;
  memcpy(&bits, b->shared + at, sizeof bits);
  return is_bf16 ? as_bf16(bits) : as_f16(bits);
}

/* Of a tile with `rows` rows in panels `apart` bytes from each other, of which
 * the descriptor `described` names some columns: asks for all of the first
 * panel; its beginning. */
EMU uint64_t emu_panel(emu_block *b, const emu_thread *t, uint64_t described,
                       uint32_t rows, int line) {
  uint64_t tile = emu_tile(b, t, described, line);
  uint64_t begin = tile / EMU_SWIZZLED_ROW * EMU_SWIZZLED_ROW;
  if (begin + (uint64_t)rows * EMU_SWIZZLED_ROW > b->shared_bytes) {
    b->fail(b, t, "access outside of shared memory", line);
  }
  return begin;
}

/* The sums of a product that all lanes of a warp ask for: d += a * b, where a
 * has 16 elements of each of the lane's two rows. They are exact and rounded
 * once, as those of mma.sync here. With `is_transposed` the columns of b lie
 * along the rows of its tile, 64 in a panel. */
EMU void emu_group_sums(emu_block *b, const emu_thread *t, int is_bf16,
                        uint32_t columns, double rows[2][16], uint64_t right,
                        int is_transposed, int keeps, uint32_t *d, int line) {
  uint32_t lane = t->number & 31;
  uint64_t w = emu_tile(b, t, right, line);
  uint64_t panel = (right >> 16 & 0x3fff) << 4;
  b->tensor_operations +=
      t->number % 128 == 0 ? 2 * (uint64_t)EMU_GROUP_ROWS * columns * 16 : 0;
  for (uint32_t pair = 0; pair < columns / 8; ++pair) {
    for (uint32_t next = 0; next < 2; ++next) {
      uint32_t n = 8 * pair + 2 * (lane % 4) + next;
      double column[16];
      for (uint32_t k = 0; k < 16; ++k) {
        column[k] = is_transposed ? emu_tile_element(b, w + n / 64 * panel, k,
                                                     n % 64, is_bf16)
                                  : emu_tile_element(b, w, n, k, is_bf16);
      }
      for (uint32_t below = 0; below < 2; ++below) {
        uint32_t *sum = &d[4 * pair + 2 * below + next];
        double total = keeps ? as_f32(*sum) : 0;
        for (uint32_t k = 0; k < 16; ++k) {
          total += rows[below][k] * column[k];
        }
        *sum = bits_f32((float)total);
      }
    }
  }
}

/* wgmma of 64 x 16 elements and `columns` x 16, both along k in shared memory.
 * Four warps have 16 rows each, as fragments of 8 columns. */
EMU void emu_wgmma_k16(emu_block *b, const emu_thread *t, int is_bf16,
                       uint32_t columns, uint64_t left, uint64_t right,
                       int keeps, uint32_t *d, int line) {
  uint64_t x = emu_tile(b, t, left, line);
  uint64_t x_begin = emu_panel(b, t, left, EMU_GROUP_ROWS, line);
  uint64_t w_begin = emu_panel(b, t, right, columns, line);
  /* All lanes come together; warps need not. */
  uint32_t nothing = 0;
  b->exchange(b, t, EMU_ALL_LANES, &nothing, 1, line);
  b->add_product(b, t, x_begin, EMU_GROUP_ROWS * EMU_SWIZZLED_ROW, w_begin,
                 (uint64_t)columns * EMU_SWIZZLED_ROW, line);
  uint32_t lane = t->number & 31, warp = t->number / 32 % 4;
  double rows[2][16];
  for (uint32_t below = 0; below < 2; ++below) {
    for (uint32_t k = 0; k < 16; ++k) {
      rows[below][k] =
          emu_tile_element(b, x, 16 * warp + lane / 4 + 8 * below, k, is_bf16);
    }
  }
  emu_group_sums(b, t, is_bf16, columns, rows, right, 0, keeps, d, line);
}

/* wgmma of 16 rows a warp in registers, as mma.m16n8k16 has them, and 16 rows
 * of `columns` in shared memory, in panels of 64 columns. */
EMU void emu_wgmma_rows(emu_block *b, const emu_thread *t, int is_bf16,
                        uint32_t columns, const uint32_t *a, uint64_t right,
                        int keeps, uint32_t *d, int line) {
  uint64_t panel = (right >> 16 & 0x3fff) << 4;
  uint32_t panels = (columns + 63) / 64;
  uint64_t begin = emu_panel(b, t, right, 16, line);
  if (panels > 1 &&
      (panel == 0 || begin + (panels - 1) * panel + 16 * EMU_SWIZZLED_ROW >
                         b->shared_bytes)) {
    b->fail(b, t, "access outside of shared memory", line);
  }
  const emu_lane *lanes = b->exchange(b, t, EMU_ALL_LANES, a, 4, line);
  uint32_t row = (t->number & 31) / 4;
  double rows[2][16];
  for (uint32_t below = 0; below < 2; ++below) {
    for (uint32_t k = 0; k < 16; ++k) {
      uint32_t pair = lanes[4 * row + k % 8 / 2].words[below + 2 * (k / 8)];
      rows[below][k] = emu_element(pair, k % 2, is_bf16);
    }
  }
  for (uint32_t i = 0; i < panels; i += 2) {
    uint64_t next = i + 1 < panels ? i + 1 : i;
    b->add_product(b, t, begin + i * panel, 16 * EMU_SWIZZLED_ROW,
                   begin + next * panel, 16 * EMU_SWIZZLED_ROW, line);
  }
  emu_group_sums(b, t, is_bf16, columns, rows, right, 1, keeps, d, line);
}

#endif
