// The toy model without a cache: a padded row and what was generated behind it,
// run as a whole for every token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_RERUNMODEL_H
#define TFC_TEST_RUNTIME_RERUNMODEL_H

#include "test/runtime/FakeModel.h"

namespace tfc::rt::test {

inline const std::vector<int64_t> noEos;

/// Options that choose the likeliest token and change nothing.
tfc_decoding_options plainDecoding();

/// Left padding, right padding and holes, mixed; at most 4 rows and 8 columns.
Padded randomPrompt(uint32_t seed);

/// tfc_generate with these options; without eos, the model's end tokens.
Result<std::vector<OutputTensor>>
generateBy(const Model &model, const Padded &padded, int64_t maxNewTokens,
           const tfc_decoding_options &decoding,
           std::optional<std::vector<int64_t>> eos = {});

class RerunModel {
public:
  /// Row `row` of a batch without own types and positions.
  RerunModel(const FakeWeights &weights, const Padded &padded, int64_t row);

  /// The row as it is, padding included.
  const std::vector<int32_t> &prompt() const { return tokens; }
  /// Masked tokens before the first that exists.
  int64_t numPadding() const { return padding; }
  /// The logits behind the prompt and what follows it in `sequence`.
  std::vector<float> logits(const std::vector<int32_t> &sequence) const;

private:
  const FakeWeights &weights;
  std::vector<int32_t> tokens;
  std::vector<int64_t> mask, positions;
  int64_t padding = 0;
};

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_RERUNMODEL_H
