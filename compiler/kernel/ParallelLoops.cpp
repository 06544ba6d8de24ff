// Outermost parallel loops as work for somebody else: which of them can share a
// function, what that takes from outside, and which item is which.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ParallelLoops.h"

#include "dialect/LayerFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;

llvm::SetVector<Value> tfc::outsideValues(scf::ParallelOp loop) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(loop.getRegion(), values);
  for (OperandRange range :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
    values.insert(range.begin(), range.end());
  }
  return values;
}

bool tfc::isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

void tfc::hoistLengths(scf::ParallelOp loop) {
  llvm::SetVector<Value> outside = outsideValues(loop);
  IRRewriter rewriter(loop.getContext());
  loop.walk([&](memref::DimOp op) {
    std::optional<int64_t> axis = op.getConstantIndex();
    if (axis && outside.contains(op.getSource())) {
      rewriter.setInsertionPoint(loop);
      rewriter.replaceOp(op, rewriter.createOrFold<memref::DimOp>(
                                 op.getLoc(), op.getSource(), *axis));
    }
  });
}

Captures::Captures(scf::ParallelOp loop) {
  for (Value value : outsideValues(loop)) {
    if (isConstant(value)) {
      constants.push_back(value.getDefiningOp());
    } else {
      values.push_back(value);
    }
  }
}

static StringRef entryOf(scf::ParallelOp loop) {
  return transformer::entryNameOf(loop->getParentOfType<func::FuncOp>());
}

/// Equal for loops that can have the same body: of their entry, their
/// operations in order and the constants that they take from outside.
static llvm::hash_code hashOf(scf::ParallelOp loop) {
  llvm::hash_code hash = llvm::hash_value(entryOf(loop));
  auto add = [&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  };
  for (Value value : outsideValues(loop)) {
    if (isConstant(value)) {
      add(value.getDefiningOp());
    }
  }
  loop.getRegion().walk(add);
  return hash;
}

/// Whether all operands of two loops of equal operations are `equivalent`. MLIR
/// does not ask this of a value that both have in the same place: of two loops,
/// one of which adds to what the other one reads, it says that they are equal.
static bool haveSameOperands(scf::ParallelOp a, scf::ParallelOp b,
                             const llvm::DenseMap<Value, Value> &equivalent) {
  auto list = [](scf::ParallelOp loop) {
    SmallVector<Value> operands;
    loop.getRegion().walk([&](Operation *op) {
      llvm::append_range(operands, op->getOperands());
    });
    return operands;
  };
  return llvm::all_of(llvm::zip_equal(list(a), list(b)), [&](auto pair) {
    auto [x, y] = pair;
    return equivalent.lookup(x) == y;
  });
}

/// Whether one function can be the body of both loops: they do the same to what
/// they take from outside, constants apart, which must be equal.
static bool haveSameBody(scf::ParallelOp a, scf::ParallelOp b) {
  if (entryOf(a) != entryOf(b)) {
    return false;
  }
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
             [&](Value x, Value y) {
               return success(equivalent.lookup(x) == y);
             },
             [&](Value x, Value y) { equivalent[x] = y; },
             OperationEquivalence::IgnoreLocations) &&
         haveSameOperands(a, b, equivalent);
}

std::string tfc::nameOf(ArrayRef<scf::ParallelOp> loops) {
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

SmallVector<LoopGroup> tfc::groupParallelLoops(ModuleOp module) {
  SmallVector<scf::ParallelOp> outer, inner;
  module.walk([&](scf::ParallelOp loop) {
    bool nested = loop->getParentOfType<scf::ParallelOp>() != nullptr;
    (nested ? inner : outer).push_back(loop);
  });
  for (scf::ParallelOp loop : inner) {
    makeSequential(loop);
  }
  // Loops that one body serves, for one: the norms of a layer. Of those that
  // look alike, the first of each group is compared.
  SmallVector<LoopGroup> groups;
  llvm::DenseMap<llvm::hash_code, SmallVector<unsigned>> alike;
  for (scf::ParallelOp loop : outer) {
    SmallVector<unsigned> &numbers = alike[hashOf(loop)];
    auto *same = llvm::find_if(numbers, [&](unsigned number) {
      return haveSameBody(groups[number][0], loop);
    });
    if (same == numbers.end()) {
      numbers.push_back(groups.size());
      groups.push_back({loop});
    } else {
      groups[*same].push_back(loop);
    }
  }
  return groups;
}

/// Of `axis`, how many values its index takes.
static Value buildExtent(ImplicitLocOpBuilder &b, scf::ParallelOp loop,
                         unsigned axis, const IRMapping &mapping) {
  Value lower = mapping.lookupOrDefault(loop.getLowerBound()[axis]);
  Value upper = mapping.lookupOrDefault(loop.getUpperBound()[axis]);
  Value step = mapping.lookupOrDefault(loop.getStep()[axis]);
  Value span = arith::SubIOp::create(b, upper, lower);
  return arith::CeilDivSIOp::create(b, span, step);
}

Value tfc::buildItemCount(ImplicitLocOpBuilder &b, scf::ParallelOp loop,
                          const IRMapping &mapping) {
  Value count = arith::ConstantIndexOp::create(b, 1);
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis) {
    count =
        arith::MulIOp::create(b, count, buildExtent(b, loop, axis, mapping));
  }
  return count;
}

SmallVector<Value> tfc::buildExtents(ImplicitLocOpBuilder &b,
                                     scf::ParallelOp loop,
                                     const IRMapping &mapping) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> extents;
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis) {
    Value extent = buildExtent(b, loop, axis, mapping);
    extents.push_back(arith::MaxSIOp::create(b, extent, one));
  }
  return extents;
}

SmallVector<Value> tfc::splitItem(ImplicitLocOpBuilder &b, Value item,
                                  ArrayRef<Value> extents) {
  SmallVector<Value> places(extents.size());
  for (unsigned axis = extents.size(); axis-- > 0;) {
    places[axis] = arith::RemUIOp::create(b, item, extents[axis]);
    item = arith::DivUIOp::create(b, item, extents[axis]);
  }
  return places;
}

void tfc::buildItem(ImplicitLocOpBuilder &b, scf::ParallelOp loop,
                    ArrayRef<Value> places, IRMapping &mapping) {
  for (unsigned axis = 0; axis < loop.getNumLoops(); ++axis) {
    Value scaled = arith::MulIOp::create(
        b, places[axis], mapping.lookupOrDefault(loop.getStep()[axis]));
    Value lower = mapping.lookupOrDefault(loop.getLowerBound()[axis]);
    mapping.map(loop.getInductionVars()[axis],
                arith::AddIOp::create(b, scaled, lower));
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    b.clone(op, mapping);
  }
}
