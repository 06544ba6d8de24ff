// The command line of tfc-bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_BENCHCOMMANDLINE_H
#define TFC_RUNTIME_TOOLS_BENCHCOMMANDLINE_H

#include "runtime/tools/Workload.h"

namespace tfc::bench {

enum class Format { Table, Json, Csv };

struct CommandLine {
  std::string library, weights, packed, program, trace, html, inputs, reference;
  std::vector<Workload> workloads; // empty: the model's defaults
  Format format = Format::Table;
  uint32_t threads = 0; // 0: not given
  int64_t warmup = 2, repeats = 20;
  double maxSeconds = 20;
  bool random = false, ops = false, help = false, version = false;

  std::string completion; // the script of --print-completion
  /// What is wrong, one line a fault; empty when nothing is.
  std::vector<std::string> faults;
};

/// Reads the arguments (without the program's name), as tfc-run reads its own.
CommandLine readCommandLine(const std::vector<std::string> &arguments);

/// The text of --help.
extern const char *const helpText;

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_BENCHCOMMANDLINE_H
