// The strategy table: tile sizes by target, a pure function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TILING_STRATEGY_H
#define TFC_COMPILER_TILING_STRATEGY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tfc {

/// Tiles of f32 kernels on a CPU.
struct Strategy {
  int64_t lanes;        // floats in a vector register
  int64_t panel;        // columns of a product's tile: rows of a weight panel
  int64_t bf16Word;     // columns of bf16 weights that a tile reads as a word
  int64_t rows;         // rows of a product's tile
  int64_t rowBlock;     // rows of a parallel item of a product
  int64_t unroll;       // steps of a reduction in a turn of its loop, at most
  int64_t turnRows;     // tile's rows times steps in a turn, at most
  int64_t mapRows;      // rows of a parallel item of everything else
  int64_t prefetch;     // steps of f32 from asking for weights to using them
  int64_t prefetchRows; // the fewest rows of a tile that asks
  int64_t blockBytes;   // of a panel, that an item's tiles read in turns
  int64_t nextBytes;    // the largest block that is asked for a block ahead
  bool byLane;          // whether a factor is a lane of four steps of a row
  bool dots;            // whether two bf16 are multiplied by two at once
  bool excess;          // whether four bytes are, those of rows without a sign
  bool isSigned;        // whether four bytes are, all with a sign
  bool matrices;        // whether eight of two rows and of two columns are
  bool tiles;           // whether both are in registers of AMX's tiles
};

/// The programs that the table has rows for.
llvm::ArrayRef<llvm::StringRef> listStrategies();

/// The microarchitectures that have rows of their own in some program, "" for
/// all others first.
llvm::ArrayRef<llvm::StringRef> listMicroarchitectures();

/// The row of the table for a program, one of `listStrategies`, and a
/// microarchitecture, LLVM's name of a CPU: one that is not in the table, or
/// none (""), gets what serves the machines of that level. Of products whose
/// weights are kept in `weightBits`; the panel is the same for all.
Strategy chooseStrategy(llvm::StringRef program,
                        llvm::StringRef microarchitecture,
                        int64_t weightBits = 32);

} // namespace tfc

#endif // TFC_COMPILER_TILING_STRATEGY_H
