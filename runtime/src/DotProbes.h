// What this machine can do at most in the instructions that programs below f32
// multiply with, measured as Roofline.h measures f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_DOTPROBES_H
#define TFC_RUNTIME_SRC_DOTPROBES_H

#include "tfc/abi.h"

namespace tfc::rt {

/// An instruction that multiplies several narrow numbers of a lane and adds
/// them to its sum, with the bits of its vectors.
enum class Dot {
  None,
  Bf16x512, // vdpbf16ps
  Bytes512, // vpdpbusd of AVX512_VNNI
  Bytes256, // vpdpbusd of AVX-VNNI
  Words512, // vpmaddwd and vpaddd, which are for bytes where neither is
  Words256,
  Bf16Tiles,  // tdpbf16ps
  BytesTiles, // tdpbusd
  BytesNeon,  // sdot
  BytesI8mm   // smmla
};

/// What the products of a CPU's program (TFC_ISA_*) with these needs
/// (TFC_FEATURE_*) multiply with; `ofBytes`: its matrices are of int8. None:
/// multiply-adds of f32, and what has no instruction of its own.
Dot dotOf(uint32_t isa, uint64_t features, bool ofBytes);

/// The instruction's name, as manuals have it; "" of None.
const char *nameOf(Dot dot);

/// Operations a second (a product and its addition are two), all workers of the
/// host together. Takes about a millisecond. 0 of None, and where this machine
/// has not the instruction or the system refuses its registers.
double measureDots(const tfc_host_v0 &host, Dot dot);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_DOTPROBES_H
