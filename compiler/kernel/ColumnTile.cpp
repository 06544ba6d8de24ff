// Some columns of rows and of a state, in registers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ColumnTile.h"

#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

Value ColumnTile::at(const ColumnPiece &piece, Value offset) {
  Value column = k.add(first, piece.offset);
  return offset ? k.add(column, offset) : column;
}

Values ColumnTile::broadcast(Value number) {
  return llvm::map_to_vector(pieces, [&](const ColumnPiece &piece) -> Value {
    return piece.width == 1
               ? number
               : vector::BroadcastOp::create(k.builder(),
                                             f32Vector(k, piece.width), number);
  });
}

Values ColumnTile::loadRow(Value rows, Value row, Value offset) {
  return llvm::map_to_vector(pieces, [&](const ColumnPiece &piece) -> Value {
    Value place[] = {row, at(piece, offset)};
    return piece.width == 1
               ? k.loadFloat(rows, place)
               : vector::LoadOp::create(k.builder(), f32Vector(k, piece.width),
                                        rows, place);
  });
}

void ColumnTile::storeRow(ValueRange values, Value rows, Value row,
                          Value offset) {
  for (auto [piece, value] : llvm::zip_equal(pieces, values)) {
    Value place[] = {row, at(piece, offset)};
    if (piece.width == 1) {
      k.storeFloat(value, rows, place);
    } else {
      vector::StoreOp::create(k.builder(), value, rows, place);
    }
  }
}

void ColumnTile::storeSpread(ValueRange values, Value rows, Value row,
                             int64_t stride, int64_t offset) {
  for (auto [piece, value] : llvm::zip_equal(pieces, values)) {
    for (int64_t lane = 0; lane < piece.width; ++lane) {
      Value column = k.scale(k.add(at(piece), lane), stride);
      Value place[] = {row, k.add(column, offset)};
      Value number =
          piece.width == 1
              ? value
              : vector::ExtractOp::create(k.builder(), value, lane).getResult();
      k.storeFloat(number, rows, place);
    }
  }
}

Values ColumnTile::loadVector(Value vector, Value offset) {
  return llvm::map_to_vector(pieces, [&](const ColumnPiece &piece) -> Value {
    Value place = at(piece, offset);
    return piece.width == 1
               ? k.loadFloat(vector, place)
               : vector::LoadOp::create(k.builder(), f32Vector(k, piece.width),
                                        vector, place);
  });
}

Values ColumnTile::loadTransposed(Value matrix, Value column) {
  return llvm::map_to_vector(pieces, [&](const ColumnPiece &piece) -> Value {
    Values numbers;
    for (int64_t lane = 0; lane < piece.width; ++lane) {
      Value place[] = {k.add(at(piece), lane), column};
      numbers.push_back(k.loadFloat(matrix, place));
    }
    return piece.width == 1
               ? numbers.front()
               : vector::FromElementsOp::create(
                     k.builder(), f32Vector(k, piece.width), numbers);
  });
}

Values ColumnTile::loadState(Value address) {
  return llvm::map_to_vector(pieces, [&](const ColumnPiece &piece) -> Value {
    Value from = buildAddress(k.builder(), address, at(piece), sizeof(float));
    Type type = piece.width == 1 ? Type(k.builder().getF32Type())
                                 : f32Vector(k, piece.width);
    return LLVM::LoadOp::create(k.builder(), type, from,
                                /*alignment=*/sizeof(float));
  });
}

void ColumnTile::storeState(ValueRange values, Value address) {
  for (auto [piece, value] : llvm::zip_equal(pieces, values)) {
    Value to = buildAddress(k.builder(), address, at(piece), sizeof(float));
    LLVM::StoreOp::create(k.builder(), value, to, /*alignment=*/sizeof(float));
  }
}

Values ColumnTile::fma(ValueRange a, ValueRange b, ValueRange c) {
  Values result;
  for (auto [x, y, sum] : llvm::zip_equal(a, b, c)) {
    result.push_back(math::FmaOp::create(k.builder(), x, y, sum));
  }
  return result;
}

Values ColumnTile::multiply(ValueRange a, ValueRange b) {
  Values result;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    result.push_back(arith::MulFOp::create(k.builder(), x, y));
  }
  return result;
}

Values ColumnTile::subtract(ValueRange a, ValueRange b) {
  Values result;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    result.push_back(arith::SubFOp::create(k.builder(), x, y));
  }
  return result;
}

Values ColumnTile::select(Value condition, ValueRange values,
                          ValueRange otherwise) {
  Values result;
  for (auto [x, y] : llvm::zip_equal(values, otherwise)) {
    result.push_back(arith::SelectOp::create(k.builder(), condition, x, y));
  }
  return result;
}

/// Calls `body` with the induction variables of a parallel loop over `upper`.
static void buildParallel(KernelBuilder &k, ArrayRef<Value> upper,
                          function_ref<void(ValueRange)> body) {
  ImplicitLocOpBuilder &b = k.builder();
  SmallVector<Value> lower(upper.size(), k.constant(0));
  SmallVector<Value> steps(upper.size(), k.constant(1));
  auto op = scf::ParallelOp::create(b, lower, upper, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVars());
}

void tfc::forEachColumnTile(
    KernelBuilder &k, Value step, ArrayRef<int64_t> axes, int64_t columns,
    int64_t lanes, int64_t vectors,
    function_ref<void(Value, ValueRange, ColumnTile &)> body) {
  SmallVector<Value> upper = {countSequences(k, step)};
  for (int64_t extent : axes) {
    upper.push_back(k.constant(extent));
  }
  int64_t size = lanes == 1 ? 1 : lanes * vectors;
  int64_t whole = columns / size * size;
  auto run = [&](ValueRange places, Value first, ArrayRef<ColumnPiece> pieces) {
    ColumnTile tile(k, first, pieces);
    body(places.front(), places.slice(1, axes.size()), tile);
  };
  if (whole != 0) {
    SmallVector<Value> tiles(upper);
    tiles.push_back(k.constant(whole / size));
    buildParallel(k, tiles, [&](ValueRange places) {
      run(places, k.scale(places.back(), size), cutColumns(size, lanes));
    });
  }
  if (whole != columns) {
    buildParallel(k, upper, [&](ValueRange places) {
      run(places, k.constant(whole), cutColumns(columns - whole, lanes));
    });
  }
}
