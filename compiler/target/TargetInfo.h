// What a program is compiled for: parsed once from --target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TARGET_TARGETINFO_H
#define TFC_COMPILER_TARGET_TARGETINFO_H

#include "compiler/target/Machines.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tfc {

/// Whether a program computes on the host or on a device.
enum class TargetKind { Cpu, Cuda };

/// What the products of a program multiply, beside f32.
enum class Factors { F32, BF16, Int8 };

/// A CPU: one of the x86-64 levels, or one and what some of its machines are
/// fast at, or ARMv8-A, with products of bytes or without, or RV64GCV with
/// vectors of so many bits, and which of its machines is to be fast. Or an
/// architecture of NVIDIA's GPUs, and every later one, or, with an `a` behind
/// its name, no other.
struct TargetInfo {
  /// Of the program: "x86-64-v4", "x86-64-v4+bf16", "armv8-a", "sm_80".
  std::string name;
  uint64_t features = 0; // TFC_FEATURE_*: what the host's CPU must have
  /// Of the instructions that run on the host.
  Machine machine = Machine::X86_64;
  /// Of a device, 10 x major + minor, at least; 0 for a CPU's program.
  unsigned capability = 0;
  /// Whether the program uses what this capability alone has, no later one.
  bool isExact = false;
  /// LLVM's name of the CPU that tile sizes are chosen for, as "znver4"; ""
  /// where only the level is known. It changes no instruction that may be used.
  /// Of a device, later architectures that do not run its binary and get one of
  /// their own: "sm_90,sm_100".
  std::string microarchitecture;
  /// TFC_FEATURE_*: all that such a machine has, of this one what it says of
  /// itself, whatever its name; 0 where only the level is known.
  uint64_t machineFeatures = 0;
  /// LLVM's -mtune: whose pipeline its scheduler assumes. Its models of the
  /// plain levels make the register allocator spill the sums of a product's
  /// tile; these do not, on any vendor's machine.
  std::string tuning;
  /// LLVM's -mcpu of what runs on the host: a CPU's own level; for a device the
  /// lowest that any program has.
  std::string cpu;
  /// LLVM's -mattr: what its host has beyond `cpu`.
  std::string attributes;
  /// What its machines are fast at, for models that are computed so: of bf16
  /// pair by pair, of int8 four at once. A program for all machines of a level
  /// has F32, and multiplies integers where a model has them, too.
  Factors multiplies = Factors::F32;
  /// Whether instructions of a lower level stand in for those of `name`. Tiles,
  /// layouts and bits are those of `name`.
  bool isStandIn = false;
  TargetKind kind = TargetKind::Cpu;

  /// Whether the host's instructions are aarch64's.
  bool isArm() const;

  /// Sets the microarchitecture, by LLVM's name, and with it the machine: those
  /// called "apple-m1" and so on run macOS.
  void tuneFor(llvm::StringRef name);

  /// Whether its program computes on a device.
  bool isDevice() const { return kind != TargetKind::Cpu; }
  /// Of a device, whether a kernel may begin before the one in front of it has
  /// ended (`griddepcontrol`).
  bool hasOverlap() const { return capability >= 90; }
  /// Of a device, whether four warps multiply together (`wgmma`).
  bool hasWarpgroups() const { return isExact && capability == 90; }
  /// Shared memory that a block may have on every device that runs the program,
  /// in bytes: of 9.0 alone 227 KiB, of 8.6 and others 99. (CUDA C++
  /// Programming Guide, "Technical Specifications per Compute Capability".)
  int64_t sharedBytes() const { return (hasWarpgroups() ? 227 : 99) << 10; }

  /// What the library and the module call the program: "x86-64-v3",
  /// "x86-64-v4-emulated".
  std::string programName() const;

  /// What the program's table in the library says that a machine must have: of
  /// a device its capability, or else `features`.
  uint64_t programFeatures() const;

  bool isEmulated() const { return isStandIn; }

  /// LLVM's name of the host: "x86_64-unknown-linux-gnu".
  llvm::StringRef triple() const;

  /// Whether kernels name instructions that its machine may lack: then models
  /// of these stand in for them. Of a stand-in any, and of ARMv8.0-A and of
  /// RISC-V the products of bytes.
  bool needsModels() const;

  /// This target for the lowest level of machines like the one that this runs
  /// on (x86-64-v3, or ARMv8-A), which runs it slowly and to the same bits: for
  /// tests of a program where there is no machine for it. What is of that level
  /// already, or a device's, is returned as it is.
  TargetInfo emulated() const;

  /// Whether the machine that this runs on has all features of its CPU.
  bool runsHere() const;

  /// "cpu" is this machine; "cpu:x86-64-v3" and "cpu:x86-64-v4" are that level
  /// whatever this machine has, "cpu:x86-64-v4-emulated" the latter for a
  /// machine of the former, "cpu:armv8-a" every 64-bit Arm, "cpu:rv64gcv" every
  /// 64-bit RISC-V with vectors, "cpu:znver4" and "cpu:neoverse-v1" the level
  /// of the CPU that LLVM calls so, and its microarchitecture, and
  /// "cpu:apple-m1" that of a Mac; "cuda:sm_80" is
  /// that architecture, and "cuda" the oldest that there are programs for. The
  /// error says what is expected.
  static llvm::Expected<TargetInfo> parse(llvm::StringRef text);

  /// That of the program called `name`, without a microarchitecture; none where
  /// no program is called so.
  static std::optional<TargetInfo> findProgram(llvm::StringRef name);

  /// One or several of them with commas between: each once, CPUs before devices
  /// and the least demanding first. The error is that of the first that is
  /// none, or names two of one level, or machines of two kinds. Machines, as
  /// opposed to levels, get the programs of `fastAt` them.
  static llvm::Expected<std::vector<TargetInfo>>
  parseList(llvm::StringRef text, Factors factors = Factors::F32);

  /// The default programs of a model whose products multiply `factors`, with
  /// that of this machine for its microarchitecture.
  static std::vector<TargetInfo> allFor(Factors factors);

  /// Of a machine that is known: what runs it fastest where products multiply
  /// `factors`; otherwise this.
  TargetInfo fastAt(Factors factors) const;
};

} // namespace tfc

#endif // TFC_COMPILER_TARGET_TARGETINFO_H
