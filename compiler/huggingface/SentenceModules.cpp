// modules.json of a sentence-transformers folder: what follows the model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/SentenceModules.h"

#include "compiler/huggingface/Family.h"
#include "runtime/src/files/Safetensors.h"

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

/// PyTorch's modules and the activation that each is, as they are made without
/// arguments.
constexpr std::pair<const char *, const char *> activations[] = {
    {"Identity", "identity"},
    {"Tanh", "tanh"},
    {"ReLU", "relu"},
    {"GELU", "gelu"},
    {"SiLU", "silu"}};

class ModulesReader {
public:
  ModulesReader(const std::string &directory, bool strict,
                spec::Diagnostics &diagnostics)
      : directory(directory), strict(strict), diagnostics(diagnostics) {}

  std::optional<SentenceHead> run(const Json &modules) {
    std::string unknown;
    for (const Json &module : modules.items) {
      std::string name = nameOf(module);
      // Dropout is of training alone.
      if (name == "Transformer" || name == "Dropout") {
        continue;
      }
      bool isPooled = !head.steps.items.empty();
      std::optional<Json> step;
      if (name == "Pooling" && !isPooled) {
        step = readPooling(module);
      } else if (name == "Normalize" && isPooled) {
        step = makeObject({{"op", "l2_normalize"}});
      } else if (name == "Dense" && isPooled) {
        step = readDense(module);
      } else if (name == "LayerNorm" && isPooled) {
        step = readNorm(module);
      } else {
        unknown += (unknown.empty() ? "" : ", ") + spec::inQuotes(name);
        continue;
      }
      if (!step) {
        return std::nullopt;
      }
      head.steps.items.push_back(std::move(*step));
    }
    if (!unknown.empty()) {
      tell(modules.place,
           "expected a pooling, products and norms behind the model (the "
           "library ends with the model's outputs; what comes after them is "
           "the caller's), got " +
               unknown);
      return std::nullopt;
    }
    return head.steps.items.empty() ? std::nullopt
                                    : std::optional(std::move(head));
  }

private:
  SentenceHead head;

  void tell(const spec::Place &place, const std::string &message) {
    spec::report(diagnostics, place, 0, message,
                 strict ? spec::Severity::Error : spec::Severity::Warning);
  }

  /// The config.json of the module's folder.
  std::optional<Json> readConfig(const Json &module) {
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
    return spec::readJsonFile(file, diagnostics);
  }

  std::optional<Json> readPooling(const Json &module) {
    std::optional<Json> config = readConfig(module);
    return config ? choosePooling(*config) : std::nullopt;
  }

  /// Whether the runtime finds the tensors of the module, whose `stem` they
  /// have; then they are those of the head's step `name`.
  bool findTensors(const Json &module, const std::string &name,
                   const char *stem) {
    std::string folder = textOf(module, "path");
    std::error_code ignored;
    if (!rt::isModuleFolder(folder) || folder.find('/') != folder.npos ||
        !fs::exists(fs::path(directory) / folder / "model.safetensors",
                    ignored)) {
      tell(module.place, "expected a folder like \"2_Dense\" with a "
                         "model.safetensors, got " +
                             spec::inQuotes(folder));
      return false;
    }
    head.map.set(name, Json(folder + "/" + stem));
    return true;
  }

  /// "dense_2": the step of the module that follows so many others.
  std::string stepName(const char *kind) const {
    return kind + ("_" + std::to_string(head.steps.items.size()));
  }

  std::optional<Json> readDense(const Json &module) {
    std::string name = stepName("dense");
    std::optional<Json> config;
    if (findTensors(module, name, "linear")) {
      config = readConfig(module);
    }
    if (!config) {
      return std::nullopt;
    }
    for (const char *key : {"module_input_name", "module_output_name"}) {
      const Json *given = config->find(key);
      if (given && !given->isNull() && !given->isString("sentence_embedding")) {
        tell(given->place, "expected \"sentence_embedding\" (the library has "
                           "one vector of a sentence), got " +
                               spec::describe(*given));
        return std::nullopt;
      }
    }
    const Json *sum = config->find("use_residual"),
               *width = config->find("out_features"),
               *bias = config->find("bias"),
               *given = config->find("activation_function");
    if (sum && !(sum->isBoolean() && !sum->boolean)) {
      tell(sum->place, "expected false (the library adds nothing to the "
                       "product), got " +
                           spec::describe(*sum));
      return std::nullopt;
    }
    if (!width) {
      tell(config->place, "expected \"out_features\", got none");
      return std::nullopt;
    }
    // sentence-transformers' own default.
    std::string type = given && given->isString() ? given->text
                       : given                    ? ""
                                                  : "Tanh";
    for (const auto &[module, act] : activations) {
      if (type.substr(type.rfind('.') + 1) == module) {
        return makeObject({{"op", "dense"},
                           {"name", name},
                           {"out", *width},
                           {"act", act},
                           {"bias", bias ? *bias : Json(true)}});
      }
    }
    tell(given->place, "expected one of torch.nn's Identity, Tanh, ReLU, GELU "
                       "and SiLU, got " +
                           spec::describe(*given));
    return std::nullopt;
  }

  /// torch.nn.LayerNorm, with its eps.
  std::optional<Json> readNorm(const Json &module) {
    std::string name = stepName("norm");
    if (!findTensors(module, name, "norm")) {
      return std::nullopt;
    }
    return makeObject(
        {{"op", "norm"}, {"name", name}, {"kind", "layernorm"}, {"eps", 1e-5}});
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

std::optional<SentenceHead>
huggingface::readSentenceHead(const std::string &directory, bool strict,
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

std::optional<SentenceHead>
huggingface::makeGgufSentence(const std::string &pooling) {
  for (const Pooling &each : poolings) {
    if (pooling == each.word) {
      SentenceHead head;
      head.steps.items.push_back(
          makeObject({{"op", each.op}, {each.key, each.value}}));
      head.steps.items.push_back(makeObject({{"op", "l2_normalize"}}));
      return head;
    }
  }
  return std::nullopt;
}
