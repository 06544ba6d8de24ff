// From a directory's files to the text of a spec, and back again as a check.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Import.h"

#include "compiler/huggingface/CheckTensors.h"
#include "compiler/huggingface/MakeSpec.h"
#include "compiler/huggingface/NamedFloats.h"
#include "compiler/huggingface/SentenceModules.h"
#include "compiler/spec/SpecFiles.h"
#include "compiler/spec/family/TextPart.h"
#include "compiler/spec/family/Tower.h"
#include "compiler/spec/read/ReadSpec.h"
#include "runtime/src/files/gguf/GgufFile.h"

#include <algorithm>
#include <filesystem>

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

/// A file of the directory that must hold a JSON object.
std::optional<Json> readObject(const std::string &path,
                               spec::Diagnostics &diagnostics) {
  std::optional<std::string> text = spec::readTextFile(path, diagnostics);
  std::optional<Json> json =
      text ? spec::parseJson(path, nameFloats(*text), diagnostics)
           : std::nullopt;
  if (json && !json->isObject()) {
    spec::report(diagnostics, json->place, 4,
                 "expected an object, got " + spec::describe(*json));
    return std::nullopt;
  }
  return json;
}

/// The model type; where there is none, that of `known` with which the name of
/// the first class begins ("LSTMModel").
std::string findType(const Json &json,
                     const std::map<std::string, std::string> &known) {
  const Json *type = json.find("model_type");
  if (type) {
    return type->isString() ? type->text : "";
  }
  const Json *classes = json.find("architectures");
  if (classes && classes->isArray() && !classes->items.empty() &&
      classes->items[0].isString()) {
    std::string name = classes->items[0].text;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    });
    for (const auto &[word, why] : known) {
      if (name.compare(0, word.size(), word) == 0) {
        return word;
      }
    }
  }
  return "";
}

/// The tables of the model type; none after a diagnostic.
std::vector<family::Table> findTables(const Json &json, Config &config,
                                      spec::Diagnostics &diagnostics) {
  const Json *type = json.find("model_type");
  std::vector<family::Table> tables;
  if (type && type->isString()) {
    tables = family::tablesOf(type->text, diagnostics);
  }
  if (tables.empty()) {
    auto refused = family::refusedTypes(diagnostics);
    auto why = refused.find(findType(json, refused));
    if (why != refused.end()) {
      const char *key = type ? "model_type" : "architectures";
      config.fault(key, "expected a model type that tfc imports (" +
                            why->second + "), got " +
                            spec::describe(type ? *type : *json.find(key)));
      return {};
    }
    std::vector<std::string> types = family::modelTypes(diagnostics);
    std::string near =
        type && type->isString() ? spec::nearestWord(type->text, types) : "";
    std::string known = "did you mean \"" + near + "\"?";
    if (near.empty()) {
      known.clear();
      for (const std::string &each : types) {
        known += (known.empty() ? "" : ", ") + each;
      }
    }
    config.fault("model_type", "expected a model type that tfc imports (" +
                                   known + "), got " +
                                   (type ? spec::describe(*type) : "none"));
  }
  return tables;
}

/// A class, and the table that has it.
struct Choice {
  const family::Table *table;
  std::string className;
};

/// The table with this class; null when there is none.
const family::Table *findClass(const std::vector<family::Table> &tables,
                               const std::string &name) {
  for (const family::Table &table : tables) {
    if (table.root.find("classes")->find(name)) {
      return &table;
    }
  }
  return nullptr;
}

/// Whether the class gives the rows of its last layer.
bool givesRows(const Choice &choice) {
  const Json *output =
      choice.table->root.at({"classes", choice.className, "last_hidden_state"});
  return output && output->text.find(".hidden") != std::string::npos;
}

/// The class without a head: what a sentence encoder has, whatever class its
/// weights were saved from.
std::optional<Choice> chooseBody(const std::vector<family::Table> &tables) {
  for (const family::Table &table : tables) {
    for (const spec::Member &each : table.root.find("classes")->members) {
      if (Choice choice{&table, each.key}; givesRows(choice)) {
        return choice;
      }
    }
  }
  return std::nullopt;
}

/// architectures[0], or what the tensors look like when there is none.
std::optional<Choice> chooseClass(const std::vector<family::Table> &tables,
                                  Config &config, const rt::TensorFiles &files,
                                  spec::Diagnostics &diagnostics) {
  const Json *list = config.value("architectures");
  if (!list || (list->isArray() && list->items.empty())) {
    for (const family::Table &table : tables) {
      std::string name = guessClass(table, files);
      if (const family::Table *found = findClass(tables, name)) {
        return Choice{found, name};
      }
    }
  }
  const Json none = Json::array();
  const Json &name = !list || (list->isArray() && list->items.empty()) ? none
                     : list->isArray() ? list->items.front()
                                       : *list;
  if (list && list->isArray() && name.isString()) {
    if (const family::Table *found = findClass(tables, name.text)) {
      return Choice{found, name.text};
    }
  }
  std::string known;
  for (const family::Table &table : tables) {
    const Json *why = name.isString()
                          ? table.root.at({"refuse_classes", name.text})
                          : nullptr;
    if (why) {
      known = why->text;
      break;
    }
    for (const spec::Member &each : table.root.find("classes")->members) {
      known += (known.empty() ? "" : ", ") + each.key;
    }
  }
  spec::report(diagnostics, list ? name.place : config.placeOf("architectures"),
               0,
               "expected a class that tfc imports (" + known + "), got " +
                   (list ? spec::describe(name) : "none"));
  return std::nullopt;
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
  for (const std::string &format : files.formats()) {
    out << format << '\n';
  }
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
    if (rt::isGguf(directory)) {
      openTensors();
      return finish(readGguf());
    }
    if (!std::filesystem::is_directory(directory, failed)) {
      spec::Diagnostic diagnostic;
      diagnostic.file = directory;
      diagnostic.message =
          "expected a directory (with config.json and "
          "safetensors files) or a GGUF file, got " +
          std::string(std::filesystem::exists(directory, failed)
                          ? "a file"
                          : "nothing of this name");
      diagnostics.push_back(std::move(diagnostic));
      return std::nullopt;
    }
    std::optional<Json> json = readObject(path("config.json"), diagnostics);
    readGeneration();
    sentence = readSentenceHead(directory, options.strict, diagnostics);
    openTensors();
    return finish(json);
  }

private:
  std::optional<Imported> finish(const std::optional<Json> &json) {
    if (!json) {
      return std::nullopt;
    }
    std::optional<Json> made = makeSpec(*json);
    if (!made) {
      return std::nullopt;
    }
    std::optional<Checked> checked = check(*made);
    if (!checked) {
      return std::nullopt;
    }
    setStorage(*made, checked->use.matrices);
    bool isGguf = rt::isGguf(directory);
    setRules(*made, checked->use, isGguf);
    setGroup(*made, checked->use);
    spec::seal(*made);
    std::string text = spec::writeJson(*made);
    std::string summary = summarize(checked->model, checked->use, files);
    if (!inside.empty()) {
      summary +=
          std::string(isTower ? "one encoder of a " : "the text model of a ") +
          inside + ": it reads nothing else\n";
    }
    return Imported{std::move(text), std::move(summary), std::move(*made),
                    std::move(family), inside};
  }

  /// The configuration that a GGUF file stands for; none after a diagnostic.
  std::optional<Json> readGguf() {
    auto file = rt::GgufFile::open(directory);
    rt::Result<std::string> text = file ? rt::makeGgufConfig(**file)
                                        : rt::Result<std::string>(file.error());
    if (text) {
      sentence = makeGgufSentence(rt::findGgufPooling(**file));
      return spec::parseJson(directory, *text, diagnostics);
    }
    // Of the tensors' reader, too.
    if (diagnostics.empty()) {
      reportError(text.error(), diagnostics);
    }
    return std::nullopt;
  }

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

  /// config.json with the class that is asked for.
  Json named(Json json) const {
    if (!options.className.empty()) {
      const Json *own = json.find("architectures");
      Json name(options.className);
      name.place = own ? own->place : json.place;
      Json list = Json::array({std::move(name)});
      list.place = own ? own->place : json.place;
      json.set("architectures", std::move(list));
    }
    return json;
  }

  std::optional<Json> makeSpec(const Json &given) {
    const Json whole = named(given);
    std::optional<family::Tower> tower = family::findTower(whole, diagnostics);
    std::optional<family::TextPart> part = family::textPart(whole, diagnostics);
    if (spec::hasError(diagnostics)) {
      return std::nullopt;
    }
    const Json json = family::openInside(tower  ? tower->config
                                         : part ? part->config
                                                : whole,
                                         diagnostics);
    inside = tower || part ? whole.find("model_type")->text : "";
    isTower = tower.has_value();
    Config config(json, diagnostics);
    std::vector<family::Table> tables =
        tower  ? std::move(tower->tables)
        : part ? std::move(part->tables)
               : findTables(json, config, diagnostics);
    if (tables.empty()) {
      return std::nullopt;
    }
    std::optional<Choice> chosen =
        chooseClass(tables, config, files, diagnostics);
    if (!chosen) {
      return std::nullopt;
    }
    if (sentence && !givesRows(*chosen)) {
      chosen = chooseBody(tables).value_or(*chosen);
    }
    family = chosen->table->name;
    bool isSentence = sentence && givesRows(*chosen);
    Source source = {
        config,      json,           generation ? &*generation : nullptr, files,
        diagnostics, options.strict, isSentence ? &*sentence : nullptr};
    Json made =
        huggingface::makeSpec(source, *chosen->table,
                              json.find("model_type")->text, chosen->className);
    config.reportUnread(options.strict);
    return made;
  }

  /// A model, and how its tensors were found.
  struct Checked {
    spec::ModelSpec model;
    TensorUse use;
  };

  /// What is wrong in config.json as a spec is found with the rest of it, what
  /// is wrong with the tensors only of a good spec.
  std::optional<Checked> check(const Json &made) {
    std::optional<spec::ModelSpec> model =
        spec::readSpecTree(made, diagnostics);
    if (!model || spec::hasError(diagnostics)) {
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

  /// What keeps a checkpoint's integers as they are, if the library is to have
  /// such.
  static void setGroup(Json &made, const TensorUse &use) {
    if (use.group == 0) {
      return;
    }
    const Json *precision = made.find("precision");
    Json whole = precision ? *precision : Json::object();
    whole.set("group", use.group);
    if (use.hasZeros) {
      whole.set("zeros", true);
    } else if (use.hasFloatZeros) {
      whole.set("zeros", "float");
    }
    if (use.scales) {
      whole.set("scales", *use.scales == rt::DType::F16    ? "f16"
                          : *use.scales == rt::DType::BF16 ? "bf16"
                                                           : "f32");
    }
    made.set("precision", std::move(whole));
  }

  /// Matrices that a quantised checkpoint leaves alone are left alone, and of
  /// one with integers of few bits bytes are what four would round again. Who
  /// quantised a GGUF file chose types by what its blocks fit, and means four
  /// bits by several of them; one of floats means none.
  void setRules(Json &made, const TensorUse &use, bool isGguf) {
    Json rules = Json::array();
    auto add = [&](const std::vector<std::string> &names, const char *kept) {
      for (const std::string &name : names) {
        rules.items.push_back(makeObject({{"match", name}, {"weights", kept}}));
      }
    };
    if (!isGguf) {
      add(use.keptWide, "bf16");
    }
    bool isQuantized = !files.formats().empty();
    if ((isGguf && isQuantized) || use.hasFew) {
      add(use.keptByte, "int8");
    }
    if (!rules.items.empty()) {
      const Json *precision = made.find("precision");
      Json whole = precision ? *precision : Json::object();
      whole.set("rules", std::move(rules));
      made.set("precision", std::move(whole));
    }
  }

  const std::string &directory;
  const ImportOptions &options;
  spec::Diagnostics &diagnostics;
  std::optional<Json> generation;
  std::optional<SentenceHead> sentence;
  rt::TensorFiles files;
  std::string family, inside;
  bool isTower = false;
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
  if (rt::isGguf(directory)) {
    auto file = rt::GgufFile::open(directory);
    return file ? (*file)->paths() : std::vector<std::string>{directory};
  }
  if (fs::is_regular_file(directory, failed)) {
    return {directory};
  }
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::string name = it->path().filename().string();
    if (name == "config.json" || name == "generation_config.json" ||
        name == "modules.json" || name == "quantize_config.json" ||
        name == "hf_quant_config.json" ||
        name.find(".safetensors") != std::string::npos) {
      files.push_back(it->path().string());
    }
  }
  return files;
}
