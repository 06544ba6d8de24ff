// Reads config.json, and modules.json with what it names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/ModelNotes.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tfc::run {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Null when there is no such file.
rt::Result<json> readJson(const fs::path &path) {
  std::ifstream file(path);
  if (!file) {
    return json();
  }
  json value = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() && !value.is_array()) {
    return rt::makeError(rt::Code::InvalidArgument, path.string(),
                         ": expected JSON, got something else");
  }
  return value;
}

void readLabels(const json &config, ModelNotes &notes) {
  constexpr size_t most = 1 << 20;
  if (!config.is_object()) {
    return;
  }
  json names = config.value("id2label", json());
  for (auto item = names.begin(); names.is_object() && item != names.end();
       ++item) {
    size_t index = std::strtoul(item.key().c_str(), nullptr, 10);
    if (index < most && item.value().is_string()) {
      notes.labels.resize(std::max(notes.labels.size(), index + 1));
      notes.labels[index] = item.value();
    }
  }
  json problem = config.value("problem_type", json());
  notes.isRegression = problem == "regression";
  notes.isMultiLabel = problem == "multi_label_classification";
}

/// How a folder of sentence-transformers pools; what of it is not known goes
/// into the notes.
rt::Status readPooling(const fs::path &path, ModelNotes &notes) {
  auto config = readJson(path);
  if (!config) {
    return std::move(config.error());
  }
  struct Mode {
    const char *flag, *word;
    ModelNotes::Pooling pooling;
  };
  static const Mode modes[] = {
      {"pooling_mode_mean_tokens", "mean", ModelNotes::Mean},
      {"pooling_mode_cls_token", "cls", ModelNotes::First},
      {"pooling_mode_lasttoken", "lasttoken", ModelNotes::Last}};
  std::vector<std::string> wanted;
  for (auto item = config->begin();
       config->is_object() && item != config->end(); ++item) {
    bool isOn = item.value().is_boolean() && item.value().get<bool>();
    if (isOn && item.key().rfind("pooling_mode_", 0) == 0) {
      wanted.push_back(item.key());
    } else if (item.key() == "pooling_mode" && item.value().is_string()) {
      wanted.push_back(item.value());
    }
  }
  for (const Mode &mode : modes) {
    if (wanted.size() == 1 &&
        (wanted[0] == mode.flag || wanted[0] == mode.word)) {
      notes.pooling = mode.pooling;
      return {};
    }
  }
  std::string got;
  for (const std::string &each : wanted) {
    got += (got.empty() ? "" : ", ") + rt::quoteName(each);
  }
  notes.poolingFault =
      rt::concat(path.string(), ": expected the mean, the first or the last ",
                 "token, got ", got.empty() ? "none" : got);
  return {};
}

} // namespace

rt::Result<ModelNotes> readModelNotes(const std::string &folder) {
  ModelNotes notes;
  auto config = readJson(fs::path(folder) / "config.json");
  if (!config) {
    return std::move(config.error());
  }
  readLabels(*config, notes);
  auto modules = readJson(fs::path(folder) / "modules.json");
  if (!modules) {
    return std::move(modules.error());
  }
  for (size_t i = 0; modules->is_array() && i < modules->size(); ++i) {
    const json &module = (*modules)[i];
    bool isObject = module.is_object();
    std::string type = isObject ? module.value("type", "") : "";
    std::string path = isObject ? module.value("path", "") : "";
    std::string name = type.substr(type.rfind('.') + 1);
    if (name == "Pooling") {
      rt::Status status =
          readPooling(fs::path(folder) / path / "config.json", notes);
      if (!status) {
        return std::move(status.error());
      }
    } else if (name == "Normalize") {
      notes.normalizes = true;
    } else if (name != "Transformer") {
      notes.poolingFault = rt::concat(
          folder,
          "/modules.json: expected Transformer, Pooling and Normalize, "
          "got ",
          rt::quoteName(type));
    }
  }
  return notes;
}

} // namespace tfc::run
