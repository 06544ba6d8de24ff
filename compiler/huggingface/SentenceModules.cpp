// modules.json of a sentence-transformers folder: what follows the model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/SentenceModules.h"

#include "compiler/huggingface/Family.h"

#include <filesystem>

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;
namespace fs = std::filesystem;

namespace {

/// The ways to pool that a head has: sentence-transformers' word, its older
/// flag, and the step.
struct Pooling {
  const char *word, *flag, *op, *key, *value;
};
constexpr Pooling poolings[] = {
    {"mean", "pooling_mode_mean_tokens", "pool", "how", "mean"},
    {"max", "pooling_mode_max_tokens", "pool", "how", "max"},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", "pool", "how",
     "mean_sqrt_len"},
    {"cls", "pooling_mode_cls_token", "take", "at", "first_visible"},
    {"lasttoken", "pooling_mode_lasttoken", "take", "at", "last_visible"}};

std::string textOf(const Json &object, const char *key) {
  const Json *text = object.find(key);
  return text && text->isString() ? text->text : "";
}

/// "Pooling" of "sentence_transformers.models.Pooling".
std::string nameOf(const Json &module) {
  std::string type = textOf(module, "type");
  return type.substr(type.rfind('.') + 1);
}

class ModulesReader {
public:
  ModulesReader(const std::string &directory, bool strict,
                spec::Diagnostics &diagnostics)
      : directory(directory), strict(strict), diagnostics(diagnostics) {}

  std::optional<Json> run(const Json &modules) {
    Json steps = Json::array();
    std::string unknown;
    for (const Json &module : modules.items) {
      std::string name = nameOf(module);
      if (name == "Transformer") {
        continue;
      }
      bool isPooled = !steps.items.empty();
      if (name == "Pooling" && !isPooled) {
        std::optional<Json> step = readPooling(module);
        if (!step) {
          return std::nullopt;
        }
        steps.items.push_back(std::move(*step));
      } else if (name == "Normalize" && isPooled) {
        steps.items.push_back(makeObject({{"op", "l2_normalize"}}));
      } else {
        unknown += (unknown.empty() ? "" : ", ") + spec::inQuotes(name);
      }
    }
    if (!unknown.empty()) {
      tell(modules.place,
           "expected a pooling and a normalization alone behind the model (the "
           "library ends with the model's outputs; what comes after them is "
           "the caller's), got " +
               unknown);
      return std::nullopt;
    }
    return steps.items.empty() ? std::nullopt : std::optional(std::move(steps));
  }

private:
  void tell(const spec::Place &place, const std::string &message) {
    spec::report(diagnostics, place, 0, message,
                 strict ? spec::Severity::Error : spec::Severity::Warning);
  }

  std::optional<Json> readPooling(const Json &module) {
    fs::path path = textOf(module, "path");
    bool isInside = path.is_relative();
    for (const fs::path &part : path) {
      isInside &= part != "..";
    }
    if (!isInside) {
      tell(module.place, "expected the path of a folder in this one, got " +
                             spec::inQuotes(path.string()));
      return std::nullopt;
    }
    std::string file = (fs::path(directory) / path / "config.json").string();
    std::optional<Json> config = spec::readJsonFile(file, diagnostics);
    return config ? choosePooling(*config) : std::nullopt;
  }

  /// A word, a list of words, or flags; the mean where nothing is said.
  std::optional<Json> choosePooling(const Json &config) {
    std::vector<std::string> wanted;
    const Json *mode = config.find("pooling_mode");
    if (mode) {
      std::vector<Json> one = {*mode};
      for (const Json &word : mode->isArray() ? mode->items : one) {
        wanted.push_back(word.isString() ? word.text : spec::describe(word));
      }
    } else {
      for (const spec::Member &member : config.members) {
        bool isFlag = member.key.rfind("pooling_mode_", 0) == 0;
        if (isFlag && member.value.isBoolean() && member.value.boolean) {
          wanted.push_back(member.key);
        }
      }
    }
    if (!mode && wanted.empty()) {
      wanted = {"mean"};
    }
    std::string text;
    for (const std::string &word : wanted) {
      text += (text.empty() ? "" : ", ") + spec::inQuotes(word);
    }
    for (const Pooling &known : poolings) {
      if (wanted.size() == 1 &&
          (wanted[0] == known.word || wanted[0] == known.flag)) {
        return makeObject({{"op", known.op}, {known.key, known.value}});
      }
    }
    tell(mode ? mode->place : config.place,
         "expected one of mean, max, mean_sqrt_len_tokens, cls and lasttoken "
         "(the library ends with the model's outputs; other pooling is the "
         "caller's), got " +
             (text.empty() ? "none" : text));
    return std::nullopt;
  }

  const std::string &directory;
  bool strict;
  spec::Diagnostics &diagnostics;
};

} // namespace

std::optional<Json>
huggingface::readSentenceSteps(const std::string &directory, bool strict,
                               spec::Diagnostics &diagnostics) {
  std::string path = (fs::path(directory) / "modules.json").string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return std::nullopt;
  }
  std::optional<Json> modules = spec::readJsonFile(path, diagnostics);
  return modules ? ModulesReader(directory, strict, diagnostics).run(*modules)
                 : std::nullopt;
}
