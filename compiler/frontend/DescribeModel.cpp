// What the library says of the model beside its tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/DescribeModel.h"

using namespace mlir;
using namespace tfc;

static DictionaryAttr describe(OpBuilder &builder,
                               const spec::Generation &generation) {
  NamedAttrList fields;
  auto i64 = [&](StringRef name, int64_t value) {
    fields.set(name, builder.getI64IntegerAttr(value));
  };
  auto f64 = [&](StringRef name, double value) {
    fields.set(name, builder.getF64FloatAttr(value));
  };
  i64("forced_bos", generation.forcedBos.value_or(-1));
  i64("forced_eos", generation.forcedEos.value_or(-1));
  i64("min_length", generation.minLength);
  i64("max_length", generation.maxLength);
  i64("no_repeat_ngram", generation.noRepeatNgram);
  i64("num_beams", generation.numBeams);
  i64("early_stopping", static_cast<int64_t>(generation.earlyStopping));
  i64("do_sample", generation.doSample);
  i64("top_k", generation.topK);
  f64("temperature", generation.temperature);
  f64("top_p", generation.topP);
  f64("min_p", generation.minP);
  f64("length_penalty", generation.lengthPenalty);
  f64("repetition_penalty", generation.repetitionPenalty);
  return fields.getDictionary(builder.getContext());
}

static ArrayAttr strings(OpBuilder &builder,
                         const std::vector<std::string> &values) {
  SmallVector<StringRef> refs(values.begin(), values.end());
  return builder.getStrArrayAttr(refs);
}

DictionaryAttr tfc::describeModel(OpBuilder &builder,
                                  const spec::ModelSpec &spec) {
  NamedAttrList model;
  auto id = [&](StringRef name, std::optional<int64_t> token) {
    model.set(name, builder.getI64IntegerAttr(token.value_or(-1)));
  };
  model.set("name", builder.getStringAttr(spec.name));
  model.set("kind", builder.getStringAttr(nameOf(spec.kind)));
  model.set("spec", builder.getStringAttr(spec.canonical));
  model.set("max_positions", builder.getI64IntegerAttr(spec.maxPositions));
  id("pad", spec.tokens.pad);
  id("bos", spec.tokens.bos);
  id("decoder_start", spec.tokens.decoderStart);
  model.set("eos", builder.getI64ArrayAttr(spec.tokens.eos));
  model.set("generation", describe(builder, spec.generation));
  model.set("prefixes", strings(builder, spec.prefixes));
  std::vector<std::string> aliases;
  for (const auto &[first, second] : spec.aliases) {
    aliases.push_back(first);
    aliases.push_back(second);
  }
  model.set("aliases", strings(builder, aliases));
  return model.getDictionary(builder.getContext());
}
