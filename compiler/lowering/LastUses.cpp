// Which values die where: what an op may write over.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/LastUses.h"

#include "dialect/LayerFunctions.h"
#include "dialect/TransformerDialect.h"

using namespace mlir;
using namespace tfc;

/// The first op of the chain of in-place ops that ends in `value`: each takes
/// over its first operand, at its last use.
static Operation *findStart(Value value, const LastUses &lastUses) {
  Operation *op = value.getDefiningOp();
  while (op && op->hasTrait<transformer::RowWise>() &&
         lastUses.contains(op->getOpOperand(0)) &&
         op->getOperand(0).getType() == value.getType() &&
         op->getOperand(0).getDefiningOp()) {
    op = op->getOperand(0).getDefiningOp();
  }
  return op;
}

/// Of arguments of a block, and what takes their place at its end.
void LastUses::findPlaces(ValueRange allCarried, ValueRange allYielded) {
  for (auto [carried, yielded] : llvm::zip(allCarried, allYielded)) {
    Operation *op = findStart(yielded, *this);
    Block *block = carried.getParentBlock();
    bool dead = op && op->getBlock() == block &&
                llvm::all_of(carried.getUsers(), [&](Operation *user) {
                  Operation *ancestor = block->findAncestorOpInBlock(*user);
                  return ancestor && ancestor->isBeforeInBlock(op);
                });
    if (dead) {
      places[op] = carried;
    }
  }
}

LastUses::LastUses(Operation *root) {
  root->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isa<RankedTensorType>(value.getType()) ||
          value.getParentBlock() != op->getBlock()) {
        continue;
      }
      bool last = llvm::all_of(value.getUses(), [&](OpOperand &use) {
        Operation *user =
            op->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return &use == &operand || (user && user->isBeforeInBlock(op));
      });
      if (last) {
        operands.insert({op, operand.getOperandNumber()});
      }
    }
  });
  root->walk([&](LoopLikeOpInterface loop) {
    findPlaces(loop.getRegionIterArgs(), loop.getYieldedValues());
  });
  root->walk([&](func::FuncOp function) {
    if (transformer::isOfLayers(function)) {
      Block &body = function.getBody().front();
      findPlaces(body.getArguments(), body.getTerminator()->getOperands());
    }
  });
}
