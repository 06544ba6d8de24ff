// The code of `pack`, which makes packed weights of stored tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_PACKBUILDER_H
#define TFC_COMPILER_HOST_PACKBUILDER_H

#include "compiler/host/PackGeometry.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc::pack {

/// What pack returns where nothing is wrong.
constexpr int64_t kPacked = 0;
/// What it returns as TFC_PACK_ROUNDED even if it may round: 16 bits do not
/// hold the scales. Greater than any status of abi.h.
constexpr int64_t kScalesLost = 1 << 16;

/// Generates @pack(weight, layer, begin, end, dtype, source, packed) -> status;
/// dtypes and statuses are those of abi.h.
class PackBuilder {
public:
  PackBuilder(mlir::ModuleOp module, mlir::ArrayRef<Geometry> geometries)
      : module(module), geometries(geometries),
        b(module.getLoc(), module.getContext()) {}

  /// Writes it to the end of the module, once.
  void build();

private:
  struct RowPlaces {
    mlir::Value target, from, to, wordStride;
  };
  struct GroupViews {
    mlir::Value scales, zeros;
  };
  struct PairPlace {
    mlir::Value byte, lower, upper;
  };
  /// One of the regions of a switch over dtypes, for each of `storages`;
  /// the status that it yields, and 0 for others.
  mlir::Value
  buildSwitchOverTypes(mlir::Value number,
                       mlir::ArrayRef<transformer::Storage> storages,
                       llvm::function_ref<mlir::Value(mlir::Type)> body);
  mlir::Value buildCopy(mlir::Type from, mlir::Type to);
  mlir::Value buildQuantize(mlir::Type from);
  std::pair<mlir::Value, mlir::Value>
  buildBytes(mlir::Value stored, mlir::Value target, const RowPlaces &row,
             mlir::Value first, mlir::Value last,
             llvm::function_ref<void(mlir::Value)> storeScale);
  std::pair<mlir::Value, mlir::Value>
  buildByteGroups(mlir::Value stored, mlir::Value target, const RowPlaces &row);
  void storeExcess(mlir::Value hasExcess, mlir::Value sum, mlir::Value excess,
                   mlir::Value row);
  mlir::Value buildFours(mlir::Type from);
  mlir::Value takeBytes();
  void takeScales(const RowPlaces &row, mlir::Value own);
  mlir::Value takeFours();
  mlir::Value loadInteger(mlir::Value row, mlir::Value column);
  mlir::Value buildGroup(mlir::Value stored, mlir::Value target,
                         const GroupViews &beside, const RowPlaces &row,
                         mlir::Value group);
  GroupViews viewGroups(mlir::Type scales);
  /// Of four bits.
  mlir::Type scaleType() {
    return transformer::elementOf(b.getContext(), scaleStorage(geometries));
  }
  mlir::Value middleZero(mlir::Value scale);
  mlir::Value storeGroup(const GroupViews &beside, const RowPlaces &row,
                         mlir::Value group, mlir::Value scale,
                         mlir::Value zero);
  PairPlace findPair(const RowPlaces &row, mlir::Value first, mlir::Value pair);
  PairPlace findPairInHalves(const RowPlaces &row, mlir::Value first,
                             mlir::Value pair);
  PairPlace findPairInFragments(const RowPlaces &row, mlir::Value first,
                                mlir::Value pair);
  mlir::Value isOfFragments() {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::ne,
                                       fields[Fragments], constant(0));
  }
  void storePair(const PairPlace &at, mlir::ArrayRef<mlir::Value> fours,
                 mlir::Value target);
  mlir::Value store(mlir::Value value, mlir::Value target, mlir::Value place);
  mlir::Value viewAs(mlir::Type type, mlir::Value memory, mlir::Value first,
                     mlir::Value elements);
  mlir::Value viewCompanion(mlir::Type type, Field place, Field stride);
  RowPlaces findRow(mlir::Value row);
  mlir::Value load(mlir::Value stored, const RowPlaces &row,
                   mlir::Value column);
  mlir::Value findPlace(const RowPlaces &row, mlir::Value column);
  mlir::Value findInFragments(mlir::Value column);
  mlir::Value findStatus(mlir::Value isSo, int64_t status);
  mlir::Value reportScales(mlir::Value status);

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  mlir::Value multiply(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulIOp::create(b, x, y);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, x, y);
  }
  mlir::Value divide(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivUIOp::create(b, x, y);
  }
  mlir::Value remainder(mlir::Value x, mlir::Value y) {
    return mlir::arith::RemUIOp::create(b, x, y);
  }

  mlir::ModuleOp module;
  mlir::ArrayRef<Geometry> geometries;
  mlir::ImplicitLocOpBuilder b;
  mlir::SmallVector<mlir::Value> fields;
  mlir::Value layer, expert, begin, end, source, packed, start, count;
  /// Of integers that are packed as they are.
  mlir::Value givenScales, givenZeros;
};

} // namespace tfc::pack

#endif // TFC_COMPILER_HOST_PACKBUILDER_H
