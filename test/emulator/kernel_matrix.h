/* Tiles of matrices that the lanes of a warp share: ldmatrix and mma.sync.
 * Which lane has which elements is the PTX ISA's ("Matrix fragments for
 * mma.m16n8k16", "ldmatrix").
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

#endif
