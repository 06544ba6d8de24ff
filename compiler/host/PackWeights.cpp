// Places the weights, and has `pack` generated, which fills the places.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/PackBuilder.h"
#include "compiler/host/Passes.h"

#include "dialect/PackedLayout.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
using namespace tfc::pack;

/// A cache line: what every weight and layer begins on.
constexpr int64_t kAlignment = 64;

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

/// What is prepared, and by whom: the program's own code has made its bits.
static void listPrepared(ModuleOp module, llvm::raw_ostream &stream) {
  bool isFirst = true;
  for (auto op : module.getOps<transformer::ParameterOp>()) {
    if (!op.getPrepared()) {
      continue;
    }
    auto target = module->getAttrOfType<transformer::TargetAttr>(
        transformer::kTargetAttrName);
    if (isFirst && target) {
      stream << "prepared by " << target.getProgram() << '\n';
    }
    isFirst = false;
    stream << op.getSymName() << ' ' << op.getLayers().value_or(1) << ' '
           << op.getType() << '\n';
  }
}

/// The layout's name: what is packed as which type, and a hash of where each
/// stored parameter of the table goes. It takes in all that `pack` is generated
/// from, so that no choice of a layout can be forgotten here, and what is
/// prepared.
static std::string nameLayout(ModuleOp module, transformer::Storage storage,
                              ArrayRef<transformer::ParameterOp> stored,
                              ArrayRef<Geometry> geometries) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [parameter, geometry] : llvm::zip_equal(stored, geometries)) {
    transformer::ParameterOp op = parameter;
    stream << op.getSymName() << ' ' << op.getLayers().value_or(1);
    for (int64_t field :
         ArrayRef(geometry).take_front(countFields(geometries))) {
      stream << ' ' << field;
    }
    stream << '\n';
  }
  listPrepared(module, stream);
  return stringifyStorage(storage).str() + "-" +
         llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}

/// Whether `pack` can be generated for scales of one type.
static bool haveEqualScales(ArrayRef<Geometry> geometries) {
  auto storage = static_cast<int64_t>(scaleStorage(geometries));
  return llvm::all_of(geometries, [&](const Geometry &geometry) {
    return geometry[Storage] !=
               static_cast<int64_t>(transformer::Storage::Int4) ||
           geometry[ScaleStorage] == storage;
  });
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
    if (!haveEqualScales(geometries)) {
      module.emitError()
          << "expected scales of all matrices of i4 of one type, "
             "got several";
      return signalPassFailure();
    }
    // What most of it is kept in: the narrowest, or what is nearest to it.
    auto storage = transformer::Storage::F32;
    for (const Geometry &geometry : geometries) {
      storage = std::max(storage,
                         static_cast<transformer::Storage>(geometry[Storage]));
    }
    module->setAttr(transformer::kPackedBytesAttrName,
                    builder.getI64IntegerAttr(next));
    module->setAttr(
        transformer::kPackedLayoutAttrName,
        builder.getStringAttr(nameLayout(module, storage, stored, geometries)));
    PackBuilder(module, geometries).build();
    numStored += stored.size();
  }
};
} // namespace
