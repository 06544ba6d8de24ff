// `tfc explain`: from a loop or a kernel of the compiled program back to the
// line that it comes from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_EXPLAINCOMMAND_H
#define TFC_COMPILER_DRIVER_EXPLAINCOMMAND_H

#include "compiler/driver/Options.h"

namespace tfc {

struct ExplainOptions {
  /// What is compiled for; of several targets the most demanding one.
  CompileOptions compile;
  /// A path of the spec, or a function's name or a part of it; both "" for a
  /// line an op.
  std::string op, kernel;
  /// WantedStep's form; "" is a prompt and a next token.
  std::string step;
  /// cost::findMachine's; "" leaves times out.
  std::string machine;
  /// What `tfc-bench --ops --format json` printed; "" for none.
  std::string measured;
};

/// `tfc explain SPEC|DIR`: a screen of text on standard output. Nothing is
/// written, and the program is compiled up to the last stage only. Returns an
/// ExitCode.
int runExplain(const std::string &path, const ExplainOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_EXPLAINCOMMAND_H
