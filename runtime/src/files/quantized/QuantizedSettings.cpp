// Reads the settings leniently: a key of another type than it should have is as
// good as none, since tensors are checked against each other anyway.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/QuantizedSettings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tfc::rt {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// Real ones have some kilobytes.
constexpr uint64_t maxConfigBytes = uint64_t(16) << 20;

std::string textOf(const Json &object, const char *key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

int64_t integerOf(const Json &object, const char *key, int64_t otherwise) {
  auto found = object.find(key);
  return found != object.end() && found->is_number_integer()
             ? found->get<int64_t>()
             : otherwise;
}

std::optional<bool> booleanOf(const Json &object, const char *key) {
  auto found = object.find(key);
  return found != object.end() && found->is_boolean()
             ? std::optional(found->get<bool>())
             : std::nullopt;
}

/// The object at a key; null where there is none.
const Json *objectOf(const Json &object, const char *key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_object()
             ? &*found
             : nullptr;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

bool isOneOf(const std::string &text, std::initializer_list<const char *> all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const char *one) { return text == one; });
}

class Reader {
public:
  explicit Reader(QuantizedSettings &settings) : settings(settings) {}

  void read(const Json &json) {
    settings.method = lower(textOf(json, "quant_method"));
    settings.format = lower(textOf(json, "checkpoint_format"));
    settings.bits = integerOf(json, "bits", integerOf(json, "w_bit", 0));
    settings.groupSize =
        integerOf(json, "group_size", integerOf(json, "q_group_size", 0));
    settings.isSymmetric = booleanOf(json, "sym");
    settings.isZeroPoint = booleanOf(json, "zero_point").value_or(true);
    readBlocks(json, "weight_block_size");
    if (settings.method.empty() && objectOf(json, "config_groups")) {
      settings.method = "compressed-tensors";
    }
    if (settings.method == "compressed-tensors") {
      readCompressed(json);
    } else if (settings.method == "awq") {
      readAwq(json);
    } else if (isOneOf(settings.method, {"", "gptq"})) {
      readGptq(json);
    } else if (textOf(json, "fmt") == "e5m2") {
      refuse("/fmt", "\"e4m3\" (tfc reads no other narrow floats)", "e5m2");
    }
  }

private:
  QuantizedSettings &settings;

  /// One value that tfc does not read.
  void refuse(const std::string &key, const std::string &expected,
              const std::string &found) {
    settings.refused.push_back(
        makeError(Code::Unsupported, settings.where, key, ": expected ",
                  expected, ", got ", quoteName(found),
                  "; import the model without it, with --dtype bf16 or int8 "
                  "to make it small"));
  }

  void readBlocks(const Json &json, const char *key) {
    auto found = json.find(key);
    if (found == json.end() || !found->is_array() || found->size() != 2 ||
        !found->at(0).is_number_integer() ||
        !found->at(1).is_number_integer()) {
      return;
    }
    settings.blockRows = found->at(0).get<int64_t>();
    settings.blockColumns = found->at(1).get<int64_t>();
    constexpr int64_t most = int64_t(1) << 30;
    if (settings.blockRows < 1 || settings.blockRows > most ||
        settings.blockColumns < 1 || settings.blockColumns > most) {
      settings.refused.push_back(
          makeError(Code::InvalidArgument, settings.where, ": expected ", key,
                    " of two integers from 1 to ", most, ", got [",
                    settings.blockRows, ", ", settings.blockColumns, "]"));
      settings.blockRows = settings.blockColumns = 128;
    }
  }

  void readBits(const std::string &key, int64_t bits,
                std::initializer_list<int64_t> known) {
    if (bits != 0 &&
        std::find(known.begin(), known.end(), bits) == known.end()) {
      refuse(key, "4 or 8 bits", std::to_string(bits));
    }
  }

  void readGptq(const Json &json) {
    readBits("/bits", settings.bits, {4, 8});
    auto rules = json.find("dynamic");
    settings.hasModuleRules =
        rules != json.end() && rules->is_object() && !rules->empty();
    std::string pack = textOf(json, "pack_dtype");
    if (!pack.empty() && pack != "int32") {
      refuse("/pack_dtype", "\"int32\"", pack);
    }
    if (booleanOf(json, "is_marlin_format").value_or(false)) {
      refuse("/is_marlin_format", "false (the layout of a GPU's kernel)",
             "true");
    }
    if (!isOneOf(settings.format, {"", "gptq", "gptq_v2"})) {
      refuse("/checkpoint_format", "\"gptq\" or \"gptq_v2\"", settings.format);
    }
  }

  void readAwq(const Json &json) {
    readBits("/bits", settings.bits, {4});
    settings.format = lower(textOf(json, "version"));
    // The last two are kernels for the first one's layout.
    if (!isOneOf(settings.format, {"", "gemm", "exllama", "ipex"})) {
      refuse("/version", "\"gemm\" (others lay out words otherwise)",
             settings.format);
    }
  }

  void readCompressed(const Json &json) {
    settings.format = textOf(json, "format");
    checkFormat("/format", settings.format);
    if (const Json *sparse = objectOf(json, "sparsity_config")) {
      std::string format = textOf(*sparse, "format");
      if (!isOneOf(format, {"", "dense"})) {
        refuse("/sparsity_config/format", "\"dense\"", format);
      }
    }
    const Json *transforms = objectOf(json, "transform_config");
    const Json *rotations =
        transforms ? objectOf(*transforms, "config_groups") : nullptr;
    if (rotations && !rotations->empty()) {
      refuse("/transform_config", "none (tfc turns no activations at run time)",
             rotations->begin().key());
    }
    const Json *groups = objectOf(json, "config_groups");
    for (auto it = groups ? groups->begin() : Json::const_iterator();
         groups && it != groups->end(); ++it) {
      if (it->is_object()) {
        readScheme("/config_groups/" + it.key(), *it);
      }
    }
  }

  void checkFormat(const std::string &key, const std::string &format) {
    if (!isOneOf(format,
                 {"", "dense", "int-quantized", "naive-quantized",
                  "pack-quantized", "float-quantized", "mixed-precision",
                  "nvfp4-pack-quantized", "mxfp4-pack-quantized"})) {
      refuse(key,
             "int-quantized, naive-quantized, pack-quantized, "
             "float-quantized, nvfp4-pack-quantized, mxfp4-pack-quantized or "
             "mixed-precision",
             format);
    }
  }

  void readScheme(const std::string &key, const Json &scheme) {
    checkFormat(key + "/format", textOf(scheme, "format"));
    const Json *weights = objectOf(scheme, "weights");
    if (!weights) {
      return;
    }
    readBits(key + "/weights/num_bits", integerOf(*weights, "num_bits", 0),
             {4, 8});
    readBlocks(*weights, "block_structure");
  }
};

/// The object of a file; empty where there is none, an error where it is none.
Result<Json> readObject(const fs::path &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return Json();
  }
  std::ifstream in(path, std::ios::binary);
  uint64_t size = fs::file_size(path, error);
  std::string text(error || size > maxConfigBytes ? 0 : size, '\0');
  Json json;
  if (!text.empty() &&
      in.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  if (!json.is_object()) {
    return makeError(Code::InvalidArgument, path.string(),
                     ": expected an object of JSON of at most ", maxConfigBytes,
                     " bytes");
  }
  return json;
}

} // namespace

QuantizedSettings readQuantizedSettings(const std::string &path) {
  QuantizedSettings settings;
  std::error_code error;
  fs::path folder(path);
  if (!fs::is_directory(folder, error)) {
    folder = folder.parent_path();
  }
  Reader reader(settings);
  auto readFrom = [&](const char *file, const char *key) {
    Result<Json> json = readObject(folder / file);
    if (!json) {
      settings.fault = json.error().message;
      return;
    }
    std::string where = (folder / file).string() + ": ";
    for (const char *outer : {"", "text_config"}) {
      const Json *config = *outer ? objectOf(*json, outer) : &*json;
      const Json *inner = config && *key ? objectOf(*config, key) : config;
      if (settings.where.empty() && inner && inner->is_object()) {
        settings.where = where + (*outer ? concat('/', outer) : "") +
                         (*key ? "/" : "") + key;
        reader.read(*inner);
      }
    }
  };
  readFrom("config.json", "quantization_config");
  readFrom("config.json", "compression_config");
  readFrom("quantize_config.json", "");
  if (settings.where.empty()) {
    readFrom("hf_quant_config.json", "quantization");
    settings.method = settings.where.empty() ? "" : "modelopt";
  }
  return settings;
}

} // namespace tfc::rt
