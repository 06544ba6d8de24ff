// The kinds of machines that libraries are for, as messages name them: the one
// list for the compiler and for the runtime. Header only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_MACHINES_H
#define TFC_RUNTIME_SRC_LOAD_MACHINES_H

#include "tfc/abi.h"

namespace tfc {

struct MachineKind {
  uint32_t isa; // TFC_ISA_*
  uint16_t elf; // e_machine of its libraries
  const char *name;
  const char *target; // of a library that all of them run
};

inline constexpr MachineKind machineKinds[] = {
    {TFC_ISA_X86_64, 62, "x86-64", "cpu:x86-64-v3"},
    {TFC_ISA_AARCH64, 183, "aarch64", "cpu:armv8-a"},
    {TFC_ISA_RISCV64, 243, "riscv64", "cpu:rv64gcv"},
};

/// The row of an isa; null where there is none.
constexpr const MachineKind *findMachineKind(uint32_t isa) {
  for (const MachineKind &kind : machineKinds) {
    if (kind.isa == isa) {
      return &kind;
    }
  }
  return nullptr;
}

} // namespace tfc

#endif // TFC_RUNTIME_SRC_LOAD_MACHINES_H
