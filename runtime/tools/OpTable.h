// The ops of a step: how long each takes, and what it does in that time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_OPTABLE_H
#define TFC_RUNTIME_TOOLS_OPTABLE_H

#include "runtime/tools/CostSheet.h"
#include "runtime/tools/LoopRecorder.h"

#include <memory>

namespace tfc::bench {

/// The loops of one name, per step.
struct OpTime {
  std::string name;
  double calls = 0, seconds = 0;
  /// Of the workers' time in these loops, how much they waited for the busiest
  /// one, and how much for the start and the end of the loops.
  double imbalance = 0, overhead = 0;
  std::optional<Cost> cost; // none: the name says nothing
};

/// What a body is for: the part of its symbol after the first '.' that follows
/// the entry's name ("step_body_3.decoder.layers.ffn.up" -> "decoder.layers.
/// ffn.up"), else the symbol itself.
std::string opOfSymbol(const std::string &symbol);

/// Sums the loops of equal names and gives each name the costs that belong to
/// it: of the ops that its parts (divided by '+') name, and of those below
/// them that no other loop names. `steps`: how many steps were recorded.
std::vector<OpTime> makeOpTable(const LoopRecorder &recorder,
                                const BodyNames &names,
                                const std::vector<NamedCost> &costs,
                                int64_t steps);

/// Traces of several recordings in Chrome's JSON format, which Perfetto reads:
/// a process a recording, a thread a worker.
class Trace {
public:
  Trace();
  ~Trace();
  void add(const std::string &title, const LoopRecorder &recorder,
           const BodyNames &names);
  /// Whole or not at all. Errors: InvalidArgument.
  rt::Status write(const std::string &path) const;

private:
  struct Events;
  std::unique_ptr<Events> events;
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_OPTABLE_H
