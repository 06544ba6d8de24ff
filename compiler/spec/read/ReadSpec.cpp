// The order of reading a spec, and its small parts: kind, dims, precision.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/ReadSpec.h"
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/ExpandSpec.h"
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/weights/ResolveWeights.h"
#include "compiler/spec/write/WriteSpec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

namespace tfc::spec {

const std::vector<Json> &itemsOf(const Json *array) {
  static const std::vector<Json> none;
  return array ? array->items : none;
}

const std::vector<Member> &membersOf(const Json *object) {
  static const std::vector<Member> none;
  return object ? object->members : none;
}

std::optional<int64_t> sizeOf(const Json &object, std::string_view key) {
  const Json *value = object.find(key);
  bool good = value && value->isInteger() && value->integer >= 1 &&
              value->integer <= maxRows;
  return good ? std::optional(value->integer) : std::nullopt;
}

bool flagOf(const Json &object, std::string_view key, bool fallback) {
  const Json *value = object.find(key);
  return value && value->isBoolean() ? value->boolean : fallback;
}

std::string wordOf(const Json &object, std::string_view key,
                   const char *fallback) {
  const Json *value = object.find(key);
  return value && value->isString() ? value->text : fallback;
}

static const std::pair<const char *, Activation> activations[] = {
    {"identity", Activation::Identity},   {"gelu", Activation::Gelu},
    {"gelu_new", Activation::GeluNew},    {"relu", Activation::Relu},
    {"silu", Activation::Silu},           {"tanh", Activation::Tanh},
    {"relu2", Activation::Relu2},         {"sigmoid", Activation::Sigmoid},
    {"quick_gelu", Activation::QuickGelu}};

Activation activationOf(const Json &object, std::string_view key) {
  std::string word = wordOf(object, key, "identity");
  for (const auto &[name, activation] : activations) {
    if (word == name) {
      return activation;
    }
  }
  return Activation::Identity;
}

const char *nameOf(Activation activation) {
  for (const auto &[name, candidate] : activations) {
    if (activation == candidate) {
      return name;
    }
  }
  return "identity";
}

/// The norm that an object says; nothing for "none" and for no norm.
std::optional<Norm> SpecReader::readNorm(const Json *norm, int64_t width) {
  if (!norm || !norm->isObject() || wordOf(*norm, "kind", "none") == "none") {
    return std::nullopt;
  }
  Norm result;
  bool rms = wordOf(*norm, "kind", "none") == "rmsnorm";
  result.kind = rms ? Norm::Kind::RmsNorm : Norm::Kind::LayerNorm;
  result.weight = flagOf(*norm, "affine", true);
  result.bias = flagOf(*norm, "bias", !rms && result.weight);
  if (result.bias && (rms || !result.weight)) {
    error(norm->find("bias")->place, BadBlock,
          std::string("expected false (") +
              (rms ? "kind is \"rmsnorm\"" : "\"affine\" is false") +
              "), got true");
  }
  if (const Json *offset = norm->find("offset"); offset && offset->isNumber()) {
    result.offset = offset->real;
    if (!std::isfinite(float(offset->real)) ||
        (offset->real != 0 && !result.weight)) {
      error(offset->place, BadBlock,
            std::string("expected ") +
                (result.weight ? "a number that f32 can hold"
                               : "0 (\"affine\" is false)") +
                ", got " + describe(*offset));
    }
  }
  result.unbiasedStd = wordOf(*norm, "form", "var_eps") == "std_eps_unbiased";
  if (result.unbiasedStd && (rms || width == 1)) {
    error(norm->find("form")->place, BadBlock,
          std::string("expected \"var_eps\" (") +
              (rms ? "kind is \"rmsnorm\""
                   : "one number has no deviation from others") +
              "), got \"std_eps_unbiased\"");
  }
  const Json *eps = norm->find("eps");
  if (!eps) {
    // A step's eps is required by the table of keys.
    if (!norm->find("op")) {
      error(norm->place.child("eps"), BadType,
            "expected \"eps\" (it is required), got nothing");
    }
    return result;
  }
  result.eps = eps->real;
  if (eps->isNumber() && !(float(eps->real) > 0 && eps->real <= 1e-2)) {
    bool exponent = eps->isInteger() && eps->integer > 0 && eps->integer < 20;
    std::string hint =
        exponent ? " (did you mean 1e-" + std::to_string(eps->integer) + "?)"
                 : "";
    error(eps->place, BadEps,
          "expected a number above 0, up to 0.01" + hint + ", got " +
              describe(*eps));
  }
  return result;
}

/// Whether a string can be part of a parameter's or a port's name; a
/// diagnostic when it is a string that cannot.
bool SpecReader::isIdentifier(const Json *name, Code code) {
  if (!name || !name->isString()) {
    return false;
  }
  bool good = !name->text.empty() && name->text.size() <= 64 &&
              std::all_of(name->text.begin(), name->text.end(), [](char c) {
                return std::isalnum(static_cast<unsigned char>(c)) ||
                       c == '_' || c == '-';
              });
  if (!good) {
    error(name->place, code,
          "expected a name of 1 to 64 letters, digits, _ and -, got " +
              describe(*name));
  }
  return good;
}

void SpecReader::readDims() {
  if (const Json *dims = root.find("dims")) {
    model.hidden = sizeOf(*dims, "hidden").value_or(0);
    model.vocab = sizeOf(*dims, "vocab").value_or(0);
    model.maxPositions = sizeOf(*dims, "max_positions").value_or(0);
  }
}

std::vector<std::string> SpecReader::stackNames() const {
  std::vector<std::string> names;
  for (const Stack *each : model.stacks()) {
    names.push_back(each->name);
  }
  return names;
}

/// Nearer than more, at 5 bits a number.
constexpr int64_t defaultGroup = 32;

static bool isGroup(int64_t columns) {
  return columns == 32 || columns == 64 || columns == 128;
}

static Storage storageOf(std::string_view word) {
  return word == "f16"    ? Storage::F16
         : word == "bf16" ? Storage::BF16
         : word == "int8" ? Storage::Int8
         : word == "int4" ? Storage::Int4
                          : Storage::F32;
}

/// Columns that have a scale, of int8 all of a row unless said, and of int4
/// whether they have a zero point, and what scales are kept in: bf16, which has
/// the range of what they are made of. With others they change nothing.
void SpecReader::readGroup(const Json *precision) {
  if (!model.hasIntegers()) {
    return;
  }
  bool isByte = model.storage == Storage::Int8;
  const Json *group = precision->find("group");
  if (isByte && !group) {
    return;
  }
  model.group = sizeOf(*precision, "group").value_or(defaultGroup);
  if (!isGroup(model.group)) {
    report(diagnostics, group->place, BadType,
           "expected precision.group 32, 64 or 128, got " + describe(*group));
  }
  kept.precision.set("group", model.group);
  if (isByte) {
    return;
  }
  const Json *zeros = precision->find("zeros");
  model.hasZeros = zeros && zeros->isBoolean() && zeros->boolean;
  if (model.hasZeros) {
    kept.precision.set("zeros", true);
  }
  model.hasFloatZeros = wordOf(*precision, "zeros", "") == "float";
  if (model.hasFloatZeros) {
    kept.precision.set("zeros", "float");
  }
  std::string scales = wordOf(*precision, "scales", "bf16");
  model.scales = storageOf(scales);
  kept.precision.set("scales", scales);
}

/// The scores of latents add products of two parts of a key, which one scale of
/// a row does not suit.
static void checkCache(const Json &root, const ModelSpec &model,
                       Diagnostics &diagnostics) {
  const Json *precision = root.find("precision");
  const Json *cache = precision ? precision->find("cache") : nullptr;
  if (model.cache != Storage::Int8 || !cache || !model.decoder) {
    return;
  }
  for (const LayerRun &run : model.decoder->runs) {
    for (const Sublayer &sublayer : run.sublayers) {
      const Attention *attn = sublayer.attention();
      if (attn && attn->latent) {
        report(diagnostics, cache->place, Unsupported,
               "expected a cache of f32, f16 or bf16 with latent attention "
               "(one scale does not suit a latent and a turned key), got "
               "\"int8\"");
        return;
      }
    }
  }
}

void SpecReader::readPrecision() {
  kept.precision = Json::object();
  for (const char *key : {"weights", "compute", "cache", "norm", "softmax"}) {
    const Json *precision = root.find("precision");
    kept.precision.set(key, precision ? wordOf(*precision, key, "f32") : "f32");
  }
  auto keptAs = [&](const char *key) {
    return storageOf(kept.precision.find(key)->text);
  };
  model.storage = keptAs("weights");
  model.cache = keptAs("cache");
  checkCache(root, model, diagnostics);
  Storage compute = keptAs("compute");
  if ((compute == Storage::Int8) != model.hasIntegers()) {
    const Json *precision = root.find("precision");
    const Json *wrong = precision->find("compute");
    report(diagnostics, wrong ? wrong->place : precision->place, BadType,
           "expected precision.compute \"int8\" exactly with "
           "precision.weights \"int8\" or \"int4\" (products multiply "
           "integers by integers), got " +
               inQuotes(kept.precision.find("weights")->text) + " and " +
               inQuotes(kept.precision.find("compute")->text));
  }
  const Json *precision = root.find("precision");
  const Json *rules = precision ? precision->find("rules") : nullptr;
  // Without integers they change nothing.
  if (rules && !rules->items.empty() && model.hasIntegers()) {
    kept.precision.set("rules", *rules);
  }
  readGroup(precision);
  model.multipliesBf16 = compute == Storage::BF16;
  if (model.multipliesBf16 && model.storage != Storage::BF16) {
    const Json *compute = root.find("precision")->find("compute");
    report(
        diagnostics, compute->place, BadType,
        "expected \"f32\" (products multiply bf16 where precision.weights is "
        "bf16), got \"bf16\"");
  }
}

bool SpecReader::read() {
  size_t before = diagnostics.size();
  checkFields(root, specType(), diagnostics);
  std::string kind = wordOf(root, "kind", "");
  if (kind != "encoder" && kind != "decoder" && kind != "encoder_decoder") {
    return false;
  }
  readKind(kind);
  model.name = wordOf(root, "name", "model");
  readDims();
  readShared();
  bool whole = true;
  for (std::optional<Stack> *each : {&model.encoder, &model.decoder}) {
    if (!*each) {
      continue;
    }
    const Json *json = root.find((*each)->name);
    whole &= json && json->isObject();
    if (json && json->isObject()) {
      readStack(**each, *json);
    }
  }
  if (whole) {
    readTokens();
    readHeads();
    readOutputs();
    readGeneration();
  }
  readPrecision();
  return !std::any_of(
      diagnostics.begin() + std::ptrdiff_t(before), diagnostics.end(),
      [](const Diagnostic &d) { return d.severity == Severity::Error; });
}

/// What nobody reads to its end.
constexpr size_t maxDiagnostics = 200;

static bool isInteger(const std::string &dtype) {
  return dtype == "int8" || dtype == "int4";
}

/// Columns of integers that have a scale, as --group says.
static bool patchGroup(Json &spec, const ReadOptions &options,
                       Diagnostics &diagnostics) {
  if (options.group == 0) {
    return true;
  }
  bool areIntegers = isInteger(options.dtype);
  if (!areIntegers || !isGroup(options.group)) {
    Diagnostic fault;
    fault.message =
        areIntegers
            ? "expected --group 32, 64 or 128 (columns of a matrix that have a "
              "scale), got " +
                  std::to_string(options.group)
            : "expected --dtype int8 or int4 with --group (columns of its "
              "matrices that have a scale), got " +
                  (options.dtype.empty() ? "none" : options.dtype);
    fault.code = BadType;
    diagnostics.push_back(std::move(fault));
    return false;
  }
  Json whole = Json::object(), patch = Json::object();
  whole.place = patch.place = spec.place;
  patch.set("group", options.group);
  whole.set("precision", std::move(patch));
  mergePatch(spec, whole);
  return true;
}

/// Replaces what the spec keeps matrices in by --dtype, or keys and values by
/// --cache.
static bool patchPrecision(Json &spec, const char *key,
                           const std::string &dtype, Diagnostics &diagnostics) {
  if (dtype.empty()) {
    return true;
  }
  bool isCache = std::string_view(key) == "cache";
  if (dtype != "f32" && dtype != "f16" && dtype != "bf16" && dtype != "int8" &&
      (isCache || dtype != "int4")) {
    Diagnostic unsupported;
    unsupported.message = std::string("expected ") +
                          (isCache ? "cache f32, f16, bf16 or int8"
                                   : "dtype f32, f16, bf16, int8 or int4") +
                          " (others are not supported by this tfc), got " +
                          inQuotes(dtype);
    unsupported.code = Unsupported;
    diagnostics.push_back(std::move(unsupported));
    return false;
  }
  Json patch = Json::object();
  patch.set(key, dtype);
  if (!isCache) {
    // What is to be rounded need not be multiplied as f32.
    patch.set("compute", isInteger(dtype)  ? "int8"
                         : dtype == "bf16" ? dtype
                                           : "f32");
  }
  Json whole = Json::object();
  whole.place = spec.place;
  patch.place = spec.place;
  whole.set("precision", std::move(patch));
  mergePatch(spec, whole);
  return true;
}

/// What --dtype says of keys and values where neither the spec nor --cache
/// does: who lets products round what they multiply keeps those in 16 bits,
/// which no scale of a row need suit.
static std::string cacheFor(const Json &spec, const ReadOptions &options) {
  const Json *precision = spec.find("precision");
  bool isSaid = !options.cache.empty() || (precision && precision->isObject() &&
                                           precision->find("cache"));
  bool rounds = options.dtype == "bf16" || isInteger(options.dtype);
  return !isSaid && rounds && spec.find("decoder") ? "bf16" : options.cache;
}

static std::optional<ModelSpec> readTree(Json spec, const std::string &baseDir,
                                         Diagnostics &diagnostics,
                                         const ReadOptions &options) {
  if (!spec.isObject()) {
    report(diagnostics, spec.place, BadType,
           "expected an object, got " + describe(spec));
    return std::nullopt;
  }
  std::vector<std::string> unused;
  std::optional<Json> whole =
      expandSpec(std::move(spec), baseDir, diagnostics, unused);
  if (!whole ||
      !patchPrecision(*whole, "weights", options.dtype, diagnostics) ||
      !patchGroup(*whole, options, diagnostics) ||
      !patchPrecision(*whole, "cache", cacheFor(*whole, options),
                      diagnostics)) {
    return std::nullopt;
  }
  SpecReader reader(*whole, diagnostics);
  if (!reader.read() || (options.hiddenStates && !reader.addHiddenStates())) {
    return std::nullopt;
  }
  resolveWeights(*whole, reader.model, diagnostics);
  applyRules(*whole, reader.model, diagnostics);
  if (hasError(diagnostics)) {
    return std::nullopt;
  }
  reader.model.roundsWeights = !options.dtype.empty();
  reader.model.canonical = writeSpec(reader.model, reader.kept);
  return std::move(reader.model);
}

/// Appends what was found, in order, as far as anybody reads it.
static void addDiagnostics(const std::string &name, Diagnostics found,
                           Diagnostics &diagnostics) {
  sortDiagnostics(found);
  if (found.size() > maxDiagnostics) {
    std::string more = std::to_string(found.size() - maxDiagnostics);
    found.resize(maxDiagnostics);
    found.push_back({Severity::Error, name, 0, 0, "",
                     "expected a spec, got at least " + more + " more errors",
                     0});
  }
  diagnostics.insert(diagnostics.end(), found.begin(), found.end());
}

std::optional<ModelSpec> readSpecText(const std::string &name,
                                      std::string_view text,
                                      const std::string &baseDir,
                                      Diagnostics &diagnostics,
                                      const ReadOptions &options) {
  Diagnostics found;
  std::optional<ModelSpec> model;
  if (std::optional<Json> spec = parseJson(name, text, found)) {
    model = readTree(std::move(*spec), baseDir, found, options);
  }
  addDiagnostics(name, std::move(found), diagnostics);
  return model;
}

std::optional<ModelSpec> readSpecTree(const Json &spec,
                                      Diagnostics &diagnostics) {
  Diagnostics found;
  std::optional<ModelSpec> model = readTree(spec, "", found, {});
  addDiagnostics(spec.place.file(), std::move(found), diagnostics);
  return model;
}

std::optional<ModelSpec> readSpec(const std::string &path,
                                  Diagnostics &diagnostics,
                                  const ReadOptions &options) {
  std::optional<std::string> text =
      readTextFile(path, diagnostics, maxSpecBytes);
  if (!text) {
    return std::nullopt;
  }
  std::string dir = std::filesystem::path(path).parent_path().string();
  return readSpecText(path, *text, dir, diagnostics, options);
}

} // namespace tfc::spec
