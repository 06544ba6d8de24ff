// Runs compiled code and interpreter side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/Verify.h"

#include "compiler/verify/VerifyDecoding.h"
#include "compiler/verify/VerifyTaps.h"
#include "compiler/verify/VerifyWeights.h"
#include "tfc/runtime.h"
#include "llvm/Support/FormatVariadic.h"

#include <memory>
#include <random>

using namespace mlir;
using namespace tfc;

namespace {

template <auto function> struct Free {
  template <typename Handle> void operator()(Handle *handle) const {
    function(handle);
  }
};
using ModelPtr = std::unique_ptr<tfc_model, Free<tfc_model_free>>;
using SessionPtr = std::unique_ptr<tfc_session, Free<tfc_session_free>>;
using OutputsPtr = std::unique_ptr<tfc_outputs, Free<tfc_outputs_free>>;

class Verifier {
public:
  /// `entries` in the order of execution.
  Verifier(std::vector<EntryInfo> entries, const VerifyOptions &options,
           llvm::raw_ostream &out, llvm::raw_ostream &errors)
      : entries(std::move(entries)), options(options), out(out),
        errors(errors) {}

  bool run(ModuleOp module, const std::string &library);

private:
  bool load(const std::string &library);
  bool verifyForward();
  bool verifyDecoding();
  bool decode(tfc_session *session, int64_t newTokens);
  /// Adds a random prompt to session and interpreter.
  bool addPrompt(tfc_session *session, DecodeSteps &steps, int64_t length,
                 int64_t newTokens);
  /// Runs the interpreter and compares with the next of the compiled values;
  /// `what` begins the line.
  bool compare(const EntryInfo &info, const reference::Step &step,
               const std::string &what);
  /// Whether the interpreter has had as many values as the compiled code.
  bool finish(const std::string &what);

  bool check(tfc_error *error) {
    std::unique_ptr<tfc_error, Free<tfc_error_free>> owner(error);
    return !error || fail(tfc_error_message(error));
  }
  bool fail(StringRef message) {
    SmallVector<StringRef> lines;
    message.split(lines, '\n');
    for (StringRef line : lines) {
      errors << "tfc: error: " << line << '\n';
    }
    return false;
  }

  const EntryInfo &last() const { return entries.back(); }

  std::vector<EntryInfo> entries;
  const VerifyOptions &options;
  llvm::raw_ostream &out, &errors;
  std::optional<VerifyWeights> weights;
  ModelPtr model;
  std::vector<CompiledTap> taps;
  reference::Cache cache;
  std::mt19937_64 random;
};

} // namespace

bool Verifier::load(const std::string &library) {
  tfc_model_options load = {};
  load.struct_size = sizeof(load);
  load.library_path = library.c_str();
  load.weights_path = options.weights.c_str();
  load.tap_user = &taps;
  load.tap = [](void *user, const char *id, int64_t layer, int64_t rows,
                int64_t width, const float *data) {
    static_cast<std::vector<CompiledTap> *>(user)->push_back(
        {id, layer, rows, width,
         std::vector<float>(data, data + rows * width)});
  };
  tfc_model *loaded = nullptr;
  if (!check(tfc_model_load(&load, &loaded))) {
    return false;
  }
  model.reset(loaded);
  return true;
}

bool Verifier::run(ModuleOp module, const std::string &library) {
  auto opened = VerifyWeights::open(module, options.weights);
  if (!opened) {
    return fail(opened.error().message);
  }
  weights = std::move(*opened);
  return load(library) && verifyForward() && verifyDecoding();
}

bool Verifier::compare(const EntryInfo &info, const reference::Step &step,
                       const std::string &what) {
  std::vector<ReferenceTap> expected;
  auto provider = [&](transformer::ParameterOp parameter,
                      int64_t layer) -> FailureOr<std::vector<double>> {
    return weights->read(parameter, layer);
  };
  auto tap = [&](StringRef id, int64_t layer, const reference::Matrix &value) {
    expected.push_back({id.str(), layer, value.rows, value.cols, value.data});
  };
  if (failed(runEntry(info.entry, step, provider, cache, tap))) {
    return false;
  }
  // What is behind them comes from the entry that runs next.
  size_t count = std::min(taps.size(), expected.size());
  std::vector<CompiledTap> compiled(
      std::make_move_iterator(taps.begin()),
      std::make_move_iterator(taps.begin() + static_cast<ptrdiff_t>(count)));
  taps.erase(taps.begin(), taps.begin() + static_cast<ptrdiff_t>(count));
  Agreement agreement;
  if (auto difference = findDifference(compiled, expected, step, agreement)) {
    return fail(what + ": " + *difference);
  }
  out << llvm::formatv("{0}: {1} values of {2} ops agree (max abs {3:e2})\n",
                       what, agreement.values, agreement.ops.size(),
                       agreement.worst);
  return true;
}

bool Verifier::finish(const std::string &what) {
  return taps.empty() ||
         fail(what + llvm::formatv(": expected no more values (of the "
                                   "interpreter), got {0} of {1}",
                                   taps.size(), taps.front().id)
                         .str());
}

bool Verifier::verifyForward() {
  std::vector<PaddedBatch> batches;
  if (options.inputs.empty()) {
    batches = makeRandomBatches(entries, options.seed);
  } else {
    auto read = readBatches(options.inputs, entries);
    if (!read) {
      return fail(read.error().message);
    }
    batches = std::move(*read);
  }
  std::vector<std::string> masks;
  std::vector<tfc_tensor> tensors;
  for (const EntryInfo &info : entries) {
    masks.push_back(info.maskName());
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    const PaddedBatch &batch = batches[i];
    auto add = [&](const std::string &name,
                   const std::vector<int32_t> &values) {
      tensors.push_back({name.c_str(),
                         TFC_I32,
                         2,
                         {batch.batch, batch.length, 0},
                         values.data()});
    };
    for (const auto &[name, values] : batch.inputs) {
      add(name, values);
    }
    add(masks[i], batch.mask);
  }
  tfc_encode_options encode = {};
  encode.struct_size = sizeof(encode);
  encode.inputs = tensors.data();
  encode.n_inputs = static_cast<uint32_t>(tensors.size());
  tfc_outputs *outputs = nullptr;
  if (!check(tfc_encode(model.get(), &encode, &outputs))) {
    return false;
  }
  OutputsPtr owner(outputs);
  std::string what;
  for (auto [info, batch] : llvm::zip(entries, batches)) {
    what = llvm::formatv("{0} of {1} sequences",
                         entries.size() == 1 ? "forward pass"
                         : info.isCausal     ? "decoder's forward pass"
                                             : "encoder's forward pass",
                         batch.batch);
    if (!compare(info, packForward(info, batch, batches.front()), what)) {
      return false;
    }
  }
  return finish(what);
}

bool Verifier::addPrompt(tfc_session *session, DecodeSteps &steps,
                         int64_t length, int64_t newTokens) {
  const EntryInfo &first = entries.front();
  int64_t limit = first.inputs.front().getLimit();
  for (transformer::InputAttr input : first.inputs) {
    limit = input.getName() == first.idsName() ? input.getLimit() : limit;
  }
  if (first.maxPositions > 0) {
    length = std::min(length, first.maxPositions - newTokens);
  }
  std::vector<int64_t> prompt;
  for (int64_t i = 0; i < length; ++i) {
    prompt.push_back(static_cast<int64_t>(random() % limit));
  }
  tfc_request request = {};
  request.struct_size = sizeof(request);
  request.tokens = prompt.data();
  request.n_tokens = length;
  request.max_new_tokens = newTokens;
  request.own_eos = 1; // none: every sequence takes part in every step
  tfc_sequence_id id = 0;
  if (!check(tfc_session_add(session, &request, &id))) {
    return false;
  }
  steps.add(static_cast<int64_t>(id), prompt);
  return true;
}

bool Verifier::decode(tfc_session *session, int64_t newTokens) {
  DecodeSteps steps(last(), entries.size() > 1 ? &entries.front() : nullptr);
  if (!addPrompt(session, steps, 3, newTokens) ||
      !addPrompt(session, steps, 1, newTokens)) {
    return false;
  }
  for (int64_t number = 1; number <= newTokens; ++number) {
    // A prompt among single tokens: one step is prefill and decode at once.
    if (number == 2 && !addPrompt(session, steps, 4, newTokens)) {
      return false;
    }
    tfc_step_result result = {};
    result.struct_size = sizeof(result);
    if (!check(tfc_session_step(session, &result))) {
      return false;
    }
    std::optional<reference::Step> encode = steps.nextEncode();
    std::string what =
        llvm::formatv("step {0} of {1} sequences", number, result.n_tokens);
    if ((encode &&
         !compare(entries.front(), *encode,
                  llvm::formatv("encoder's part of step {0}", number))) ||
        !compare(last(), steps.next("logits"), what) || !finish(what)) {
      return false;
    }
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      steps.advance(static_cast<int64_t>(result.tokens[i].sequence),
                    result.tokens[i].token);
    }
  }
  return true;
}

bool Verifier::verifyDecoding() {
  tfc_model_info modelInfo = {};
  modelInfo.struct_size = sizeof(modelInfo);
  if (!check(tfc_model_get_info(model.get(), &modelInfo))) {
    return false;
  }
  int64_t newTokens = 4;
  if (last().maxPositions > 0) {
    newTokens = std::min(newTokens, last().maxPositions - 1);
  }
  if (!modelInfo.can_generate || newTokens < 1) {
    return true;
  }
  tfc_session *session = nullptr;
  if (!check(tfc_session_create(model.get(), nullptr, &session))) {
    return false;
  }
  SessionPtr owner(session);
  // The forward pass used the same names for its sequences.
  cache = reference::Cache();
  random.seed(options.seed);
  return decode(session, newTokens);
}

bool tfc::verifyLibrary(ModuleOp tapped, const std::string &library,
                        const VerifyOptions &options, llvm::raw_ostream &out,
                        llvm::raw_ostream &errors) {
  std::vector<EntryInfo> entries;
  for (auto entry : tapped.getOps<func::FuncOp>()) {
    entries.emplace_back(entry);
  }
  if (entries.empty()) {
    errors << "tfc: error: expected an entry in the module, got none\n";
    return false;
  }
  return Verifier(std::move(entries), options, out, errors)
      .run(tapped, library);
}
