// What the emitters of kernels share: index arithmetic, loops, and the step's
// work items and cache blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/KernelBuilder.h"

#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

CacheGeometry::CacheGeometry(transformer::CacheType type, int64_t blockTokens,
                             int64_t queryRows)
    : blockTokens(blockTokens), queryRows(queryRows), isCross(type.isCross()),
      element(type.getElementType()),
      elementBytes(element.getIntOrFloatBitWidth() / 8) {
  using Shape = transformer::CacheType::Shape;
  // Integers have an f32 beside a head's keys, or values, of a position.
  int64_t scaleBytes = element.isInteger() ? sizeof(float) : 0;
  auto rowBytesOf = [&](const Shape &shape) {
    return shape.kvHeads * (shape.headDim * elementBytes + scaleBytes);
  };
  auto bytesOf = [&](const Shape &shape) {
    return (type.isLatent() ? 1 : 2) * blockTokens * rowBytesOf(shape);
  };
  Shape own = {type.getLayers(), type.getKvHeads(), type.getHeadDim()};
  rowBytes = rowBytesOf(own);
  layerBytes = type.isScratch() ? 0 : bytesOf(own);
  firstByte = blockBytes = 0;
  for (auto [part, shape] : llvm::enumerate(type.listShapes())) {
    int64_t bytes = (type.isScratch() ? 1 : shape.layers) * bytesOf(shape);
    firstByte += static_cast<int64_t>(part) < type.getPart() ? bytes : 0;
    blockBytes += bytes;
  }
}

Value CacheGeometry::load(KernelBuilder &k, Value address, Type type) const {
  Type kept = element;
  if (auto vector = dyn_cast<VectorType>(type)) {
    kept = vector.clone(element);
  }
  Value value = LLVM::LoadOp::create(k.builder(), kept, address, elementBytes);
  if (element.isInteger()) {
    return arith::SIToFPOp::create(k.builder(), type, value);
  }
  return element.isF32() ? value : widenFloat(k.builder(), value);
}

void CacheGeometry::store(KernelBuilder &k, Value value, Value address) const {
  if (element.isInteger()) {
    Type kept = element;
    if (auto vector = dyn_cast<VectorType>(value.getType())) {
      kept = vector.clone(element);
    }
    value = arith::TruncIOp::create(k.builder(), kept, value);
  } else if (!element.isF32()) {
    value = narrowFloat(k.builder(), value, element);
  }
  LLVM::StoreOp::create(k.builder(), value, address, elementBytes);
}

LogicalResult tfc::describeCache(func::FuncOp entry,
                                 transformer::CacheType type,
                                 const CacheGeometry &cache) {
  StringRef name = type.isCross() ? transformer::kCrossCacheAttrName
                                  : transformer::kCacheAttrName;
  if (type.hasParts() && type.getPart() > 0) {
    return success(); // the first says it of all
  }
  if (entry->hasAttr(name)) {
    return entry.emitOpError()
           << "expected one cache of its own tokens and one cross cache at "
              "most (the step has a place for each), got another "
           << type;
  }
  int64_t layers = 0;
  for (const transformer::CacheType::Shape &shape : type.listShapes()) {
    layers += shape.layers;
  }
  entry->setAttr(name, transformer::CacheLayoutAttr::get(
                           entry.getContext(), cache.blockTokens,
                           type.isScratch() ? 1 : layers, cache.blockBytes,
                           type.hasParts() ? 0 : cache.layerBytes,
                           cache.queryRows, type.getWindow(),
                           transformer::storageOf(type.getElementType()),
                           type.isLatent() ? type.getHeadDim() : 0));
  return success();
}

Value KernelBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value KernelBuilder::number(double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value KernelBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}

Value KernelBuilder::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, constant(y));
}

Value KernelBuilder::subtract(Value x, Value y) {
  return arith::SubIOp::create(b, x, y);
}

Value KernelBuilder::scale(Value x, int64_t factor) {
  return arith::MulIOp::create(b, x, constant(factor));
}

Value KernelBuilder::divide(Value x, int64_t divisor) {
  return arith::DivUIOp::create(b, x, constant(divisor));
}

Value KernelBuilder::remainder(Value x, int64_t divisor) {
  return arith::RemUIOp::create(b, x, constant(divisor));
}

Value KernelBuilder::roundUpDivide(Value x, int64_t divisor) {
  return divide(add(x, divisor - 1), divisor);
}

Value KernelBuilder::min(Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}

Value KernelBuilder::max(Value x, Value y) {
  return arith::MaxSIOp::create(b, x, y);
}

Value KernelBuilder::isLess(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

Value KernelBuilder::isAtMost(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, x, y);
}

Value KernelBuilder::isEqual(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

Value KernelBuilder::pointer(Value address) {
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  integer);
}

void KernelBuilder::when(Value condition, function_ref<void()> then,
                         function_ref<void()> otherwise) {
  auto conditional =
      scf::IfOp::create(b, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(conditional.thenBlock());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(conditional.elseBlock());
    otherwise();
  }
}

void KernelBuilder::loop(Value from, Value to, int64_t step,
                         function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, from, to, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

KernelBuilder::Values
KernelBuilder::loop(Value from, Value to, int64_t step, ValueRange inits,
                    function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(b, from, to, constant(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  Values next = body(op.getInductionVar(), op.getRegionIterArgs());
  // A loop that carries nothing has its terminator already.
  if (!inits.empty()) {
    scf::YieldOp::create(b, next);
  }
  return Values(op.getResults());
}

Value KernelBuilder::reduce(Value count, Value init,
                            function_ref<Value(Value, Value)> body) {
  return loop(constant(0), count, 1, init,
              [&](Value i, ValueRange carried) -> Values {
                return {body(i, carried.front())};
              })
      .front();
}

void KernelBuilder::forEachItem(
    const CacheGeometry &cache, int64_t parts,
    function_ref<void(const ItemPart &, const ItemPart &)> body) {
  Value count = loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64);
  Value zero = constant(0), one = constant(1);
  auto op = scf::ParallelOp::create(b, ValueRange{zero, zero},
                                    ValueRange{constant(parts), count},
                                    ValueRange{one, one});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  Value part = op.getInductionVars()[0], number = op.getInductionVars()[1];
  Value nextNumber = add(number, 1), isInner = isLess(nextNumber, count);
  nextNumber = arith::SelectOp::create(b, isInner, nextNumber, zero);
  Value nextPart = arith::SelectOp::create(
      b, isInner, part, min(add(part, 1), constant(parts - 1)));
  body({loadItem(number, cache), part},
       {loadItem(nextNumber, cache), nextPart});
}

void KernelBuilder::forEachItem(const CacheGeometry &cache,
                                function_ref<void(const WorkItem &)> body) {
  Value count = loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64);
  auto op = scf::ParallelOp::create(b, ValueRange{constant(0)},
                                    ValueRange{count}, ValueRange{constant(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(loadItem(op.getInductionVars().front(), cache));
}

void KernelBuilder::forEachPlace(
    const CacheGeometry &cache, ArrayRef<int64_t> axes,
    function_ref<void(const WorkItem &, ValueRange)> body) {
  forEachPlace(cache,
               llvm::map_to_vector(
                   axes, [&](int64_t extent) { return constant(extent); }),
               body);
}

void KernelBuilder::forEachPlace(
    const CacheGeometry &cache, ArrayRef<Value> axes,
    function_ref<void(const WorkItem &, ValueRange)> body) {
  Value zero = constant(0), one = constant(1);
  SmallVector<Value> upper = {
      loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64)};
  upper.append(axes.begin(), axes.end());
  SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);
  auto op = scf::ParallelOp::create(b, lower, upper, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value> places(op.getInductionVars());
  body(loadItem(places.front(), cache), ValueRange(places).drop_front());
}

Value KernelBuilder::mostRows(const CacheGeometry &cache) {
  Value items = loadIndex(b, step, offsetof(tfc_step_v0, n_items), 64);
  Value tokens = loadIndex(b, step, offsetof(tfc_step_v0, n_tokens), 64);
  return arith::SelectOp::create(b, isEqual(items, tokens), constant(1),
                                 constant(cache.queryRows));
}

WorkItem KernelBuilder::loadItem(Value number, const CacheGeometry &cache) {
  Value items = loadPointer(b, step, offsetof(tfc_step_v0, items));
  Value entry = buildAddress(b, items, number, sizeof(tfc_item_v0));
  Value sequence = loadIndex(b, entry, offsetof(tfc_item_v0, sequence), 32);
  Value sequences = loadPointer(b, step, offsetof(tfc_step_v0, sequences));
  Value table = buildAddress(b, sequences, sequence, sizeof(tfc_sequence_v0));
  auto field = [&](int64_t offset) { return loadIndex(b, table, offset, 32); };
  WorkItem item;
  item.sequence = sequence;
  item.firstRow = loadIndex(b, entry, offsetof(tfc_item_v0, first_row), 32);
  item.firstToken = field(offsetof(tfc_sequence_v0, first));
  item.past = field(offsetof(tfc_sequence_v0, past));
  item.keys = field(cache.isCross ? offsetof(tfc_sequence_v0, cross_count)
                                  : offsetof(tfc_sequence_v0, keys));
  Value blocks = loadPointer(b, step, offsetof(tfc_step_v0, block_table));
  item.blocks = buildAddress(
      b, blocks,
      field(offsetof(tfc_sequence_v0, blocks_at) + 4 * cache.number()), 4);
  Value count = field(offsetof(tfc_sequence_v0, count));
  item.rows = min(subtract(count, item.firstRow), constant(cache.queryRows));
  return item;
}

Value KernelBuilder::loadFloat(Value buffer, ValueRange place) {
  Value value = memref::LoadOp::create(b, buffer, place);
  return value.getType().isF32() ? value : widenFloat(b, value);
}

void KernelBuilder::storeFloat(Value value, Value buffer, ValueRange place) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (!element.isF32()) {
    value = narrowFloat(b, value, element);
  }
  memref::StoreOp::create(b, value, buffer, place);
}

/// Into the second level: the first has what this item needs.
void KernelBuilder::prefetchRow(Value rows, const WorkItem &item, Value row,
                                Value column, int64_t count) {
  constexpr int64_t line = 64 / sizeof(float);
  Value last = subtract(item.rows, constant(1));
  Value token = add(add(item.firstToken, item.firstRow), min(row, last));
  auto ask = [&](int64_t offset) {
    memref::PrefetchOp::create(b, rows, ValueRange{token, add(column, offset)},
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  };
  for (int64_t offset = 0; offset < count; offset += line) {
    ask(offset);
  }
  // A row that begins inside a line may end in one more.
  if (count % line != 0) {
    ask(count - 1);
  }
}

Value KernelBuilder::blockAddress(const CacheGeometry &cache,
                                  const WorkItem &item, Value number,
                                  Value layer) {
  Value block = loadIndex(b, buildAddress(b, item.blocks, number, 4), 0, 32);
  Value caches = loadPointer(b, step, offsetof(tfc_step_v0, caches));
  Value base = loadPointer(b, caches, cache.number() * sizeof(void *));
  Value address =
      buildAddress(b, base, block, cache.blockBytes, cache.firstByte);
  return buildAddress(b, address, layer, cache.layerBytes);
}

Value KernelBuilder::position(const WorkItem &item, Value row) {
  return add(item.past, add(item.firstRow, row));
}
