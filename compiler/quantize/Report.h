// What quantising did to a model, for people and for programs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_REPORT_H
#define TFC_COMPILER_QUANTIZE_REPORT_H

#include "compiler/quantize/Distance.h"
#include "compiler/quantize/QuantizeModel.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc::quantize {

struct Calibration {
  std::string file;         // "": tokens were made
  bool isGenerated = false; // by the model, not random
  size_t texts = 0, tokens = 0;
};

/// The distances of the model's last output, and its name.
struct Judged {
  std::string output;
  Distance distance;
};

/// Tables: a line for each kind of matrix (its worst and mean layer), and one
/// for the model.
void printReport(const QuantizedModel &model, const Calibration &calibration,
                 const Judged &judged, llvm::raw_ostream &out);

/// The same and every matrix, as JSON text.
std::string reportText(const QuantizedModel &model,
                       const Calibration &calibration, const Judged &judged);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_REPORT_H
