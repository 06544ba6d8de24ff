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
  std::string name;      // of the program, and LLVM's -mcpu: "x86-64-v3"
  uint64_t features = 0; // TFC_FEATURE_*: what the machine must have
  /// LLVM's name of the CPU that tile sizes are chosen for, as "znver4"; ""
  /// where only the level is known. It changes no instruction that may be used.
  std::string microarchitecture;
  /// LLVM's -mtune: whose pipeline its scheduler assumes. Its models of the
  /// plain levels make the register allocator spill the sums of a product's
  /// tile; these do not, on any vendor's machine.
  std::string tuning;

  /// "cpu" is this machine; "cpu:x86-64-v3" and "cpu:x86-64-v4" are that level
  /// whatever this machine has, "cpu:znver4" the level of the CPU that LLVM
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
