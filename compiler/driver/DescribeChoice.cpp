// What a library was compiled for, in a line for people.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/DescribeChoice.h"

#include "llvm/ADT/StringExtras.h"

using namespace tfc;

static const char *nameOf(spec::Storage storage) {
  switch (storage) {
  case spec::Storage::F32:
    return "f32";
  case spec::Storage::F16:
    return "f16";
  case spec::Storage::BF16:
    return "bf16";
  case spec::Storage::Int8:
    return "int8";
  case spec::Storage::Int4:
    return "int4";
  }
  return "";
}

std::string tfc::describeChoice(const spec::ModelSpec &model,
                                llvm::ArrayRef<std::string> programs,
                                llvm::StringRef dots, bool hasCpu,
                                bool roundsValues) {
  bool isDecoder = model.kind != spec::Kind::Encoder;
  bool isWhole = model.storage == spec::Storage::F32;
  std::string text =
      llvm::join(programs, ", ") + ": matrices in " + nameOf(model.storage) +
      (model.group ? " by groups of " + std::to_string(model.group) : "") +
      (model.roundsWeights && !isWhole ? ", rounded to it" : "");
  bool isRounded = roundsValues && !isWhole;
  // Devices widen integers to what they keep values in.
  const char *values =
      model.hasIntegers() ? nameOf(spec::Storage::BF16) : nameOf(model.storage);
  if (isDecoder) {
    bool isKeptRounded = isRounded && !hasCpu;
    text += std::string(", keys and values in ") +
            (isKeptRounded ? values : nameOf(model.cache));
  }
  text += ", arithmetic in f32";
  if (model.hasIntegers() && (hasCpu || !roundsValues)) {
    text += " but for products, which multiply int8";
  }
  if (!dots.empty()) {
    text += "; in " + dots.str() + " products multiply bf16";
  }
  if (isRounded) {
    text += std::string("; on devices ") +
            (isDecoder && hasCpu ? "keys, values and all else" : "all values") +
            " between ops in " + values +
            (model.hasIntegers() ? ", to which products widen matrices" : "");
  }
  if (isWhole && !model.roundsWeights && hasCpu) {
    // Measured on CPUs; a token alone is a read of all matrices.
    text += isDecoder ? "; --dtype bf16 would round matrices, and take half of "
                        "the memory and nearly half of the time of a token"
                      : "; --dtype bf16 would round matrices, and take half of "
                        "the memory";
  }
  return text;
}
