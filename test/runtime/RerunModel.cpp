// Runs the toy model without a cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/RerunModel.h"

#include <random>

namespace tfc::rt::test {

tfc_decoding_options plainDecoding() {
  tfc_decoding_options options{};
  options.struct_size = sizeof(options);
  options.forced_bos = options.forced_eos = -1;
  options.num_beams = options.num_return_sequences = 1;
  options.repetition_penalty = options.length_penalty = 1;
  options.temperature = options.top_p = 1;
  return options;
}

Padded randomPrompt(uint32_t seed) {
  std::mt19937 random(seed);
  Padded padded;
  padded.batch = 1 + random() % 4;
  padded.length = 1 + random() % 8;
  for (int64_t row = 0; row < padded.batch; ++row) {
    int64_t kept = random() % padded.length;
    for (int64_t column = 0; column < padded.length; ++column) {
      padded.ids.push_back(random() % vocab);
      padded.mask.push_back(column == kept || random() % 3 != 0);
    }
  }
  return padded;
}

Result<std::vector<OutputTensor>>
generateBy(const Model &model, const Padded &padded, int64_t maxNewTokens,
           const tfc_decoding_options &decoding,
           std::optional<std::vector<int64_t>> eos) {
  std::vector<tfc_tensor> inputs = padded.tensors();
  GenerateOptions options;
  options.maxNewTokens = maxNewTokens;
  options.decoding = decoding;
  options.eos = std::move(eos);
  return runGenerate(model, inputs.data(), static_cast<uint32_t>(inputs.size()),
                     options);
}

RerunModel::RerunModel(const FakeWeights &weights, const Padded &padded,
                       int64_t row)
    : weights(weights) {
  int64_t count = 0;
  for (int64_t column = 0; column < padded.length; ++column) {
    bool exists = padded.exists(row, column);
    tokens.push_back(
        static_cast<int32_t>(padded.ids[row * padded.length + column]));
    mask.push_back(exists);
    padding += count == 0 && !exists;
    positions.push_back(exists ? count++ : 0);
  }
}

std::vector<float>
RerunModel::logits(const std::vector<int32_t> &sequence) const {
  Padded padded;
  padded.batch = 1;
  padded.length = static_cast<int64_t>(sequence.size());
  padded.ids.assign(sequence.begin(), sequence.end());
  padded.mask = mask;
  padded.mask.resize(sequence.size(), 1);
  padded.positions = positions;
  while (padded.positions.size() < sequence.size()) {
    padded.positions.push_back(padded.positions.back() + 1);
  }
  std::vector<double> state = referenceState(weights, padded, true);
  std::vector<double> wide = referenceLogits(
      weights, &state[static_cast<size_t>((padded.length - 1) * width)]);
  return {wide.begin(), wide.end()};
}

} // namespace tfc::rt::test
