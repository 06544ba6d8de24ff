// How long the buffers of an entry are alive, and which have no single life.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/BufferLives.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tfc;

BufferLives::BufferLives(Operation *root,
                         ArrayRef<transformer::LayerCall> calls)
    : root(root) {
  for (const transformer::LayerCall &layers : calls) {
    functions[layers.call] = layers.function;
  }
  number(root);
}

void BufferLives::number(Operation *op) {
  unsigned first = next++;
  for (Region &region : op->getRegions()) {
    for (Operation &child : region.getOps()) {
      number(&child);
    }
  }
  if (Operation *function = functions.lookup(op)) {
    number(function);
  }
  ranges[op] = {first, next - 1};
}

LogicalResult BufferLives::follow(memref::AllocOp op, Value alias,
                                  Operation *user,
                                  SmallVectorImpl<Value> &aliases) {
  if (user->getNumSuccessors() != 0) {
    return op.emitOpError() << "expected no branch between blocks to take the "
                               "buffer (its life is not followed there)";
  }
  Operation *parent = user->getParentOp();
  if (user->hasTrait<OpTrait::IsTerminator>() && parent != root) {
    // Yielded: whatever the parent gives may be the buffer.
    if (isa<LoopLikeOpInterface>(parent) && parent->isProperAncestor(op)) {
      return op.emitOpError()
             << "expected a loop to carry buffers from outside of it (the next "
                "round reads what it carries in the place that it allocates "
                "anew), got one of its body";
    }
    llvm::append_range(aliases, parent->getResults());
    return success();
  }
  // What is computed from a buffer's address may be an address in it.
  bool isAddress = isa<memref::ExtractAlignedPointerAsIndexOp>(user) ||
                   !isa<BaseMemRefType>(alias.getType());
  for (Value result : user->getResults()) {
    if (isAddress || isa<ViewLikeOpInterface>(user) ||
        isa<BaseMemRefType>(result.getType())) {
      aliases.push_back(result);
    }
  }
  return success();
}

FailureOr<BufferLife> BufferLives::find(memref::AllocOp op) {
  if (Operation *loop = op->getParentWithTrait<OpTrait::HasParallelRegion>()) {
    InFlightDiagnostic diagnostic =
        op.emitOpError()
        << "expected allocations outside of parallel loops (all workers would "
           "get the same place)";
    diagnostic.attachNote(loop->getLoc()) << "the parallel loop";
    return diagnostic;
  }
  BufferLife life{ranges.lookup(op).first, 0};
  SmallVector<Value> aliases = {op.getResult()};
  llvm::SmallPtrSet<void *, 8> seen;
  while (!aliases.empty()) {
    Value alias = aliases.pop_back_val();
    if (!seen.insert(alias.getAsOpaquePointer()).second) {
      continue;
    }
    for (Operation *user : alias.getUsers()) {
      // A use inside a loop that the buffer outlives may come round again.
      Operation *outer = op->getBlock()->findAncestorOpInBlock(*user);
      life.end = std::max(life.end, last(outer ? outer : root));
      if (failed(follow(op, alias, user, aliases))) {
        return failure();
      }
    }
  }
  return life;
}
