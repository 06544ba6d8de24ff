// Guesses of a smaller model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/DraftModel.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>

namespace tfc::rt {

// Of texts that it has not read yet, where a session's steps have no limit.
static constexpr int64_t defaultStepTokens = 256;

DraftModel::DraftModel(std::shared_ptr<const Model> guesser,
                       const Model &target, const tfc_entry_v0 &entry,
                       int64_t maxStepTokens)
    : model(std::move(guesser)), target(target), entry(entry), engine(*model),
      runner(*engine.step), ids(tokenPort(entry)),
      maxStepTokens(
          std::min(maxStepTokens == 0 ? defaultStepTokens : maxStepTokens,
                   model->stepLimit())),
      wanted(entry.n_outputs, 0) {
  plain.values.resize(entry.n_inputs);
  plain.pad = static_cast<int32_t>(model->table().pad);
  mostTokens = lengthLimit(entry, model->table().max_positions, plain);
}

/// Whether it goes on from tokens and nothing else.
static Status checkDecoder(const Model &model, const char *which) {
  const tfc_entry_v0 *entry = model.generateEntry();
  if (!entry || model.isEncoderDecoder() || tokenPort(*entry) < 0) {
    return makeError(Code::Unsupported, which, model.path(), ": expected a ",
                     "decoder that generates (where another model guesses), ",
                     "got a model of another kind");
  }
  // A state is of all tokens so far: guesses that are wrong cannot leave it.
  if (findCache(*entry, TFC_CACHE_STATE) >= 0) {
    return makeError(Code::Unsupported, which, model.path(), ": expected a ",
                     "decoder without layers that keep a state (where another ",
                     "model guesses), got one with them");
  }
  return {};
}

Result<std::unique_ptr<DraftModel>>
DraftModel::create(std::shared_ptr<const Model> model, const Model &target,
                   const StopRequest &stop, int64_t cacheTokens,
                   int64_t maxStepTokens) {
  Faults faults;
  faults.add(checkDecoder(target, ""));
  faults.add(checkDecoder(*model, "draft: "));
  if (faults.any()) {
    return faults.take().error();
  }
  const tfc_entry_v0 &entry = *model->generateEntry();
  const tfc_entry_v0 &targetEntry = *target.generateEntry();
  int64_t own = entry.inputs[tokenPort(entry)].limit;
  int64_t others = targetEntry.inputs[tokenPort(targetEntry)].limit;
  if (own != others) {
    return makeError(Code::Incompatible, "draft: ", model->path(),
                     ": expected the vocabulary of ", target.path(), " (",
                     others, " tokens), got one of ", own);
  }
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    const tfc_port_v0 &port = entry.inputs[p];
    if (p != tokenPort(entry) && port.fill == TFC_FILL_REQUIRED) {
      return makeError(Code::Unsupported, "draft: ", model->path(),
                       ": expected a model that goes on from tokens alone, ",
                       "got one that needs ", quoteName(port.name));
    }
  }
  std::unique_ptr<DraftModel> made(
      new DraftModel(std::move(model), target, entry, maxStepTokens));
  const tfc_cache_v0 &cache = cacheOf(entry, TFC_CACHE_SELF);
  int64_t blocks = cacheTokens / std::max<int64_t>(1, cache.block_tokens) + 1;
  Status status = made->engine.open(
      {static_cast<uint64_t>(blocks) * cache.block_bytes, stop});
  if (!status) {
    return std::move(status.error());
  }
  return made;
}

double DraftModel::cost() const {
  return double(model->weightBytes()) /
         double(std::max<uint64_t>(1, target.weightBytes()));
}

static size_t commonTokens(const std::vector<int32_t> &a,
                           const std::vector<int32_t> &b) {
  size_t most = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<int64_t>(most),
                    b.begin())
          .first -
      a.begin());
}

/// The sequence's own, or a new one, which begins with what another one has of
/// the text.
DraftModel::Mirror &DraftModel::mirrorOf(const Guess &guess) {
  auto found = mirrors.find(guess.sequence);
  if (found != mirrors.end()) {
    return found->second;
  }
  Mirror made;
  for (const auto &[id, other] : mirrors) {
    size_t common = commonTokens(other.tokens, *guess.tokens);
    if (common > made.tokens.size()) {
      made.tokens.assign(guess.tokens->begin(),
                         guess.tokens->begin() + static_cast<int64_t>(common));
      runner.cache.share(other.blocks, made.blocks);
    }
  }
  return mirrors[guess.sequence] = std::move(made);
}

/// Blocks for the next tokens of a sequence; without room it has none at all,
/// so that others do.
bool DraftModel::makeRoom(Mirror &mirror, int64_t count) {
  auto past = static_cast<int64_t>(mirror.tokens.size());
  bool isThere =
      bool(runner.cache.grow(mirror.blocks, past + count)) &&
      bool(runner.cache.makeWritable(mirror.blocks, past, past + count));
  if (!isThere) {
    runner.cache.release(mirror.blocks);
    mirror.tokens.clear();
  }
  return isThere;
}

/// What is missing of a text, up to `left` tokens. Whether it is in the pass.
bool DraftModel::plan(Guess &guess, int64_t left) {
  const std::vector<int32_t> &text = *guess.tokens;
  auto length = static_cast<int64_t>(text.size());
  guess.draft.clear();
  // The last guess is not run.
  if (mostTokens != 0) {
    guess.most = std::min(guess.most, mostTokens - length + 1);
  }
  if (guess.most < 1 || left < 1) {
    return false;
  }
  Mirror &mirror = mirrorOf(guess);
  // The last token is run for its row.
  size_t common = std::min(commonTokens(mirror.tokens, text), text.size() - 1);
  mirror.tokens.resize(common);
  runner.cache.releaseBehind(mirror.blocks, static_cast<int64_t>(common));
  int64_t count = std::min(left, length - static_cast<int64_t>(common));
  if (!makeRoom(mirror, count)) {
    return false;
  }
  auto begin = text.begin() + static_cast<int64_t>(common);
  pieces.push_back(
      {&guess, &mirror, {begin, begin + count}, begin + count == text.end()});
  return true;
}

void DraftModel::addPiece(const Piece &piece) {
  Batch &batch = runner.batch;
  auto past = static_cast<int64_t>(piece.mirror->tokens.size());
  auto count = static_cast<int64_t>(piece.tokens.size());
  int32_t first = batch.add(count, past, past + count, piece.mirror->blocks);
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    for (int64_t i = 0; i < count; ++i) {
      batch.inputs[p].push_back(
          p == ids ? piece.tokens[static_cast<size_t>(i)]
                   : plain.value(entry.inputs[p], p, 0, 0, past + i));
    }
  }
  if (piece.isLast) {
    batch.rows.push_back(first + static_cast<int32_t>(count) - 1);
  }
}

Status DraftModel::run() {
  runner.batch.clear();
  for (const Piece &piece : pieces) {
    addPiece(piece);
  }
  wanted[model->logitsPort()] = runner.batch.rows.empty() ? NotWanted
                                : model->givesGreatest()  ? WantedGreatest
                                                          : WantedRows;
  Status status = runner.run(wanted);
  for (Piece &piece : pieces) {
    std::vector<int32_t> &to = piece.mirror->tokens;
    if (status) {
      to.insert(to.end(), piece.tokens.begin(), piece.tokens.end());
    }
  }
  return status;
}

/// The likeliest token of each row, which the next pass runs where more are
/// wanted.
void DraftModel::takeRows() {
  int64_t width = entry.outputs[model->logitsPort()].width;
  int64_t limit = entry.inputs[ids].limit;
  const float *row = runner.output(model->logitsPort());
  const int32_t *greatest =
      model->givesGreatest() ? runner.greatest() : nullptr;
  std::vector<Piece> next;
  for (Piece &piece : pieces) {
    if (!piece.isLast) {
      continue;
    }
    int64_t token =
        greatest ? *greatest++ : std::max_element(row, row + width) - row;
    row += greatest ? 0 : width;
    Guess &guess = *piece.guess;
    if (token < 0 || token >= limit) {
      continue; // there is none, or it has no embedding
    }
    guess.draft.push_back(static_cast<int32_t>(token));
    if (static_cast<int64_t>(guess.draft.size()) < guess.most &&
        makeRoom(*piece.mirror, 1)) {
      piece.tokens.assign(1, static_cast<int32_t>(token));
      next.push_back(std::move(piece));
    }
  }
  pieces = std::move(next);
}

Status DraftModel::guess(std::vector<Guess> &guesses) {
  pieces.clear();
  int64_t left = maxStepTokens;
  for (Guess &guess : guesses) {
    if (plan(guess, left)) {
      left -= static_cast<int64_t>(pieces.back().tokens.size());
    }
  }
  while (!pieces.empty()) {
    Status status = run();
    if (!status) {
      return status;
    }
    takeRows();
  }
  return {};
}

} // namespace tfc::rt
