// What is on disk, before something is written there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFiles.h"

#include "compiler/spec/read/ExpandSpec.h"
#include "compiler/spec/read/ReadSpec.h"
#include "compiler/support/HashText.h"

#include <cstdio>
#include <filesystem>

namespace tfc::spec {

static Json makeSeal(Json spec) {
  spec.remove("meta");
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(hashText(writeJson(spec))));
  Json meta = Json::object();
  meta.set("written_by", "tfc import");
  meta.set("hash", std::string(hash));
  return meta;
}

void seal(Json &spec) { spec.set("meta", makeSeal(spec)); }

static bool isSealed(const Json &spec) {
  const Json *meta = spec.find("meta");
  return meta && *meta == makeSeal(spec);
}

static bool isCanonical(std::string_view text) {
  Diagnostics unused;
  std::optional<ModelSpec> model = readSpecText("", text, "", unused);
  return model && model->canonical == text;
}

bool isOwnText(std::string_view text) {
  if (text.size() > maxSpecBytes) {
    return false;
  }
  if (text == printSchema()) {
    return true;
  }
  Diagnostics unused;
  std::optional<Json> json = parseJson("", text, unused);
  // A canonical spec extends nothing: no file is read for the answer.
  return json && json->isObject() &&
         (isSealed(*json) || (!json->find("extends") && isCanonical(text)));
}

std::vector<std::string> listFiles(const std::string &path) {
  std::vector<std::string> files = {path};
  Diagnostics unused;
  std::optional<Json> spec = readJsonFile(path, unused, maxSpecBytes);
  if (spec && spec->isObject()) {
    std::string dir = std::filesystem::path(path).parent_path().string();
    expandSpec(std::move(*spec), dir, unused, files);
  }
  return files;
}

} // namespace tfc::spec
