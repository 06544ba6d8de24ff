// The strategy table: tile sizes by target, a pure function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tiling/Strategy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace tfc;

/// 8 x 48: 24 accumulators, 3 vectors of weights and a broadcast in 32
/// registers; each of the 3 loads serves 8 multiplications. 12 x 32 and 14 x 32
/// would load less, but LLVM spills them (12 to 68 accesses of the stack in
/// four steps).
///
/// Measured on an Intel Xeon (family 6, model 207): it decodes 4 sequences of
/// GPT-2 124M in 30 ms where tiles of 2 rows ask for weights ahead of time, in
/// 42 ms where only those of 7 do; one row is at the read bandwidth without.
///
/// The first tile of an item widens weights of 16 bits for all: with twice the
/// rows a prompt of 512 takes GPT-2 124M 0.98 times as long (0019).
static Strategy level4(int64_t weightBits) {
  Strategy s;
  s.lanes = 16;
  s.panel = 48;
  s.bf16Word = 2;
  s.rows = 8;
  s.rowBlock = weightBits < 32 ? 128 : 64;
  s.unroll = 4;
  s.turnRows = 32;
  s.mapRows = 8;
  s.prefetch = 64;
  s.prefetchRows = 2;
  s.blockBytes = 768 << 10;
  s.nextBytes = 768 << 10;
  s.byLane = false;
  s.dots = false;
  s.excess = false;
  s.isSigned = false;
  s.matrices = false;
  s.tiles = false;
  if (weightBits == 4) {
    // Of each sum there is one of a group beside it.
    s.rows = 4;
  }
  return s;
}

/// AMD with AVX-512. Its own prefetching sees the stream of a panel: asking
/// costs 7 to 21 % with 4 rows (EPYC family 26, decoding 4 sequences of GPT-2
/// 124M), 4 to 8 % with 6. A turn of one step is 9 to 17 % faster for two tiles
/// of 8 rows and no slower for more; a tile of 1 row wants four, which are 10 %
/// faster. See docs/rationale/0013. Its second level of 1 MB holds a panel of
/// 590 KB (k = 3072) less well than a third of it: 0014.
static Strategy zen4(int64_t weightBits) {
  Strategy s = level4(weightBits);
  s.turnRows = 8;
  s.prefetchRows = 7;
  s.blockBytes = 256 << 10;
  return s;
}

/// AMD with AVX512_BF16: a word of two columns is a step, so that tiles, panels
/// and what is asked for are in bytes those of f32 (docs/rationale/0026).
static Strategy zen4Bf16() {
  Strategy s = zen4(/*weightBits=*/32);
  s.dots = true;
  return s;
}

/// AVX512_VNNI: so is a word of four bytes.
static Strategy vnni512(llvm::StringRef cpu, int64_t weightBits) {
  int64_t bits = weightBits == 4 ? 4 : 32;
  Strategy s = cpu.starts_with("znver") ? zen4(bits) : level4(bits);
  s.rowBlock = 64;
  s.excess = true;
  return s;
}

/// AMX: what is in bytes the same again, so that packed files are those of the
/// words. A second level of 2 MB holds a panel and the next.
static Strategy amxBf16() {
  Strategy s = level4(/*weightBits=*/32);
  s.rowBlock = 128;
  s.dots = true;
  s.tiles = true;
  return s;
}

static Strategy amxInt8(llvm::StringRef cpu, int64_t weightBits) {
  Strategy s = vnni512(cpu, weightBits);
  s.rowBlock = 128;
  s.tiles = true;
  return s;
}

/// 6 x 16 in 16 registers of 8 floats: 12 accumulators, 2 vectors, 1 broadcast.
///
/// Of f32 one row is at the read bandwidth by the machine's own prefetching.
/// Half as many bytes pass in as many cycles of arithmetic, and it asks too
/// late: asking takes decoding GPT-2 124M from 10.3 ms to 8.2 (bf16) and from
/// 9.7 to 8.0 (f16) on an AMD EPYC (family 25, model 1).
static Strategy level3(int64_t weightBits) {
  Strategy s;
  s.lanes = 8;
  s.panel = 16;
  s.bf16Word = 2;
  s.rows = 6;
  s.rowBlock = 60;
  s.unroll = 4;
  s.turnRows = 24;
  s.mapRows = 8;
  s.prefetch = 192;
  s.prefetchRows = weightBits < 32 ? 1 : 2;
  s.blockBytes = 256 << 10;
  s.nextBytes = 256 << 10;
  s.byLane = false;
  s.dots = false;
  s.excess = false;
  s.isSigned = false;
  s.matrices = false;
  s.tiles = false;
  if (weightBits == 4) {
    s.rows = 2;
  }
  return s;
}

/// A vector of 8 floats is two registers of NEON's 32: panels, packed files and
/// bits are those of x86-64-v3. 5 x 16: 20 accumulators, 4 registers of weights
/// and 5 of four steps of a row each, of which multiply-adds take one by its
/// lane: no less than 93 % of a Neoverse's peak by LLVM's models of N1, V1 and
/// V2, where 6 x 16 spills and is at half of N1's (docs/rationale/0063). Of
/// bytes four are multiplied at once, whether or not there is one instruction
/// for that. Not measured.
static Strategy armv8(int64_t weightBits) {
  Strategy s = level3(weightBits);
  s.isSigned = true;
  if (weightBits >= 16) {
    s.rows = 5;
    s.byLane = true;
  }
  return s;
}

/// Words of bytes are multiplied by lane, too. Of groups, which have a sum of
/// floats beside each of integers, four rows go through half of a panel's
/// columns at a time (docs/rationale/0070).
static Strategy armv8Dotprod(int64_t weightBits) {
  Strategy s = armv8(weightBits);
  s.rows = weightBits == 4 ? 4 : 5;
  return s;
}

/// 6 x 16, in matrices of two rows and two columns: 24 accumulators of four
/// sums, 3 pairs of rows, and what is left for weights, each of which serves 3
/// multiplications. Those of groups have words of four (docs/rationale/0070).
static Strategy armv8I8mm(int64_t weightBits) {
  Strategy s = armv8Dotprod(weightBits);
  s.matrices = weightBits != 4;
  if (weightBits == 8) {
    s.rows = 6;
  }
  return s;
}

/// Where a word of bytes is several instructions, these need registers.
static Strategy armv8Bytes(int64_t weightBits) {
  Strategy s = armv8(weightBits);
  s.rows = weightBits == 4 ? 1 : 3;
  return s;
}

/// `s` for bytes with signs, which are multiplied by what models an instruction
/// for them: so many rows, or one where they are halves of bytes.
static Strategy withModels(Strategy s, int64_t weightBits, int64_t byteRows) {
  s.isSigned = true;
  if (weightBits <= 8) {
    s.rows = weightBits == 4 ? 1 : byteRows;
  }
  return s;
}

/// A multiply-add takes a factor from a float's register, so that a broadcast
/// is nothing. In registers of 128 bits a vector is a pair of them, of which
/// there are 16: 6 x 16, as x86-64-v3, whose panels, packed files and bits are
/// these, has 12 accumulators and 2 vectors of weights. Not measured.
static Strategy riscv(int64_t weightBits) {
  return withModels(level3(weightBits), weightBits, 3);
}

/// In registers of 256 bits it is one: 12 x 16, 24 accumulators.
static Strategy riscv256(int64_t weightBits) {
  Strategy s = riscv(weightBits);
  if (weightBits >= 16) {
    s.rows = 12;
  }
  return s;
}

/// Of 512 bits x86-64-v4's, and its bits.
static Strategy riscv512(int64_t weightBits) {
  return withModels(level4(weightBits), weightBits, 2);
}

/// AVX-VNNI: the same of half the vectors.
static Strategy vnni256(int64_t weightBits) {
  Strategy s = level3(weightBits == 4 ? 4 : 8);
  s.excess = true;
  return s;
}

/// The rows by program. A microarchitecture's row is within that of its level.
static constexpr struct {
  llvm::StringLiteral program;
  Strategy (*choose)(llvm::StringRef microarchitecture, int64_t weightBits);
} rows[] = {
    {"x86-64-v3",
     [](llvm::StringRef, int64_t weightBits) { return level3(weightBits); }},
    {"x86-64-v4",
     [](llvm::StringRef cpu, int64_t weightBits) {
       return cpu.starts_with("znver") ? zen4(weightBits) : level4(weightBits);
     }},
    {"x86-64-v4+bf16", [](llvm::StringRef, int64_t) { return zen4Bf16(); }},
    {"x86-64-v4+amx-bf16", [](llvm::StringRef, int64_t) { return amxBf16(); }},
    {"x86-64-v3+avxvnni",
     [](llvm::StringRef, int64_t bits) { return vnni256(bits); }},
    {"x86-64-v4+vnni",
     [](llvm::StringRef cpu, int64_t bits) { return vnni512(cpu, bits); }},
    {"x86-64-v4+amx-int8",
     [](llvm::StringRef cpu, int64_t bits) { return amxInt8(cpu, bits); }},
    {"armv8-a",
     [](llvm::StringRef, int64_t weightBits) {
       return weightBits <= 8 ? armv8Bytes(weightBits) : armv8(weightBits);
     }},
    {"armv8-a+dotprod",
     [](llvm::StringRef, int64_t bits) { return armv8Dotprod(bits); }},
    {"armv8-a+i8mm",
     [](llvm::StringRef, int64_t bits) { return armv8I8mm(bits); }},
    {"rv64gcv", [](llvm::StringRef, int64_t bits) { return riscv(bits); }},
    {"rv64gcv+zvl256b",
     [](llvm::StringRef, int64_t bits) { return riscv256(bits); }},
    {"rv64gcv+zvl512b",
     [](llvm::StringRef, int64_t bits) { return riscv512(bits); }}};

llvm::ArrayRef<llvm::StringRef> tfc::listStrategies() {
  static const auto programs = llvm::map_to_vector(
      rows, [](const auto &row) { return llvm::StringRef(row.program); });
  return programs;
}

llvm::ArrayRef<llvm::StringRef> tfc::listMicroarchitectures() {
  static const llvm::StringRef names[] = {"", "znver4"};
  return names;
}

Strategy tfc::chooseStrategy(llvm::StringRef program,
                             llvm::StringRef microarchitecture,
                             int64_t weightBits) {
  const auto *row = llvm::find_if(
      rows, [&](const auto &each) { return each.program == program; });
  assert(row != std::end(rows) && "expected one of listStrategies");
  return row->choose(microarchitecture, weightBits);
}
