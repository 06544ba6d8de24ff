// Greedy generation: Hugging Face's generate with one beam and no sampling, on
// a session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Generate.h"

#include "runtime/src/Session.h"

#include <algorithm>

namespace tfc::rt {

namespace {

class Generation {
public:
  Generation(const Model &model, const GenerateOptions &options)
      : model(model), entry(*model.generateEntry()), options(options) {
    const tfc_module_v0 &table = model.table();
    eos = options.eos
              ? *options.eos
              : std::vector<int64_t>(table.eos, table.eos + table.n_eos);
    pad = table.pad >= 0 || eos.empty() ? table.pad : eos.front();
  }

  Status readPrompts(const tfc_tensor *inputs, uint32_t numInputs) {
    Result<InputBatch> read =
        readInputs(entry, model.table().max_positions, inputs, numInputs);
    if (!read) {
      return std::move(read.error());
    }
    batch = std::move(*read);
    guessMask();
    return checkRows(batch);
  }

  Status addPrompts(Session &session) {
    for (int64_t row = 0; row < batch.batch; ++row) {
      Result<Prompt> prompt =
          promptOfRow(model, entry, batch, row, options.maxNewTokens);
      if (!prompt) {
        return std::move(prompt.error());
      }
      prompt->eos = eos;
      // Ids count from 1 in a new session.
      session.add(std::move(*prompt));
    }
    generated.resize(static_cast<size_t>(batch.batch));
    return {};
  }

  Status run(Session &session) {
    for (bool goesOn = true; goesOn;) {
      Status status = session.step();
      if (!status) {
        return status;
      }
      goesOn = !session.newTokens().empty();
      for (const tfc_new_token &result : session.newTokens()) {
        int64_t row = static_cast<int64_t>(result.sequence) - 1;
        generated[row].push_back(result.token);
        if (options.onToken) {
          goesOn &=
              options.onToken(row, result.token, result.state != TFC_RUNNING);
        }
      }
    }
    return {};
  }

  OutputTensor collect() const {
    size_t numNew = 0;
    for (const std::vector<int64_t> &tokens : generated) {
      numNew = std::max(numNew, tokens.size());
    }
    OutputTensor out;
    out.name = "sequences";
    out.dtype = TFC_I64;
    out.shape = {batch.batch, batch.length + static_cast<int64_t>(numNew)};
    const std::vector<int32_t> &prompt = batch.values[tokenPort(entry)];
    for (int64_t row = 0; row < batch.batch; ++row) {
      auto begin = prompt.begin() + row * batch.length;
      out.ints.insert(out.ints.end(), begin, begin + batch.length);
      const std::vector<int64_t> &tokens = generated[row];
      out.ints.insert(out.ints.end(), tokens.begin(), tokens.end());
      out.ints.insert(out.ints.end(), numNew - tokens.size(), pad);
    }
    return out;
  }

private:
  /// Without a mask, generate takes pad tokens for padding, unless they could
  /// be end tokens.
  void guessMask() {
    bool padEnds = std::find(eos.begin(), eos.end(), pad) != eos.end();
    if (!batch.mask.empty() || pad < 0 || padEnds) {
      return;
    }
    const std::vector<int32_t> &tokens = batch.values[tokenPort(entry)];
    batch.mask.resize(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      batch.mask[i] = tokens[i] != pad;
    }
  }

  const Model &model;
  const tfc_entry_v0 &entry;
  const GenerateOptions &options;
  std::vector<int64_t> eos;
  int64_t pad;
  InputBatch batch;
  std::vector<std::vector<int64_t>> generated; // by row
};

} // namespace

Result<OutputTensor> runGenerate(const Model &model, const tfc_tensor *inputs,
                                 uint32_t numInputs,
                                 const GenerateOptions &options) {
  if (options.maxNewTokens < 1) {
    return makeError(Code::InvalidArgument,
                     "expected at least 1 new token, got ",
                     options.maxNewTokens);
  }
  auto session = Session::create(model, options.maxCacheBytes);
  if (!session) {
    return std::move(session.error());
  }
  Generation generation(model, options);
  Status status = generation.readPrompts(inputs, numInputs);
  if (status) {
    status = generation.addPrompts(**session);
  }
  if (status) {
    status = generation.run(**session);
  }
  if (!status) {
    return std::move(status.error());
  }
  return generation.collect();
}

} // namespace tfc::rt
