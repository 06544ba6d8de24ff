// Generation: Hugging Face's generate, on a session or with beams.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Generate.h"

#include "runtime/src/CallOut.h"
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/BeamGenerate.h"

#include <algorithm>

namespace tfc::rt {

namespace {

class Generation {
public:
  Generation(const Model &model, const GenerateOptions &options)
      : model(model), entry(*model.generateEntry()), options(options),
        decoding(options.decoding ? *options.decoding
                                  : defaultDecoding(model.table())) {
    const tfc_module_v0 &table = model.table();
    eos = options.eos
              ? *options.eos
              : std::vector<int64_t>(table.eos, table.eos + table.n_eos);
    pad = table.pad >= 0 || eos.empty() ? table.pad : eos.front();
  }

  Status readPrompts(const tfc_tensor *inputs, uint32_t numInputs) {
    Status status =
        checkDecoding(decoding, entry.inputs[tokenPort(entry)].limit);
    if (!status) {
      return status;
    }
    Result<ModelInputs> read = readInputs(model, inputs, numInputs);
    if (!read) {
      return std::move(read.error());
    }
    if (model.encoder()) {
      status = startDecoder(model, *read);
    } else {
      guessMask(read->decoder);
    }
    batch = std::move(read->decoder);
    source = std::move(read->encoder);
    Faults faults;
    if (options.eos) {
      faults.add(
          checkTokenIds("eos", eos, entry.outputs[model.logitsPort()].width));
    }
    faults.add(std::move(status));
    if (model.encoder()) {
      faults.add(checkRows(*model.encoder(), source));
    }
    faults.add(checkRows(entry, batch));
    return faults.take();
  }

  bool hasBeams() const { return decoding.num_beams > 1; }

  /// Whether the first step has a chance: before the prompts' numbers are
  /// copied as often as sequences are returned for them, which part behind a
  /// prompt.
  Status checkRoom(const BlockCache &cache) const {
    int64_t copies = hasBeams() ? 1 : decoding.num_return_sequences;
    int64_t needed = 0;
    for (int64_t row = 0; row < batch.batch; ++row) {
      int64_t count = 0;
      for (int64_t column = 0; column < batch.length; ++column) {
        count += batch.exists(row, column);
      }
      needed += cache.blocksFor(count) + copies - 1;
    }
    if (needed <= cache.capacity()) {
      return {};
    }
    return makeError(Code::Exhausted, "expected room for ", batch.batch,
                     " prompts, ", copies, " sequences each, in the cache (",
                     needed, " blocks), got ", cache.capacity());
  }

  /// A sequence a row: each prompt, computed once, as often as sequences are
  /// returned for it.
  Status addPrompts(Session &session) {
    RequestOptions request;
    request.numAnswers = decoding.num_return_sequences;
    for (int64_t row = 0; row < batch.batch; ++row) {
      Result<Prompt> prompt = readPrompt(row);
      if (!prompt) {
        return std::move(prompt.error());
      }
      // Ids count from 1 in a new session.
      session.add(std::move(*prompt), request);
    }
    generated.resize(
        static_cast<size_t>(batch.batch * decoding.num_return_sequences));
    return {};
  }

  Status addPrompts(BeamGeneration &beams) {
    for (int64_t row = 0; row < batch.batch; ++row) {
      Result<Prompt> prompt = readPrompt(row);
      if (!prompt) {
        return std::move(prompt.error());
      }
      beams.add(std::move(*prompt), makeBeamOptions(decoding, eos, batch.length,
                                                    options.maxNewTokens));
    }
    return {};
  }

  Status run(Session &session) {
    for (bool goesOn = true; goesOn;) {
      Status status = session.step();
      if (!status) {
        return status;
      }
      Faults faults;
      for (const tfc_sequence_fault &fault : session.faults()) {
        faults.add(describeFault(model, fault, rowName(fault.sequence - 1)));
      }
      if (faults.any()) {
        return faults.take();
      }
      goesOn = !session.newTokens().empty();
      for (const tfc_new_token &result : session.newTokens()) {
        int64_t row = static_cast<int64_t>(result.sequence) - 1;
        generated[row].push_back(result.token);
        if (options.onToken) {
          goesOn &= callOut("on_token", [&] {
            return options.onToken(row, result.token,
                                   result.state != TFC_RUNNING);
          });
        }
      }
    }
    return {};
  }

  Status run(BeamGeneration &beams) {
    while (!beams.isDone()) {
      Status status = beams.step();
      if (!status) {
        return status;
      }
    }
    return checkBeams(beams.searches());
  }

  std::vector<OutputTensor> collect() const {
    size_t numNew = 0;
    for (const std::vector<int64_t> &tokens : generated) {
      numNew = std::max(numNew, tokens.size());
    }
    OutputTensor out = sequencesOf(static_cast<int64_t>(generated.size()),
                                   batch.length + static_cast<int64_t>(numNew));
    const std::vector<int32_t> &prompt = batch.values[tokenPort(entry)];
    for (size_t row = 0; row < generated.size(); ++row) {
      auto begin = prompt.begin() +
                   static_cast<int64_t>(row / decoding.num_return_sequences) *
                       batch.length;
      out.ints.insert(out.ints.end(), begin, begin + batch.length);
      const std::vector<int64_t> &tokens = generated[row];
      out.ints.insert(out.ints.end(), tokens.begin(), tokens.end());
      out.ints.insert(out.ints.end(), numNew - tokens.size(), pad);
    }
    return listOf(std::move(out));
  }

  std::vector<OutputTensor> collect(const BeamGeneration &beams) const {
    int64_t numReturned = decoding.num_return_sequences;
    int64_t numRows = batch.batch * numReturned;
    // Where generate means the pad token, it takes a pad token of 0 for none.
    int64_t fill = eos.empty() ? -1 : pad > 0 ? pad : eos.front();
    OutputTensor out = sequencesOf(numRows, 0);
    out.shape[1] = collectBest(beams.searches(), numReturned, fill, out.ints);
    OutputTensor scores;
    scores.name = "sequences_scores";
    scores.shape = {numRows};
    for (const BeamSearch &search : beams.searches()) {
      for (int64_t i = 0; i < numReturned; ++i) {
        scores.floats.push_back(search.best()[i].score);
      }
    }
    tell(beams);
    std::vector<OutputTensor> outputs = listOf(std::move(out));
    outputs.push_back(std::move(scores));
    return outputs;
  }

private:
  /// Row `row` of the batch, how it ends, and how its tokens are chosen.
  Result<Prompt> readPrompt(int64_t row) const {
    Result<Prompt> prompt =
        promptOfRow(model, entry, batch, row, options.maxNewTokens);
    if (!prompt) {
      return prompt;
    }
    prompt->eos = eos;
    if (model.encoder()) {
      prompt->source = sourceOfRow(model, source, row);
    }
    Choice &choice = prompt->choice;
    choice.rules =
        makeScoreRules(decoding, eos, batch.length, options.maxNewTokens);
    choice.seed = decoding.seed;
    auto begin = batch.values[tokenPort(entry)].begin() + row * batch.length;
    choice.tokens.assign(begin, begin + batch.length);
    choice.promptLength = batch.length;
    while (!batch.exists(row, choice.numPadding)) {
      ++choice.numPadding;
    }
    return prompt;
  }

  static std::string rowName(uint64_t row) { return concat("row ", row); }

  /// That no search came to where nothing can follow, before it had all that is
  /// returned.
  Status checkBeams(const std::vector<BeamSearch> &searches) const {
    Faults faults;
    for (size_t row = 0; row < searches.size(); ++row) {
      const BeamSearch &search = searches[row];
      bool isWhole =
          search.best()[decoding.num_return_sequences - 1].isFinished;
      tfc_sequence_fault fault{};
      fault.code = TFC_INVALID_ARGUMENT;
      fault.reason =
          search.hasNaN() ? TFC_FAULT_NOT_A_NUMBER : TFC_FAULT_NONE_ALLOWED;
      if (search.hasNaN() || (search.hasNoneAllowed() && !isWhole)) {
        faults.add(describeFault(model, fault, rowName(row)));
      }
    }
    return faults.take();
  }

  static std::vector<OutputTensor> listOf(OutputTensor tensor) {
    std::vector<OutputTensor> list;
    list.push_back(std::move(tensor));
    return list;
  }

  static OutputTensor sequencesOf(int64_t numRows, int64_t length) {
    OutputTensor out;
    out.name = "sequences";
    out.dtype = TFC_I64;
    out.shape = {numRows, length};
    return out;
  }

  /// Every returned token, row by row, while the caller wants them.
  void tell(const BeamGeneration &beams) const {
    bool goesOn = options.onToken != nullptr;
    int64_t row = 0;
    for (const BeamSearch &search : beams.searches()) {
      for (int64_t i = 0; i < decoding.num_return_sequences; ++i, ++row) {
        const std::vector<int32_t> &tokens = search.best()[i].tokens;
        for (size_t t = static_cast<size_t>(batch.length);
             goesOn && t < tokens.size(); ++t) {
          goesOn = callOut("on_token", [&] {
            return options.onToken(row, tokens[t], t + 1 == tokens.size());
          });
        }
      }
    }
  }

  /// Without a mask, generate takes pad tokens of a decoder without an encoder
  /// for padding, unless they could be end tokens.
  void guessMask(InputBatch &given) const {
    bool padEnds = std::find(eos.begin(), eos.end(), pad) != eos.end();
    if (!given.mask.empty() || pad < 0 || padEnds) {
      return;
    }
    const std::vector<int32_t> &tokens = given.values[tokenPort(entry)];
    given.mask.resize(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      given.mask[i] = tokens[i] != pad;
    }
  }

  const Model &model;
  const tfc_entry_v0 &entry;
  const GenerateOptions &options;
  tfc_decoding_options decoding;
  std::vector<int64_t> eos;
  int64_t pad;
  InputBatch batch, source; // of the decoder; of an encoder, if there is one
  std::vector<std::vector<int64_t>> generated; // by row
};

template <typename Generator, typename Options>
Result<std::unique_ptr<Generator>>
runWith(Generation &generation, const Model &model, const Options &options) {
  auto engine = Generator::create(model, options);
  if (!engine) {
    return engine;
  }
  Status status = generation.checkRoom((*engine)->cache());
  if (status) {
    status = generation.addPrompts(**engine);
  }
  if (status) {
    status = generation.run(**engine);
  }
  if (!status) {
    return std::move(status.error());
  }
  return engine;
}

} // namespace

Result<std::vector<OutputTensor>> runGenerate(const Model &model,
                                              const tfc_tensor *inputs,
                                              uint32_t numInputs,
                                              const GenerateOptions &options) {
  if (options.maxNewTokens < 1) {
    return makeError(Code::InvalidArgument,
                     "expected at least 1 new token, got ",
                     options.maxNewTokens);
  }
  const tfc_entry_v0 *entry = model.generateEntry();
  if (!entry || tokenPort(*entry) < 0) {
    return cannotGenerate(model);
  }
  Generation generation(model, options);
  Status status = generation.readPrompts(inputs, numInputs);
  if (!status) {
    return std::move(status.error());
  }
  if (generation.hasBeams()) {
    auto beams = runWith<BeamGeneration>(generation, model, options.engine);
    return beams ? generation.collect(**beams)
                 : Result<std::vector<OutputTensor>>(std::move(beams.error()));
  }
  SessionOptions how;
  how.engine = options.engine;
  how.maxDrafts = options.maxDrafts;
  how.draft = options.draft;
  auto session = runWith<Session>(generation, model, how);
  return session
             ? generation.collect()
             : Result<std::vector<OutputTensor>>(std::move(session.error()));
}

} // namespace tfc::rt
