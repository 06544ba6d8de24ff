// Tiles of f32 in shared memory, multiplied by the threads of a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/attention/FloatTiles.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

using Values = FloatTiles::Values;

void FloatTiles::begin(ThreadBuilder &own, Value shared) {
  t = &own;
  memory = shared;
  Value lane = t->lane();
  across = t->remainder(lane, kLanesAcross);
  down = t->add(t->scale(t->warp(), kLanesDown * rows()),
                t->divide(lane, kLanesAcross));
}

Value FloatTiles::query(int32_t row) { return t->add(down, row * kLanesDown); }

Value FloatTiles::column(int32_t chunk) {
  return t->scale(t->add(across, chunk * kLanesAcross), 4);
}

Value FloatTiles::isColumn(int32_t chunk) {
  return t->isLess(column(chunk), t->number(headDim));
}

Value FloatTiles::placeOfQuery(Value row, Value column) {
  return t->bytes(t->bytes(memory, t->scale(row, rowBytes())),
                  t->scale(column, sizeof(float)));
}

/// A chunk of all of the thread's keys stays in registers, queries come one by
/// one.
Values FloatTiles::multiplyKeys() {
  ImplicitLocOpBuilder &b = t->builder();
  Value keyAt =
      t->bytes(t->bytes(memory, keysAt()), t->scale(across, rowBytes()));
  Value queryAt = t->bytes(memory, t->scale(down, rowBytes()));
  Values none(size_t(rows() * kOwnPositions), t->zero());
  return t->loop(
      t->number(0), t->number(headDim * sizeof(float)), 16, none,
      [&](Value offset, ValueRange before) {
        Values sums(before);
        SmallVector<Values> keys;
        Value at = t->bytes(keyAt, offset);
        for (int32_t j = 0; j < kOwnPositions; ++j) {
          keys.push_back(
              t->loadFloats(t->bytes(at, j * kLanesAcross * rowBytes())));
        }
        at = t->bytes(queryAt, offset);
        for (int32_t i = 0; i < rows(); ++i) {
          Values query =
              t->loadFloats(t->bytes(at, i * kLanesDown * rowBytes()));
          for (size_t step = 0; step < query.size(); ++step) {
            for (int32_t j = 0; j < kOwnPositions; ++j) {
              Value &sum = sums[i * kOwnPositions + j];
              sum = LLVM::FMAOp::create(b, query[step], keys[j][step], sum);
            }
          }
        }
        return sums;
      });
}

/// Of position across + 8 j of the tile a thread has weight j.
void FloatTiles::storeWeights(ValueRange weights, int32_t stage) {
  constexpr int32_t count = kStagePositions / kLanesAcross;
  Value row = t->bytes(memory, t->scale(down, kWeightBytes));
  Value place = t->bytes(row, t->scale(across, sizeof(float)));
  for (int32_t i = 0; i < rows(); ++i) {
    for (int32_t j = 0; j < count; ++j) {
      int32_t offset = weightsAt() + i * kLanesDown * kWeightBytes +
                       j * kLanesAcross * int32_t(sizeof(float));
      t->store(weights[i * kOwnPositions + stage * count + j],
               t->bytes(place, offset), sizeof(float));
    }
  }
}

/// Four positions of all of the thread's columns stay in registers, weights of
/// queries come one by one. Lanes without columns at the end have those of the
/// last chunk.
Values FloatTiles::addStage(int32_t stage, ArrayRef<Value> before) {
  ImplicitLocOpBuilder &b = t->builder();
  Value values =
      t->bytes(memory, valuesAt() + stage * kStagePositions * rowBytes());
  Values chunks;
  for (int32_t m = 0; m < numChunks(); ++m) {
    Value own = column(m);
    if (m + 1 == numChunks() && isRagged()) {
      own = t->min(own, t->number(headDim - 4));
    }
    chunks.push_back(t->bytes(values, t->scale(own, sizeof(float))));
  }
  Value weights =
      t->bytes(t->bytes(memory, t->scale(down, kWeightBytes)), weightsAt());
  return t->loop(t->number(0), t->number(kStagePositions), 4, before,
                 [&](Value position, ValueRange carried) {
                   Values sums(carried);
                   Value offset = t->scale(position, rowBytes());
                   SmallVector<Values> rows; // [4][chunks]
                   for (int32_t u = 0; u < 4; ++u) {
                     Values row;
                     for (Value chunk : chunks) {
                       row.append(t->loadFloats(
                           t->bytes(t->bytes(chunk, offset), u * rowBytes())));
                     }
                     rows.push_back(row);
                   }
                   Value at =
                       t->bytes(weights, t->scale(position, sizeof(float)));
                   for (int32_t i = 0; i < this->rows(); ++i) {
                     Values own = t->loadFloats(
                         t->bytes(at, i * kLanesDown * kWeightBytes));
                     for (auto [weight, row] : llvm::zip_equal(own, rows)) {
                       for (auto [d, value] : llvm::enumerate(row)) {
                         Value &sum = sums[i * columns() + d];
                         sum = LLVM::FMAOp::create(b, weight, value, sum);
                       }
                     }
                   }
                   return sums;
                 });
}

Values FloatTiles::addValues(ValueRange weights, Values sums) {
  for (int32_t stage = 0; stage < kPositions / kStagePositions; ++stage) {
    if (stage != 0) {
      t->barrierOfWarp(); // what others read of the last stage
    }
    storeWeights(weights, stage);
    t->barrierOfWarp();
    sums = addStage(stage, sums);
  }
  return sums;
}
