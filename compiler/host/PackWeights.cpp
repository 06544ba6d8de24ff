// Places the weights and generates `pack`, which copies a stored tensor there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/kernel/NarrowFloat.h"

#include "dialect/PackedLayout.h"
#include "dialect/ShapeUtils.h"
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
///   (R / Panel) * PanelStride + (c / Word * Panel + R % Panel) * Word + c %
///   Word
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
  Word,
  Offset,
  LayerStride,
  Storage,
  Rounds,
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

/// What is packed for no parameter. The host asks for weights of the table
/// only; panels of 1 keep even the code that never runs from dividing by zero.
static Geometry noGeometry() {
  Geometry none{};
  none[Panel] = none[Word] = 1;
  return none;
}

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
  transformer::PackedAttr packed = target.whole.getPackedAttr();
  g[Panel] = packed ? packed.getPanel() : 1;
  g[Word] = packed ? packed.getWord() : 1;
  g[Storage] =
      static_cast<int64_t>(transformer::storageOf(type.getElementType()));
  g[Rounds] = target.whole.getRounds();
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
  fill(op.getDefaultRegion(), noGeometry());
  return SmallVector<Value>(op.getResults());
}

namespace {

/// Generates @pack(weight, layer, begin, end, dtype, source, packed) -> status;
/// dtypes and statuses are those of abi.h.
class PackBuilder {
public:
  PackBuilder(ModuleOp module, ArrayRef<Geometry> geometries)
      : module(module), geometries(geometries),
        b(module.getLoc(), module.getContext()) {}

  void build();

private:
  /// One of the regions of a switch over dtypes, for each of `storages`;
  /// whatever it yields, and 0 for others.
  Value buildSwitchOverTypes(Value number,
                             ArrayRef<transformer::Storage> storages,
                             function_ref<Value(Type)> body);
  Value buildCopy(Type from, Type to);
  Value store(Value value, Value target, Value place);

  Value multiply(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value divide(Value x, Value y) { return arith::DivUIOp::create(b, x, y); }
  Value remainder(Value x, Value y) { return arith::RemUIOp::create(b, x, y); }

  ModuleOp module;
  ArrayRef<Geometry> geometries;
  ImplicitLocOpBuilder b;
  SmallVector<Value> fields;
  Value begin, end, source, packed, start, count;
};

} // namespace

Value PackBuilder::buildSwitchOverTypes(Value number,
                                        ArrayRef<transformer::Storage> storages,
                                        function_ref<Value(Type)> body) {
  SmallVector<int64_t> cases;
  for (transformer::Storage storage : storages) {
    cases.push_back(static_cast<int64_t>(storage));
  }
  auto op = scf::IndexSwitchOp::create(b, TypeRange(b.getI1Type()), number,
                                       cases, cases.size());
  OpBuilder::InsertionGuard guard(b);
  for (auto [region, storage] : llvm::zip(op.getCaseRegions(), storages)) {
    b.createBlock(&region);
    scf::YieldOp::create(b,
                         body(transformer::elementOf(b.getContext(), storage)));
  }
  b.createBlock(&op.getDefaultRegion());
  Value none = arith::ConstantOp::create(b, b.getBoolAttr(false));
  scf::YieldOp::create(b, none);
  return op.getResult(0);
}

/// Stores an f32; whether the target has another value then. A NaN stays one.
Value PackBuilder::store(Value value, Value target, Value place) {
  Type type = cast<MemRefType>(target.getType()).getElementType();
  if (type.isF32()) {
    memref::StoreOp::create(b, value, target, place);
    return arith::ConstantOp::create(b, b.getBoolAttr(false));
  }
  Value kept = narrowFloat(b, value, type);
  memref::StoreOp::create(b, kept, target, place);
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), kept);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, wide, value);
}

/// One loop nest: packed[r][c] = source[...]; whether a value was rounded.
Value PackBuilder::buildCopy(Type from, Type to) {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value size = constant(b, from.getIntOrFloatBitWidth() / 8);
  Value bytes = memref::DimOp::create(b, source, 0);
  auto viewAs = [&](Type type, Value memory, Value first, Value elements) {
    return memref::ViewOp::create(b,
                                  MemRefType::get({ShapedType::kDynamic}, type),
                                  memory, first, elements);
  };
  Value stored = viewAs(from, source, zero, divide(bytes, size));
  Value target = viewAs(to, packed, start, count);
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one, never);
  b.setInsertionPointToStart(rows.getBody());
  Value row = rows.getInductionVar();
  Value targetRow = add(fields[FirstTarget], row);
  Value words = arith::CeilDivUIOp::create(b, fields[Columns], fields[Word]);
  Value panelStride = multiply(multiply(fields[Panel], words), fields[Word]);
  Value toRow =
      add(multiply(divide(targetRow, fields[Panel]), panelStride),
          multiply(remainder(targetRow, fields[Panel]), fields[Word]));
  Value wordStride = multiply(fields[Panel], fields[Word]);
  Value fromRow = add(fields[FirstElement], multiply(row, fields[RowStride]));
  auto columns = scf::ForOp::create(b, zero, fields[Columns], one,
                                    rows.getRegionIterArg(0));
  b.setInsertionPointToStart(columns.getBody());
  Value column = columns.getInductionVar();
  Value place = add(fromRow, multiply(column, fields[ColumnStride]));
  // A tensor in a file may begin at any byte.
  Value value = memref::LoadOp::create(b, stored, place, /*nontemporal=*/false,
                                       llvm::MaybeAlign(1));
  if (!from.isF32()) {
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
  }
  Value word = multiply(divide(column, fields[Word]), wordStride);
  Value inWord = remainder(column, fields[Word]);
  Value rounded = store(value, target, add(toRow, add(word, inWord)));
  Value any = arith::OrIOp::create(b, columns.getRegionIterArg(0), rounded);
  scf::YieldOp::create(b, any);
  b.setInsertionPointToEnd(rows.getBody());
  scf::YieldOp::create(b, columns.getResult(0));
  return rows.getResult(0);
}

void PackBuilder::build() {
  b.setInsertionPointToEnd(module.getBody());
  Type index = b.getIndexType();
  Type bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  auto function = func::FuncOp::create(
      b, "pack",
      b.getFunctionType({index, index, index, index, index, bytes, bytes},
                        b.getI32Type()));
  function->setAttr(transformer::kRoleAttrName,
                    transformer::RoleAttr::get(b.getContext(),
                                               transformer::RoleKind::Pack,
                                               FlatSymbolRefAttr()));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  fields = buildSwitch(b, body->getArgument(0), geometries);
  begin = body->getArgument(2);
  end = body->getArgument(3);
  source = body->getArgument(5);
  packed = body->getArgument(6);
  start =
      add(fields[Offset], multiply(body->getArgument(1), fields[LayerStride]));
  // The last panel's rows beyond the last row included.
  Value panels = arith::CeilDivUIOp::create(
      b, add(fields[FirstTarget], fields[Rows]), fields[Panel]);
  Value words = arith::CeilDivUIOp::create(b, fields[Columns], fields[Word]);
  count =
      multiply(multiply(panels, fields[Panel]), multiply(words, fields[Word]));
  const transformer::Storage all[] = {transformer::Storage::F32,
                                      transformer::Storage::F16,
                                      transformer::Storage::BF16};
  // A copy for each type that something is kept in.
  SmallVector<transformer::Storage> kept;
  for (transformer::Storage storage : all) {
    if (llvm::any_of(geometries, [&](const Geometry &geometry) {
          return geometry[Storage] == static_cast<int64_t>(storage);
        })) {
      kept.push_back(storage);
    }
  }
  Value rounded = buildSwitchOverTypes(fields[Storage], kept, [&](Type to) {
    return buildSwitchOverTypes(body->getArgument(4), all,
                                [&](Type from) { return buildCopy(from, to); });
  });
  Value isError = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        fields[Rounds], constant(b, 0));
  Value failed = arith::AndIOp::create(b, rounded, isError);
  Value status = arith::ExtUIOp::create(b, b.getI32Type(), failed);
  func::ReturnOp::create(b, status);
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
static std::string nameLayout(transformer::Storage storage,
                              ArrayRef<transformer::ParameterOp> stored,
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
  return stringifyStorage(storage).str() + "-" +
         llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}

namespace {
struct PackWeightsPass : tfc::impl::PackWeightsPassBase<PackWeightsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (Operation *taken = module.lookupSymbol("pack")) {
      taken->emitOpError() << "expected a module without @pack (the pass "
                              "generates it), got one";
      return signalPassFailure();
    }
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
        geometries.push_back(noGeometry());
        continue;
      }
      auto part = parts.find(op);
      geometries.push_back(
          geometryOf(op, part == parts.end() ? Target{op, 0} : part->second));
    }
    // What most of it is kept in.
    auto storage = transformer::Storage::F32;
    for (const Geometry &geometry : geometries) {
      if (geometry[Storage] != 0) {
        storage = static_cast<transformer::Storage>(geometry[Storage]);
      }
    }
    module->setAttr(transformer::kPackedBytesAttrName,
                    builder.getI64IntegerAttr(next));
    module->setAttr(
        transformer::kPackedLayoutAttrName,
        builder.getStringAttr(nameLayout(storage, stored, geometries)));
    PackBuilder(module, geometries).build();
    numStored += stored.size();
  }
};
} // namespace
