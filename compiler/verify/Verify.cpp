// Runs compiled code and interpreter side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/Verify.h"

#include "compiler/verify/RunLibrary.h"
#include "compiler/verify/VerifyDecoding.h"
#include "compiler/verify/VerifyOutputs.h"
#include "compiler/verify/VerifyWeights.h"
#include "llvm/Support/FormatVariadic.h"

#include <memory>
#include <random>

using namespace mlir;
using namespace tfc;

namespace {

/// What the interpreter makes of a step.
struct Expected {
  std::vector<ReferenceTap> taps;
  reference::Outputs outputs;
};

class Verifier {
public:
  /// `entries` in the order of execution.
  Verifier(std::vector<EntryInfo> entries, Compared compared,
           const VerifyOptions &options, llvm::raw_ostream &out,
           llvm::raw_ostream &errors)
      : entries(std::move(entries)), compared(compared), options(options),
        out(out), errors(errors) {}

  bool run(ModuleOp module, const std::string &path);

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
  /// The next `count` of the compiled values: what is behind them comes from
  /// the entry that runs next.
  std::vector<CompiledTap> takeTaps(size_t count);
  /// `what` begins the line.
  bool compare(const std::vector<CompiledTap> &compiled,
               const std::vector<ReferenceTap> &expected,
               const reference::Step &step, const std::string &what);
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
  const EntryInfo &last() const { return entries.back(); }

  std::vector<EntryInfo> entries;
  const Compared compared;
  const VerifyOptions &options;
  llvm::raw_ostream &out, &errors;
  std::optional<VerifyWeights> weights;
  std::unique_ptr<RunningLibrary> library;
  reference::Cache cache;
  std::mt19937_64 random;
};

} // namespace

bool Verifier::run(ModuleOp module, const std::string &path) {
  auto opened = VerifyWeights::open(module, options.weights);
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

std::optional<Expected> Verifier::interpret(const EntryInfo &info,
                                            const reference::Step &step) {
  Expected expected;
  auto provider = [&](transformer::ParameterOp parameter,
                      int64_t layer) -> FailureOr<std::vector<double>> {
    return weights->read(parameter, layer);
  };
  auto tap = [&](StringRef id, int64_t layer, const reference::Matrix &value) {
    expected.taps.push_back(
        {id.str(), layer, value.rows, value.cols, value.data});
  };
  FailureOr<reference::Outputs> outputs =
      runEntry(info.entry, step, provider, cache,
               comparesTaps() ? reference::TapFn(tap) : reference::TapFn());
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
      comparesTaps() ? llvm::formatv("{0} values of {1} ops agree",
                                     agreement.values, agreement.ops.size())
                           .str()
      : agreement.values == 1
          ? "1 output without taps agrees"
          : llvm::formatv("{0} outputs without taps agree", agreement.values)
                .str();
  out << llvm::formatv("{0}: {1} (max abs {2:e2})\n", what, count,
                       agreement.worst);
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
             : compare(packOutputs(info, batch, *outputs),
                       packOutputs(info, step, expected->outputs), step, what));
    if (!agrees) {
      return false;
    }
  }
  return finish(what);
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
           : compare({library->logits()},
                     packOutputs(last(), step, expected->outputs), step, what));
  if (!agrees || !finish(what)) {
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
  if (!library->canGenerate() || newTokens < 1) {
    return true;
  }
  rt::Status opened = library->openSession();
  if (!opened) {
    return fail(opened.error().message);
  }
  // The forward pass used the same names for its sequences.
  cache = reference::Cache();
  random.seed(options.seed);
  return decode(newTokens);
}

bool tfc::verifyLibrary(ModuleOp module, const std::string &library,
                        Compared compared, const VerifyOptions &options,
                        llvm::raw_ostream &out, llvm::raw_ostream &errors) {
  std::vector<EntryInfo> entries;
  for (auto entry : module.getOps<func::FuncOp>()) {
    entries.emplace_back(entry);
  }
  if (entries.empty()) {
    errors << "tfc: error: expected an entry in the module, got none\n";
    return false;
  }
  return Verifier(std::move(entries), compared, options, out, errors)
      .run(module, library);
}
