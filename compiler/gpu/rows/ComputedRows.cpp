// Rows that loops compute for a single reader, which does so itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/rows/ComputedRows.h"

#include "compiler/gpu/rows/LoopAccesses.h"
#include "compiler/gpu/rows/WideItem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tfc;

/// Whether the loop has nothing but this store, of which each place of its
/// axes, from 0 on, is one of the view.
static bool fillsView(scf::ParallelOp loop, memref::StoreOp store) {
  auto is = [](OperandRange values, int64_t number) {
    return llvm::all_of(values, [&](Value value) {
      return getConstantIntValue(value) == number;
    });
  };
  auto stores = loop.getBody()->getOps<memref::StoreOp>();
  if (store->getBlock() != loop.getBody() || !llvm::hasSingleElement(stores) ||
      ValueRange(store.getIndices()) != ValueRange(loop.getInductionVars()) ||
      !is(loop.getLowerBound(), 0) || !is(loop.getStep(), 1)) {
    return false;
  }
  ArrayRef<int64_t> shape = store.getMemRefType().getShape().drop_front();
  return llvm::all_of_zip(shape, loop.getUpperBound().drop_front(),
                          [](int64_t size, Value upper) {
                            return getConstantIntValue(upper) == size;
                          });
}

std::optional<ComputedRows::Writer>
ComputedRows::findWriter(memref::StoreOp store) const {
  auto loop = dyn_cast<scf::ParallelOp>(store->getParentOp());
  MemRefType type = store.getMemRefType();
  SmallVector<int64_t> strides;
  int64_t offset;
  // Rows of parts, whose columns lie side by side.
  if (!loop || loop->getBlock() != buffer->getBlock() || type.getRank() != 3 ||
      !fillsView(loop, store) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || strides[2] != 1 ||
      strides[1] != partColumns || offset >= partColumns ||
      offset % count != 0 || !WideItem::suits(loop, count)) {
    return std::nullopt;
  }
  return Writer{loop, offset, type.getDimSize(2)};
}

/// Follows all uses of the buffer: they are views, stores of writers, and the
/// reader.
bool ComputedRows::addWriters(Value view, Operation *reader) {
  return llvm::all_of(view.getUsers(), [&](Operation *user) {
    if (user == reader || isa<memref::DimOp>(user)) {
      return true;
    }
    if (isa<ViewLikeOpInterface>(user)) {
      return addWriters(user->getResult(0), reader);
    }
    auto store = dyn_cast<memref::StoreOp>(user);
    std::optional<Writer> writer =
        store && store.getMemRef() == view ? findWriter(store) : std::nullopt;
    if (!writer || !writer->loop->isBeforeInBlock(reader)) {
      return false;
    }
    writers.push_back(*writer);
    return true;
  });
}

/// Every column of a part is some writer's.
bool ComputedRows::coverParts() {
  llvm::sort(writers, [](const Writer &a, const Writer &b) {
    return a.first < b.first;
  });
  int64_t next = 0;
  for (const Writer &writer : writers) {
    if (writer.first != next) {
      return false;
    }
    next += writer.columns;
  }
  return next == partColumns;
}

/// Whether what the loop reads is the same at `reader`.
static bool readsTheSame(scf::ParallelOp loop, Operation *reader) {
  auto accesses = listAccesses(loop);
  if (!accesses) {
    return false;
  }
  llvm::erase_if(*accesses,
                 [](const LoopAccess &access) { return access.isWrite; });
  for (Operation *op = loop->getNextNode(); op != reader;
       op = op->getNextNode()) {
    auto other = dyn_cast<scf::ParallelOp>(op);
    auto others = other ? listAccesses(other) : std::nullopt;
    bool isApart = others ? areIndependent(*accesses, *others)
                          : isMemoryEffectFree(op) || isa<memref::AllocOp>(op);
    if (!isApart) {
      return false;
    }
  }
  return true;
}

std::optional<ComputedRows> ComputedRows::find(Value rows, Operation *reader,
                                               int64_t count) {
  ComputedRows found;
  found.count = count;
  Value root = findRoot(rows);
  found.buffer = root ? root.getDefiningOp<memref::AllocOp>() : nullptr;
  auto collapse = rows.getDefiningOp<memref::CollapseShapeOp>();
  if (!found.buffer || found.buffer->getBlock() != reader->getBlock() ||
      !collapse || collapse.getSrc() != root ||
      found.buffer.getType().getRank() != 3 ||
      !found.buffer.getType().getLayout().isIdentity()) {
    return std::nullopt;
  }
  found.element = found.buffer.getType().getElementType();
  found.partColumns = found.buffer.getType().getDimSize(2);
  bool isWhole = found.addWriters(root, reader) && found.coverParts() &&
                 llvm::all_of(found.writers, [&](const Writer &writer) {
                   return readsTheSame(writer.loop, reader);
                 });
  return isWhole ? std::optional(found) : std::nullopt;
}

/// What the first of `from` has of the part's columns from `column` on, or
/// those behind it.
Value ComputedRows::buildFrom(ImplicitLocOpBuilder &b, ArrayRef<Writer> from,
                              Value token, Value part, Value column) const {
  const Writer &writer = from.front();
  auto buildFirst = [&]() -> Value {
    Value place = arith::SubIOp::create(
        b, column, arith::ConstantIndexOp::create(b, writer.first));
    return WideItem(b, writer.loop, count).emitStored({token, part, place});
  };
  if (from.size() == 1) {
    return buildFirst();
  }
  Value end = arith::ConstantIndexOp::create(b, writer.first + writer.columns);
  Value isOwn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, end);
  auto type = VectorType::get(count, element);
  auto branch = scf::IfOp::create(b, type, isOwn, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, buildFirst());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, buildFrom(b, from.drop_front(), token, part, column));
  return branch.getResult(0);
}

Value ComputedRows::build(ImplicitLocOpBuilder &b, Value token,
                          Value column) const {
  Value columns = arith::ConstantIndexOp::create(b, partColumns);
  Value part = arith::DivUIOp::create(b, column, columns);
  Value within = arith::RemUIOp::create(b, column, columns);
  return buildFrom(b, writers, token, part, within);
}

void ComputedRows::erase(RewriterBase &rewriter) const {
  for (const Writer &writer : writers) {
    rewriter.eraseOp(writer.loop);
  }
}
