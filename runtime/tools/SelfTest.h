// tfc-run --self-test: the programs of a library beside each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_SELFTEST_H
#define TFC_RUNTIME_TOOLS_SELFTEST_H

#include "runtime/src/Error.h"
#include "runtime/tools/CommandLine.h"

namespace tfc::run {

/// What a self-test found.
struct SelfTestResult {
  int programs = 0; // that were held against the reference
  int faults = 0;   // cases that differ
};

/// Runs every program of the library that this machine runs, or the one that
/// --program names, over token ids that the line's seed draws, with weights of
/// no meaning where --weights names none, and compares outputs and generated
/// tokens with those of the library's first program for CPUs that runs here. Of
/// a library compiled with --taps, also the values of all ops inside of the
/// steps, each on the inputs that the CPU's ops had: see TapTest. Prints a line
/// a case to standard output. Errors: those of the library and its weights;
/// NotFound where there is nothing to compare.
rt::Result<SelfTestResult> runSelfTest(const CommandLine &line);

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_SELFTEST_H
