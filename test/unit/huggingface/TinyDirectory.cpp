// Writes the tiny directories.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include "compiler/spec/read/ReadSpec.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::test;

TinyTensors test::bertTensors(const std::string &prefix) {
  TinyTensors tensors;
  auto add = [&](const std::string &stem, std::vector<int64_t> weight) {
    tensors[prefix + stem + ".bias"] = {{weight[0]}};
    tensors[prefix + stem + ".weight"] = {std::move(weight)};
  };
  for (const char *name : {"query", "key", "value"}) {
    add(std::string("encoder.layer.0.attention.self.") + name, {4, 4});
  }
  add("encoder.layer.0.attention.output.dense", {4, 4});
  add("encoder.layer.0.attention.output.LayerNorm", {4});
  add("encoder.layer.0.intermediate.dense", {3, 4});
  add("encoder.layer.0.output.dense", {4, 3});
  add("encoder.layer.0.output.LayerNorm", {4});
  add("embeddings.LayerNorm", {4});
  tensors[prefix + "embeddings.word_embeddings.weight"] = {{7, 4}};
  tensors[prefix + "embeddings.position_embeddings.weight"] = {{5, 4}};
  tensors[prefix + "embeddings.token_type_embeddings.weight"] = {{2, 4}};
  add("pooler.dense", {4, 4});
  return tensors;
}

TinyTensors test::gpt2Tensors(const std::string &prefix) {
  TinyTensors tensors;
  auto add = [&](const std::string &stem, std::vector<int64_t> weight) {
    tensors[prefix + stem + ".bias"] = {{weight.back()}};
    tensors[prefix + stem + ".weight"] = {std::move(weight)};
  };
  add("h.0.ln_1", {4});
  add("h.0.ln_2", {4});
  add("ln_f", {4});
  add("h.0.attn.c_attn", {4, 12});
  add("h.0.attn.c_proj", {4, 4});
  add("h.0.mlp.c_fc", {4, 3});
  add("h.0.mlp.c_proj", {3, 4});
  tensors[prefix + "wte.weight"] = {{7, 4}};
  tensors[prefix + "wpe.weight"] = {{5, 4}};
  return tensors;
}

std::string test::bertConfig(const std::string &more) {
  return "{" + more +
         "\"model_type\": \"bert\", \"hidden_size\": 4, "
         "\"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
         "\"intermediate_size\": 3, \"vocab_size\": 7, "
         "\"max_position_embeddings\": 5}";
}

std::string test::gpt2Config(const std::string &more) {
  return "{" + more +
         "\"model_type\": \"gpt2\", \"n_embd\": 4, \"n_layer\": 1, "
         "\"n_head\": 2, \"n_inner\": 3, \"vocab_size\": 7, "
         "\"n_positions\": 5}";
}

TinyDirectory::TinyDirectory() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "tfc-import-XXXXXX").string();
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  folder = pattern;
}

TinyDirectory::~TinyDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void TinyDirectory::write(const std::string &file,
                          const std::string &text) const {
  std::ofstream(folder + "/" + file, std::ios::binary) << text;
}

void TinyDirectory::write(const TinyTensors &tensors,
                          const std::string &file) const {
  std::vector<rt::TensorToWrite> list;
  std::vector<std::vector<uint8_t>> storage;
  for (const auto &[name, tensor] : tensors) {
    int64_t count = 1;
    for (int64_t axis : tensor.shape) {
      count *= axis;
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(count) *
                               rt::dtypeBits(tensor.dtype) / 8);
    if (tensor.dtype == rt::DType::F32) {
      auto *values = reinterpret_cast<float *>(bytes.data());
      for (int64_t i = 0; i < count; ++i) {
        values[i] = tensor.step * static_cast<float>(i);
      }
    }
    storage.push_back(std::move(bytes));
    list.push_back({name, tensor.dtype, tensor.shape, storage.back().data()});
  }
  rt::Status status = rt::writeSafetensors(folder + "/" + file, list);
  EXPECT_TRUE(status) << status.error().message;
}

TinyDirectory::Outcome TinyDirectory::import(bool strict) const {
  Outcome outcome;
  spec::Diagnostics diagnostics;
  huggingface::ImportOptions options;
  options.strict = strict;
  auto imported = huggingface::importDirectory(folder, options, diagnostics);
  outcome.ok = imported.has_value();
  EXPECT_EQ(outcome.ok, !spec::hasError(diagnostics));
  for (const spec::Diagnostic &diagnostic : diagnostics) {
    std::string line = spec::formatDiagnostic(diagnostic);
    for (size_t at; (at = line.find(folder)) != std::string::npos;) {
      line.replace(at, folder.size(), "DIR");
    }
    outcome.messages += (outcome.messages.empty() ? "" : "\n") + line;
  }
  if (imported) {
    outcome.spec = imported->spec;
    outcome.summary = imported->summary;
    spec::Diagnostics again;
    outcome.model = spec::readSpecText("spec", outcome.spec, "", again);
    EXPECT_TRUE(outcome.model) << outcome.spec;
  }
  return outcome;
}

TinyDirectory::Outcome test::importTiny(const std::string &config,
                                        const TinyTensors &tensors,
                                        const std::string &generation,
                                        bool strict) {
  TinyDirectory directory;
  directory.write("config.json", config);
  directory.write(tensors);
  if (!generation.empty()) {
    directory.write("generation_config.json", generation);
  }
  return directory.import(strict);
}
