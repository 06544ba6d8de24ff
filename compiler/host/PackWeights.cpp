// Places the weights and generates `pack`, which copies a stored tensor there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "dialect/PackedLayout.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

namespace tfc {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// A cache line: what every weight and layer begins on.
constexpr int64_t kAlignment = 64;

/// Where a parameter's elements come from and go to; what `pack` switches on.
/// With R = FirstTarget + r, row r of the result, element c, is element
///   (R / Panel) * PanelStride + c * Panel + R % Panel
/// of what is packed at Offset: the parameter, or the one that it is a part of.
/// Rows one after the other are panels of one row.
enum Field {
  FirstElement,
  RowStride,
  ColumnStride,
  Rows,
  Columns,
  FirstTarget,
  Panel,
  Offset,
  LayerStride,
  NumFields
};
using Geometry = std::array<int64_t, NumFields>;

namespace {

/// Where a parameter is packed: in `whole`, itself or what it is a part of,
/// from row `first` on.
struct Target {
  transformer::ParameterOp whole;
  int64_t first;
};

} // namespace

static Geometry geometryOf(transformer::ParameterOp op, Target target) {
  RankedTensorType type = op.getTensorType();
  transformer::SourceAttr source = *op.getSource();
  int64_t rows = type.getDimSize(0);
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 1;
  Geometry g;
  g[RowStride] = source.getInOut() ? 1 : columns;
  g[ColumnStride] = source.getInOut() ? source.getStoredRows() : 1;
  g[FirstElement] = source.getFirstRow() * g[RowStride];
  g[Rows] = rows;
  g[Columns] = columns;
  g[FirstTarget] = target.first;
  g[Panel] = target.whole.getPanel().value_or(1);
  g[Offset] = *target.whole.getOffset();
  g[LayerStride] = target.whole.getStride().value_or(0);
  return g;
}

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// The fields of parameter number `weight`, chosen by a switch.
static SmallVector<Value> buildSwitch(ImplicitLocOpBuilder &b, Value weight,
                                      ArrayRef<Geometry> geometries) {
  auto cases = llvm::to_vector(llvm::seq<int64_t>(0, geometries.size()));
  SmallVector<Type> types(NumFields, b.getIndexType());
  auto op =
      scf::IndexSwitchOp::create(b, types, weight, cases, geometries.size());
  auto fill = [&](Region &region, const Geometry &geometry) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    SmallVector<Value> values;
    for (int64_t field : geometry) {
      values.push_back(constant(b, field));
    }
    scf::YieldOp::create(b, values);
  };
  for (auto [region, geometry] : llvm::zip(op.getCaseRegions(), geometries)) {
    fill(region, geometry);
  }
  // The host asks for weights of the table only; a panel of 1 keeps even the
  // code that never runs from dividing by zero.
  Geometry none{};
  none[Panel] = 1;
  fill(op.getDefaultRegion(), none);
  return SmallVector<Value>(op.getResults());
}

/// One loop nest for sources of `type`: packed[r][c] = f32(source[...]).
static void buildCopy(ImplicitLocOpBuilder &b, Type type, Value source,
                      Value target, ArrayRef<Value> fields) {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value size = constant(b, type.getIntOrFloatBitWidth() / 8);
  Value bytes = memref::DimOp::create(b, source, 0);
  Value elements = arith::DivUIOp::create(b, bytes, size);
  auto multiply = [&](Value x, Value y) -> Value {
    return arith::MulIOp::create(b, x, y);
  };
  auto view = memref::ViewOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, type), source, zero, elements);
  auto rows = scf::ForOp::create(b, zero, fields[Rows], one);
  b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  Value targetRow = arith::AddIOp::create(b, fields[FirstTarget], row);
  Value number = arith::DivUIOp::create(b, targetRow, fields[Panel]);
  Value inPanel = arith::RemUIOp::create(b, targetRow, fields[Panel]);
  Value panelStride = multiply(fields[Panel], fields[Columns]);
  Value toRow =
      arith::AddIOp::create(b, multiply(number, panelStride), inPanel);
  Value fromRow = arith::AddIOp::create(b, fields[FirstElement],
                                        multiply(row, fields[RowStride]));
  auto columns = scf::ForOp::create(b, zero, fields[Columns], one);
  b.setInsertionPointToStart(columns.getBody());
  Value column = columns.getInductionVar();
  Value from =
      arith::AddIOp::create(b, fromRow, multiply(column, fields[ColumnStride]));
  Value to = arith::AddIOp::create(b, toRow, multiply(column, fields[Panel]));
  // A tensor in a file may begin at any byte.
  Value value = memref::LoadOp::create(b, view, from, /*nontemporal=*/false,
                                       llvm::MaybeAlign(1));
  if (!type.isF32()) {
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
  }
  memref::StoreOp::create(b, value, target, to);
  b.setInsertionPointAfter(rows);
}

/// @pack(weight, layer, dtype, source, packed); dtypes are those of abi.h.
static void buildPack(ModuleOp module, ArrayRef<Geometry> geometries) {
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type index = b.getIndexType();
  Type bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  auto function = func::FuncOp::create(
      b, "pack", b.getFunctionType({index, index, index, bytes, bytes}, {}));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  SmallVector<Value> fields = buildSwitch(b, body->getArgument(0), geometries);
  Value layer =
      arith::MulIOp::create(b, body->getArgument(1), fields[LayerStride]);
  Value start = arith::AddIOp::create(b, fields[Offset], layer);
  // The last panel's rows beyond the last row included.
  Value rows = arith::AddIOp::create(b, fields[FirstTarget], fields[Rows]);
  Value panels = arith::CeilDivUIOp::create(b, rows, fields[Panel]);
  Value panelSize = arith::MulIOp::create(b, fields[Panel], fields[Columns]);
  Value count = arith::MulIOp::create(b, panels, panelSize);
  Value target = memref::ViewOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, b.getF32Type()),
      body->getArgument(4), start, count);
  SmallVector<Type> types = {b.getF32Type(), b.getF16Type(), b.getBF16Type()};
  SmallVector<int64_t> cases = {0, 1, 2};
  auto dtype = scf::IndexSwitchOp::create(b, TypeRange(), body->getArgument(2),
                                          cases, 3);
  func::ReturnOp::create(b);
  for (auto [region, type] : llvm::zip(dtype.getCaseRegions(), types)) {
    b.createBlock(&region);
    auto yield = scf::YieldOp::create(b);
    b.setInsertionPoint(yield);
    buildCopy(b, type, body->getArgument(3), target, fields);
  }
  b.createBlock(&dtype.getDefaultRegion());
  scf::YieldOp::create(b);
}

/// The parts of all parameters, each with its place.
static llvm::DenseMap<Operation *, Target> findParts(ModuleOp module) {
  llvm::DenseMap<Operation *, Target> targets;
  for (auto whole : module.getOps<transformer::ParameterOp>()) {
    int64_t first = 0;
    for (transformer::ParameterOp part : transformer::listParts(whole)) {
      targets[part] = {whole, first};
      first += part.getTensorType().getDimSize(0);
    }
  }
  return targets;
}

/// The layout's name: what is packed as which type, and a hash of where each
/// stored parameter of the table goes. It takes in all that `pack` is generated
/// from, so that no choice of a layout can be forgotten here.
static std::string nameLayout(ArrayRef<transformer::ParameterOp> stored,
                              ArrayRef<Geometry> geometries) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [parameter, geometry] : llvm::zip_equal(stored, geometries)) {
    transformer::ParameterOp op = parameter;
    stream << op.getSymName() << ' ' << op.getLayers().value_or(1);
    for (int64_t field : geometry) {
      stream << ' ' << field;
    }
    stream << '\n';
  }
  return "f32-" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                                  /*Width=*/16);
}

namespace {
struct PackWeightsPass : tfc::impl::PackWeightsPassBase<PackWeightsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(module.getContext());
    llvm::DenseMap<Operation *, Target> parts = findParts(module);
    int64_t next = 0;
    for (auto op : module.getOps<transformer::ParameterOp>()) {
      if (op.isTied() || parts.contains(op)) {
        continue;
      }
      std::optional<int64_t> bytes = op.getPackedBytes();
      int64_t layers = op.getLayers().value_or(1);
      int64_t stride = bytes ? llvm::alignTo(*bytes, kAlignment) : 0;
      std::optional<int64_t> end =
          bytes ? llvm::checkedAdd(next, stride * layers) : std::nullopt;
      if (!end) {
        op.emitOpError() << "expected less than 2^63 bytes of packed weights, "
                            "got more with it";
        return signalPassFailure();
      }
      op.setOffset(next);
      if (op.getLayers()) {
        op.setStride(stride);
      }
      next = *end;
    }
    SmallVector<Geometry> geometries;
    SmallVector<transformer::ParameterOp> stored =
        transformer::listStored(module);
    for (transformer::ParameterOp op : stored) {
      if (op.isTied()) {
        // In the table for the host's check, never packed.
        geometries.emplace_back();
        geometries.back()[Panel] = 1;
        continue;
      }
      auto part = parts.find(op);
      geometries.push_back(
          geometryOf(op, part == parts.end() ? Target{op, 0} : part->second));
    }
    module->setAttr(transformer::kPackedBytesAttrName,
                    builder.getI64IntegerAttr(next));
    module->setAttr(transformer::kPackedLayoutAttrName,
                    builder.getStringAttr(nameLayout(stored, geometries)));
    buildPack(module, geometries);
  }
};
} // namespace
