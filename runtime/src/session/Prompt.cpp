// How a row of a padded batch becomes a prompt, as Hugging Face's generate
// would continue it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Prompt.h"

#include "runtime/src/load/ModuleTables.h"

namespace tfc::rt {

/// Whether the positions of the prompt and its continuation exist.
static Status checkRoom(const Model &model, const tfc_entry_v0 &entry,
                        int64_t length, const Prompt &prompt) {
  int64_t limit = model.table().max_positions;
  if (limit != 0 && prompt.maxNewTokens > limit - length) {
    return makeError(Code::InvalidArgument, "expected prompt and new tokens ",
                     "within ", limit, " (the model's positions), got ", length,
                     " and ", prompt.maxNewTokens);
  }
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const tfc_port_v0 &port = entry.inputs[p];
    // The last new token is never fed back.
    if (fillsByPosition(port) &&
        prompt.maxNewTokens - 1 > port.limit - prompt.nextPosition) {
      return makeError(Code::InvalidArgument, "input ", quoteName(port.name),
                       ": expected positions below ", port.limit,
                       ", got a prompt that ends at ", prompt.nextPosition - 1,
                       " and ", prompt.maxNewTokens, " new tokens");
    }
  }
  return {};
}

std::shared_ptr<Source> sourceOfRow(const Model &model, const InputBatch &batch,
                                    int64_t row) {
  const tfc_entry_v0 &entry = *model.encoder();
  auto source = std::make_shared<Source>();
  source->values.resize(entry.n_inputs);
  int64_t width = 0;
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    bool isGiven = entry.inputs[p].flags & TFC_PORT_EMBEDS;
    width = isGiven ? static_cast<int64_t>(entry.inputs[p].width) : width;
  }
  // The rows of tokens that exist, which are the source's own then.
  auto own = [&](int64_t id) {
    const float *from = batch.given + (-1 - id) * width;
    source->given.insert(source->given.end(), from, from + width);
    return static_cast<int32_t>(-1 - source->numGiven++);
  };
  for (int64_t column = 0; column < batch.length; ++column) {
    for (uint32_t p = 0; batch.exists(row, column) && p < entry.n_inputs; ++p) {
      const tfc_port_v0 &port = entry.inputs[p];
      if (port.flags & TFC_PORT_EMBEDS) {
        continue;
      }
      int32_t value = batch.value(port, p, row, column,
                                  batch.positionOf(port, row, column));
      bool isGiven = port.fill == TFC_FILL_GIVEN && value < 0;
      source->values[p].push_back(isGiven ? own(value) : value);
    }
  }
  return source;
}

Result<Prompt> promptOfRow(const Model &model, const tfc_entry_v0 &entry,
                           const InputBatch &batch, int64_t row,
                           int64_t maxNewTokens) {
  bool countsColumns = model.encoder() != nullptr;
  Prompt prompt;
  prompt.maxNewTokens = maxNewTokens;
  prompt.values.resize(entry.n_inputs);
  int64_t last = batch.length - 1, position = 0;
  auto valuesAt = [&](int64_t column, int64_t at, auto put) {
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      put(p, batch.value(entry.inputs[p], p, row, column, at));
    }
  };
  for (int64_t column = 0; column < batch.length; ++column) {
    if (batch.exists(row, column)) {
      int64_t at = countsColumns ? column : position++;
      valuesAt(column, at, [&](uint32_t p, int32_t value) {
        prompt.values[p].push_back(value);
      });
    }
  }
  // Where generate counts, it gives masked tokens position 0, and goes on from
  // the position of the last column, whatever that is.
  bool lastExists = batch.exists(row, last);
  int64_t lastPosition = countsColumns ? last : lastExists ? position - 1 : 0;
  valuesAt(last, lastPosition, [&](uint32_t p, int32_t value) {
    prompt.carry.push_back(value);
    if (fillsByPosition(entry.inputs[p])) {
      lastPosition = value;
    }
  });
  prompt.afterPad = model.table().pad + 1;
  bool hasStates = findCache(entry, TFC_CACHE_STATE) >= 0;
  if (!lastExists && (hasStates || entry.flags & TFC_ENTRY_DISTANCES)) {
    return makeError(Code::InvalidArgument, "input ", quoteName(batch.maskName),
                     ": expected padding on the left (the model ",
                     hasStates ? "keeps a state" : "counts distances",
                     "), got a masked token at [", row, ", ", last, "]");
  }
  if (!lastExists) {
    prompt.spectator = prompt.carry;
  }
  prompt.nextPosition = lastPosition + 1;
  Status status = checkRoom(model, entry, batch.length, prompt);
  if (!status) {
    return std::move(status.error());
  }
  return prompt;
}

} // namespace tfc::rt
