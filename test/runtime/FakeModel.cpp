// The toy model once more.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

namespace tfc::rt::test {

namespace fs = std::filesystem;

std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "tfc-test-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  path = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

FakeWeights::FakeWeights(uint32_t seed) {
  std::mt19937 random(seed);
  auto fill = [&](std::vector<float> &values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      // Exact in every weight dtype.
      values.push_back((static_cast<int>(random() % 127) - 63) / 64.0F);
    }
  };
  fill(embed, vocab * width);
  fill(position, positions * width);
  fill(scale, layers * width);
  fill(mix, layers * width * width);
  fill(bias, vocab);
}

namespace {

void append(std::vector<uint8_t> &bytes, float value, DType dtype) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (dtype == DType::BF16) {
    bits >>= 16;
  } else if (dtype == DType::F16) {
    uint32_t exponent = bits >> 23 & 255;
    bits = value == 0 ? 0
                      : (bits >> 16 & 0x8000) | (exponent - 112) << 10 |
                            (bits >> 13 & 1023);
  }
  for (uint32_t i = 0; i < dtypeBits(dtype) / 8; ++i) {
    bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  }
}

} // namespace

std::vector<NamedTensor> FakeWeights::stored(const Storage &storage) const {
  std::vector<NamedTensor> tensors;
  auto add = [&](const std::string &name, std::vector<int64_t> shape,
                 auto value) {
    NamedTensor tensor{name, storage.dtype, std::move(shape), {}};
    int64_t count = 1;
    for (int64_t axis : tensor.shape) {
      count *= axis;
    }
    for (int64_t i = 0; i < count; ++i) {
      append(tensor.bytes, value(i), storage.dtype);
    }
    tensors.push_back(std::move(tensor));
  };
  const std::string &p = storage.prefix;
  auto plain = [](const std::vector<float> &values, int64_t offset = 0) {
    return [&values, offset](int64_t i) { return values[offset + i]; };
  };
  add(p + "embed.weight", {vocab, width}, plain(embed));
  add(p + "position.weight", {positions, width}, plain(position));
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string at = p + "layers." + std::to_string(layer) + ".";
    add(at + (storage.usesGamma ? "norm.gamma" : "norm.weight"), {width},
        plain(scale, layer * width));
    // [in, 3 out], of which the middle third is ours.
    add(at + (storage.isFused ? "fused.weight" : "mix.weight"),
        {width, 3 * width}, [&](int64_t i) {
          int64_t in = i / (3 * width), out = i % (3 * width) - width;
          return out < 0 || out >= width
                     ? 9.0F
                     : mix[(layer * width + out) * width + in];
        });
  }
  if (storage.hasBias) {
    add("head.bias", {vocab}, plain(bias));
  }
  if (storage.hasHead) {
    add("head.weight", {vocab, width}, plain(embed));
  }
  return tensors;
}

void writeTensors(const std::string &path,
                  const std::vector<NamedTensor> &tensors) {
  std::vector<TensorToWrite> list;
  for (const NamedTensor &tensor : tensors) {
    list.push_back(
        {tensor.name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  }
  Status status = writeSafetensors(path, list);
  ASSERT_TRUE(status) << status.error().message;
}

std::vector<tfc_tensor> Padded::tensors() const {
  std::vector<tfc_tensor> list;
  auto add = [&](const char *name, const std::vector<int64_t> &values) {
    if (!values.empty()) {
      list.push_back({name, TFC_I64, 2, {batch, length, 0}, values.data()});
    }
  };
  add("input_ids", ids);
  add("attention_mask", mask);
  add("token_type_ids", types);
  add("position_ids", positions);
  return list;
}

/// The mean over a row of a source of mix z, z being its states.
static std::vector<double> crossMean(const FakeWeights &weights, int64_t layer,
                                     const EncodedSource &source, int64_t row) {
  std::vector<double> mean(width);
  int64_t length = source.padded.length, keys = 0;
  for (int64_t key = 0; key < length; ++key) {
    keys += source.padded.exists(row, key);
    for (int64_t i = 0; source.padded.exists(row, key) && i < width * width;
         ++i) {
      mean[i / width] +=
          weights.mix[layer * width * width + i] *
          source.states[(row * length + key) * width + i % width];
    }
  }
  for (double &value : mean) {
    value /= static_cast<double>(keys);
  }
  return mean;
}

std::vector<double> referenceState(const FakeWeights &weights,
                                   const Padded &padded, bool isCausal,
                                   const EncodedSource *source) {
  int64_t length = padded.length;
  std::vector<double> x(padded.batch * length * width);
  for (int64_t i = 0; i < padded.batch * length; ++i) {
    int64_t position =
        padded.positions.empty() ? i % length : padded.positions[i];
    // An encoder's types default to 0, a decoder's to none.
    int64_t type = !padded.types.empty() ? padded.types[i] : isCausal ? -1 : 0;
    for (int64_t d = 0; d < width; ++d) {
      x[i * width + d] = weights.embed[padded.ids[i] * width + d] +
                         weights.position[position * width + d] +
                         0.5 * static_cast<double>(type + 1);
    }
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<double> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] *= weights.scale[layer * width + i % width];
    }
    for (size_t i = 0; i < x.size(); ++i) {
      for (int64_t d = 0; d < width; ++d) {
        y[i] += weights.mix[(layer * width + i % width) * width + d] *
                x[i / width * width + d];
      }
    }
    for (int64_t row = 0; row < padded.batch; ++row) {
      std::vector<double> mean = source
                                     ? crossMean(weights, layer, *source, row)
                                     : std::vector<double>(width);
      for (int64_t query = 0; query < length; ++query) {
        std::vector<double> sum(width);
        int64_t keys = 0;
        for (int64_t key = 0; key < length; ++key) {
          if (padded.exists(row, key) && (!isCausal || key <= query)) {
            ++keys;
            for (int64_t d = 0; d < width; ++d) {
              sum[d] += y[(row * length + key) * width + d];
            }
          }
        }
        for (int64_t d = 0; d < width; ++d) {
          x[(row * length + query) * width + d] +=
              sum[d] / static_cast<double>(keys) + mean[d];
        }
      }
    }
  }
  return x;
}

std::vector<double> referenceLogits(const FakeWeights &weights,
                                    const double *state) {
  std::vector<double> logits(weights.bias.begin(), weights.bias.end());
  for (int64_t v = 0; v < vocab; ++v) {
    for (int64_t d = 0; d < width; ++d) {
      logits[v] += weights.embed[v * width + d] * state[d];
    }
  }
  return logits;
}

namespace {

/// The batch with one more column.
void extend(Padded &padded, const std::vector<int64_t> &column) {
  auto widen = [&](std::vector<int64_t> &values, auto next) {
    if (values.empty()) {
      return;
    }
    std::vector<int64_t> wide;
    for (int64_t row = 0; row < padded.batch; ++row) {
      auto begin = values.begin() + row * padded.length;
      wide.insert(wide.end(), begin, begin + padded.length);
      wide.push_back(next(row, wide.back()));
    }
    values = wide;
  };
  widen(padded.ids, [&](int64_t row, int64_t) { return column[row]; });
  widen(padded.mask, [](int64_t, int64_t) { return 1; });
  widen(padded.types, [](int64_t, int64_t last) { return last; });
  widen(padded.positions, [](int64_t, int64_t last) { return last + 1; });
  ++padded.length;
}

} // namespace

std::vector<int64_t> referenceGenerate(const FakeWeights &weights,
                                       Padded padded,
                                       const std::vector<int64_t> &eos,
                                       int64_t pad, int64_t maxNewTokens,
                                       const EncodedSource *source) {
  if (padded.positions.empty() && !source) {
    for (int64_t row = 0; row < padded.batch; ++row) {
      int64_t count = 0;
      for (int64_t column = 0; column < padded.length; ++column) {
        bool exists = padded.exists(row, column);
        padded.positions.push_back(exists ? count++ : 0);
      }
    }
  }
  std::vector<bool> isDone(padded.batch, false);
  for (int64_t n = 0; n < maxNewTokens; ++n) {
    std::vector<double> state = referenceState(weights, padded, true, source);
    std::vector<int64_t> column;
    for (int64_t row = 0; row < padded.batch; ++row) {
      std::vector<double> logits = referenceLogits(
          weights, &state[((row + 1) * padded.length - 1) * width]);
      int64_t token =
          std::max_element(logits.begin(), logits.end()) - logits.begin();
      column.push_back(isDone[row] ? pad : token);
      isDone[row] =
          isDone[row] || std::find(eos.begin(), eos.end(), token) != eos.end();
    }
    extend(padded, column);
    if (std::find(isDone.begin(), isDone.end(), false) == isDone.end()) {
      break;
    }
  }
  return padded.ids;
}

std::string fakeLibrary(const std::string &variant) {
  return std::string(FAKE_FOLDER) + "/fake_" + variant + ".so";
}

Result<std::unique_ptr<Model>> loadFake(const std::string &variant,
                                        const std::string &weightsPath,
                                        uint32_t threads) {
  LoadOptions options;
  options.libraryPath = fakeLibrary(variant);
  options.weightsPath = weightsPath;
  options.threads = threads;
  return Model::load(options);
}

std::unique_ptr<Model> loadFake(const std::string &variant,
                                const FakeWeights &weights, uint32_t threads) {
  Folder folder;
  writeTensors(folder / "model.safetensors", weights.stored());
  auto model = loadFake(variant, folder.path.string(), threads);
  EXPECT_TRUE(model) << messageOf(model);
  return model ? std::move(*model) : nullptr;
}

Result<std::vector<OutputTensor>>
forward(const Model &model, const Padded &padded,
        const std::vector<std::string> &wanted) {
  std::vector<tfc_tensor> inputs = padded.tensors();
  return runForward(model, inputs.data(), static_cast<uint32_t>(inputs.size()),
                    wanted);
}

Result<OutputTensor> generate(const Model &model, const Padded &padded,
                              int64_t maxNewTokens,
                              std::optional<std::vector<int64_t>> eos) {
  std::vector<tfc_tensor> inputs = padded.tensors();
  GenerateOptions options;
  options.maxNewTokens = maxNewTokens;
  options.eos = std::move(eos);
  auto results = runGenerate(model, inputs.data(),
                             static_cast<uint32_t>(inputs.size()), options);
  if (!results) {
    return std::move(results.error());
  }
  return std::move(results->front());
}

void expectNear(const std::vector<float> &got,
                const std::vector<double> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-4) << "at " << i;
  }
}

} // namespace tfc::rt::test
