// Batches of one sequence, and tokens where there is no text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/CalibrationBatches.h"

#include <random>

using namespace tfc;
using namespace tfc::quantize;
using transformer::Take;

static constexpr int64_t kTexts = 16, kLength = 48;

static PaddedBatch batchOf(const EntryInfo &info,
                           llvm::ArrayRef<int64_t> tokens) {
  PaddedBatch batch;
  batch.batch = 1;
  batch.length = static_cast<int64_t>(tokens.size());
  batch.inputs[info.idsName()].assign(tokens.begin(), tokens.end());
  batch.mask.assign(tokens.size(), 1);
  return batch;
}

std::vector<PaddedBatch>
tfc::quantize::batchOf(llvm::ArrayRef<EntryInfo> entries,
                       llvm::ArrayRef<int64_t> tokens) {
  std::vector<PaddedBatch> batches;
  for (const EntryInfo &info : entries) {
    std::vector<int64_t> own = tokens.vec();
    if (!info.prefix.empty()) {
      own.insert(own.begin(), std::max<int64_t>(info.decoderStart, 0));
      own.pop_back();
    }
    batches.push_back(::batchOf(info, own));
  }
  return batches;
}

/// Of ids that are neither padding nor an end.
static int64_t drawToken(const EntryInfo &info, std::mt19937_64 &random) {
  int64_t limit = 1;
  for (transformer::InputAttr input : info.inputs) {
    limit = input.getName() == info.idsName() ? input.getLimit() : limit;
  }
  auto id = static_cast<int64_t>(random() % limit);
  for (int64_t tries = 0; tries < limit; ++tries) {
    if (id != info.pad && !llvm::is_contained(info.eos, id)) {
      break;
    }
    id = (id + 1) % limit;
  }
  return id;
}

/// What the model says after each text, as long as they are to be.
static rt::Status generate(RunningLibrary &library, int64_t length,
                           std::vector<std::vector<int64_t>> &texts) {
  if (rt::Status opened = library.openSession(); !opened) {
    return opened;
  }
  std::map<uint64_t, size_t> indexOf;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto id = library.addPrompt(texts[i], length - 1);
    if (!id) {
      return std::move(id.error());
    }
    indexOf[*id] = i;
  }
  for (int64_t step = 1; step < length; ++step) {
    auto tokens = library.step();
    if (!tokens) {
      return std::move(tokens.error());
    }
    for (const tfc_new_token &token : *tokens) {
      texts[indexOf[token.sequence]].push_back(token.token);
    }
  }
  return {};
}

rt::Result<std::vector<std::vector<int64_t>>>
tfc::quantize::makeTokens(llvm::ArrayRef<EntryInfo> entries,
                          RunningLibrary &library) {
  const EntryInfo &first = entries.front();
  std::mt19937_64 random(1);
  int64_t length =
      first.maxPositions > 0 ? std::min(kLength, first.maxPositions) : kLength;
  bool generates = entries.size() == 1 && library.canGenerate() && length > 1;
  std::vector<std::vector<int64_t>> texts(kTexts);
  for (std::vector<int64_t> &text : texts) {
    for (int64_t i = 0; i < (generates ? 1 : length); ++i) {
      text.push_back(drawToken(first, random));
    }
    if ((entries.back().take == Take::LastEos ||
         entries.back().take == Take::FirstEos) &&
        !first.eos.empty()) {
      text.back() = first.eos.front();
    }
  }
  if (generates) {
    if (rt::Status status = generate(library, length, texts); !status) {
      return std::move(status.error());
    }
  }
  return texts;
}
