// The kinds of machines that libraries are for, as LLVM and the linker know
// them: a row each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TARGET_MACHINES_H
#define TFC_COMPILER_TARGET_MACHINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tfc {

/// What the instructions of a library are: it is one file, so all programs of
/// it, the host code of devices among them, are of one.
enum class Machine { X86_64, Aarch64, Riscv64, AppleSilicon };

/// What file a library is.
enum class LibraryFormat { Elf, MachO };

struct MachineInfo {
  Machine machine;
  const char *name; // in messages: "x86-64"
  uint32_t isa;     // TFC_ISA_*
  LibraryFormat format;
  llvm::StringLiteral triple;     // LLVM's
  llvm::StringLiteral intrinsics; // how those begin that its kernels may name
  llvm::StringLiteral abi;        // LLVM's -target-abi; "" for the one there is
  bool hasHalves;                 // whether it converts between f16 and f32
};

llvm::ArrayRef<MachineInfo> listMachines();

const MachineInfo &machineInfo(Machine machine);

/// "x86-64, of aarch64 or of riscv64", and so on.
std::string describeMachines();

} // namespace tfc

#endif // TFC_COMPILER_TARGET_MACHINES_H
