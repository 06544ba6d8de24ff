// Calls of an encoder-decoder made of fake_module.c, and what its decoder
// reads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_PAIRMODEL_H
#define TFC_TEST_RUNTIME_PAIRMODEL_H

#include "test/runtime/FakeModel.h"

#include <map>
#include <random>

namespace tfc::rt::test {

/// The inputs of both entries; a target of no rows is not given.
struct Pair {
  Padded source, target;

  std::vector<tfc_tensor> tensors() const {
    std::vector<tfc_tensor> list = source.tensors();
    static const std::map<std::string, const char *> names = {
        {"input_ids", "decoder_input_ids"},
        {"attention_mask", "decoder_attention_mask"},
        {"position_ids", "decoder_position_ids"}};
    for (tfc_tensor tensor : target.tensors()) {
      tensor.name = names.at(tensor.name);
      list.push_back(tensor);
    }
    return list;
  }
};

inline Result<std::vector<OutputTensor>>
forward(const Model &model, const Pair &pair,
        const std::vector<std::string> &wanted = {}) {
  std::vector<tfc_tensor> inputs = pair.tensors();
  return runForward(model, inputs.data(), static_cast<uint32_t>(inputs.size()),
                    wanted);
}

inline Result<std::vector<OutputTensor>>
generate(const Model &model, const Pair &pair, int64_t maxNewTokens,
         std::optional<tfc_decoding_options> decoding = {}) {
  std::vector<tfc_tensor> inputs = pair.tensors();
  GenerateOptions options;
  options.maxNewTokens = maxNewTokens;
  options.eos.emplace(); // nothing ends a row
  options.decoding = decoding;
  return runGenerate(model, inputs.data(), static_cast<uint32_t>(inputs.size()),
                     options);
}

inline EncodedSource encodeReference(const FakeWeights &weights,
                                     Padded padded) {
  EncodedSource source{padded, {}};
  padded.types.assign(padded.ids.size(), -1);
  source.states = referenceState(weights, padded, false);
  return source;
}

inline Padded randomBatch(std::mt19937 &random, int64_t batch, int64_t length) {
  Padded padded;
  padded.batch = batch;
  padded.length = length;
  for (int64_t row = 0; row < batch; ++row) {
    int64_t kept = random() % length;
    for (int64_t column = 0; column < length; ++column) {
      padded.ids.push_back(random() % vocab);
      padded.mask.push_back(column == kept || random() % 3 != 0);
    }
  }
  return padded;
}

/// With zeros where tokens are masked, as the runtime gives it.
inline std::vector<double> visible(const Padded &padded,
                                   std::vector<double> values) {
  size_t one = values.size() / padded.ids.size();
  for (size_t i = 0; i < padded.mask.size(); ++i) {
    if (!padded.mask[i]) {
      std::fill_n(values.begin() + static_cast<int64_t>(i * one), one, 0.0);
    }
  }
  return values;
}

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_PAIRMODEL_H
