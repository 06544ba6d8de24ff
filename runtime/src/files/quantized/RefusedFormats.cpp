// Formats that tfc does not read, by what config.json calls them and by the
// tensors that only they have, with what to do instead.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/QuantizedModule.h"

#include <algorithm>

namespace tfc::rt {

namespace {

constexpr const char *methods[] = {"compressed-tensors", "gptq", "awq", "fp8",
                                   "fbgemm_fp8",         "mxfp4"};
constexpr const char *useWhole = "import the model without it, with --dtype "
                                 "bf16 or int8 to make it small";

/// A format: its method, an end of a name that only its tensors have, why it is
/// not read and what to do.
struct Refused {
  const char *method, *end, *words;
};

constexpr Refused refusedFormats[] = {
    {"bitsandbytes", ".SCB",
     "bitsandbytes makes it from the model itself, without a file of its own: "
     "import that model, with --dtype int8 to make it small"},
    {"bitsandbytes", ".absmax",
     "bitsandbytes makes it from the model itself, without a file of its own: "
     "import that model, with --dtype int8 to make it small"},
    {"torchao", "._weight_qdata",
     "its layouts depend on the device that it was made for; import the model "
     "without it, or quantise it as compressed-tensors"},
    {"modelopt", ".weight_scale_2",
     "import the model without it, or one quantised as compressed-tensors"},
    {"quark", nullptr,
     "import the model without it, or one quantised as compressed-tensors"},
    {"auto-round", nullptr,
     "export it with format \"auto_gptq\" or \"llm_compressor\", which tfc "
     "reads"},
    {"hqq", ".W_q", useWhole},
    {"aqlm", ".codebooks", useWhole},
    {"bitnet", nullptr, useWhole},
    {"eetq", nullptr, useWhole},
    {"quanto", "._data", useWhole},
    {"awq", ".act.scales",
     "tfc divides no activations by scales of their own; import the model "
     "without it"},
    {"marlin", ".workspace",
     "its words are laid out for a GPU's kernel; import the GPTQ file that it "
     "was made of"},
    {"gptq_p", ".wf_unsqueeze_zero", useWhole},
};

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

std::string knownMethods() {
  std::string known;
  for (const char *method : methods) {
    known += (known.empty() ? "" : ", ") + std::string(method);
  }
  return known;
}

} // namespace

Status refuseByTensor(const Tensor &tensor) {
  for (const Refused &format : refusedFormats) {
    if (format.end && endsWith(tensor.name, format.end)) {
      return makeError(Code::Unsupported, tensor.file,
                       ": expected a quantised format that tfc reads (",
                       knownMethods(), "), got tensor ", quoteName(tensor.name),
                       " of ", format.method, "; ", format.words);
    }
  }
  return {};
}

Status refuseByMethod(const QuantizedSettings &settings) {
  bool isKnown = std::any_of(
      std::begin(methods), std::end(methods),
      [&](const char *method) { return settings.method == method; });
  if (settings.method.empty() || isKnown) {
    return {};
  }
  const char *words = useWhole;
  for (const Refused &format : refusedFormats) {
    words = settings.method == format.method ? format.words : words;
  }
  return makeError(Code::Unsupported, settings.where,
                   ": expected a quant_method that tfc reads (", knownMethods(),
                   "), got ", quoteName(settings.method), "; ", words);
}

} // namespace tfc::rt
