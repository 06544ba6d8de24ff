// Times of ops, and their trace.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/OpTable.h"

#include "runtime/src/files/FileBeside.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace tfc::bench {

using nlohmann::ordered_json;

std::string opOfSymbol(const std::string &symbol) {
  size_t dot = symbol.find('.');
  return dot == std::string::npos || symbol[0] == '+' ? symbol
                                                      : symbol.substr(dot + 1);
}

namespace {

std::vector<std::string> partsOf(const std::string &name) {
  std::vector<std::string> parts;
  std::istringstream stream(name);
  for (std::string part; std::getline(stream, part, '+');) {
    parts.push_back(part);
  }
  return parts;
}

/// Whether `name` is `part` or lies below it.
bool isWithin(const std::string &name, const std::string &part) {
  return name.compare(0, part.size(), part) == 0 &&
         (name.size() == part.size() || name[part.size()] == '.');
}

/// The part of any op that says most exactly where a cost belongs.
std::string ownerOf(const std::string &cost, const std::vector<OpTime> &ops) {
  std::string owner;
  for (const OpTime &op : ops) {
    for (const std::string &part : partsOf(op.name)) {
      if (isWithin(cost, part) && part.size() > owner.size()) {
        owner = part;
      }
    }
  }
  return owner;
}

} // namespace

std::vector<OpTime> makeOpTable(const LoopRecorder &recorder,
                                const BodyNames &names,
                                const std::vector<NamedCost> &costs,
                                int64_t steps) {
  std::vector<OpTime> ops;
  double count = static_cast<double>(steps);
  double workers = static_cast<double>(recorder.host().n_workers);
  for (const LoopTotal &total : recorder.totals()) {
    std::string name = opOfSymbol(names.name(total.body));
    auto found = std::find_if(ops.begin(), ops.end(), [&](const OpTime &op) {
      return op.name == name;
    });
    OpTime &op = found == ops.end() ? ops.emplace_back() : *found;
    op.name = name;
    op.calls += static_cast<double>(total.calls) / count;
    op.seconds += total.wall / count;
    op.imbalance += (total.longest - total.busy / workers) / count;
    op.overhead += (total.wall - total.longest) / count;
  }
  for (const NamedCost &cost : costs) {
    std::string owner = ownerOf(cost.name, ops);
    for (OpTime &op : ops) {
      std::vector<std::string> parts = partsOf(op.name);
      if (!owner.empty() &&
          std::find(parts.begin(), parts.end(), owner) != parts.end()) {
        op.cost = op.cost.value_or(Cost()) + cost.cost;
        break;
      }
    }
  }
  return ops;
}

struct Trace::Events {
  ordered_json list = ordered_json::array();
  int numProcesses = 0;

  void addName(const char *what, size_t worker, const std::string &name) {
    list.push_back({{"ph", "M"},
                    {"pid", numProcesses},
                    {"tid", worker},
                    {"name", what},
                    {"args", {{"name", name}}}});
  }
};

Trace::Trace() : events(std::make_unique<Events>()) {}
Trace::~Trace() = default;

void Trace::add(const std::string &title, const LoopRecorder &recorder,
                const BodyNames &names) {
  ++events->numProcesses;
  events->addName("process_name", 0, title);
  double start = std::numeric_limits<double>::infinity();
  for (const std::vector<Piece> &pieces : recorder.pieces()) {
    start = pieces.empty() ? start : std::min(start, pieces.front().begin);
  }
  for (size_t w = 0; w < recorder.pieces().size(); ++w) {
    events->addName("thread_name", w, rt::concat("worker ", w));
    for (const Piece &piece : recorder.pieces()[w]) {
      events->list.push_back({{"ph", "X"},
                              {"pid", events->numProcesses},
                              {"tid", w},
                              {"name", opOfSymbol(names.name(piece.body))},
                              {"ts", (piece.begin - start) * 1e6},
                              {"dur", (piece.end - piece.begin) * 1e6},
                              {"args", {{"loop", piece.loop}}}});
    }
  }
}

rt::Status Trace::write(const std::string &path) const {
  return rt::writeFile(path,
                       ordered_json{{"traceEvents", events->list}}.dump());
}

} // namespace tfc::bench
