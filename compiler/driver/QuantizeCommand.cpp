// `tfc quantize`: compiles the model as it is and as int8, and compares both
// while it decides what is quantised.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/QuantizeCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/frontend/BuildModel.h"
#include "compiler/huggingface/Import.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/quantize/CalibrationBatches.h"
#include "compiler/quantize/Report.h"
#include "compiler/quantize/WriteFolder.h"
#include "compiler/spec/read/ReadSpec.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "runtime/tools/TextTokens.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::quantize;
namespace fs = llvm::sys::fs;

/// Texts are cut off there, or where the model ends.
static constexpr int64_t kMaxTokens = 512;

/// What smoothing must gain as a whole, in dB: texts are few.
static constexpr double kWorthwhile = 1;

/// Columns of int4 that have a scale, where nobody says.
static constexpr int64_t kDefaultGroup = 32;

/// What outputs of int4 have to be from the exact ones, in dB, unless somebody
/// accepts less.
static constexpr double kUseful = 15;

namespace {

using Texts = std::vector<std::vector<int64_t>>;
using Batches = std::vector<std::vector<PaddedBatch>>;

class Quantizer {
public:
  Quantizer(const std::string &directory, const QuantizeOptions &options)
      : directory(directory), options(options) {}
  ~Quantizer() {
    if (!scratch.empty()) {
      fs::remove_directories(scratch);
    }
  }

  int run();

private:
  int fail(const Twine &message, int code = kBadInput) {
    SmallVector<StringRef> lines;
    std::string text = message.str();
    StringRef(text).split(lines, '\n');
    for (StringRef line : lines) {
      llvm::errs() << "tfc: error: " << line << '\n';
    }
    return code;
  }
  int checkPlaces();
  int readModel();
  bool isFour() const { return options.dtype == "int4"; }
  int64_t group() const {
    return !isFour() ? 0 : options.group != 0 ? options.group : kDefaultGroup;
  }
  int buildModule();
  int readTexts();
  int makeTexts(RunningLibrary &library);
  rt::Result<Texts> encodeTexts(StringRef text);
  /// Compiles `model` for this machine; `name` is that of a scratch file.
  int compile(const spec::ModelSpec &model, const std::string &name);
  int runReference();
  /// Smoothed, or where that is nearer not. Leaves its distance.
  int quantize();
  /// The distance of programs of integers in which `kept` are none.
  int judge(const std::set<std::string> &kept, Distance &distance);
  int rankGroups(std::vector<std::string> &ranked);
  int giveBack(std::set<std::string> kept,
               llvm::ArrayRef<std::string> candidates);
  /// Keeps groups until --min-snr holds.
  int reach();
  int write();
  /// Modules of products that have no tensor, as a tied head.
  std::vector<std::string> tiedModules();
  /// Of all batches the logits, or else the last output.
  rt::Result<std::vector<rt::OutputTensor>> outputsOf(RunningLibrary &library);

  const std::string &directory;
  const QuantizeOptions &options;
  std::string scratch; // a folder for libraries
  std::string specText;
  std::optional<spec::ModelSpec> model, integerModel;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<EntryInfo> entries;
  std::optional<VerifyWeights> weights;
  Texts texts;
  Batches batches;
  Calibration calibration;
  std::vector<rt::OutputTensor> exact;
  std::optional<QuantizedModel> quantized;
  Distance distance;
};

} // namespace

int Quantizer::checkPlaces() {
  if (options.dtype != "int8" && options.dtype != "int4") {
    return fail("expected --dtype int8 or int4 (other types need no "
                "calibration: `tfc compile --dtype` rounds to them), got " +
                    (options.dtype.empty() ? "none" : options.dtype),
                kBadCommandLine);
  }
  if (options.group != 0 &&
      (!isFour() || !llvm::is_contained({32, 64, 128}, options.group))) {
    return fail("expected --group 32, 64 or 128, with --dtype int4, got " +
                    std::to_string(options.group) + " with --dtype " +
                    options.dtype,
                kBadCommandLine);
  }
  if (options.minSnr && !(*options.minSnr > 0 && *options.minSnr < 200)) {
    return fail("expected --min-snr in decibels, more than 0 and less than "
                "200, got " +
                    llvm::formatv("{0}", *options.minSnr).str(),
                kBadCommandLine);
  }
  if (fs::exists(options.output)) {
    return fail(options.output + ": expected the name of a new folder, got one "
                                 "that exists");
  }
  StringRef parent = llvm::sys::path::parent_path(options.output);
  if (std::error_code code =
          fs::access(parent.empty() ? "." : parent, fs::AccessMode::Write)) {
    return fail(
        options.output +
        ": expected a folder in which it can be made, got: " + code.message());
  }
  SmallString<128> made;
  if (std::error_code code = fs::createUniqueDirectory("tfc-quantize", made)) {
    return fail("expected a writable folder for temporary files, got: " +
                code.message());
  }
  scratch = made.str().str();
  return kOk;
}

int Quantizer::readModel() {
  if (!fs::exists(directory + "/config.json")) {
    return fail(directory + ": expected a model's folder (config.json, "
                            "safetensors files and a tokenizer), got one "
                            "without config.json");
  }
  spec::Diagnostics diagnostics;
  auto imported = huggingface::importDirectory(directory, {}, diagnostics);
  report(diagnostics, llvm::errs());
  if (!imported) {
    return kBadInput;
  }
  if (!imported->inside.empty()) {
    return fail(directory +
                ": expected a text model by itself (what is "
                "written is a folder of one), got that of a " +
                imported->inside +
                "; save its text model alone, or compile with --dtype int8");
  }
  specText = imported->spec;
  for (auto [dtype, to] :
       {std::pair<std::string, std::optional<spec::ModelSpec> *>{"", &model},
        {options.dtype, &integerModel}}) {
    spec::Diagnostics ofSpec;
    *to = spec::readSpecText(directory, specText, directory, ofSpec,
                             {dtype, /*cache=*/"", /*hiddenStates=*/false,
                              dtype.empty() ? 0 : group()});
    report(ofSpec, llvm::errs());
    if (!*to) {
      return kBadInput;
    }
  }
  if (model->encoder && model->encoder->embeddings.patches) {
    return fail(directory +
                ": expected a model of texts, which calibrate it, "
                "got one of rows of floats; tfc compile --dtype int8 "
                "rounds it as it is");
  }
  return kOk;
}

/// The model as the interpreter takes it, products one by one.
int Quantizer::buildModule() {
  prepareContext(context);
  module = buildModel(*model, &context);
  PassManager pm(&context);
  if (!module || failed(parsePassPipeline("tfc-decompose-ffn", pm)) ||
      failed(pm.run(*module))) {
    return kInternalError;
  }
  for (auto entry : module->getOps<func::FuncOp>()) {
    entries.emplace_back(entry);
  }
  auto opened = VerifyWeights::open(*module, directory);
  if (!opened) {
    return fail(opened.error().message);
  }
  weights = std::move(*opened);
  for (const rt::Tensor *tensor : weights->tensorFiles().tensors()) {
    if (tensor->quantized) {
      return fail(directory +
                  ": expected a checkpoint that is not quantised, "
                  "got one in which " +
                  rt::quoteName(tensor->name) + " is");
    }
  }
  rt::Status numbers = Checkpoint(weights->tensorFiles()).checkNumbers();
  return numbers ? kOk : fail(numbers.error().message);
}

rt::Result<Texts> Quantizer::encodeTexts(StringRef text) {
  auto tokenizer = run::loadTokenizer(directory);
  if (!tokenizer) {
    return std::move(tokenizer.error());
  }
  const spec::Stack &first = *model->stacks().front();
  rt::Status fits = run::checkTokenizer(tokenizer->get(), directory,
                                        first.embeddings.tokenRows);
  if (!fits) {
    return std::move(fits.error());
  }
  int64_t most = model->maxPositions > 0
                     ? std::min(kMaxTokens, model->maxPositions)
                     : kMaxTokens;
  Texts encoded;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    line = line.rtrim('\r');
    if (line.trim().empty()) {
      continue;
    }
    auto tokens = run::encodeText(tokenizer->get(), {line.str(), std::nullopt},
                                  most, /*truncate=*/true);
    if (!tokens) {
      return rt::makeError(tokens.error().code, options.calibrate, ": line ",
                           number + 1, ": ", tokens.error().message);
    }
    encoded.push_back(std::move(tokens->ids));
  }
  if (encoded.empty()) {
    return rt::makeError(rt::Code::InvalidArgument, options.calibrate,
                         ": expected texts, one a line, got none");
  }
  return encoded;
}

int Quantizer::readTexts() {
  if (options.calibrate.empty()) {
    return kOk;
  }
  auto buffer = llvm::MemoryBuffer::getFile(options.calibrate);
  if (!buffer) {
    return fail(options.calibrate +
                ": expected a file with texts, one a line, got: " +
                buffer.getError().message());
  }
  auto encoded = encodeTexts((*buffer)->getBuffer());
  if (!encoded) {
    return fail(encoded.error().message);
  }
  texts = std::move(*encoded);
  calibration.file = options.calibrate;
  return kOk;
}

int Quantizer::makeTexts(RunningLibrary &library) {
  if (texts.empty()) {
    auto made = makeTokens(entries, library);
    if (!made) {
      return fail(made.error().message);
    }
    texts = std::move(*made);
    calibration.isGenerated = entries.size() == 1 && library.canGenerate();
  }
  for (const std::vector<int64_t> &text : texts) {
    calibration.tokens += text.size();
    batches.push_back(batchOf(entries, text));
  }
  calibration.texts = texts.size();
  return kOk;
}

int Quantizer::compile(const spec::ModelSpec &what, const std::string &name) {
  CompileOptions compile;
  compile.target = "cpu";
  compile.force = true;
  return compileModel(what, compile, name, llvm::errs());
}

rt::Result<std::vector<rt::OutputTensor>>
Quantizer::outputsOf(RunningLibrary &library) {
  std::vector<rt::OutputTensor> outputs;
  for (const std::vector<PaddedBatch> &batch : batches) {
    auto given = library.forward(entries, batch);
    if (!given) {
      return std::move(given.error());
    }
    auto logits = llvm::find_if(*given, [](const rt::OutputTensor &each) {
      return each.name == "logits";
    });
    outputs.push_back(
        std::move(logits == given->end() ? given->back() : *logits));
  }
  return outputs;
}

int Quantizer::runReference() {
  std::string name = scratch + "/exact.so";
  if (int code = compile(*model, name)) {
    return code;
  }
  auto library = RunningLibrary::load(name, directory);
  if (!library) {
    return fail(library.error().message);
  }
  if (int code = makeTexts(**library)) {
    return code;
  }
  auto outputs = outputsOf(**library);
  if (!outputs) {
    return fail(outputs.error().message);
  }
  exact = std::move(*outputs);
  return exact.front().floats.empty()
             ? fail("expected an output of floats, by which the quantised "
                    "model is judged, got " +
                    exact.front().name)
             : kOk;
}

int Quantizer::quantize() {
  auto products = findProducts(*module, *weights);
  if (!products) {
    return fail(products.error().message);
  }
  tapProducts(*module, *products);
  auto statistics = collectStatistics(*module, *products, *weights, batches);
  if (!statistics) {
    return kInternalError;
  }
  const rt::TensorFiles &files = weights->tensorFiles();
  quantized.emplace(
      quantizeModel(*products, files, *statistics, !isFour(), group()));
  if (int code = judge({}, distance); code || !quantized->isSmoothed()) {
    return code;
  }
  // What is nearer product by product need not be nearer as a whole.
  QuantizedModel smoothed = std::move(*quantized);
  quantized.emplace(quantizeModel(std::move(*products), files,
                                  std::move(*statistics), false, group()));
  Distance plain;
  if (int code = judge({}, plain)) {
    return code;
  }
  if (plain.snr() + kWorthwhile > distance.snr()) {
    distance = plain;
  } else {
    quantized.emplace(std::move(smoothed));
  }
  return kOk;
}

/// What an import of the folder will say: as groups' scales are written.
static spec::Storage scalesOf(const quantize::QuantizedModel &model) {
  std::set<rt::DType> types;
  for (const quantize::RoundedMatrix &matrix : model.rounded) {
    if (matrix.rows > 0) {
      types.insert(matrix.scaleType);
    }
  }
  return types == std::set{rt::DType::F16}    ? spec::Storage::F16
         : types == std::set{rt::DType::BF16} ? spec::Storage::BF16
                                              : spec::Storage::F32;
}

int Quantizer::judge(const std::set<std::string> &kept, Distance &to) {
  quantized->kept = kept;
  for (spec::Parameter &parameter : integerModel->parameters) {
    auto own = quantized->products.matricesOf.find(parameter.name);
    parameter.isKeptWide = own != quantized->products.matricesOf.end() &&
                           quantized->isKept(own->second.front());
  }
  std::string library = scratch + "/integers.so", folder = scratch + "/judged";
  integerModel->scales = scalesOf(*quantized);
  if (int code = compile(*integerModel, library)) {
    return code;
  }
  // What is judged is what will be written.
  fs::remove_directories(folder);
  if (rt::Status status = writeFolder(folder, directory, *quantized,
                                      tiedModules(), /*report=*/"");
      !status) {
    return fail(status.error().message);
  }
  auto running = RunningLibrary::load(library, folder);
  if (!running) {
    return fail(running.error().message);
  }
  auto outputs = outputsOf(**running);
  if (!outputs) {
    return fail(outputs.error().message);
  }
  to = Distance(exact.front().name == "logits");
  for (auto [own, other] : llvm::zip(exact, *outputs)) {
    to.add(own, other);
  }
  return kOk;
}

/// Groups of matrices, the one that costs most first: judged with this one
/// alone as integers.
int Quantizer::rankGroups(std::vector<std::string> &ranked) {
  std::vector<std::string> groups = quantized->groups();
  std::vector<std::pair<double, std::string>> costs;
  for (const std::string &group : groups) {
    std::set<std::string> others(groups.begin(), groups.end());
    others.erase(group);
    Distance alone;
    if (int code = judge(others, alone)) {
      return code;
    }
    costs.emplace_back(alone.snr(), group);
  }
  llvm::sort(costs);
  for (auto &[snr, group] : costs) {
    ranked.push_back(std::move(group));
  }
  return kOk;
}

/// What was kept before something worse was may be integers after all. Leaves
/// `distance` that of what is kept at last.
int Quantizer::giveBack(std::set<std::string> kept,
                        llvm::ArrayRef<std::string> candidates) {
  for (const std::string &group : llvm::reverse(candidates)) {
    std::set<std::string> fewer = kept;
    fewer.erase(group);
    Distance without;
    if (int code = judge(fewer, without)) {
      return code;
    }
    if (without.snr() >= *options.minSnr) {
      kept = std::move(fewer);
      distance = without;
    }
  }
  quantized->kept = std::move(kept);
  return kOk;
}

int Quantizer::reach() {
  if (!options.minSnr || distance.snr() >= *options.minSnr) {
    return kOk;
  }
  std::vector<std::string> ranked;
  if (int code = rankGroups(ranked)) {
    return code;
  }
  std::set<std::string> kept;
  for (size_t i = 0; i < ranked.size(); ++i) {
    kept.insert(ranked[i]);
    if (int code = judge(kept, distance)) {
      return code;
    }
    if (distance.snr() >= *options.minSnr) {
      return giveBack(kept, llvm::ArrayRef(ranked).take_front(i));
    }
  }
  return fail(llvm::formatv("expected --min-snr that can be reached (all "
                            "matrices in 16 bits give {0:F1} dB), got {1}",
                            distance.snr(), *options.minSnr));
}

std::vector<std::string> Quantizer::tiedModules() {
  std::vector<std::string> names;
  for (auto parameter : transformer::listStored(*module)) {
    StringRef pattern = parameter.getSource()->getPatterns().front().getValue();
    if (parameter.isTied() && !pattern.contains('{') &&
        pattern.consume_back(".weight")) {
      names.push_back(pattern.str());
    }
  }
  return names;
}

int Quantizer::write() {
  if (isFour() && !options.accepts && !(distance.snr() >= kUseful)) {
    return fail(llvm::formatv(
        "expected a model of at least {0:F0} dB (below it answers are others "
        "than the model's), got {1:F1} dB; --min-snr keeps matrices in 16 "
        "bits, a smaller --group is nearer, --accept writes it all the same",
        kUseful, distance.snr()));
  }
  Judged judged{exact.front().name, distance};
  rt::Status status =
      writeFolder(options.output, directory, *quantized, tiedModules(),
                  reportText(*quantized, calibration, judged));
  if (!status) {
    return fail(status.error().message);
  }
  printReport(*quantized, calibration, judged, llvm::outs());
  return kOk;
}

int Quantizer::run() {
  for (auto step :
       {&Quantizer::checkPlaces, &Quantizer::readModel, &Quantizer::readTexts,
        &Quantizer::buildModule, &Quantizer::runReference, &Quantizer::quantize,
        &Quantizer::reach, &Quantizer::write}) {
    if (int code = (this->*step)()) {
      return code;
    }
  }
  return kOk;
}

int tfc::runQuantize(const std::string &directory,
                     const QuantizeOptions &options) {
  return Quantizer(directory, options).run();
}
