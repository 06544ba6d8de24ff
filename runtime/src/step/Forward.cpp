// One forward pass: of an encoder-decoder both entries, one after the other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Forward.h"

#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/step/Engine.h"
#include "runtime/src/step/EntryPass.h"

#include <algorithm>

namespace tfc::rt {

namespace {

/// Which outputs of the two entries are wanted; empty for an entry that the
/// model has not.
struct Wanted {
  std::vector<uint8_t> encode, step;

  bool hasStep() const {
    return std::find(step.begin(), step.end(), 1) != step.end();
  }
};

/// Whether the entry has an output of this name, which is marked then.
bool mark(const tfc_entry_v0 *entry, const std::string &name,
          std::vector<uint8_t> &wanted) {
  for (uint32_t p = 0; entry && p < entry->n_outputs; ++p) {
    if (name == entry->outputs[p].name) {
      wanted[p] = 1;
      return true;
    }
  }
  return false;
}

Result<Wanted> chooseOutputs(const Model &model,
                             const std::vector<std::string> &names) {
  const tfc_entry_v0 *encode = model.encoder(), *step = model.decoder();
  Wanted wanted;
  wanted.encode.assign(encode ? encode->n_outputs : 0, names.empty());
  wanted.step.assign(step ? step->n_outputs : 0, names.empty());
  for (const std::string &name : names) {
    if (!mark(step, name, wanted.step) && !mark(encode, name, wanted.encode)) {
      return makeError(Code::InvalidArgument, "output ", quoteName(name),
                       ": expected an output of the model, got another ",
                       "name");
    }
  }
  return wanted;
}

/// Checks what is asked of heads: that there is one among the wanted outputs,
/// and that each has such columns.
Status checkHeadRows(const Model &model, const Wanted &wanted,
                     const std::vector<int64_t> &headRows) {
  Faults faults;
  bool hasHead = false;
  for (auto [entry, marks] : {std::pair{model.encoder(), &wanted.encode},
                              std::pair{model.decoder(), &wanted.step}}) {
    for (uint32_t p = 0; entry && p < entry->n_outputs; ++p) {
      const tfc_port_v0 &port = entry->outputs[p];
      if ((*marks)[p] && isHead(*entry, port)) {
        hasHead = true;
        faults.add(checkTokenIds("head_rows", headRows, port.width));
      }
    }
  }
  if (!headRows.empty() && !hasHead) {
    faults.add(makeError(Code::InvalidArgument, "head_rows: expected a wanted ",
                         "output over the vocabulary, got none"));
  }
  return faults.take();
}

/// Makes the decoder's inputs where they are wanted and not given, and checks
/// the rows of both entries.
Status complete(const Model &model, bool needsStep, ModelInputs &inputs) {
  if (needsStep && inputs.decoder.batch == 0) {
    Result<InputBatch> made = shiftInputs(model, inputs.encoder);
    if (!made) {
      return std::move(made.error());
    }
    inputs.decoder = std::move(*made);
  }
  Faults faults;
  if (model.encoder()) {
    faults.add(checkRows(*model.encoder(), inputs.encoder));
  }
  if (model.decoder()) {
    faults.add(checkRows(*model.decoder(), inputs.decoder));
  }
  return faults.take();
}

} // namespace

bool isHead(const tfc_entry_v0 &entry, const tfc_port_v0 &port) {
  int64_t ids = tokenPort(entry);
  return port.flags & TFC_PORT_HEAD_ROWS ||
         (ids >= 0 && entry.inputs[ids].limit == port.width);
}

Result<std::vector<OutputTensor>>
runForward(const Model &model, const tfc_tensor *inputs, uint32_t numInputs,
           const std::vector<std::string> &names, const StopRequest &stop,
           const std::vector<int64_t> &headRows,
           std::vector<InputBatch::Unseen> unseen) {
  Result<ModelInputs> given = readInputs(model, inputs, numInputs);
  if (!given) {
    return std::move(given.error());
  }
  Result<Wanted> wanted = chooseOutputs(model, names);
  if (!wanted) {
    return std::move(wanted.error());
  }
  Status status = checkHeadRows(model, *wanted, headRows);
  if (status) {
    status = complete(model, wanted->hasStep(), *given);
  }
  if (!status) {
    return std::move(status.error());
  }
  given->encoder.unseen = std::move(unseen);
  auto engine = model.borrowEngine();
  if (!engine) {
    return std::move(engine.error());
  }
  (*engine)->setStop(stop);
  size_t numRows = static_cast<size_t>(given->encoder.batch);
  CrossRows rows{(*engine)->cross, std::vector<BlockTable>(numRows),
                 std::vector<int64_t>(numRows)};
  CrossRows *cross = model.isEncoderDecoder() ? &rows : nullptr;
  std::optional<EntryPass> encode, step;
  if (model.encoder()) {
    encode.emplace(model, *(*engine)->encode, given->encoder, wanted->encode,
                   headRows);
    status = encode->run(*given, cross);
  }
  if (status && wanted->hasStep()) {
    step.emplace(model, *(*engine)->step, given->decoder, wanted->step,
                 headRows);
    status = step->run(*given, cross);
  }
  if (!status) {
    return std::move(status.error());
  }
  std::vector<OutputTensor> results;
  for (const std::optional<EntryPass> *pass : {&step, &encode}) {
    if (*pass) {
      (*pass)->collect(results);
    }
  }
  model.giveBack(std::move(*engine));
  return results;
}

} // namespace tfc::rt
