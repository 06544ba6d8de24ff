// The kinds of machines that libraries are for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/target/Machines.h"

#include "runtime/src/load/Machines.h"
#include "llvm/ADT/STLExtras.h"

using namespace tfc;

/// As the runtime has it.
static constexpr const char *nameOf(uint32_t isa) {
  return findMachineKind(isa)->name;
}

static constexpr MachineInfo machines[] = {
    {Machine::X86_64, nameOf(TFC_ISA_X86_64), TFC_ISA_X86_64,
     LibraryFormat::Elf, "x86_64-unknown-linux-gnu", "llvm.x86.", "",
     /*hasHalves=*/true},
    {Machine::Aarch64, nameOf(TFC_ISA_AARCH64), TFC_ISA_AARCH64,
     LibraryFormat::Elf, "aarch64-unknown-linux-gnu", "llvm.aarch64.", "",
     /*hasHalves=*/true},
    // Extensions convert f16 (Zfhmin, Zvfhmin) that rv64gcv has not. Its
    // floats are passed in registers of their own.
    {Machine::Riscv64, nameOf(TFC_ISA_RISCV64), TFC_ISA_RISCV64,
     LibraryFormat::Elf, "riscv64-unknown-linux-gnu", "llvm.riscv.", "lp64d",
     /*hasHalves=*/false},
    // The first macOS of these machines.
    {Machine::AppleSilicon, "Apple silicon", TFC_ISA_AARCH64,
     LibraryFormat::MachO, "arm64-apple-macosx11.0.0", "llvm.aarch64.", "",
     /*hasHalves=*/true},
};

llvm::ArrayRef<MachineInfo> tfc::listMachines() { return machines; }

const MachineInfo &tfc::machineInfo(Machine machine) {
  return *llvm::find_if(
      machines, [&](const MachineInfo &row) { return row.machine == machine; });
}

std::string tfc::describeMachines() {
  std::string text;
  for (const MachineInfo &row : machines) {
    text += &row == std::begin(machines)     ? ""
            : &row == std::end(machines) - 1 ? " or of "
                                             : ", of ";
    text += row.name;
  }
  return text;
}
