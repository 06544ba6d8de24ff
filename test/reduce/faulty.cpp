// tfc with a fault: what one pass makes is broken behind it, as the environment
// variable TFC_FAULT says. For tests of what finds faults of passes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   PASS#N replace OP OTHER K  the K-th OP that the pass leaves becomes OTHER
//   PASS#N skip OP K           it gives its first operand of the same type
//   PASS#N erase OP K          it is gone; of ops that give nothing
//   PASS#N alter OP NAME K     its attribute NAME is another: one more, of a
//                              float half as much again, of a unit none
//   PASS#N shift llvm.store K  a vector is stored 16 places further
//   PASS#N count OP            nothing; standard error says how many there are
#include "compiler/driver/CommandLine.h"
#include "compiler/driver/PassControl.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;

namespace {
/// TFC_FAULT's words.
struct Fault {
  std::string pass, kind;
  SmallVector<std::string> words;
  int64_t number = 0;
};
} // namespace

static std::optional<Fault> readFault() {
  const char *text = std::getenv("TFC_FAULT");
  SmallVector<StringRef> words;
  StringRef(text ? text : "").split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.size() < 3) {
    return std::nullopt;
  }
  Fault fault{words[0].str(), words[1].str(), {}, 0};
  words.erase(words.begin(), words.begin() + 2);
  if (fault.kind != "count" && !words.back().getAsInteger(10, fault.number)) {
    words.pop_back();
  }
  for (StringRef word : words) {
    fault.words.push_back(word.str());
  }
  return fault;
}

/// Another value of the attribute; null where there is none of its kind.
static Attribute alter(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    return FloatAttr::get(number.getType(),
                          number.getValueAsDouble() * 1.5 + 0.125);
  }
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    return IntegerAttr::get(number.getType(), number.getValue() + 1);
  }
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(value)) {
    SmallVector<int64_t> other(numbers.asArrayRef());
    if (!other.empty()) {
      ++other.back();
    }
    return DenseI64ArrayAttr::get(value.getContext(), other);
  }
  auto same = dyn_cast<DenseFPElementsAttr>(value);
  if (same && same.isSplat()) {
    return DenseElementsAttr::get(
        same.getType(),
        cast<FloatAttr>(alter(same.getSplatValue<FloatAttr>())).getValue());
  }
  return {};
}

static void replaceOp(Operation *op, StringRef other) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), other, op->getOperands(),
                       op->getResultTypes(), op->getAttrs());
  op->replaceAllUsesWith(builder.create(state)->getResults());
  op->erase();
}

static bool skipOp(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (op->getNumResults() == 1 &&
        operand.getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(operand);
      op->erase();
      return true;
    }
  }
  return false;
}

static bool alterOp(Operation *op, StringRef name) {
  std::optional<Attribute> held = op->getInherentAttr(name);
  Attribute value = held ? *held : op->getDiscardableAttr(name);
  if (!value) {
    return false;
  }
  if (isa<UnitAttr>(value)) {
    op->removeAttr(name);
    return true;
  }
  Attribute other = alter(value);
  if (other) {
    op->setAttr(name, other);
  }
  return static_cast<bool>(other);
}

static bool shiftOp(Operation *op) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  if (!store) {
    return false;
  }
  OpBuilder b(op);
  Type type = store.getValue().getType();
  store.getAddrMutable().assign(
      LLVM::GEPOp::create(b, op->getLoc(), store.getAddr().getType(), type,
                          store.getAddr(), ArrayRef<LLVM::GEPArg>{16}));
  return true;
}

static bool breakOp(Operation *op, const Fault &fault) {
  if (fault.kind == "replace") {
    replaceOp(op, fault.words[1]);
    return true;
  }
  if (fault.kind == "erase" && op->use_empty()) {
    op->erase();
    return true;
  }
  return fault.kind == "shift"   ? shiftOp(op)
         : fault.kind == "skip"  ? skipOp(op)
         : fault.kind == "alter" ? alterOp(op, fault.words[1])
                                 : false;
}

/// Breaks what the pass left of `root`. A pass on functions leaves several: it
/// is the first that has the op.
static void apply(Fault &fault, Operation *root) {
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    auto store = dyn_cast<LLVM::StoreOp>(op);
    bool isScalar = store && !isa<VectorType>(store.getValue().getType());
    if (op->getName().getStringRef() == fault.words[0] &&
        !(fault.kind == "shift" && isScalar)) {
      found.push_back(op);
    }
  });
  if (fault.kind == "count") {
    llvm::errs() << "fault: " << found.size() << '\n';
    return;
  }
  int64_t number = fault.number;
  if (number >= static_cast<int64_t>(found.size())) {
    fault.number -= static_cast<int64_t>(found.size());
    return;
  }
  bool isDone = breakOp(found[static_cast<size_t>(number)], fault);
  llvm::errs() << (isDone ? "fault: done\n" : "fault: nothing to break\n");
  fault.pass.clear();
}

int main(int argc, char **argv) {
  if (std::optional<Fault> planted = readFault()) {
    // Where passes begin again another program is compiled.
    tfc::setPassObserver(
        [planted = *planted, fault = *planted,
         first = std::string()](StringRef name, Operation *root) mutable {
          first = first.empty() ? name.str() : first;
          fault = name == first ? planted : fault;
          if (name == fault.pass) {
            apply(fault, root);
          }
        });
  }
  return tfc::runTfc(argc, argv);
}
