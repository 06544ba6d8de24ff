// What TFC_FAKECUDA asks of the stand-in:
//   fail=cuMemAlloc:3       the third call fails (repeatable)
//   fail=cuMemAlloc:3:719   with this result instead of the usual one
//   capability=80, memory=BYTES, devices=1, driver=12080, seed=7, races=0
//   replace=mul.rn:add.rn   an instruction by another
//   counters=FILE, wave=108 what kernels ask of memory, by 108 blocks at once
// separated by commas.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_SETTINGS_H
#define TFC_TEST_EMULATOR_SETTINGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace tfc::emulator {

/// A call that fails once.
struct Failure {
  std::string function; // "cuMemAlloc", without a version
  int64_t call = 1;     // counted from 1
  int result = 0;       // 0: what the function usually fails with
};

struct Settings {
  int capability = 80, devices = 1, driver = 12080;
  uint64_t memory = uint64_t(4) << 30;
  uint64_t wave = 108; // blocks: one a multiprocessor of an A100
  /// Blocks, threads and streams run in an order that follows from it; 0: in
  /// that of their numbers, each stream when somebody waits for it.
  uint64_t seed = 0;
  bool findsRaces = true;
  std::string replaced, replacement; // in the text of modules
  std::string counters;              // a file; empty: nobody counts
  std::vector<Failure> failures;
  std::string fault; // what is wrong with the text; empty: nothing
};

Settings readSettings(const std::string &text);

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_SETTINGS_H
