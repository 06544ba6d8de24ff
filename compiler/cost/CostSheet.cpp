// What each op of an entry costs in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/CostSheet.h"

#include "compiler/cost/OpTraffic.h"
#include "compiler/cost/OpWork.h"
#include "compiler/cost/StepSizes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace tfc::cost;

/// "decoder.layers.attn.q + k + v" of an op that is three of the model's.
static std::string pathOf(Operation *op) {
  std::vector<std::string> names;
  op->getLoc()->walk([&](Location each) {
    if (auto name = dyn_cast<NameLoc>(each)) {
      names.push_back(name.getName().str());
    }
    return WalkResult::advance();
  });
  if (names.empty()) {
    return op->getName().getStringRef().str();
  }
  std::string path = names.front();
  for (const std::string &name : ArrayRef(names).drop_front()) {
    auto [stem, leaf] = StringRef(name).rsplit('.');
    // A residual bears the name of what it belongs to, which says nothing.
    if (!StringRef(names.front()).starts_with(name + ".")) {
      bool isSibling = StringRef(names.front()).rsplit('.').first == stem;
      path += " + " + (isSibling ? leaf.str() : name);
    }
  }
  return path;
}

namespace {
/// Goes through an entry as it runs.
class Counter {
public:
  Counter(StepSizes sizes, const Machine &machine, bool isNarrow,
          CostSheet &sheet)
      : sizes(std::move(sizes)), machine(machine), isNarrow(isNarrow),
        sheet(sheet) {}

  LogicalResult count(Block &block);

private:
  LogicalResult countLoop(scf::ForOp loop);
  LogicalResult countCall(func::CallOp call);
  LogicalResult close(SmallVectorImpl<Operation *> &group);

  StepSizes sizes;
  const Machine &machine;
  bool isNarrow;
  CostSheet &sheet;
  llvm::StringMap<size_t> places;
};
} // namespace

/// The group becomes a line, or more of the one that there is.
LogicalResult Counter::close(SmallVectorImpl<Operation *> &group) {
  if (group.empty()) {
    return success();
  }
  Work work;
  std::optional<double> bytes = trafficOf(group, sizes);
  for (Operation *op : group) {
    std::optional<Work> own = workOf(op, sizes);
    if (!own || !bytes) {
      return op->emitOpError("expected sizes that follow from the step");
    }
    work += *own;
  }
  work.bytes += *bytes;
  std::string path = pathOf(group.front());
  auto [place, isNew] = places.try_emplace(path, sheet.ops.size());
  if (isNew) {
    sheet.ops.emplace_back();
    sheet.ops.back().path = path;
  }
  OpCost &line = sheet.ops[place->second];
  Roofline bound = rooflineOf(work, machine, isNarrow);
  ++line.count;
  line.work += work;
  line.seconds += bound.seconds();
  line.isArithmeticBound = bound.isArithmeticBound();
  sheet.total += work;
  sheet.seconds += bound.seconds();
  group.clear();
  return success();
}

/// Trip by trip, since layers may differ in numbers.
LogicalResult Counter::countLoop(scf::ForOp loop) {
  std::optional<int64_t> from = sizes.evaluate(loop.getLowerBound());
  std::optional<int64_t> to = sizes.evaluate(loop.getUpperBound());
  std::optional<int64_t> by = sizes.evaluate(loop.getStep());
  if (!from || !to || !by || *by <= 0) {
    return loop.emitOpError("expected bounds that follow from the step");
  }
  for (int64_t counter = *from; counter < *to; counter += *by) {
    sizes.bind(loop.getInductionVar(), counter);
    if (failed(count(*loop.getBody()))) {
      return failure();
    }
  }
  return success();
}

/// Layers that are a function: what it is told is known here.
LogicalResult Counter::countCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal()) {
    return call.emitOpError("expected a function that has a body");
  }
  for (auto [argument, given] :
       llvm::zip_equal(callee.getArguments(), call.getOperands())) {
    if (std::optional<int64_t> known =
            given.getType().isIndex() ? sizes.evaluate(given) : std::nullopt) {
      sizes.bind(argument, *known);
    }
  }
  return count(callee.getBody().front());
}

LogicalResult Counter::count(Block &block) {
  SmallVector<Operation *> group;
  for (Operation &op : block) {
    if (doesWork(&op)) {
      if (!group.empty() && pathOf(group.front()) != pathOf(&op) &&
          failed(close(group))) {
        return failure();
      }
      group.push_back(&op);
      continue;
    }
    auto call = dyn_cast<func::CallOp>(op);
    if (op.getNumRegions() == 0 && !call) {
      continue;
    }
    if (failed(close(group)) || (call && failed(countCall(call)))) {
      return failure();
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(countLoop(loop))) {
        return failure();
      }
      continue;
    }
    // A condition is whether an output is wanted: all are.
    for (Region &region : op.getRegions()) {
      for (Block &inner : region) {
        if (failed(count(inner))) {
          return failure();
        }
      }
    }
  }
  return close(group);
}

FailureOr<CostSheet> tfc::cost::countCosts(func::FuncOp entry, const Step &step,
                                           int64_t wanted,
                                           const Machine &machine,
                                           bool isNarrow) {
  CostSheet sheet;
  sheet.entry = entry.getName().str();
  sheet.tokens = step.tokens();
  sheet.wanted = wanted;
  Counter counter(StepSizes(entry, step, wanted), machine, isNarrow, sheet);
  if (failed(counter.count(entry.getBody().front()))) {
    return failure();
  }
  return sheet;
}

static std::string column(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.0f", value);
  return text;
}

static void printLine(StringRef name, StringRef count, const Work &work,
                      StringRef bound, double seconds, size_t width,
                      llvm::raw_ostream &os) {
  os << llvm::left_justify(name, width) << llvm::right_justify(count, 6)
     << llvm::right_justify(column(work.operations()), 18)
     << llvm::right_justify(column(work.bytes), 15)
     << llvm::format("%10.2f", work.intensity()) << "  "
     << llvm::left_justify(bound, 10) << llvm::format("%14.4f", seconds * 1e6)
     << '\n';
}

void tfc::cost::printCosts(const CostSheet &sheet, llvm::raw_ostream &os) {
  size_t width = 5;
  for (const OpCost &op : sheet.ops) {
    width = std::max(width, op.path.size());
  }
  os << "entry " << sheet.entry << ": " << sheet.tokens << " tokens, "
     << sheet.wanted << (sheet.wanted == 1 ? " row" : " rows") << " wanted\n";
  os << llvm::left_justify("op", width)
     << " times        operations          bytes    a byte  bound"
        "               microseconds\n";
  for (const OpCost &op : sheet.ops) {
    printLine(op.path, std::to_string(op.count), op.work,
              op.isArithmeticBound ? "arithmetic" : "memory", op.seconds, width,
              os);
  }
  printLine("total", "", sheet.total, "", sheet.seconds, width, os);
}
