// What the decoder of an encoder-decoder begins with when its caller does not
// say it, or not all of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Inputs.h"

namespace tfc::rt {

static Error missing(const tfc_port_v0 &port, const char *why) {
  return makeError(Code::InvalidArgument, "input ", quoteName(port.name),
                   ": expected a tensor", why, ", got none");
}

/// An empty batch of a decoder's inputs, [batch, length] to be.
static InputBatch makeBatch(const Model &model, int64_t batch, int64_t length) {
  InputBatch made;
  made.batch = batch;
  made.length = length;
  made.maskName = decoderMaskName;
  made.values.resize(model.decoder()->n_inputs);
  made.pad = static_cast<int32_t>(model.table().pad);
  return made;
}

Result<InputBatch> shiftInputs(const Model &model, const InputBatch &encoder) {
  const tfc_entry_v0 &entry = *model.decoder();
  int64_t ids = tokenPort(entry);
  const tfc_port_v0 &port = entry.inputs[ids];
  if (port.fill != TFC_FILL_SHIFTED) {
    return missing(port, "");
  }
  InputBatch made = makeBatch(model, encoder.batch, encoder.length);
  int64_t limit = lengthLimit(entry, model.table().max_positions, made);
  if (limit != 0 && made.length > limit) {
    return makeError(Code::InvalidArgument, "input \"input_ids\": expected a ",
                     "length of at most ", limit, " (the decoder's positions, ",
                     "which gets them too), got ", made.length);
  }
  int64_t source = tokenPort(*model.encoder());
  std::vector<int32_t> &to = made.values[ids];
  for (int64_t i = 0; i < made.batch * made.length; ++i) {
    int64_t token = i % made.length == 0 ? model.table().decoder_start
                                         : encoder.values[source][i - 1];
    if (token >= port.limit) {
      return makeError(Code::InvalidArgument, "input \"input_ids\": expected ",
                       "tokens of the decoder, from 0 to ", port.limit - 1,
                       ", got ", token);
    }
    to.push_back(static_cast<int32_t>(token));
  }
  return made;
}

/// The batch with `token` before every row.
static InputBatch putBefore(const InputBatch &given, int64_t ids,
                            int32_t token) {
  InputBatch made = given;
  ++made.length;
  made.values[ids].clear();
  made.mask.clear();
  for (int64_t row = 0; row < given.batch; ++row) {
    auto copyRow = [&](const auto &from, auto &to, auto first) {
      to.push_back(first);
      auto begin = from.begin() + row * given.length;
      to.insert(to.end(), begin, begin + given.length);
    };
    copyRow(given.values[ids], made.values[ids], token);
    if (!given.mask.empty()) {
      copyRow(given.mask, made.mask, uint8_t(1));
    }
  }
  return made;
}

Status startDecoder(const Model &model, ModelInputs &inputs) {
  const tfc_entry_v0 &entry = *model.decoder();
  const tfc_module_v0 &table = model.table();
  int64_t ids = tokenPort(entry);
  const tfc_port_v0 &port = entry.inputs[ids];
  int64_t start = table.decoder_start >= 0 ? table.decoder_start : table.bos;
  bool hasStart = start >= 0 && start < port.limit;
  InputBatch &decoder = inputs.decoder;
  if (decoder.batch == 0) {
    if (!hasStart) {
      return missing(port, " (the model has no decoder_start)");
    }
    decoder = makeBatch(model, inputs.encoder.batch, 1);
    decoder.values[ids].assign(static_cast<size_t>(decoder.batch),
                               static_cast<int32_t>(start));
    return {};
  }
  // Of a sound the caller says all, as what was said before the start.
  bool startsSomewhere = !hasStart || hasGiven(*model.encoder());
  for (int64_t row = 0; row < decoder.batch; ++row) {
    startsSomewhere |= decoder.values[ids][row * decoder.length] == start;
  }
  if (startsSomewhere) {
    return {};
  }
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    if (p != ids && !decoder.values[p].empty()) {
      return makeError(Code::InvalidArgument, "input ", quoteName(port.name),
                       ": expected rows that begin with ", start, " (the ",
                       "model's decoder_start, where ", entry.inputs[p].name,
                       " are given), got others");
    }
  }
  decoder = putBefore(decoder, ids, static_cast<int32_t>(start));
  return {};
}

} // namespace tfc::rt
