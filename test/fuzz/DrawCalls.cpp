// Models, inputs and options of calls.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"
#include "test/fuzz/Fuzz.h"
#include "test/fuzz/FuzzApi.h"

#include <filesystem>
#include <iterator>

namespace tfc::fuzz {

namespace {

const char *const variants[] = {
    "encoder",   "decoder",           "classifier",          "nopad",
    "openended", "translator",        "startless",           "shifting",
    "distances", "decoder_distances", "classifier_distances"};
constexpr size_t numVariants = std::size(variants);

/// The weights of fake_module.c, some numbers or other.
void writeWeights(const std::string &path) {
  std::vector<float> values(32 * 4);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(int(i * 37 % 127) - 63) / 64;
  }
  auto tensor = [&](const char *name, std::vector<int64_t> shape) {
    return rt::TensorToWrite{name, rt::DType::F32, std::move(shape),
                             values.data()};
  };
  auto written = rt::writeSafetensors(
      path,
      {tensor("embed.weight", {32, 4}), tensor("position.weight", {16, 4}),
       tensor("layers.0.norm.weight", {4}),
       tensor("layers.0.mix.weight", {4, 12}),
       tensor("layers.1.norm.weight", {4}),
       tensor("layers.1.mix.weight", {4, 12}), tensor("head.bias", {32})});
  expect(static_cast<bool>(written), "weights");
}

std::vector<tfc_model *> loadAll() {
  namespace fs = std::filesystem;
  fs::path weights = fs::temp_directory_path() /
                     ("tfc-fuzz-" + std::to_string(getpid()) + ".safetensors");
  writeWeights(weights.string());
  std::vector<tfc_model *> models(numVariants);
  for (size_t i = 0; i < numVariants; ++i) {
    std::string library =
        std::string(FAKE_FOLDER) + "/fake_" + variants[i] + ".so";
    tfc_model_options options{};
    options.struct_size = sizeof(options);
    options.library_path = library.c_str();
    options.weights_path = weights.c_str();
    // Else what an input runs would depend on the machine.
    options.threads = 1;
    tfc_error *error = tfc_model_load(&options, &models[i]);
    expect(!error, "a model", tfc_error_message(error));
  }
  fs::remove(weights);
  return models;
}

struct Port {
  const char *name;
  int64_t limit;
  bool isDecoders;
};
const Port ports[] = {{"attention_mask", 2, false},
                      {"token_type_ids", 3, false},
                      {"position_ids", 16, false},
                      {"decoder_input_ids", 32, true},
                      {"decoder_attention_mask", 2, true},
                      {"decoder_position_ids", 16, true},
                      {"nonsense", 8, false}};

/// Ones in front of a place or behind it, or anything.
std::vector<int64_t> drawMask(Draw &draw, int64_t rows, int64_t length) {
  std::vector<int64_t> mask;
  int64_t form = draw.below(3);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = draw.below(length + 1);
    for (int64_t column = 0; column < length; ++column) {
      bool isBefore = column <= place, isBehind = column >= place;
      mask.push_back(form == 0   ? isBefore
                     : form == 1 ? isBehind
                                 : draw.within(2));
    }
  }
  return mask;
}

void addTensor(Draw &draw, Inputs &inputs, const Port &port, int64_t rows,
               int64_t length) {
  rows = draw.rarely(60) ? draw.below(5) : rows;
  length = draw.rarely(60) ? draw.below(19) : length;
  std::vector<int64_t> values;
  if (port.limit == 2) {
    values = drawMask(draw, rows, length);
  }
  while (static_cast<int64_t>(values.size()) < rows * length) {
    values.push_back(draw.within(port.limit));
  }
  tfc_tensor tensor{port.name, TFC_I64, 2, {rows, length, 0}, nullptr};
  if (draw.rarely(2)) {
    inputs.ints.emplace_back(values.begin(), values.end());
    tensor.dtype = TFC_I32;
    tensor.data = inputs.ints.back().data();
  } else {
    inputs.longs.push_back(std::move(values));
    tensor.data = inputs.longs.back().data();
  }
  if (draw.rarely(60)) {
    tensor.rank = static_cast<uint32_t>(draw.below(5));
  }
  if (draw.rarely(60)) {
    tensor.dtype = static_cast<uint32_t>(draw.below(2)) * 7; // F32, nothing
  }
  if (draw.rarely(100)) {
    tensor.data = nullptr;
  }
  if (draw.rarely(100)) {
    tensor.name = nullptr;
  }
  inputs.tensors.push_back(tensor);
}

} // namespace

const tfc_model *drawModel(Draw &draw) {
  // Never freed: the process's last act looks for what nothing points at.
  static const auto &models = *new std::vector<tfc_model *>(loadAll());
  return models[static_cast<size_t>(draw.below(numVariants))];
}

Inputs drawInputs(Draw &draw) {
  Inputs inputs;
  int64_t rows = 1 + draw.below(4), length = 1 + draw.below(16);
  int64_t decoderLength = 1 + draw.below(16);
  if (!draw.rarely(40)) {
    addTensor(draw, inputs, {"input_ids", 32, false}, rows, length);
  }
  bool isPair = draw.rarely(2);
  for (const Port &port : ports) {
    bool isLikely = port.isDecoders ? isPair : port.limit != 8;
    if (isLikely ? draw.rarely(2) : draw.rarely(40)) {
      addTensor(draw, inputs, port, rows,
                port.isDecoders ? decoderLength : length);
    }
  }
  return inputs;
}

tfc_decoding_options drawDecoding(Draw &draw, const tfc_model *model) {
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  tfc_error *error = tfc_model_get_info(model, &info);
  expect(!error, "a description", tfc_error_message(error));
  tfc_decoding_options options = *info.decoding;
  auto maybe = [&](auto &field, auto value) {
    if (draw.rarely(3)) {
      field = static_cast<std::decay_t<decltype(field)>>(value());
    }
  };
  maybe(options.num_beams, [&] { return draw.below(7); });
  maybe(options.num_return_sequences, [&] { return draw.below(6); });
  maybe(options.early_stopping, [&] { return draw.below(4); });
  maybe(options.do_sample, [&] { return draw.below(3); });
  maybe(options.temperature, [&] { return 3 * draw.share(); });
  maybe(options.top_k, [&] { return draw.below(40); });
  maybe(options.top_p, [&] { return draw.share(); });
  maybe(options.min_p, [&] { return draw.share(); });
  maybe(options.repetition_penalty, [&] { return 3 * draw.share(); });
  maybe(options.length_penalty, [&] { return 4 * draw.share() - 2; });
  maybe(options.no_repeat_ngram, [&] { return draw.below(8) - 1; });
  maybe(options.min_length, [&] { return draw.within(-1, 19); });
  maybe(options.min_new_tokens, [&] { return draw.within(-1, 19); });
  maybe(options.forced_bos, [&] { return draw.token(); });
  maybe(options.forced_eos, [&] { return draw.token(); });
  maybe(options.seed, [&] { return draw.any(); });
  if (draw.rarely(40)) {
    // Of an older caller.
    options.struct_size =
        static_cast<uint64_t>(draw.below(sizeof(options) + 1));
  }
  return options;
}

} // namespace tfc::fuzz
