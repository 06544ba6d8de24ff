// From a directory's files to the text of a spec, and back again as a check.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Import.h"

#include "compiler/huggingface/CheckTensors.h"
#include "compiler/huggingface/Family.h"
#include "compiler/huggingface/SentenceModules.h"
#include "compiler/spec/ExpandSpec.h"
#include "compiler/spec/ReadSpec.h"
#include "compiler/spec/SpecFiles.h"

#include <algorithm>
#include <filesystem>

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

const Family *const families[] = {
    &bertFamily(),  &gpt2Family(), &llamaFamily(), &mistralFamily(),
    &qwen2Family(), &t5Family(),   &mt5Family(),   &bartFamily()};

/// A file of the directory that must hold a JSON object.
std::optional<Json> readObject(const std::string &path,
                               spec::Diagnostics &diagnostics) {
  std::optional<Json> json = spec::readJsonFile(path, diagnostics);
  if (json && !json->isObject()) {
    spec::report(diagnostics, json->place, 4,
                 "expected an object, got " + spec::describe(*json));
    return std::nullopt;
  }
  return json;
}

const Family *findFamily(const Json &json, Config &config,
                         spec::Diagnostics &diagnostics) {
  std::string known;
  const Json *type = json.find("model_type");
  for (const Family *family : families) {
    if (type && type->isString(family->modelType)) {
      return family;
    }
    known += (known.empty() ? "" : ", ") + std::string(family->modelType);
  }
  config.fault("model_type", "expected a model type that tfc imports (" +
                                 known + "), got " +
                                 (type ? spec::describe(*type) : "none"));
  return nullptr;
}

/// architectures[0], or what the tensors look like when there is none.
std::string_view chooseClass(const Family &family, Config &config,
                             const rt::TensorFiles &files,
                             spec::Diagnostics &diagnostics) {
  const Json *list = config.value("architectures");
  if (!list || (list->isArray() && list->items.empty())) {
    return family.guessClass(files);
  }
  const Json &name = list->isArray() ? list->items.front() : *list;
  std::string known;
  for (std::string_view one : family.classes) {
    if (list->isArray() && name.isString(one)) {
      return one;
    }
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  spec::report(diagnostics, name.place, 0,
               "expected a class that tfc imports (" + known + "), got " +
                   spec::describe(name));
  return "";
}

/// "f32, bf16": what the weights are stored as.
std::string storedTypes(const rt::TensorFiles &files) {
  std::string text;
  for (rt::DType dtype : {rt::DType::F32, rt::DType::F16, rt::DType::BF16}) {
    bool used = std::any_of(
        files.tensors().begin(), files.tensors().end(),
        [&](const rt::Tensor *tensor) { return tensor->dtype == dtype; });
    if (used) {
      text += (text.empty() ? "" : ", ") + std::string(rt::dtypeName(dtype));
    }
  }
  return text;
}

std::string summarize(const spec::ModelSpec &model, const TensorUse &use,
                      const rt::TensorFiles &files) {
  constexpr size_t shown = 8;
  std::string outputs;
  for (const spec::Output &output : model.outputs) {
    outputs += (outputs.empty() ? "" : ", ") + output.name;
  }
  std::ostringstream out;
  std::string layers;
  for (const spec::Stack *stack : model.stacks()) {
    layers += (layers.empty() ? "" : " + ") + std::to_string(stack->layers);
  }
  out << model.name << ": " << layers << " layers, hidden " << model.hidden
      << ", vocabulary " << model.vocab;
  if (model.maxPositions > 0) {
    out << ", at most " << model.maxPositions << " tokens";
  }
  out << '\n'
      << "outputs: " << outputs << '\n'
      << "parameters: " << use.elements << " in " << use.claimed << " tensors ("
      << storedTypes(files) << ")\n";
  if (!use.ignored.empty()) {
    out << "tensors without effect: " << use.ignored.size() << '\n';
  }
  for (size_t i = 0; i < use.ignored.size() && i < shown; ++i) {
    out << "  " << spec::inQuotes(use.ignored[i]) << '\n';
  }
  if (use.ignored.size() > shown) {
    out << "  and " << use.ignored.size() - shown << " more\n";
  }
  return out.str();
}

/// One import; the members are what its steps hand to each other.
class Importer {
public:
  Importer(const std::string &directory, const ImportOptions &options,
           spec::Diagnostics &diagnostics)
      : directory(directory), options(options), diagnostics(diagnostics) {}

  std::optional<Imported> run() {
    std::error_code failed;
    if (!std::filesystem::is_directory(directory, failed)) {
      spec::Diagnostic diagnostic;
      diagnostic.file = directory;
      diagnostic.message =
          "expected a directory (with config.json and "
          "safetensors files), got " +
          std::string(std::filesystem::exists(directory, failed)
                          ? "a file"
                          : "nothing of this name");
      diagnostics.push_back(std::move(diagnostic));
      return std::nullopt;
    }
    std::optional<Json> json = readObject(path("config.json"), diagnostics);
    readGeneration();
    reportModules(path("modules.json"), options.strict, diagnostics);
    openTensors();
    if (!json) {
      return std::nullopt;
    }
    std::optional<Json> made = makeSpec(*json);
    if (!made || spec::hasError(diagnostics)) {
      return std::nullopt;
    }
    std::optional<Checked> checked = check(*made);
    if (!checked) {
      return std::nullopt;
    }
    setStorage(*made, checked->use.matrices);
    spec::seal(*made);
    return Imported{spec::writeJson(*made),
                    summarize(checked->model, checked->use, files)};
  }

private:
  std::string path(const char *file) const {
    return (std::filesystem::path(directory) / file).string();
  }

  void readGeneration() {
    std::error_code ignored;
    std::string file = path("generation_config.json");
    if (std::filesystem::exists(file, ignored)) {
      generation = readObject(file, diagnostics);
    }
  }

  void openTensors() {
    auto opened = rt::TensorFiles::open(directory);
    if (opened) {
      files = std::move(*opened);
    } else {
      reportError(opened.error(), diagnostics);
    }
  }

  std::optional<Json> makeSpec(const Json &json) {
    Config config(json, diagnostics);
    const Family *family = findFamily(json, config, diagnostics);
    if (!family) {
      return std::nullopt;
    }
    std::string_view name = chooseClass(*family, config, files, diagnostics);
    readCommonKeys(config, family->encoderDecoder);
    Source source = {config, json,        generation ? &*generation : nullptr,
                     files,  diagnostics, options.strict};
    Json body = family->makeSpec(source, name);
    config.reportUnread(options.strict);
    std::string type(family->modelType);
    Json made = makeObject({{"tfc", 1},
                            {"name", type + "-" + std::string(name)},
                            {"extends", "preset:" + type}});
    for (spec::Member &member : body.members) { // "extends" may be among them
      made.set(member.key, std::move(member.value));
    }
    if (source.bothSides) {
      std::vector<std::string> presets;
      std::optional<Json> whole =
          spec::expandSpec(std::move(made), directory, diagnostics, presets);
      if (whole) {
        makeEncoder(*whole);
      }
      return whole;
    }
    return made;
  }

  /// A model, and how its tensors were found.
  struct Checked {
    spec::ModelSpec model;
    TensorUse use;
  };

  std::optional<Checked> check(const Json &made) {
    std::optional<spec::ModelSpec> model =
        spec::readSpecText(directory + " (as a spec)", spec::writeJson(made),
                           directory, diagnostics);
    if (!model) {
      return std::nullopt;
    }
    TensorUse use = checkTensors(*model, files, options.strict, diagnostics);
    if (spec::hasError(diagnostics)) {
      return std::nullopt;
    }
    return Checked{std::move(*model), std::move(use)};
  }

  /// Matrices that are all stored in one type of 16 bits are kept in it.
  static void setStorage(Json &made, const std::set<rt::DType> &matrices) {
    bool isNarrow = matrices == std::set{rt::DType::F16} ||
                    matrices == std::set{rt::DType::BF16};
    if (isNarrow) {
      const char *name = *matrices.begin() == rt::DType::F16 ? "f16" : "bf16";
      made.set("precision", makeObject({{"weights", name}}));
    }
  }

  const std::string &directory;
  const ImportOptions &options;
  spec::Diagnostics &diagnostics;
  std::optional<Json> generation;
  rt::TensorFiles files;
};

} // namespace

std::optional<Imported>
huggingface::importDirectory(const std::string &directory,
                             const ImportOptions &options,
                             spec::Diagnostics &diagnostics) {
  std::optional<Imported> imported =
      Importer(directory, options, diagnostics).run();
  spec::sortDiagnostics(diagnostics);
  return imported;
}

std::vector<std::string> huggingface::listInputs(const std::string &directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::string name = it->path().filename().string();
    if (name == "config.json" || name == "generation_config.json" ||
        name.find(".safetensors") != std::string::npos) {
      files.push_back(it->path().string());
    }
  }
  return files;
}
