// Steps in which few tokens may come: the head computes those alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include <algorithm>
#include <limits>

namespace tfc::rt {

// Of the vocabulary, the part of it that steps ask for at most: looking for
// more in each panel of the head costs more than they are worth.
static constexpr int64_t smallestPart = 16;

/// All wishes of the step, where every row of logits is of a sequence that has
/// some: then others are not computed. Bits are the same either way.
void Session::askForHeadRows() {
  runner.headRows.clear();
  uint32_t port = model.logitsPort();
  int64_t numRows = 0;
  std::vector<int32_t> all;
  for (const Sequence &sequence : sequences) {
    if (sequence.leader == 0 && sequence.isFinishing(ids) &&
        !sequence.next.headRows.empty()) {
      numRows += 1 + static_cast<int64_t>(sequence.draft.size());
      all.insert(all.end(), sequence.next.headRows.begin(),
                 sequence.next.headRows.end());
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  bool areAll = numRows == static_cast<int64_t>(runner.batch.rows.size());
  if (areAll && static_cast<int64_t>(all.size()) <=
                    entry.outputs[port].width / smallestPart) {
    runner.headRows = std::move(all);
  }
}

/// Makes whole rows of logits of those that were computed. Where a sequence has
/// wishes, other tokens have none: minus infinity.
void Session::spreadHeadRows() {
  uint32_t port = model.logitsPort();
  int64_t width = entry.outputs[port].width, computed = runner.widthOf(port);
  bool isNarrow = planned != 0 && computed != width;
  const float *from = runner.output(port);
  logitRows = greatest ? nullptr : runner.floats(port);
  if (isNarrow) {
    wideRows.resize(runner.batch.rows.size() * static_cast<size_t>(width));
    logitRows = wideRows.data();
  }
  std::vector<float> kept;
  for (const Sequence &sequence : sequences) {
    const std::vector<int32_t> &wishes = sequence.next.headRows;
    if (wishes.empty() || sequence.leader != 0 || sequence.count == 0 ||
        sequence.row < 0) {
      continue;
    }
    int64_t end =
        sequence.row + 1 + static_cast<int64_t>(sequence.draft.size());
    for (int64_t row = sequence.row; row < end; ++row) {
      float *to = logitRows + row * width;
      kept.clear();
      for (int32_t wish : wishes) {
        int64_t column = isNarrow
                             ? std::lower_bound(runner.headRows.begin(),
                                                runner.headRows.end(), wish) -
                                   runner.headRows.begin()
                             : wish;
        kept.push_back(from[row * computed + column]);
      }
      std::fill_n(to, width, -std::numeric_limits<float>::infinity());
      for (size_t i = 0; i < wishes.size(); ++i) {
        to[wishes[i]] = kept[i];
      }
    }
  }
}

} // namespace tfc::rt
