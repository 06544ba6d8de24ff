// What a caller of the compiler may choose.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_OPTIONS_H
#define TFC_COMPILER_DRIVER_OPTIONS_H

#include "runtime/tools/Progress.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tfc {

/// Exit codes of the tools.
enum ExitCode {
  kOk = 0,
  kBadInput = 1,
  kBadCommandLine = 2,
  kInternalError = 70, // our fault
};

/// More share no model well: each sum is a wait for all.
constexpr int kMostRanks = 1024;

struct CompileOptions {
  /// TargetInfo::parseList's; "" is both levels at `full`, this machine's at
  /// `none`.
  std::string target;
  std::string opt = "full";
  std::string dtype; // "" as in the spec, as the next one
  std::string cache;
  int64_t group = 0; // of dtype int8 and int4; 0 as in the spec
  /// Print the IR after this stage instead of making a library: that of the
  /// most demanding target.
  std::string stopAfter;
  /// A pass pipeline to run after a stage, as "STAGE:PIPELINE"; "" for none.
  /// For those who work on passes.
  std::string runAfter;
  /// Passes that do not run, as "canonicalize#2" (the second of them),
  /// "canonicalize" (all of them) or "tfc-split-tiles#1:plain" (that one, with
  /// the defaults of its options), commas between; "" for none.
  std::string leaveOut;
  /// Print the IR before this pass instead of making a library, as stopAfter.
  std::string stopBefore;
  /// Print the names of the passes instead.
  bool listPasses = false;
  /// Whether a text is written instead of a library, of the most demanding
  /// target.
  bool writesText() const {
    return !stopAfter.empty() || !stopBefore.empty() || listPasses;
  }
  bool taps = false;
  /// Taps of what stands at the stage `fused`, too: values that passes have
  /// made.
  bool fusedTaps = false;
  /// All hidden states are outputs, too.
  bool hiddenStates = false;
  /// How many processes, or threads, share the model.
  int ranks = 1;
  /// "library", or "archive": objects to be linked into a program.
  std::string emit = "library";
  /// Of an archive, the function that a program names to load it; "" is one
  /// made of the model's name.
  std::string symbol;
  /// A row's bits do not depend on the other rows of its step, on devices too.
  bool deterministic = false;
  /// "address": every access of a CPU's program is checked by a host that has
  /// AddressSanitizer; "" for none.
  std::string sanitize;
  /// Gets a line of what was chosen; may be null.
  llvm::raw_ostream *summary = nullptr;
  /// Targets that this machine lacks are compiled for what it has.
  bool emulate = false;
  /// What the model was read from: no output may be one of them.
  std::vector<std::string> inputs;
  /// Replace a file that tfc did not write.
  bool force = false;
  /// Whether a phase that takes its time is shown.
  tools::ShowProgress progress = tools::ShowProgress::Never;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_OPTIONS_H
