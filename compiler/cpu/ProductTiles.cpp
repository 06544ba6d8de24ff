// The inner loops of products: one function for each number of rows, which all
// products of a program call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ProductTiles.h"

#include "compiler/cpu/VectorCache.h"
#include "compiler/host/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kFloatBytes = sizeof(float);
static constexpr int64_t kLineBytes = 64;

namespace {

/// Builds the body of one function.
class TileBody {
public:
  using Values = KernelBuilder::Values;

  TileBody(func::FuncOp function, OpBuilder &builder, int64_t rows,
           int64_t width, TileRequests requests,
           transformer::ProductTileAttr tile)
      : k(function.getLoc(), builder, Value()), b(k.builder()), rows(rows),
        width(width), requests(requests), tile(tile),
        pieces(cutColumns(width, tile.getLanes())) {
    ValueRange arguments = function.getArguments();
    call = {arguments[0], arguments[1], arguments[2], arguments[3],
            arguments[4], arguments[5], arguments[6], arguments[7]};
  }

  /// Turns of `turn` steps, then single steps.
  void emit(int64_t turn);

private:
  void findRows();
  Values loadSums();
  Values emitTurn(Value step, int64_t steps, ValueRange sums);
  void emitRequests(Value step, int64_t steps);
  void storeSums(ValueRange sums);
  void ask(Value base, int64_t offset) {
    LLVM::Prefetch::create(b, buildAddress(b, base, offset), /*rw=*/0,
                           /*hint=*/2, /*cache=*/1);
  }
  /// Of a piece of a row of sums.
  int64_t placeOf(int64_t row, const ColumnPiece &piece) const {
    return (row * width + piece.offset) * kFloatBytes;
  }

  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  int64_t rows, width;
  TileRequests requests;
  transformer::ProductTileAttr tile;
  SmallVector<ColumnPiece> pieces;
  TileCall call;
  SmallVector<Value> x; // pointers to the rows
};

} // namespace

void TileBody::findRows() {
  x.push_back(call.x);
  for (int64_t row = 1; row < rows; ++row) {
    Value number = k.min(k.constant(row), call.last);
    Value distance = arith::MulIOp::create(b, number, call.rowBytes);
    x.push_back(buildAddress(b, call.x, distance, 1));
  }
}

KernelBuilder::Values TileBody::loadSums() {
  SmallVector<Type> types;
  for (int64_t row = 0; row < rows; ++row) {
    for (const ColumnPiece &piece : pieces) {
      types.push_back(f32Vector(k, piece.width));
    }
  }
  auto init = scf::IfOp::create(b, types, call.isFirst, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(init.thenBlock());
  Values zeros, loaded;
  for (Type type : types) {
    zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
  }
  scf::YieldOp::create(b, zeros);
  b.setInsertionPointToStart(init.elseBlock());
  for (int64_t row = 0; row < rows; ++row) {
    for (const ColumnPiece &piece : pieces) {
      Value place = buildAddress(b, call.sums, placeOf(row, piece));
      loaded.push_back(loadVector(k, place, piece.width));
    }
  }
  scf::YieldOp::create(b, loaded);
  return Values(init.getResults());
}

/// For `steps` steps from `step` on. A turn's part of the next block is asked
/// for at once.
void TileBody::emitRequests(Value step, int64_t steps) {
  int64_t stepBytes = width * kFloatBytes;
  if (requests.ahead) {
    Value row = buildAddress(b, call.panel, step, stepBytes);
    for (int64_t offset = 0; offset < steps * stepBytes; offset += kLineBytes) {
      ask(row, tile.getAhead() * stepBytes + offset);
    }
  }
  if (requests.next != 0) {
    int64_t bytes = requests.next * kFloatBytes;
    Value part = buildAddress(b, call.next, step, bytes);
    for (int64_t offset = 0; offset < steps * bytes; offset += kLineBytes) {
      ask(part, offset);
    }
  }
}

KernelBuilder::Values TileBody::emitTurn(Value step, int64_t steps,
                                         ValueRange sums) {
  emitRequests(step, steps);
  Values next(sums);
  Value panel = buildAddress(b, call.panel, step, width * kFloatBytes);
  SmallVector<Value> places;
  for (Value row : x) {
    places.push_back(buildAddress(b, row, step, kFloatBytes));
  }
  for (int64_t i = 0; i < steps; ++i) {
    SmallVector<Value> weights;
    for (const ColumnPiece &piece : pieces) {
      weights.push_back(loadVector(k, buildAddress(b, panel, placeOf(i, piece)),
                                   piece.width));
    }
    for (int64_t row = 0; row < rows; ++row) {
      Value element = LLVM::LoadOp::create(
          b, b.getF32Type(), buildAddress(b, places[row], i * kFloatBytes));
      for (size_t j = 0; j < pieces.size(); ++j) {
        Value factor = vector::BroadcastOp::create(
            b, f32Vector(k, pieces[j].width), element);
        Value &sum = next[row * pieces.size() + j];
        sum = math::FmaOp::create(b, factor, weights[j], sum);
      }
    }
  }
  return next;
}

void TileBody::storeSums(ValueRange sums) {
  size_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (const ColumnPiece &piece : pieces) {
      storeVector(k, sums[next++],
                  buildAddress(b, call.sums, placeOf(row, piece)));
    }
  }
}

void TileBody::emit(int64_t turn) {
  findRows();
  Values sums = loadSums();
  Value whole = k.scale(k.divide(call.steps, turn), turn);
  sums = k.loop(k.constant(0), whole, turn, sums,
                [&](Value step, ValueRange carried) {
                  return emitTurn(step, turn, carried);
                });
  if (turn > 1) {
    sums =
        k.loop(whole, call.steps, 1, sums, [&](Value step, ValueRange carried) {
          return emitTurn(step, 1, carried);
        });
  }
  storeSums(sums);
  func::ReturnOp::create(b);
}

int64_t ProductTiles::turn(int64_t rows) const {
  return std::max<int64_t>(
      std::min(tile.getUnroll(), tile.getTurnRows() / rows), 1);
}

func::FuncOp ProductTiles::find(int64_t rows, TileRequests requests) {
  std::string name =
      "product." + std::to_string(rows) + "x" + std::to_string(width) +
      (requests.ahead ? "_ahead" : "") +
      (requests.next ? "_next" + std::to_string(requests.next) : "");
  if (auto found = module.lookupSymbol<func::FuncOp>(name)) {
    return found;
  }
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type index = builder.getIndexType();
  auto type = builder.getFunctionType({pointer, index, index, pointer, index,
                                       pointer, builder.getI1Type(), pointer},
                                      {});
  auto function = func::FuncOp::create(builder, module.getLoc(), name, type);
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  // One copy is what it is for.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  TileBody(function, builder, rows, width, requests, tile).emit(turn(rows));
  return function;
}

void ProductTiles::call(OpBuilder &builder, Location loc, int64_t rows,
                        TileRequests requests, const TileCall &call) {
  func::CallOp::create(builder, loc, find(rows, requests),
                       ValueRange{call.x, call.rowBytes, call.last, call.panel,
                                  call.steps, call.sums, call.isFirst,
                                  call.next});
}
