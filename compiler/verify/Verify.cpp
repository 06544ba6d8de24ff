// Runs compiled code and interpreter side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/Verify.h"

#include "compiler/verify/RunLibrary.h"
#include "compiler/verify/VerifyDecoding.h"
#include "compiler/verify/VerifyOutputs.h"
#include "compiler/verify/VerifyWeights.h"
#include "dialect/LayerFunctions.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

#include <memory>
#include <random>

using namespace mlir;
using namespace tfc;

/// Of programs that round between ops: decibels that outputs without taps are
/// at least above what differs.
static constexpr double kLeastSnr = 30;

/// "1 output without taps agrees"
static std::string countOutputs(size_t count) {
  return count == 1
             ? "1 output without taps agrees"
             : llvm::formatv("{0} outputs without taps agree", count).str();
}

/// Without functions of layers, and without what runs before any step.
static std::vector<EntryInfo> listEntries(ModuleOp module) {
  std::vector<EntryInfo> entries;
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!transformer::isOfLayers(entry) &&
        !entry->hasAttr(transformer::kPrepareAttrName)) {
      entries.emplace_back(entry);
    }
  }
  return entries;
}

/// How far the value of one op may be from what the interpreter makes of the
/// same inputs. Integers and their sums are exact; what is left of such a
/// product is a few roundings of f32, which have no least size. A value that
/// is kept in 16 bits may be a step of those off, and so may a weight of
/// attention whose factors are: it is a part of the sum.
static Tolerance toleranceOf(transformer::TapOp tap) {
  Tolerance tolerance;
  Value value = tap.getValue();
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isBF16() || element.isF16()) {
    tolerance.step = element.isBF16() ? 0x1p-7 : 0x1p-10;
  }
  Operation *op = value.getDefiningOp();
  auto linear = dyn_cast_or_null<transformer::LinearOp>(op);
  auto expert = dyn_cast_or_null<transformer::ExpertLinearOp>(op);
  if ((linear && linear.getInputScales()) ||
      (expert && expert.getInputScales())) {
    tolerance.relative = 1e-5;
    tolerance.least = 0x1p-20;
  }
  auto self = dyn_cast_or_null<transformer::AttentionOp>(op);
  auto cross = dyn_cast_or_null<transformer::CrossAttentionOp>(op);
  if ((self && self.getFactors()) || (cross && cross.getFactors())) {
    tolerance.relative = 0x1p-8;
  }
  return tolerance;
}

namespace {

/// What the interpreter makes of a step.
struct Expected {
  std::vector<ReferenceTap> taps;
  reference::Outputs outputs;
};

class Verifier {
public:
  Verifier(const VerifiedModel &model, Compared compared,
           const VerifyOptions &options, llvm::raw_ostream &out,
           llvm::raw_ostream &errors)
      : model(model), entries(listEntries(model.module)), compared(compared),
        options(options), out(out), errors(errors) {}

  bool run(const std::string &path);

private:
  bool verifyForward();
  bool verifyDecoding();
  bool decode(int64_t newTokens);
  /// One step of the session, `number` counting from 1.
  bool compareStep(DecodeSteps &steps, int64_t number);
  /// Adds a random prompt to session and interpreter.
  bool addPrompt(DecodeSteps &steps, int64_t length, int64_t newTokens);

  /// Nothing when the interpreter fails, which has reported why.
  std::optional<Expected> interpret(const EntryInfo &info,
                                    const reference::Step &step);
  std::optional<Expected> interpret(const EntryInfo &info,
                                    const reference::Step &step,
                                    const VerifyWeights &own,
                                    reference::Cache &cached);
  /// What the library reported in the place of the next value, if it is that.
  std::optional<reference::Matrix> findOwn(const ReferenceTap &expected,
                                           size_t number) const;
  /// The next `count` of the compiled values: what is behind them comes from
  /// the entry that runs next.
  std::vector<CompiledTap> takeTaps(size_t count);
  /// `what` begins the line.
  bool compare(const std::vector<CompiledTap> &compiled,
               const std::vector<ReferenceTap> &expected,
               const reference::Step &step, const std::string &what);
  /// The same of outputs without taps.
  bool compareOutputs(const std::vector<CompiledTap> &compiled,
                      const std::vector<ReferenceTap> &expected,
                      const reference::Step &step, const std::string &what);
  /// Whether the program finds the tokens of its logits, where it finds some.
  bool compareFound(llvm::ArrayRef<tfc_new_token> tokens,
                    const std::string &what);
  /// Says how far outputs of a forward pass are from the exact model's.
  bool compareExact(const std::vector<PaddedBatch> &batches,
                    std::vector<rt::OutputTensor> &outputs);
  /// Whether the interpreter has had as many values as the compiled code.
  bool finish(const std::string &what);

  bool fail(StringRef message) {
    SmallVector<StringRef> lines;
    message.split(lines, '\n');
    for (StringRef line : lines) {
      errors << "tfc: error: " << line << '\n';
    }
    return false;
  }

  bool comparesTaps() const { return compared == Compared::Taps; }
  bool rounds() const { return static_cast<bool>(model.exact); }
  const EntryInfo &last() const { return entries.back(); }

  const VerifiedModel model;
  std::vector<EntryInfo> entries; // in the order of execution
  const Compared compared;
  const VerifyOptions &options;
  llvm::raw_ostream &out, &errors;
  std::optional<VerifyWeights> weights;
  std::unique_ptr<RunningLibrary> library;
  reference::Cache cache;
  std::mt19937_64 random;
};

} // namespace

bool Verifier::run(const std::string &path) {
  if (entries.empty()) {
    return fail("expected an entry in the module, got none");
  }
  auto opened = VerifyWeights::open(model.module, options.weights);
  if (!opened) {
    return fail(opened.error().message);
  }
  weights = std::move(*opened);
  auto loaded = RunningLibrary::load(path, options.weights);
  if (!loaded) {
    return fail(loaded.error().message);
  }
  library = std::move(*loaded);
  return verifyForward() && verifyDecoding();
}

std::optional<reference::Matrix> Verifier::findOwn(const ReferenceTap &expected,
                                                   size_t number) const {
  if (number >= library->taps.size()) {
    return std::nullopt;
  }
  const CompiledTap &own = library->taps[number];
  if (own.id != expected.id || own.rows != expected.rows ||
      own.cols != expected.cols) {
    return std::nullopt;
  }
  reference::Matrix matrix(own.rows, own.cols);
  llvm::copy(own.data, matrix.data.begin());
  return matrix;
}

std::optional<Expected> Verifier::interpret(const EntryInfo &info,
                                            const reference::Step &step) {
  return interpret(info, step, *weights, cache);
}

std::optional<Expected> Verifier::interpret(const EntryInfo &info,
                                            const reference::Step &step,
                                            const VerifyWeights &own,
                                            reference::Cache &cached) {
  Expected expected;
  auto provider = [&](transformer::ParameterOp parameter,
                      int64_t layer) -> FailureOr<std::vector<double>> {
    return own.read(parameter, layer);
  };
  auto integers = [&](transformer::ParameterOp parameter, int64_t layer,
                      const reference::IntegerForm &form) {
    return own.readIntegers(parameter, layer, form);
  };
  auto tap =
      [&](transformer::TapOp op, int64_t layer,
          const reference::Matrix &value) -> std::optional<reference::Matrix> {
    expected.taps.push_back(
        {op.getId().str(), layer, value.rows, value.cols, value.data});
    if (!rounds()) {
      return std::nullopt;
    }
    expected.taps.back().tolerance = toleranceOf(op);
    return findOwn(expected.taps.back(), expected.taps.size() - 1);
  };
  FailureOr<reference::Outputs> outputs =
      runEntry(info.entry, step, provider, cached,
               comparesTaps() ? reference::TapFn(tap) : reference::TapFn(), {},
               integers);
  if (failed(outputs)) {
    return std::nullopt;
  }
  expected.outputs = std::move(*outputs);
  return expected;
}

std::vector<CompiledTap> Verifier::takeTaps(size_t count) {
  std::vector<CompiledTap> &taps = library->taps;
  auto end =
      taps.begin() + static_cast<ptrdiff_t>(std::min(taps.size(), count));
  std::vector<CompiledTap> taken(std::make_move_iterator(taps.begin()),
                                 std::make_move_iterator(end));
  taps.erase(taps.begin(), end);
  return taken;
}

bool Verifier::compare(const std::vector<CompiledTap> &compiled,
                       const std::vector<ReferenceTap> &expected,
                       const reference::Step &step, const std::string &what) {
  Agreement agreement;
  if (auto difference = findDifference(compiled, expected, step, agreement)) {
    fail(what + ": " + *difference);
    if (!comparesTaps()) {
      errors << "tfc: note: every op agrees in a library with taps: what is "
                "wrong is done to this one, whose ops are joined and use "
                "memory again\n";
    }
    return false;
  }
  std::string count =
      comparesTaps() ? llvm::formatv("{0} values of {1} ops agree{2}",
                                     agreement.values, agreement.ops.size(),
                                     rounds() ? ", each of its own inputs" : "")
                           .str()
                     : countOutputs(agreement.values);
  out << llvm::formatv("{0}: {1} (max abs {2:e2})\n", what, count,
                       agreement.worst);
  return true;
}

bool Verifier::compareOutputs(const std::vector<CompiledTap> &compiled,
                              const std::vector<ReferenceTap> &expected,
                              const reference::Step &step,
                              const std::string &what) {
  if (!rounds()) {
    return compare(compiled, expected, step, what);
  }
  double apart = signalToNoise(compiled, expected);
  // Written so that a NaN is too near.
  if (!(apart >= kLeastSnr)) {
    return fail(what + llvm::formatv(": expected outputs without taps {0} dB "
                                     "above what differs from the "
                                     "interpreter's, got {1:f1} dB",
                                     kLeastSnr, apart)
                           .str());
  }
  out << llvm::formatv("{0}: {1} ({2:f1} dB above what differs)\n", what,
                       countOutputs(expected.size()), apart);
  return true;
}

bool Verifier::compareExact(const std::vector<PaddedBatch> &batches,
                            std::vector<rt::OutputTensor> &outputs) {
  std::vector<EntryInfo> exact = listEntries(model.exact);
  auto opened = VerifyWeights::open(model.exact, options.weights);
  if (!opened) {
    return fail(opened.error().message);
  }
  reference::Cache cached;
  for (auto [info, batch] : llvm::zip(exact, batches)) {
    reference::Step step = packForward(info, batch, batches.front());
    std::optional<Expected> expected = interpret(info, step, *opened, cached);
    if (!expected) {
      return false;
    }
    std::vector<ReferenceTap> wanted =
        packOutputs(info, step, expected->outputs);
    if (!wanted.empty()) {
      out << llvm::formatv(
          "rounding: outputs are {0:f1} dB above what differs from f32\n",
          signalToNoise(packOutputs(info, batch, outputs), wanted));
    }
  }
  return true;
}

bool Verifier::finish(const std::string &what) {
  std::vector<CompiledTap> &taps = library->taps;
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
  auto outputs = library->forward(entries, batches);
  if (!outputs) {
    return fail(outputs.error().message);
  }
  std::string what;
  for (auto [info, batch] : llvm::zip(entries, batches)) {
    what = llvm::formatv("{0} of {1} sequences",
                         entries.size() == 1 ? "forward pass"
                         : info.isCausal     ? "decoder's forward pass"
                                             : "encoder's forward pass",
                         batch.batch);
    reference::Step step = packForward(info, batch, batches.front());
    std::optional<Expected> expected = interpret(info, step);
    bool agrees =
        expected &&
        (comparesTaps()
             ? compare(takeTaps(expected->taps.size()), expected->taps, step,
                       what)
             : compareOutputs(packOutputs(info, batch, *outputs),
                              packOutputs(info, step, expected->outputs), step,
                              what));
    if (!agrees) {
      return false;
    }
  }
  return finish(what) &&
         (comparesTaps() || !rounds() || compareExact(batches, *outputs));
}

bool Verifier::addPrompt(DecodeSteps &steps, int64_t length,
                         int64_t newTokens) {
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
  auto id = library->addPrompt(prompt, newTokens);
  if (!id) {
    return fail(id.error().message);
  }
  steps.add(static_cast<int64_t>(*id), prompt);
  return true;
}

bool Verifier::compareFound(llvm::ArrayRef<tfc_new_token> tokens,
                            const std::string &what) {
  for (auto [number, found] : llvm::enumerate(library->found())) {
    if (found.token != tokens[number].token) {
      return fail(what + llvm::formatv(
                             ": expected token {0}, the first of the greatest "
                             "logits, where the program finds it, got {1}",
                             tokens[number].token, found.token)
                             .str());
    }
  }
  return true;
}

bool Verifier::compareStep(DecodeSteps &steps, int64_t number) {
  auto tokens = library->step();
  if (!tokens) {
    return fail(tokens.error().message);
  }
  if (std::optional<reference::Step> encode = steps.nextEncode()) {
    std::optional<Expected> expected = interpret(entries.front(), *encode);
    // Its one result is in the cross cache, which the step reads.
    if (!expected ||
        (comparesTaps() &&
         !compare(takeTaps(expected->taps.size()), expected->taps, *encode,
                  llvm::formatv("encoder's part of step {0}", number)))) {
      return false;
    }
  }
  std::string what =
      llvm::formatv("step {0} of {1} sequences", number, tokens->size());
  reference::Step step = steps.next("logits");
  std::optional<Expected> expected = interpret(last(), step);
  bool agrees =
      expected &&
      (comparesTaps()
           ? compare(takeTaps(expected->taps.size()), expected->taps, step,
                     what)
           : compareOutputs({library->logits()},
                            packOutputs(last(), step, expected->outputs), step,
                            what));
  if (!agrees || !finish(what) || !compareFound(*tokens, what)) {
    return false;
  }
  for (const tfc_new_token &token : *tokens) {
    steps.advance(static_cast<int64_t>(token.sequence), token.token);
  }
  return true;
}

bool Verifier::decode(int64_t newTokens) {
  DecodeSteps steps(last(), entries.size() > 1 ? &entries.front() : nullptr);
  if (!addPrompt(steps, 3, newTokens) || !addPrompt(steps, 1, newTokens)) {
    return false;
  }
  for (int64_t number = 1; number <= newTokens; ++number) {
    // A prompt among single tokens: one step is prefill and decode at once.
    if (number == 2 && !addPrompt(steps, 4, newTokens)) {
      return false;
    }
    if (!compareStep(steps, number)) {
      return false;
    }
  }
  return true;
}

bool Verifier::verifyDecoding() {
  int64_t newTokens = 4;
  if (last().maxPositions > 0) {
    newTokens = std::min(newTokens, last().maxPositions - 1);
  }
  // Sessions take token ids.
  bool isGiven = entries.front().hasGiven();
  if (!library->canGenerate() || newTokens < 1 || isGiven) {
    return true;
  }
  // Values of steps are the taps' where there are some, and each comes once.
  rt::Status opened = library->openSession(/*readsLogits=*/!comparesTaps());
  if (!opened) {
    return fail(opened.error().message);
  }
  // The forward pass used the same names for its sequences.
  cache = reference::Cache();
  random.seed(options.seed);
  return decode(newTokens);
}

bool tfc::verifyLibrary(const VerifiedModel &model, const std::string &library,
                        Compared compared, const VerifyOptions &options,
                        llvm::raw_ostream &out, llvm::raw_ostream &errors) {
  return Verifier(model, compared, options, out, errors).run(library);
}
