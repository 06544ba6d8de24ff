// Compares outputs with a reference's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Agreement.h"

#include "runtime/src/session/Generate.h"
#include "runtime/tools/InputTensors.h"
#include "runtime/tools/Quality.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tfc::bench {

using rt::Code;
using rt::makeError;
using rt::Result;
using rt::Tensor;

namespace {

const char *const sequencesName = "sequences";

std::vector<int64_t> readIntegers(const Tensor &tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.elements()));
  bool isLong = tensor.dtype == rt::DType::I64;
  for (size_t i = 0; i < values.size(); ++i) {
    int32_t narrow = 0;
    std::memcpy(isLong ? static_cast<void *>(&values[i]) : &narrow,
                tensor.data + i * (isLong ? 8 : 4), isLong ? 8 : 4);
    values[i] = isLong ? values[i] : narrow;
  }
  return values;
}

/// One run of the comparison.
class Comparison {
public:
  Comparison(const rt::Model &model, const rt::TensorFile &inputFile,
             const std::vector<tfc_tensor> &inputs,
             const rt::TensorFile &reference)
      : model(model), inputFile(inputFile), inputs(inputs),
        reference(reference) {}

  Result<std::vector<Agreement>> run() {
    if (const Tensor *tensor = reference.find(sequencesName)) {
      return generate(*tensor);
    }
    return runForward();
  }

private:
  Result<std::vector<Agreement>> runForward();
  Result<std::vector<Agreement>> generate(const Tensor &expected);
  Result<Agreement> compare(const rt::OutputTensor &got,
                            const Tensor &expected) const;

  /// Whether an output of an entry, which may be null, has a row for each token
  /// of the padded batch.
  static bool givesEveryToken(const tfc_entry_v0 *entry,
                              const std::string &name) {
    return entry &&
           std::any_of(entry->outputs, entry->outputs + entry->n_outputs,
                       [&](const tfc_port_v0 &port) {
                         return port.name == name &&
                                (port.rows == TFC_ROWS_TOKENS ||
                                 port.take == TFC_TAKE_ALL);
                       });
  }

  /// What the sequences begin with that generation gives: the prompts, or the
  /// first tokens of an encoder-decoder's decoder. 0: no prompts.
  int64_t promptLength() const {
    const Tensor *ids = inputFile.find("input_ids");
    const Tensor *own = inputFile.find("decoder_input_ids");
    if (!ids || ids->shape.size() != 2) {
      return 0;
    }
    return !model.isEncoderDecoder() ? ids->shape[1] : own ? own->shape[1] : 1;
  }

  /// Faults of an input say which file it was in.
  rt::Error locate(const rt::Error &error) const {
    std::istringstream lines(error.message);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      bool isInput = line.rfind("input \"", 0) == 0;
      text += (text.empty() ? "" : "\n") +
              (isInput ? inputFile.path() + ": " + line : line);
    }
    return {error.code, text};
  }

  template <typename... Ts>
  rt::Error fault(const Tensor &tensor, const Ts &...parts) const {
    return makeError(Code::InvalidArgument, reference.path(), ": tensor ",
                     rt::quoteName(tensor.name), ": ", parts...);
  }

  const rt::Model &model;
  const rt::TensorFile &inputFile;
  const std::vector<tfc_tensor> &inputs;
  const rt::TensorFile &reference;
};

Result<Agreement> Comparison::compare(const rt::OutputTensor &got,
                                      const Tensor &expected) const {
  if (expected.shape != got.shape) {
    return fault(expected, "expected shape ", rt::shapeText(got.shape),
                 " as the model gives it, got ", rt::shapeText(expected.shape));
  }
  if (!rt::isWeightDType(expected.dtype) || got.dtype != TFC_F32) {
    return fault(expected, "expected dtype F32, F16 or BF16, got ",
                 rt::dtypeName(expected.dtype));
  }
  std::vector<float> values(got.floats.size());
  rt::convertToF32(expected, 0, expected.elements(), values.data());
  bool isDecoders =
      model.isEncoderDecoder() && givesEveryToken(model.decoder(), got.name);
  bool isPerToken =
      isDecoders || givesEveryToken(&model.forwardEntry(), got.name);
  const Tensor *given =
      inputFile.find(isDecoders ? "decoder_attention_mask" : "attention_mask");
  std::vector<int64_t> mask;
  if (isPerToken && given) {
    mask = readIntegers(*given);
  }
  size_t numRows =
      static_cast<size_t>(got.shape[0] * (isPerToken ? got.shape[1] : 1));
  size_t columns = numRows == 0 ? 0 : values.size() / numRows;
  Agreement result{got.name, 0.0, 0.0, 0, 0};
  Quality quality(got.name == "logits");
  for (size_t row = 0; row < numRows; ++row) {
    if (!mask.empty() && mask[row] == 0) {
      continue;
    }
    const float *ours = got.floats.data() + row * columns;
    const float *theirs = values.data() + row * columns;
    quality.add(ours, theirs, columns);
    for (size_t c = 0; c < columns; ++c) {
      double error = std::fabs(double(ours[c]) - double(theirs[c]));
      error =
          std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      result.maxError = std::max(*result.maxError, error);
      result.largest = std::max(*result.largest, std::fabs(double(theirs[c])));
    }
    if (columns < 2) {
      continue; // nothing to choose from
    }
    ++result.rows;
    result.equalRows += std::max_element(ours, ours + columns) - ours ==
                        std::max_element(theirs, theirs + columns) - theirs;
  }
  result.signalToNoise = quality.signalToNoise();
  result.meanDivergence = quality.meanDivergence();
  result.highDivergence = quality.highDivergence();
  return result;
}

Result<std::vector<Agreement>> Comparison::runForward() {
  std::vector<std::string> names;
  for (const Tensor &tensor : reference.tensors()) {
    names.push_back(tensor.name);
  }
  if (names.empty()) {
    return makeError(Code::InvalidArgument, reference.path(),
                     ": expected outputs of the model, got no tensor");
  }
  auto outputs = rt::runForward(model, inputs.data(),
                                static_cast<uint32_t>(inputs.size()), names);
  if (!outputs) {
    return locate(outputs.error());
  }
  std::vector<Agreement> results;
  for (const rt::OutputTensor &output : *outputs) {
    auto result = compare(output, *reference.find(output.name));
    if (!result) {
      return std::move(result.error());
    }
    results.push_back(std::move(*result));
  }
  return results;
}

Result<std::vector<Agreement>> Comparison::generate(const Tensor &expected) {
  const Tensor *ids = inputFile.find("input_ids");
  int64_t length = promptLength();
  bool isToken =
      expected.dtype == rt::DType::I64 || expected.dtype == rt::DType::I32;
  if (!isToken || expected.shape.size() != 2 || length == 0 ||
      expected.shape[0] != ids->shape[0] || expected.shape[1] <= length) {
    return fault(expected,
                 "expected I32 or I64 [batch, length], the prompts of ",
                 model.isEncoderDecoder() ? "the decoder" : "\"input_ids\"",
                 " and new tokens, got ", rt::dtypeName(expected.dtype), " ",
                 rt::shapeText(expected.shape));
  }
  int64_t width = expected.shape[1];
  rt::GenerateOptions options;
  options.maxNewTokens = width - length;
  auto got = rt::runGenerate(model, inputs.data(),
                             static_cast<uint32_t>(inputs.size()), options);
  if (!got) {
    return locate(got.error());
  }
  std::vector<int64_t> tokens = readIntegers(expected);
  Agreement result;
  result.output = sequencesName;
  for (int64_t row = 0; row < expected.shape[0]; ++row) {
    for (int64_t t = length; t < width; ++t) {
      ++result.rows;
      result.equalRows +=
          t < got->front().shape[1] &&
          got->front()
                  .ints[static_cast<size_t>(row * got->front().shape[1] + t)] ==
              tokens[static_cast<size_t>(row * width + t)];
    }
  }
  return std::vector<Agreement>{result};
}

} // namespace

Result<std::vector<Agreement>> compareOutputs(const rt::Model &model,
                                              const std::string &inputsPath,
                                              const std::string &reference) {
  auto inputFile = rt::TensorFile::open(inputsPath);
  if (!inputFile) {
    return std::move(inputFile.error());
  }
  auto inputs = tools::readInputTensors(**inputFile);
  if (!inputs) {
    return std::move(inputs.error());
  }
  auto expected = rt::TensorFile::open(reference);
  if (!expected) {
    return std::move(expected.error());
  }
  return Comparison(model, **inputFile, *inputs, **expected).run();
}

} // namespace tfc::bench
