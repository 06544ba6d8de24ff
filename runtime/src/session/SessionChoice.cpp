// The new tokens of a step, what they were chosen from, and who has none.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/CallOut.h"
#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/session/Session.h"

#include <algorithm>

namespace tfc::rt {

// A library's words for rows without a token are those of a choice.
static_assert(TFC_GREATEST_NONE == NoneAllowed &&
              TFC_GREATEST_NAN == NotANumber);

void Session::pickTokens() {
  uint32_t port = model.logitsPort();
  int64_t width = entry.outputs[port].width;
  chosen.clear();
  if (!finishing.empty()) {
    lendRows(width);
    choose(rows);
  }
  size_t numPicked = 0;
  for (size_t s = 0; s < finishing.size(); ++s) {
    finishing[s]->picked.assign(1, chosen[s]);
  }
  pickBehindDrafts(width);
  for (const Sequence *sequence : finishing) {
    numPicked += sequence->picked.size();
  }
  reports.begin(numPicked + failing.size());
  addResults(width);
  reports.finish();
  for (Sequence *sequence : failing) {
    sequence->result = static_cast<int64_t>(results.size());
    results.push_back({sequence->id, -1, TFC_FAILED, 0});
    addFault(*sequence, TFC_FAULT_NO_ROOM);
  }
  reportEchoes(width);
}

/// A row of logits; null where they are not the host's.
float *Session::rowAt(int64_t row, int64_t width) const {
  return logitRows ? logitRows + row * width : nullptr;
}

/// A token from each row, `choices` and `rowNumbers` being theirs.
void Session::choose(const std::vector<float *> &from) {
  if (!greatest) {
    int64_t width = entry.outputs[model.logitsPort()].width;
    scores.choose(from, width, choices, chosen);
    return;
  }
  chosen.clear();
  for (int64_t row : rowNumbers) {
    chosen.push_back(greatest[row]);
  }
}

/// The rows of logits that tokens are chosen from, as the hook leaves them.
void Session::lendRows(int64_t width) {
  rows.clear();
  rowNumbers.clear();
  choices.clear();
  size_t numShared = 0;
  for (Sequence *sequence : finishing) {
    rows.push_back(rowAt(sequence->row, width));
    rowNumbers.push_back(sequence->row);
    choices.push_back(&sequence->next.choice);
    numShared += sequence->leader != 0;
  }
  if (!hook.change) {
    return;
  }
  ownRows.resize(numShared * static_cast<size_t>(width));
  float *own = ownRows.data();
  for (size_t s = 0; s < finishing.size(); ++s) {
    if (finishing[s]->leader != 0) {
      std::copy_n(rows[s], width, own);
      rows[s] = own;
      own += width;
    }
  }
  for (size_t s = 0; s < finishing.size(); ++s) {
    callOut("on_logits",
            [&] { hook.change(hook.user, finishing[s]->id, rows[s], width); });
  }
}

/// Whether the last token that was picked is the one that was guessed, and the
/// sequence goes on behind it: then the next row is one of this sequence.
bool Session::isRight(const Sequence &sequence) const {
  size_t number = sequence.picked.size() - 1;
  int64_t token = sequence.picked.back();
  return number < sequence.draft.size() && sequence.draft[number] == token &&
         stateWith(sequence, token,
                   sequence.produced + static_cast<int64_t>(number) + 1) ==
             TFC_RUNNING;
}

/// A guess that is the token which came has a row of logits behind it, from
/// which the next token is chosen as it would be in the next step: looking at
/// what came before it, and at no other guess.
void Session::pickBehindDrafts(int64_t width) {
  right.clear();
  for (Sequence *sequence : finishing) {
    if (!sequence->draft.empty()) {
      right.push_back(sequence);
    }
  }
  auto isOut = [&](const Sequence *sequence) { return !isRight(*sequence); };
  for (size_t number = 1;; ++number) {
    right.erase(std::remove_if(right.begin(), right.end(), isOut), right.end());
    if (right.empty()) {
      return;
    }
    draftRows.clear();
    rowNumbers.clear();
    choices.clear();
    for (Sequence *sequence : right) {
      Choice &choice = sequence->next.choice;
      choice.tokens.push_back(static_cast<int32_t>(sequence->picked.back()));
      rowNumbers.push_back(sequence->row + static_cast<int64_t>(number));
      draftRows.push_back(rowAt(rowNumbers.back(), width));
      choices.push_back(&choice);
    }
    choose(draftRows);
    for (size_t s = 0; s < right.size(); ++s) {
      right[s]->picked.push_back(chosen[s]);
    }
  }
}

void Session::addResults(int64_t width) {
  for (size_t s = 0; s < finishing.size(); ++s) {
    Sequence &sequence = *finishing[s];
    forgetPicked(sequence);
    sequence.result = static_cast<int64_t>(results.size());
    for (size_t number = 0; number < sequence.picked.size(); ++number) {
      int64_t row = sequence.row + static_cast<int64_t>(number);
      addResult(sequence, number, number ? rowAt(row, width) : rows[s], width);
    }
  }
}

/// A token that was picked, and what it was chosen from.
void Session::addResult(Sequence &sequence, size_t number, const float *from,
                        int64_t width) {
  Choice &choice = sequence.next.choice;
  int64_t token = sequence.picked[number];
  bool isTaken = token < entry.inputs[ids].limit;
  bool isToken = token >= 0 && isTaken;
  int64_t produced = sequence.produced + static_cast<int64_t>(number) + 1;
  uint32_t state = isToken ? stateWith(sequence, token, produced) : TFC_FAILED;
  uint32_t count = sequence.next.numLogProbabilities;
  if (auto most = static_cast<uint32_t>(sequence.next.headRows.size())) {
    count = std::min(count, most);
  }
  if (!isTaken) {
    addFault(sequence, TFC_FAULT_NO_EMBEDDING, token);
  } else if (!isToken) {
    addFault(sequence, token == NoneAllowed ? TFC_FAULT_NONE_ALLOWED
                                            : TFC_FAULT_NOT_A_NUMBER);
  } else if (count != 0) {
    reports.report(results.size(), from, width, count, token);
  }
  results.push_back({sequence.id, isToken ? token : -1, state, 0});
  choice.tokens.push_back(static_cast<int32_t>(token));
}

/// The rows of logits are the model's own: the hook has not seen them.
void Session::reportEchoes(int64_t width) {
  size_t numRows = 0;
  for (const Echo &piece : told) {
    numRows += static_cast<size_t>(piece.count);
  }
  const float *logits = logitRows;
  echoReports.begin(numRows);
  size_t index = 0;
  for (const Echo &piece : told) {
    const Prompt &prompt = piece.sequence->next;
    for (int64_t i = 0; i < piece.count; ++i) {
      echoReports.report(index++, logits + (piece.row + i) * width, width,
                         prompt.numLogProbabilities,
                         prompt.values[ids][piece.first + i]);
    }
  }
  echoReports.finish();
  index = 0;
  for (const Echo &piece : told) {
    echoed.push_back({piece.sequence->id, piece.first,
                      static_cast<uint64_t>(piece.count),
                      echoReports.list().data() + index});
    index += static_cast<size_t>(piece.count);
  }
}

/// Where nothing can go on; the others do.
void Session::addFault(const Sequence &sequence, uint32_t reason,
                       int64_t token) {
  tfc_code code = reason == TFC_FAULT_NO_EMBEDDING ? TFC_INCOMPATIBLE
                  : reason == TFC_FAULT_NO_ROOM    ? TFC_EXHAUSTED
                                                   : TFC_INVALID_ARGUMENT;
  failures.push_back({sequence.id, token, reason, code});
}

Error describeFault(const Model &model, const tfc_sequence_fault &fault,
                    const std::string &row) {
  const tfc_entry_v0 &entry = *model.generateEntry();
  auto code = static_cast<Code>(fault.code);
  std::string place = concat(model.path(), ": ", row);
  switch (fault.reason) {
  case TFC_FAULT_NO_EMBEDDING:
    return makeError(code, place, ": expected token ids below ",
                     entry.inputs[tokenPort(entry)].limit,
                     " (the embedding's rows), got ", fault.token);
  case TFC_FAULT_NO_ROOM:
    return makeError(code, place, ": expected room for all of its tokens in ",
                     "the cache, got less");
  case TFC_FAULT_NONE_ALLOWED:
    return makeError(code, place, ": expected a token that may come next, got ",
                     "none (all are forbidden)");
  default:
    return makeError(code, place, ": expected a token that may come next, got ",
                     "scores that are not numbers (NaN)");
  }
}

} // namespace tfc::rt
