// Outermost parallel loops become calls of the host's parallel_for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "compiler/cpu/StepFields.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERPARALLELPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// What a loop uses from outside, its bounds included, in order of first use.
static llvm::SetVector<Value> outsideValues(scf::ParallelOp loop) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(loop.getRegion(), values);
  for (OperandRange range :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
    values.insert(range.begin(), range.end());
  }
  return values;
}

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether one function can be the body of both loops: they do the same to what
/// they take from outside, constants apart, which must be equal.
static bool haveSameBody(scf::ParallelOp a, scf::ParallelOp b) {
  llvm::SetVector<Value> fromA = outsideValues(a), fromB = outsideValues(b);
  if (fromA.size() != fromB.size() || a.getNumLoops() != b.getNumLoops()) {
    return false;
  }
  llvm::DenseMap<Value, Value> equivalent;
  for (auto [x, y] : llvm::zip(fromA, fromB)) {
    bool same = x.getType() == y.getType() && isConstant(x) == isConstant(y) &&
                (!isConstant(x) || OperationEquivalence::isEquivalentTo(
                                       x.getDefiningOp(), y.getDefiningOp(),
                                       OperationEquivalence::IgnoreLocations));
    if (!same) {
      return false;
    }
    equivalent[x] = y;
  }
  for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands())) {
    if (equivalent.lookup(x) != y) {
      return false;
    }
  }
  return OperationEquivalence::isRegionEquivalentTo(
      &a.getRegion(), &b.getRegion(),
      [&](Value x, Value y) { return success(equivalent.lookup(x) == y); },
      [&](Value x, Value y) { equivalent[x] = y; },
      OperationEquivalence::IgnoreLocations);
}

namespace {

/// Outlines one loop.
class Outliner {
public:
  explicit Outliner(scf::ParallelOp loop)
      : loop(loop), entry(loop->getParentOfType<func::FuncOp>()),
        b(loop.getLoc(), loop), converter(loop.getContext()) {
    collectCaptures();
  }

  LLVM::LLVMFuncOp buildBody(StringRef name);
  /// Puts a call in the loop's place.
  void buildCall(LLVM::LLVMFuncOp body);

private:
  void collectCaptures();
  /// The captures as they are in the body: loaded, or made again.
  IRMapping loadCaptures(Value argument);
  /// Runs the loop's operations for items [begin, end).
  void buildItems(IRMapping &mapping, Value begin, Value end);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Type stored(Value value) { return converter.convertType(value.getType()); }

  scf::ParallelOp loop;
  func::FuncOp entry;
  ImplicitLocOpBuilder b;
  LLVMTypeConverter converter;
  SmallVector<Value> captures;
  SmallVector<Operation *> constants;
};

} // namespace

/// Constants are made again in the body.
void Outliner::collectCaptures() {
  for (Value value : outsideValues(loop)) {
    if (isConstant(value)) {
      constants.push_back(value.getDefiningOp());
    } else {
      captures.push_back(value);
    }
  }
}

IRMapping Outliner::loadCaptures(Value argument) {
  IRMapping mapping;
  for (Operation *op : constants) {
    b.clone(*op, mapping);
  }
  SmallVector<Type> fields;
  for (Value value : captures) {
    fields.push_back(stored(value));
  }
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value place = LLVM::GEPOp::create(
        b, pointer, type, argument,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    Value loaded = LLVM::LoadOp::create(b, fields[index], place);
    mapping.map(value, UnrealizedConversionCastOp::create(
                           b, TypeRange(value.getType()), loaded)
                           .getResult(0));
  }
  return mapping;
}

/// Walks the flattened space: the indices of `begin` once by division, then
/// counting up with carry. Extents may be zero only when there is no item, and
/// max(extent, 1) keeps the division defined even then.
void Outliner::buildItems(IRMapping &mapping, Value begin, Value end) {
  unsigned axes = loop.getNumLoops();
  Value one = constant(1);
  SmallVector<Value> extents, indices(axes);
  for (unsigned axis = 0; axis < axes; ++axis) {
    Value lower = mapping.lookup(loop.getLowerBound()[axis]);
    Value upper = mapping.lookup(loop.getUpperBound()[axis]);
    Value step = mapping.lookup(loop.getStep()[axis]);
    Value span = arith::SubIOp::create(b, upper, lower);
    Value extent = arith::CeilDivSIOp::create(b, span, step);
    extents.push_back(arith::MaxSIOp::create(b, extent, one));
  }
  Value rest = begin;
  for (unsigned axis = axes; axis-- > 0;) {
    indices[axis] = arith::RemUIOp::create(b, rest, extents[axis]);
    rest = arith::DivUIOp::create(b, rest, extents[axis]);
  }
  auto items = scf::ForOp::create(b, begin, end, one, indices);
  b.setInsertionPointToStart(items.getBody());
  SmallVector<Value> current(items.getRegionIterArgs());
  for (unsigned axis = 0; axis < axes; ++axis) {
    Value scaled = arith::MulIOp::create(b, current[axis],
                                         mapping.lookup(loop.getStep()[axis]));
    mapping.map(loop.getInductionVars()[axis],
                arith::AddIOp::create(
                    b, scaled, mapping.lookup(loop.getLowerBound()[axis])));
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    b.clone(op, mapping);
  }
  Value carry = one, zero = constant(0);
  SmallVector<Value> next(axes);
  for (unsigned axis = axes; axis-- > 0;) {
    Value sum = arith::AddIOp::create(b, current[axis], carry);
    Value wraps =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, sum, extents[axis]);
    next[axis] = arith::SelectOp::create(b, wraps, zero, sum);
    carry = arith::SelectOp::create(b, wraps, one, zero);
  }
  scf::YieldOp::create(b, next);
}

LLVM::LLVMFuncOp Outliner::buildBody(StringRef name) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entry);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      {pointer, b.getI64Type(), b.getI64Type(), b.getI32Type()});
  auto body = LLVM::LLVMFuncOp::create(b, name, type, LLVM::Linkage::Internal);
  Block *block = body.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  auto toIndex = [&](unsigned argument) -> Value {
    return arith::IndexCastUIOp::create(b, b.getIndexType(),
                                        block->getArgument(argument));
  };
  Value begin = toIndex(1), end = toIndex(2), worker = toIndex(3);
  IRMapping mapping = loadCaptures(block->getArgument(0));
  buildItems(mapping, begin, end);
  b.setInsertionPointToEnd(block);
  LLVM::ReturnOp::create(b, ValueRange());

  IRRewriter rewriter(b.getContext());
  body.walk([&](transformer::WorkerOp op) { rewriter.replaceOp(op, worker); });
  return body;
}

void Outliner::buildCall(LLVM::LLVMFuncOp body) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> fields;
  for (Value value : captures) {
    fields.push_back(stored(value));
  }
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
  Value argument;
  {
    // In the entry block: inside a loop it would grow the stack.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry.getBody().front());
    Value single = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    argument = LLVM::AllocaOp::create(b, pointer, type, single);
  }
  b.setInsertionPoint(loop);
  for (auto [index, value] : llvm::enumerate(captures)) {
    Value place = LLVM::GEPOp::create(
        b, pointer, type, argument,
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    Value converted =
        UnrealizedConversionCastOp::create(b, TypeRange(fields[index]), value)
            .getResult(0);
    LLVM::StoreOp::create(b, converted, place);
  }
  Value count = constant(1);
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value span = arith::SubIOp::create(b, upper, lower);
    Value extent = arith::CeilDivSIOp::create(b, span, step);
    count = arith::MulIOp::create(b, count, extent);
  }
  Value items = arith::IndexCastOp::create(b, b.getI64Type(), count);
  Value step = entry.getArgument(0);
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value parallelFor = loadPointer(b, host, offsetof(tfc_host_v0, parallel_for));
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  Value function = LLVM::AddressOfOp::create(b, body);
  auto call =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, b.getI64Type(), pointer, pointer});
  LLVM::CallOp::create(
      b, call, ValueRange{parallelFor, context, items, function, argument});
  loop.erase();
}

/// The paths that the locations of `loops` name, in order, divided by '+':
/// those of the ops that they were made of. A path that another one goes on
/// from says nothing more: a sublayer's addition, fused into the product before
/// it.
static std::string nameOf(ArrayRef<scf::ParallelOp> loops) {
  llvm::SetVector<StringRef> paths;
  for (scf::ParallelOp loop : loops) {
    loop.getLoc()->walk([&](Location part) {
      if (auto name = dyn_cast<NameLoc>(part)) {
        paths.insert(name.getName().getValue());
      }
      return WalkResult::advance();
    });
  }
  auto goesOn = [&](StringRef path) {
    return llvm::any_of(paths, [&](StringRef other) {
      return other.consume_front(path) && other.starts_with(".");
    });
  };
  SmallVector<StringRef> names;
  llvm::copy_if(paths, std::back_inserter(names),
                [&](StringRef path) { return !goesOn(path); });
  return llvm::join(names, "+");
}

/// An inner parallel loop, inside a body that is already parallel.
static void makeSequential(scf::ParallelOp loop) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  scf::LoopNest nest =
      scf::buildLoopNest(rewriter, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep());
  Block *body = nest.loops.back().getBody();
  rewriter.eraseOp(loop.getBody()->getTerminator());
  SmallVector<Value> indices;
  for (scf::ForOp op : nest.loops) {
    indices.push_back(op.getInductionVar());
  }
  rewriter.inlineBlockBefore(loop.getBody(), body->getTerminator(), indices);
  rewriter.eraseOp(loop);
}

namespace {
struct LowerParallelPass : tfc::impl::LowerParallelPassBase<LowerParallelPass> {
  void runOnOperation() override {
    SmallVector<scf::ParallelOp> outer, inner;
    getOperation().walk([&](scf::ParallelOp loop) {
      bool nested = loop->getParentOfType<scf::ParallelOp>() != nullptr;
      (nested ? inner : outer).push_back(loop);
    });
    for (scf::ParallelOp loop : inner) {
      makeSequential(loop);
    }
    // Loops that one body serves, for one: the products of queries, keys and
    // values.
    SmallVector<SmallVector<scf::ParallelOp>> groups;
    for (scf::ParallelOp loop : outer) {
      auto entry = loop->getParentOfType<func::FuncOp>();
      bool bound = entry && entry.getNumArguments() == 1 &&
                   isa<LLVM::LLVMPointerType>(entry.getArgumentTypes()[0]);
      if (!bound || loop.getNumReductions() != 0) {
        loop.emitOpError() << "expected a loop without reductions in an entry "
                              "of one pointer (see tfc-bind-step)";
        return signalPassFailure();
      }
      auto *same = llvm::find_if(groups, [&](ArrayRef<scf::ParallelOp> group) {
        return entry == group[0]->getParentOfType<func::FuncOp>() &&
               haveSameBody(group[0], loop);
      });
      if (same == groups.end()) {
        groups.push_back({loop});
      } else {
        same->push_back(loop);
        ++numShared;
      }
    }
    for (ArrayRef<scf::ParallelOp> group : groups) {
      outline(group);
    }
  }

  void outline(ArrayRef<scf::ParallelOp> group) {
    auto entry = group[0]->getParentOfType<func::FuncOp>();
    std::string name =
        (entry.getName() + "_body_" + std::to_string(numBodies)).str();
    if (std::string ops = nameOf(group); !ops.empty()) {
      name += "." + ops;
    }
    LLVM::LLVMFuncOp body = Outliner(group[0]).buildBody(name);
    for (scf::ParallelOp loop : group) {
      Outliner(loop).buildCall(body);
    }
    ++numBodies;
  }
};
} // namespace
