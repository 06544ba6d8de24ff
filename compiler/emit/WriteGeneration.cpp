// tfc_generation_v0 from the dictionary that the frontend writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteGeneration.h"

#include "mlir/IR/BuiltinTypes.h"
#include "tfc/abi.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace tfc;

Field tfc::writeGeneration(DictionaryAttr defaults, Tables &tables) {
  auto whole = [&](StringRef name, int64_t fallback) {
    auto value = defaults ? defaults.getAs<IntegerAttr>(name) : IntegerAttr();
    return value ? value.getInt() : fallback;
  };
  auto i64 = [&](StringRef name, int64_t fallback) {
    return Field::u64(static_cast<uint64_t>(whole(name, fallback)));
  };
  auto u32 = [&](StringRef name, int64_t fallback) {
    return Field::u32(static_cast<uint32_t>(whole(name, fallback)));
  };
  auto f64 = [&](StringRef name, double fallback) {
    auto value = defaults ? defaults.getAs<FloatAttr>(name) : FloatAttr();
    double number = value ? value.getValueAsDouble() : fallback;
    return Field::u64(llvm::bit_cast<uint64_t>(number));
  };
  return tables.array({Field::record(
      {i64("forced_bos", -1), i64("forced_eos", -1), i64("min_length", 0),
       i64("max_length", 0), i64("no_repeat_ngram", 0), u32("num_beams", 1),
       u32("early_stopping", TFC_EARLY_NO), u32("do_sample", 0),
       u32("top_k", 50), f64("temperature", 1), f64("top_p", 1),
       f64("min_p", 0), f64("length_penalty", 1),
       f64("repetition_penalty", 1)})});
}
