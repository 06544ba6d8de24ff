// A PTX module as C: a text an entry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_TRANSLATE_H
#define TFC_TEST_EMULATOR_TRANSLATE_H

#include "test/emulator/ReadPtx.h"

namespace tfc::emulator {

/// Gives shared and local variables their offsets, too. The text of an entry
/// has a function `kernel` of the type emu_kernel (kernel_context.h), and says
/// nothing of where in the module the entry stands. Errors: PtxError, which
/// names an instruction that is unknown.
std::vector<std::string> translate(PtxModule &module);

/// Bytes of shared memory that an entry has of its own.
uint64_t sharedBytes(const PtxModule &module, const Entry &entry);

/// Whether threads of the entry wait for each other, or for copies of theirs.
bool doThreadsMeet(const Entry &entry);

/// Whether it has products of four warps together.
bool doWarpgroupsMultiply(const Entry &entry);

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_TRANSLATE_H
