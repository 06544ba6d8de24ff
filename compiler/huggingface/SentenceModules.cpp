// modules.json of a sentence-transformers folder: what follows the model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/SentenceModules.h"

#include "compiler/spec/JsonTree.h"

#include <filesystem>

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

/// "Pooling" of "sentence_transformers.models.Pooling"; "" for the model.
static std::string stepOf(const Json &module) {
  const Json *type = module.find("type");
  std::string name = type && type->isString() ? type->text : "";
  name = name.substr(name.rfind('.') + 1);
  return name == "Transformer" ? "" : name;
}

void huggingface::reportModules(const std::string &path, bool strict,
                                spec::Diagnostics &diagnostics) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return;
  }
  std::optional<Json> modules = spec::readJsonFile(path, diagnostics);
  if (!modules) {
    return;
  }
  std::string steps;
  for (const Json &module : modules->items) {
    if (std::string step = stepOf(module); !step.empty()) {
      steps += (steps.empty() ? "" : ", ") + spec::inQuotes(step);
    }
  }
  if (!steps.empty()) {
    spec::report(diagnostics, modules->place, 0,
                 "expected a model alone (the library ends with its outputs; "
                 "what comes after them is the caller's), got " +
                     steps + " behind it",
                 strict ? spec::Severity::Error : spec::Severity::Warning);
  }
}
