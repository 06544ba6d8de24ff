// Times parallel loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/LoopRecorder.h"

#include "runtime/tools/Clock.h"

#include <algorithm>

namespace tfc::bench {

/// A loop that is running.
struct LoopRecorder::Call {
  LoopRecorder &recorder;
  tfc_body_fn body;
  void *arg;
};

LoopRecorder::LoopRecorder(const tfc_host_v0 &lent)
    : lent(lent), table(lent), byWorker(lent.n_workers) {
  table.ctx = this;
  table.parallel_for = [](void *ctx, int64_t n, tfc_body_fn body, void *arg) {
    return static_cast<LoopRecorder *>(ctx)->run(n, body, arg);
  };
  table.tap = nullptr;
}

void LoopRecorder::clear() {
  numLoops = 0;
  sums.clear();
  for (std::vector<Piece> &pieces : byWorker) {
    pieces.clear();
  }
}

int32_t LoopRecorder::run(int64_t n, tfc_body_fn body, void *arg) {
  std::vector<size_t> before;
  for (const std::vector<Piece> &pieces : byWorker) {
    before.push_back(pieces.size());
  }
  Call call{*this, body, arg};
  double begin = now();
  int32_t status = lent.parallel_for(
      lent.ctx, n,
      [](void *arg, int64_t begin, int64_t end, uint32_t worker) {
        const Call &call = *static_cast<const Call *>(arg);
        Piece piece{call.body, call.recorder.numLoops, worker, now(), 0};
        call.body(call.arg, begin, end, worker);
        piece.end = now();
        call.recorder.byWorker[worker].push_back(piece);
      },
      &call);
  double wall = now() - begin;
  auto found = std::find_if(sums.begin(), sums.end(),
                            [&](const LoopTotal &t) { return t.body == body; });
  LoopTotal &total = found == sums.end()
                         ? sums.emplace_back(LoopTotal{body, 0, 0, 0, 0})
                         : *found;
  double longest = 0;
  for (size_t w = 0; w < byWorker.size(); ++w) {
    double busy = 0;
    for (size_t i = before[w]; i < byWorker[w].size(); ++i) {
      busy += byWorker[w][i].end - byWorker[w][i].begin;
    }
    total.busy += busy;
    longest = std::max(longest, busy);
  }
  total.longest += longest;
  total.wall += wall;
  ++total.calls;
  ++numLoops;
  return status;
}

} // namespace tfc::bench
