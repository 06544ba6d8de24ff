// What config.json says of how a checkpoint is quantised, as far as its tensors
// leave it open.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZEDSETTINGS_H
#define TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZEDSETTINGS_H

#include "runtime/src/Error.h"

namespace tfc::rt {

/// Zero points as GPTQ's files have them: what is added to a stored word, for
/// fields of 4 and of 8 bits.
struct GptqZeros {
  uint32_t add4 = 0, add8 = 0;
  /// Whether all of them are, with that added, 8 (of 4 bits) or 128.
  bool areMiddle = false;
  uint64_t wrapped = 0; // stored fields that are all ones, where 1 is added
};

struct QuantizedSettings {
  /// The file and the key in it: "DIR/config.json: /quantization_config".
  /// Empty: there is none.
  std::string where;
  std::string method; // quant_method; empty where it is missing
  /// GPTQ's checkpoint_format, AWQ's version, compressed-tensors' format.
  std::string format;
  int64_t bits = 0, groupSize = 0; // 0: not said; -1: all columns
  std::optional<bool> isSymmetric;
  bool hasModuleRules = false; // GPTQModel's `dynamic`
  bool isZeroPoint = true;     // AWQ's zero_point
  int64_t blockRows = 128, blockColumns = 128;
  /// Values that no reader here understands, as errors say them: KEY and what
  /// is expected there.
  std::vector<Error> refused;
  /// Why the file cannot be read; of interest only with quantised tensors.
  std::string fault;

  GptqZeros zeros;
};

/// Of config.json (or quantize_config.json, hf_quant_config.json) in `path`, or
/// beside it where it is a file. No error: what is wrong is in the result.
QuantizedSettings readQuantizedSettings(const std::string &path);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_QUANTIZED_QUANTIZEDSETTINGS_H
