// tfc_generation_v0 from the attribute that the frontend writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteGeneration.h"

#include "compiler/emit/Record.h"
#include "tfc/abi.h"

using namespace tfc;
using transformer::EarlyStopping;

static_assert(static_cast<int>(EarlyStopping::No) == TFC_EARLY_NO &&
              static_cast<int>(EarlyStopping::Yes) == TFC_EARLY_YES &&
              static_cast<int>(EarlyStopping::Never) == TFC_EARLY_NEVER);

Field tfc::writeIds(mlir::ArrayAttr values, Tables &tables) {
  std::vector<Field> items;
  if (values) {
    for (auto value : values.getAsRange<mlir::IntegerAttr>()) {
      items.push_back(Field::u64(static_cast<uint64_t>(value.getInt())));
    }
  }
  return tables.array(items);
}

Field tfc::writeGeneration(transformer::GenerationAttr defaults,
                           Tables &tables) {
  using Generation = tfc_generation_v0;
  auto d = defaults;
  auto f64 = [](mlir::FloatAttr value) { return value.getValueAsDouble(); };
  auto suppress = d ? d.getSuppress() : mlir::ArrayAttr();
  auto begin = d ? d.getBeginSuppress() : mlir::ArrayAttr();
  return tables.array(
      {Record<Generation>("tfc_generation_v0")
           .set(&Generation::forced_bos, d ? d.getForcedBos() : -1)
           .set(&Generation::forced_eos, d ? d.getForcedEos() : -1)
           .set(&Generation::min_length, d ? d.getMinLength() : 0)
           .set(&Generation::max_length, d ? d.getMaxLength() : 0)
           .set(&Generation::no_repeat_ngram, d ? d.getNoRepeatNgram() : 0)
           .set(&Generation::num_beams, d ? d.getNumBeams() : 1)
           .set(&Generation::early_stopping,
                d ? d.getEarlyStopping() : EarlyStopping::No)
           .set(&Generation::do_sample, d && d.getDoSample())
           .set(&Generation::top_k, d ? d.getTopK() : 50)
           .set(&Generation::temperature, d ? f64(d.getTemperature()) : 1.0)
           .set(&Generation::top_p, d ? f64(d.getTopP()) : 1.0)
           .set(&Generation::min_p, d ? f64(d.getMinP()) : 0.0)
           .set(&Generation::length_penalty,
                d ? f64(d.getLengthPenalty()) : 1.0)
           .set(&Generation::repetition_penalty,
                d ? f64(d.getRepetitionPenalty()) : 1.0)
           .set(&Generation::suppress, writeIds(suppress, tables))
           .set(&Generation::begin_suppress, writeIds(begin, tables))
           .set(&Generation::n_suppress, suppress ? suppress.size() : 0)
           .set(&Generation::n_begin_suppress, begin ? begin.size() : 0)
           .finish()});
}
