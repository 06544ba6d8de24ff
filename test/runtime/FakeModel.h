// The weights of fake_module.c, its mathematics a second time (padded, plain
// loops, double), and calls of the runtime in few words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_FAKEMODEL_H
#define TFC_TEST_RUNTIME_FAKEMODEL_H

#include "runtime/src/files/Safetensors.h"
#include "runtime/src/session/Generate.h"
#include "runtime/src/step/Forward.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace tfc::rt::test {

constexpr int64_t width = 4, vocab = 32, positions = 16, layers = 2;

/// A folder of its own, gone with the test.
class Folder {
public:
  Folder();
  ~Folder();
  std::string operator/(const std::string &name) const {
    return (path / name).string();
  }
  std::filesystem::path path;
};

/// All of a file; empty where there is none.
std::string readBytes(const std::string &path);

struct NamedTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// How a checkpoint stores the weights.
struct Storage {
  DType dtype = DType::F32;
  std::string prefix;
  bool isFused = false, usesGamma = false, hasBias = true, hasHead = false;
};

class FakeWeights {
public:
  explicit FakeWeights(uint32_t seed = 1);
  std::vector<NamedTensor> stored(const Storage &storage = {}) const;

  std::vector<float> embed, position, scale, mix, bias; // multiples of 1/64
};

/// Writes tensors to a file; fails the test when it cannot.
void writeTensors(const std::string &path,
                  const std::vector<NamedTensor> &tensors);

/// A batch as Hugging Face takes it; empty parts are not given.
struct Padded {
  int64_t batch = 0, length = 0;
  std::vector<int64_t> ids, mask, types, positions;

  /// Without what is masked: a single row, all ones.
  std::vector<tfc_tensor> tensors() const;
  bool exists(int64_t row, int64_t column) const {
    return mask.empty() || mask[row * length + column];
  }
};

/// What the decoder of an encoder-decoder reads: a batch and its states.
struct EncodedSource {
  Padded padded;
  std::vector<double> states;
};

/// What Hugging Face would compute for the toy model: the state of every
/// column, masked ones too, [batch, length, width]. With `source`, of the
/// decoder of an encoder-decoder.
std::vector<double> referenceState(const FakeWeights &weights,
                                   const Padded &padded, bool isCausal,
                                   const EncodedSource *source = nullptr);
/// The logits of one state.
std::vector<double> referenceLogits(const FakeWeights &weights,
                                    const double *state);
/// Greedy generation with the whole sequence run again for every token;
/// positions count what is not masked, after a source they are columns.
std::vector<int64_t> referenceGenerate(const FakeWeights &weights,
                                       Padded padded,
                                       const std::vector<int64_t> &eos,
                                       int64_t pad, int64_t maxNewTokens,
                                       const EncodedSource *source = nullptr);

/// Path of a variant of fake_module.c: "encoder".
std::string fakeLibrary(const std::string &variant);

/// A cache of the sequences' own keys and values, of one size a layer.
inline tfc_cache_v0 makeCache(uint32_t blockTokens, uint32_t layers,
                              uint64_t blockBytes) {
  return {TFC_CACHE_SELF,
          TFC_DTYPE_F32,
          blockTokens,
          layers,
          blockBytes,
          blockBytes / layers,
          0,
          0,
          0};
}

/// Loads a variant with weights at a path.
Result<std::unique_ptr<Model>> loadFake(const std::string &variant,
                                        const std::string &weightsPath,
                                        uint32_t threads = 2);
/// The same with weights of its own; fails the test on errors.
std::unique_ptr<Model> loadFake(const std::string &variant,
                                const FakeWeights &weights,
                                uint32_t threads = 2);

Result<std::vector<OutputTensor>>
forward(const Model &model, const Padded &padded,
        const std::vector<std::string> &wanted = {});
Result<OutputTensor> generate(const Model &model, const Padded &padded,
                              int64_t maxNewTokens,
                              std::optional<std::vector<int64_t>> eos = {});

/// "" when there is no error.
template <typename T> std::string messageOf(const Result<T> &result) {
  return result ? std::string() : result.error().message;
}

void expectNear(const std::vector<float> &got,
                const std::vector<double> &expected);

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_FAKEMODEL_H
