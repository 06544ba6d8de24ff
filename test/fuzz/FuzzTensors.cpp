// Fuzzes tensor files: header, tensors, index, and the search for a model's
// parameters. The first byte of an input says what the rest is: 'i', an index;
// 'h', a header, before which its length stands, and behind it as many zeros as
// the next two bytes say; anything else, a file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"
#include "runtime/src/files/SafetensorsHeader.h"
#include "runtime/src/files/quantized/Quantized.h"
#include "test/fuzz/Fuzz.h"

#include <cstring>

namespace tfc::fuzz {
namespace {

using namespace tfc::rt;

/// A parameter of two layers, one with a tie, a vector that may be missing.
WeightTable smallTable() {
  WeightTable table;
  WeightSource embed;
  embed.name = "embed";
  embed.patterns = {"{p}embed.weight"};
  embed.rows = embed.storedRows = 4;
  embed.cols = 2;
  WeightSource mix;
  mix.name = "mix";
  mix.patterns = {"{p}layers.{i}.mix.weight", "{p}layers.{i}.fused.weight"};
  mix.layers = 2;
  mix.rows = mix.firstRow = 2;
  mix.storedRows = 6;
  mix.cols = 2;
  mix.inOut = true;
  WeightSource bias;
  bias.name = "bias";
  bias.patterns = {"head.bias"};
  bias.rank = 1;
  bias.rows = bias.storedRows = 4;
  bias.fillZeros = true;
  WeightSource head = embed;
  head.name = "head";
  head.patterns = {"head.weight"};
  head.tiedTo = 0;
  table.weights = {embed, mix, bias, head};
  table.prefixes = {"", "model."};
  table.aliases = {{".weight", ".gamma"}};
  return table;
}

template <typename T> bool isFine(const Result<T> &result) {
  if (!result) {
    expectMessage(result.error().message);
  }
  return static_cast<bool>(result);
}

/// What a library keeps of its integers as they are.
void readKeptRows(const Tensor &tensor, const KeptForm &form) {
  const IntegerMatrix *matrix =
      tensor.quantized ? findKept(*tensor.quantized, form) : nullptr;
  if (matrix) {
    KeptRows kept = readKept(*matrix, form, 0, matrix->rows);
    expect(kept.scales.size() == kept.zeros.size() &&
               kept.integers.size() ==
                   static_cast<size_t>(matrix->rows * matrix->columns),
           "an integer an element", tensor.name);
  }
}

/// Touches every byte of a tensor, and its values where they are numbers.
void read(const Tensor &tensor) {
  volatile uint8_t sum = 0;
  for (uint64_t i = 0; tensor.data && i < tensor.bytes; ++i) {
    sum = sum ^ tensor.data[i];
  }
  if (isWeightDType(tensor.dtype)) {
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    convertToF32(tensor, 0, tensor.elements(), values.data());
  }
  for (int64_t group : {0, 2, 4, 32}) {
    for (bool isFour : {false, true}) {
      readKeptRows(tensor, {isFour, group, /*hasZeros=*/group != 2});
    }
  }
}

/// All of a folder or file: also matrices that are made of several tensors.
void openAll(const std::string &path) {
  static const WeightTable table = smallTable();
  auto all = TensorFiles::open(path);
  if (isFine(all)) {
    for (const Tensor *tensor : all->tensors()) {
      read(*tensor);
    }
    isFine(bindWeights(*all, table));
    all->closestName("layers.0.norm.weight");
  }
}

void openFile(const std::string &content) {
  MemoryFile file(content);
  auto one = TensorFile::open(file.path());
  if (isFine(one)) {
    for (const Tensor &tensor : (*one)->tensors()) {
      read(tensor);
      expect((*one)->find(tensor.name) == &tensor, "a tensor by its name",
             tensor.name);
    }
  }
  openAll(file.path());
}

std::string withLength(std::string_view input) {
  uint16_t numZeros = 0;
  std::memcpy(&numZeros, input.data(), sizeof(numZeros));
  input.remove_prefix(sizeof(numZeros));
  uint64_t length = input.size();
  std::string content(sizeof(length), '\0');
  std::memcpy(content.data(), &length, sizeof(length));
  return content.append(input).append(numZeros, '\0');
}

void openFolder(std::string_view input, bool isWhole) {
  static const Scratch folder;
  size_t end = input.find('\xff');
  if (end == input.npos || input.size() - end < 3) {
    return;
  }
  put(folder.path / "config.json", input.substr(0, end));
  put(folder.path / "model.safetensors",
      isWhole ? std::string(input.substr(end + 1))
              : withLength(input.substr(end + 1)));
  openAll(folder.path.string());
}

} // namespace
} // namespace tfc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  if (size == 0) {
    return 0;
  }
  std::string_view input(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] == 'i') {
    isFine(tfc::rt::readIndex(input.data(), input.size()));
  } else if (data[0] == 'q' || data[0] == 'r') {
    openFolder(input, data[0] == 'r');
  } else if (data[0] == 'h' && input.size() >= 2) {
    openFile(withLength(input));
  } else {
    openFile(std::string(input));
  }
  return 0;
}
