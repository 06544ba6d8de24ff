// `tfc quantize`: a Hugging Face folder with matrices of integers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_QUANTIZECOMMAND_H
#define TFC_COMPILER_DRIVER_QUANTIZECOMMAND_H

#include <optional>
#include <string>

namespace tfc {

struct QuantizeOptions {
  std::string dtype;     // int8, int4
  std::string calibrate; // texts, one a line; "": tokens are made
  std::string output;    // a folder, which is made
  /// What the last output has to be from the exact one at least, in dB.
  std::optional<double> minSnr;
  /// Of int4, columns that have a scale; 0: 32.
  int64_t group = 0;
  /// Whether int4 may be further from the exact one than is of use.
  bool accepts = false;
};

/// `tfc quantize DIR --dtype int8|int4 -o OUT`: writes the folder, prints a
/// report. Returns an ExitCode; nothing is written on failure.
int runQuantize(const std::string &directory, const QuantizeOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_QUANTIZECOMMAND_H
