// What the library says of the model beside its tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/DescribeModel.h"

using namespace mlir;
using namespace tfc;

static transformer::EarlyStopping
earlyOf(spec::Generation::EarlyStopping early) {
  switch (early) {
  case spec::Generation::EarlyStopping::No:
    return transformer::EarlyStopping::No;
  case spec::Generation::EarlyStopping::Yes:
    return transformer::EarlyStopping::Yes;
  case spec::Generation::EarlyStopping::Never:
    return transformer::EarlyStopping::Never;
  }
  llvm_unreachable("all values are listed");
}

static transformer::GenerationAttr
describe(OpBuilder &builder, const spec::Generation &generation) {
  auto f64 = [&](double value) { return builder.getF64FloatAttr(value); };
  auto ids = [&](const std::vector<int64_t> &values) {
    return values.empty() ? ArrayAttr() : builder.getI64ArrayAttr(values);
  };
  return transformer::GenerationAttr::get(
      builder.getContext(), generation.forcedBos.value_or(-1),
      generation.forcedEos.value_or(-1), generation.minLength,
      generation.maxLength, generation.noRepeatNgram, generation.numBeams,
      earlyOf(generation.earlyStopping), generation.doSample, generation.topK,
      f64(generation.temperature), f64(generation.topP), f64(generation.minP),
      f64(generation.lengthPenalty), f64(generation.repetitionPenalty),
      ids(generation.suppress), ids(generation.beginSuppress));
}

static ArrayAttr strings(OpBuilder &builder,
                         const std::vector<std::string> &values) {
  SmallVector<StringRef> refs(values.begin(), values.end());
  return builder.getStrArrayAttr(refs);
}

static transformer::ModelKind kindOf(spec::Kind kind) {
  switch (kind) {
  case spec::Kind::Encoder:
    return transformer::ModelKind::Encoder;
  case spec::Kind::Decoder:
    return transformer::ModelKind::Decoder;
  case spec::Kind::EncoderDecoder:
    return transformer::ModelKind::EncoderDecoder;
  }
  llvm_unreachable("all kinds are listed");
}

transformer::ModelAttr tfc::describeModel(OpBuilder &builder,
                                          const spec::ModelSpec &spec) {
  std::vector<std::string> aliases;
  for (const auto &[first, second] : spec.aliases) {
    aliases.push_back(first);
    aliases.push_back(second);
  }
  return transformer::ModelAttr::get(
      builder.getContext(), spec.name, kindOf(spec.kind), spec.canonical,
      spec.maxPositions, spec.tokens.pad.value_or(-1),
      spec.tokens.bos.value_or(-1), spec.tokens.decoderStart.value_or(-1),
      builder.getI64ArrayAttr(spec.tokens.eos), strings(builder, spec.prefixes),
      strings(builder, aliases), describe(builder, spec.generation));
}
