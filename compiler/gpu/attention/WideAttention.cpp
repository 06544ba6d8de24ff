// Paged attention over heads of so many columns that the warps of a block share
// them out, by tensor cores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/WideAttention.h"

#include "compiler/gpu/attention/FragmentScores.h"
#include "compiler/gpu/rows/RowVector.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/gpu/thread/SharedMemory.h"
#include "compiler/kernel/StepFields.h"
#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kPositions = KeyTiles::kPositions;
static constexpr int64_t kWarps = AttentionBlock::kWarps;
/// Columns of a value, at most: of 32 rows a thread has 128 sums in registers,
/// and of a row each thread of those that put parts together four columns.
static constexpr int64_t kMostValues = 512;

std::optional<WideForm> WideForm::find(transformer::CacheType type,
                                       int64_t sharedBytes, int64_t fragments) {
  int64_t keys = type.getHeadDim();
  int64_t values = type.isLatent() ? type.getValues() : keys;
  if (type.getElementType().getIntOrFloatBitWidth() != 16 || keys % 16 != 0 ||
      values % (16 * kWarps) != 0 || values > kMostValues) {
    return std::nullopt;
  }
  int64_t tile = StagedRows::bytesOf(kPositions, keys);
  for (WideForm form; fragments > 0; fragments /= 2) {
    for (int64_t stages : {2, 1}) {
      // Keys and values that are different tiles take turns by themselves.
      int64_t tiles = type.isLatent() ? stages : 2;
      form.fragments = fragments;
      form.stages = stages;
      form.queriesAt = tiles * tile;
      form.weightsAt = form.queriesAt + StagedRows::bytesOf(form.rows(), keys);
      form.numbersAt =
          form.weightsAt + StagedRows::bytesOf(form.rows(), kPositions);
      form.bytes = form.numbersAt +
                   kWarps * form.rows() * static_cast<int64_t>(sizeof(float));
      if (form.bytes <= sharedBytes) {
        return form;
      }
    }
  }
  return std::nullopt;
}

Value WideAttention::address(int64_t place) {
  return buildAddress(b, memory, place);
}

Value WideAttention::keysAt(Value first) {
  if (!block.cache.isLatent || form.stages == 1) {
    return memory;
  }
  Value stage = k.remainder(k.divide(first, kPositions), form.stages);
  return buildAddress(b, memory, stage,
                      StagedRows::bytesOf(kPositions, block.cache.headDim));
}

Value WideAttention::valuesAt(Value first) {
  const DeviceCache &cache = block.cache;
  if (cache.isLatent) {
    return buildAddress(b, keysAt(first),
                        (cache.headDim - cache.valueDim) * cache.elementBytes);
  }
  return address(StagedRows::bytesOf(kPositions, cache.headDim));
}

Value WideAttention::columnOf(size_t eight) {
  return k.add(k.add(k.scale(block.warp, numColumns()), block.pair),
               static_cast<int64_t>(eight) * 8);
}

Value WideAttention::numberAt(Value warp, Value row) {
  Value first = buildAddress(b, address(form.numbersAt), warp,
                             form.rows() * static_cast<int64_t>(sizeof(float)));
  return buildAddress(b, first, row, sizeof(float));
}

Value WideAttention::countTiles() {
  Value all = isFew ? k.constant(block.fewRows())
                    : k.scale(k.mostRows(block.cache), block.group);
  return k.roundUpDivide(all, form.rows());
}

void WideAttention::emit() {
  KernelBuilder::Values axes = {
      k.constant(block.op.getCache().getType().getKvHeads())};
  if (parts) {
    axes.push_back(numBlocks);
  }
  axes.push_back(countTiles());
  axes.push_back(k.constant(KeyTiles::kThreads));
  k.forEachPlace(
      block.cache, axes, [&](const WorkItem &item, ValueRange places) {
        if (!isFew) {
          b.getInsertionBlock()->getParentOp()->setAttr(kBeginsAloneAttrName,
                                                        b.getUnitAttr());
        }
        memory = allocateShared(b, form.bytes, /*alignment=*/128);
        block.beginThread(places.back());
        firstRow = k.scale(places.drop_back().back(), form.rows());
        Value isOwn = isOwnTile(item);
        if (!parts) {
          k.when(isOwn, [&] {
            beginTile(item, places.front());
            storeRows(addPositions(item));
          });
          return;
        }
        std::tie(begin, end) = block.score.seenBy(item);
        parts->cut(item, places.front(), begin, end);
        isOwn = arith::AndIOp::create(b, isOwn, parts->isSome(places[1]));
        k.when(isOwn, [&] {
          beginTile(item, places.front());
          emitParts(item, places[1]);
        });
      });
}

/// Whether the item is of those of this loop and has rows here.
Value WideAttention::isOwnTile(const WorkItem &item) {
  Value isOwn = block.isFew(item);
  if (!isFew) {
    isOwn = arith::XOrIOp::create(
        b, isOwn, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  }
  return arith::AndIOp::create(
      b, isOwn, k.isLess(firstRow, k.scale(item.rows, block.group)));
}

/// The parts from `first` on that are the block's.
void WideAttention::emitParts(const WorkItem &item, Value first) {
  auto loop = scf::ForOp::create(b, first, k.constant(AttentionParts::kMost),
                                 numBlocks);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  block.part = loop.getInductionVar();
  Value begins = begin, ends = end;
  k.when(parts->isSome(block.part), [&] {
    begin = k.max(begin, parts->beginOf(block.part));
    end = k.min(end, parts->beginOf(k.add(block.part, 1)));
    States states = addPositions(item);
    k.when(
        parts->isAlone(), [&] { storeRows(states); },
        [&] { storePart(states); });
  });
  begin = begins;
  end = ends;
}

void WideAttention::beginTile(const WorkItem &item, Value head) {
  block.beginRows(item, head);
  rows.clear();
  for (int64_t fragment = 0; fragment < form.fragments; ++fragment) {
    std::array<FragmentRow, 2> both;
    for (int64_t half = 0; half < 2; ++half) {
      both[half] =
          block.makeRow(item, head, k.add(firstRow, rowOf(fragment, half)));
    }
    rows.push_back(both);
  }
  if (!parts) {
    Value first = k.divide(firstRow, block.group);
    Value last = k.divide(k.add(firstRow, form.rows() - 1), block.group);
    std::tie(begin, end) =
        block.score.seenBy(item, first, k.min(last, block.lastQuery(item)));
  }
  storeQueries(item, head);
}

/// Rows beyond the item's repeat one of it.
void WideAttention::storeQueries(const WorkItem &item, Value head) {
  constexpr int64_t perCopy = kCopyBytes / 2;
  int64_t columns = block.cache.headDim, perRow = columns / perCopy;
  StagedRows to = rowsAt(address(form.queriesAt), columns);
  k.loop(
      block.thread, k.constant(form.rows() * perRow), KeyTiles::kThreads,
      [&](Value number) {
        Value own = k.divide(number, perRow);
        Value column = k.scale(k.remainder(number, perRow), perCopy);
        FragmentRow row = block.makeRow(item, head, k.add(firstRow, own));
        Value place = k.add(k.scale(row.head, columns), column);
        Value query =
            loadKeptVector(k, block.op.getQuery(), row.token, place, perCopy);
        LLVM::StoreOp::create(b, query, to.addressOf(own, column), kCopyBytes);
      });
}

/// Over what the block sees, from the first tile to the last.
WideAttention::States WideAttention::addPositions(const WorkItem &item) {
  Value first = k.scale(k.divide(begin, kPositions), kPositions);
  askFor(item, first, /*areKeys=*/true);
  KernelBuilder::Values inits;
  for (const auto &both : rows) {
    block.rows = both;
    inits.append(softmax.begin(numColumns()).pack());
  }
  size_t size = inits.size() / rows.size();
  auto unpack = [&](ValueRange values) {
    States states;
    for (size_t fragment = 0; fragment < rows.size(); ++fragment) {
      states.push_back(RowState::unpack(values.slice(fragment * size, size)));
    }
    return states;
  };
  States states = unpack(k.loop(
      first, end, kPositions, inits, [&](Value begin, ValueRange values) {
        KernelBuilder::Values next;
        for (const RowState &state : addTile(item, begin, unpack(values))) {
          next.append(state.pack());
        }
        return next;
      }));
  addTotals(states);
  return states;
}

/// The tile at `first`, if there is one: what no row sees is zero.
void WideAttention::askFor(const WorkItem &item, Value first, bool areKeys) {
  const DeviceCache &cache = block.cache;
  k.when(k.isLess(first, end), [&] {
    Value source = k.blockAddress(cache, item, k.divide(first, kPositions),
                                  block.op.getLayer());
    source = areKeys ? cache.keys(k, source, block.kvHead)
                     : cache.values(k, source, block.kvHead);
    PositionRows to = {areKeys ? keysAt(first) : valuesAt(first),
                       StagedRows::rowBytesOf(cache.headDim)};
    copyPositions(k, cache, block.thread, to, source, k.subtract(begin, first),
                  k.subtract(end, first));
    commitCopies(b);
  });
}

/// What all threads have asked for is there, and what they read before is free.
void WideAttention::waitForTile() {
  waitForCopies(b, 0);
  gpu::BarrierOp::create(b);
}

/// Latents come a tile ahead, where there is room for two; else values come
/// while scores are computed, and the next keys while values are used.
WideAttention::States WideAttention::addTile(const WorkItem &item, Value first,
                                             States states) {
  bool isLatent = block.cache.isLatent, isAhead = form.stages == 2;
  Value next = k.add(first, kPositions);
  waitForTile();
  if (!isLatent) {
    askFor(item, first, /*areKeys=*/false);
  } else if (isAhead) {
    askFor(item, next, /*areKeys=*/true);
  }
  SmallVector<SmallVector<SumFragment>> scores = multiplyQueries(keysAt(first));
  SmallVector<std::array<Value, 2>> highest;
  for (auto [fragment, own] : llvm::enumerate(scores)) {
    block.rows = rows[fragment];
    FragmentScores(block).build(own, first, /*isMasked=*/true);
    highest.push_back(softmax.highestOf(states[fragment], own));
  }
  exchangeHighest(highest);
  for (auto [fragment, own] : llvm::enumerate(scores)) {
    std::array<Value, 2> decay = softmax.weighAgainst(
        states[fragment], highest[fragment], own, /*isMasked=*/true);
    softmax.scaleSums(states[fragment], decay);
    storeWeights(static_cast<int64_t>(fragment), own);
  }
  if (isLatent) {
    gpu::BarrierOp::create(b);
  } else {
    waitForTile();
    askFor(item, next, /*areKeys=*/true);
  }
  addValues(states, valuesAt(first));
  if (isLatent && !isAhead) {
    gpu::BarrierOp::create(b);
    askFor(item, next, /*areKeys=*/true);
  }
  return states;
}

/// Of each fragment of rows with the warp's 16 positions.
SmallVector<SmallVector<SumFragment>>
WideAttention::multiplyQueries(Value keys) {
  int64_t columns = block.cache.headDim;
  StagedRows queries = rowsAt(address(form.queriesAt), columns);
  StagedRows tile = rowsAt(keys, columns);
  Value zero = k.number(0);
  SmallVector<SmallVector<SumFragment>> products(
      form.fragments,
      SmallVector<SumFragment>(block.numEights(), {zero, zero, zero, zero}));
  for (int64_t at = 0; at < columns; at += 16) {
    Value column = k.constant(at);
    LeftFragment right = tile.loadRows(block.inTile(0), column);
    for (auto [fragment, own] : llvm::enumerate(products)) {
      auto row = static_cast<int64_t>(16 * fragment);
      LeftFragment left = queries.loadLeft(k.constant(row), column);
      for (int64_t i = 0; i < 2; ++i) {
        own[i] = multiplyFragments(b, block.cache.element, left,
                                   {right[2 * i], right[2 * i + 1]}, own[i]);
      }
    }
  }
  return products;
}

/// Of the warps' positions the greatest, in all of them.
void WideAttention::exchangeHighest(MutableArrayRef<std::array<Value, 2>> own) {
  auto forEach = [&](llvm::function_ref<void(Value &, Value)> body) {
    for (auto [fragment, both] : llvm::enumerate(own)) {
      for (int64_t half = 0; half < 2; ++half) {
        body(both[half], rowOf(static_cast<int64_t>(fragment), half));
      }
    }
  };
  k.when(block.isEqual(block.pair, 0), [&] {
    forEach([&](Value &highest, Value row) {
      LLVM::StoreOp::create(b, highest, numberAt(block.warp, row),
                            sizeof(float));
    });
  });
  gpu::BarrierOp::create(b);
  forEach([&](Value &highest, Value row) {
    for (int64_t warp = 0; warp < kWarps; ++warp) {
      Value other = LLVM::LoadOp::create(
          b, b.getF32Type(), numberAt(k.constant(warp), row), sizeof(float));
      highest = warp == 0 ? other : block.larger(highest, other);
    }
  });
}

/// Behind the last tile: those of all positions, in all warps. Who stores
/// weights has read the greatest scores, and everybody has waited for them.
void WideAttention::addTotals(States &states) {
  for (size_t fragment = 0; fragment < states.size(); ++fragment) {
    RowState &state = states[fragment];
    softmax.finish(state);
    for (int64_t half = 0; half < 2; ++half) {
      Value row = rowOf(static_cast<int64_t>(fragment), half);
      k.when(block.isEqual(block.pair, 0), [&] {
        LLVM::StoreOp::create(b, state.total[half], numberAt(block.warp, row),
                              sizeof(float));
      });
    }
  }
  gpu::BarrierOp::create(b);
  for (auto [fragment, state] : llvm::enumerate(states)) {
    for (int64_t half = 0; half < 2; ++half) {
      Value row = rowOf(static_cast<int64_t>(fragment), half), total;
      for (int64_t warp = 0; warp < kWarps; ++warp) {
        Value own = LLVM::LoadOp::create(
            b, b.getF32Type(), numberAt(k.constant(warp), row), sizeof(float));
        total = warp == 0 ? own : arith::AddFOp::create(b, total, own);
      }
      state.total[half] = total;
    }
  }
}

void WideAttention::storeWeights(int64_t fragment,
                                 ArrayRef<SumFragment> weights) {
  StagedRows to = rowsAt(address(form.weightsAt), kPositions);
  for (auto [n, weight] : llvm::enumerate(weights)) {
    Value position =
        k.add(block.inTile(static_cast<int64_t>(n) * 8), block.pair);
    for (int64_t half = 0; half < 2; ++half) {
      Value pair = softmax.pairOf(weight[2 * half], weight[2 * half + 1]);
      LLVM::StoreOp::create(b, pair,
                            to.addressOf(rowOf(fragment, half), position), 4);
    }
  }
}

/// The values of all positions of a tile, the warp's columns of them.
void WideAttention::addValues(States &states, Value values) {
  StagedRows tile = rowsAt(values, block.cache.headDim);
  StagedRows weights = rowsAt(address(form.weightsAt), kPositions);
  Value first = k.scale(block.warp, numColumns());
  for (int64_t at = 0; at < kPositions; at += 16) {
    Value position = k.constant(at);
    SmallVector<LeftFragment> lefts;
    for (int64_t fragment = 0; fragment < form.fragments; ++fragment) {
      lefts.push_back(weights.loadLeft(k.constant(16 * fragment), position));
    }
    for (int64_t column = 0; column < numColumns(); column += 16) {
      LeftFragment right = tile.loadColumns(position, k.add(first, column));
      for (auto [left, state] : llvm::zip_equal(lefts, states)) {
        for (int64_t i = 0; i < 2; ++i) {
          SumFragment &sum = state.sums[column / 8 + i];
          sum = multiplyFragments(b, block.cache.element, left,
                                  {right[2 * i], right[2 * i + 1]}, sum);
        }
      }
    }
  }
}

void WideAttention::storeRows(const States &states) {
  auto type = VectorType::get(2, b.getF32Type());
  for (size_t fragment = 0; fragment < states.size(); ++fragment) {
    const RowState &state = states[fragment];
    for (int64_t half = 0; half < 2; ++half) {
      const FragmentRow &row = rows[fragment][half];
      k.when(row.isOwn, [&] {
        Value share = arith::DivFOp::create(b, k.number(1), state.total[half]);
        for (auto [n, sum] : llvm::enumerate(state.sums)) {
          KernelBuilder::Values means;
          for (int64_t i = 0; i < 2; ++i) {
            means.push_back(arith::MulFOp::create(b, sum[2 * half + i], share));
          }
          block.storeColumns(vector::FromElementsOp::create(b, type, means),
                             row, columnOf(n));
        }
      });
    }
  }
}

/// What the block's part has of its rows.
void WideAttention::storePart(const States &states) {
  auto type = VectorType::get(2, b.getF32Type());
  for (size_t fragment = 0; fragment < states.size(); ++fragment) {
    const RowState &state = states[fragment];
    for (int64_t half = 0; half < 2; ++half) {
      Value number =
          k.add(firstRow, rowOf(static_cast<int64_t>(fragment), half));
      k.when(rows[fragment][half].isOwn, [&] {
        for (auto [n, sum] : llvm::enumerate(state.sums)) {
          Value pair = vector::FromElementsOp::create(
              b, type, ValueRange{sum[2 * half], sum[2 * half + 1]});
          parts->storeSums(pair, block.part, number, columnOf(n));
        }
        Value isFirst = arith::AndIOp::create(b, block.isEqual(block.pair, 0),
                                              block.isEqual(block.warp, 0));
        k.when(isFirst, [&] {
          Value numbers = vector::FromElementsOp::create(
              b, type, ValueRange{state.highest[half], state.total[half]});
          parts->storeNumbers(numbers, block.part, number);
        });
      });
    }
  }
}
