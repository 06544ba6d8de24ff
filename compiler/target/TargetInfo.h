// What a program is compiled for: parsed once from --target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TARGET_TARGETINFO_H
#define TFC_COMPILER_TARGET_TARGETINFO_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tfc {

/// A CPU: one of the x86-64 levels, and which of its machines is to be fast.
struct TargetInfo {
  std::string name;      // LLVM's -mcpu: "x86-64-v3"
  uint64_t features = 0; // TFC_FEATURE_*: what the machine must have
  /// The level whose instructions stand in for those of `name`; "" where the
  /// program has its own. Tiles, layouts and bits stay those of `name`.
  std::string emulatedOn;
  /// LLVM's name of the CPU that tile sizes are chosen for, as "znver4"; ""
  /// where only the level is known. It changes no instruction that may be used.
  std::string microarchitecture;
  /// LLVM's -mtune: whose pipeline its scheduler assumes. Its models of the
  /// plain levels make the register allocator spill the sums of a product's
  /// tile; these do not, on any vendor's machine.
  std::string tuning;

  /// What the library and the module call the program: "x86-64-v3",
  /// "x86-64-v4-emulated".
  std::string programName() const;

  /// LLVM's -mcpu of the instructions that are used.
  const std::string &instructions() const {
    return emulatedOn.empty() ? name : emulatedOn;
  }

  /// This target for a machine of the level x86-64-v3, which runs it slowly and
  /// to the same bits: for tests of a program where there is no machine for it.
  /// What is of that level already is returned as it is.
  TargetInfo emulated() const;

  /// Whether the machine that this runs on has all its features.
  bool runsHere() const;

  /// "cpu" is this machine; "cpu:x86-64-v3" and "cpu:x86-64-v4" are that level
  /// whatever this machine has, "cpu:x86-64-v4-emulated" the latter for a
  /// machine of the former, "cpu:znver4" the level of the CPU that LLVM
  /// calls so, and its microarchitecture. The error says what is expected.
  static llvm::Expected<TargetInfo> parse(llvm::StringRef text);

  /// One or several of them with commas between: each once, the least demanding
  /// first. The error is that of the first that is none, or names two of one
  /// level.
  static llvm::Expected<std::vector<TargetInfo>>
  parseList(llvm::StringRef text);

  /// Both levels, that of this machine with its microarchitecture: runs
  /// anywhere, and fast here.
  static std::vector<TargetInfo> bothLevels();
};

} // namespace tfc

#endif // TFC_COMPILER_TARGET_TARGETINFO_H
