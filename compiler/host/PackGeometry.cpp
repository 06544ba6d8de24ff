// Reads it off the parameters.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/PackGeometry.h"

#include "dialect/FragmentWord.h"
#include "dialect/ShapeUtils.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::pack;

Geometry pack::noGeometry() {
  Geometry none{};
  none[Panel] = none[Word] = none[Experts] = 1;
  none[Group] = none[ScalePanel] = 1;
  return none;
}

Geometry pack::geometryOf(transformer::ParameterOp op, Target target) {
  RankedTensorType type = op.getTensorType();
  transformer::SourceAttr source = *op.getSource();
  int64_t rows = type.getDimSize(0);
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 1;
  Geometry g;
  int64_t storedColumns =
      source.getStoredCols() ? source.getStoredCols() : columns;
  g[RowStride] = source.getInOut() ? 1 : storedColumns;
  g[ColumnStride] = source.getInOut() ? source.getStoredRows() : 1;
  g[FirstElement] = source.getFirstRow() * g[RowStride];
  g[RowStride] *= source.getRowStep();
  g[Rows] = rows;
  g[Columns] = columns;
  g[FirstTarget] = target.first;
  transformer::PackedAttr packed = target.whole.getPackedAttr();
  g[Panel] = packed ? packed.getPanel() : 1;
  g[Word] = packed ? packed.getWord() : 1;
  g[Fragments] = type.getElementType().isInteger() &&
                 g[Word] == transformer::kFragmentWord;
  g[Storage] =
      static_cast<int64_t>(transformer::storageOf(type.getElementType()));
  g[Rounds] = target.whole.getRounds();
  g[Offset] = *target.whole.getOffset();
  g[LayerStride] = target.whole.getStride().value_or(0);
  g[Experts] = target.whole.getExperts().value_or(1);
  g[ExpertBytes] = target.whole.getExpertBytes();
  g[ExpertElements] =
      source.getStacked() ? source.getStoredRows() * storedColumns : 0;
  auto addCompanion = [&](transformer::CompanionKind kind, Field place,
                          Field stride) {
    transformer::ParameterOp companion = target.whole.findCompanion(kind);
    g[place] = companion ? *companion.getOffset() : 0;
    g[stride] = companion ? companion.getStride().value_or(0) : 0;
    return static_cast<bool>(companion);
  };
  addCompanion(transformer::CompanionKind::Scales, Scales, ScalesStride);
  g[HasZeros] =
      addCompanion(transformer::CompanionKind::Zeros, Zeros, ZerosStride);
  if (transformer::ParameterOp zeros =
          target.whole.findCompanion(transformer::CompanionKind::Zeros);
      zeros && isa<FloatType>(zeros.getTensorType().getElementType())) {
    g[HasZeros] = kFloatZeros;
  }
  bool isByte = g[Storage] == static_cast<int64_t>(transformer::Storage::Int8);
  g[Group] = isByte ? columns : 1;
  g[ScalePanel] = 1;
  transformer::ParameterOp scales =
      target.whole.findCompanion(transformer::CompanionKind::Scales);
  g[ScaleStorage] = static_cast<int64_t>(transformer::Storage::F32);
  if (scales && scales.getTensorType().getRank() == 2) {
    g[ScaleStorage] = static_cast<int64_t>(
        transformer::storageOf(scales.getTensorType().getElementType()));
    g[Group] = columns / scales.getTensorType().getDimSize(1);
    g[ScalePanel] = scales.getPacked() ? scales.getPacked()->getPanel() : 1;
  }
  g[HasExcess] =
      addCompanion(transformer::CompanionKind::Excess, Excess, ExcessStride);
  return g;
}

bool pack::haveExperts(ArrayRef<Geometry> geometries) {
  return llvm::any_of(geometries, [](const Geometry &geometry) {
    return geometry[Experts] > 1;
  });
}

bool pack::haveFragments(ArrayRef<Geometry> geometries) {
  return llvm::any_of(geometries, [](const Geometry &geometry) {
    return geometry[Fragments] != 0;
  });
}

bool pack::haveGroups(ArrayRef<Geometry> geometries) {
  return llvm::any_of(geometries, [](const Geometry &geometry) {
    bool hasOwn =
        geometry[Group] < geometry[Columns] || geometry[ScalePanel] > 1;
    return geometry[Storage] ==
               static_cast<int64_t>(transformer::Storage::Int4) ||
           (geometry[Storage] ==
                static_cast<int64_t>(transformer::Storage::Int8) &&
            hasOwn);
  });
}

bool pack::haveIntegers(ArrayRef<Geometry> geometries) {
  return llvm::any_of(geometries, [](const Geometry &geometry) {
    return geometry[Storage] >=
           static_cast<int64_t>(transformer::Storage::Int8);
  });
}

bool pack::haveFloatZeros(ArrayRef<Geometry> geometries) {
  return llvm::any_of(geometries, [](const Geometry &geometry) {
    return geometry[HasZeros] == kFloatZeros;
  });
}

transformer::Storage pack::scaleStorage(ArrayRef<Geometry> geometries) {
  int64_t storage = static_cast<int64_t>(transformer::Storage::F32);
  for (const Geometry &geometry : geometries) {
    storage = std::max(storage, geometry[ScaleStorage]);
  }
  return static_cast<transformer::Storage>(storage);
}

size_t pack::countFields(ArrayRef<Geometry> geometries) {
  bool areNarrow = scaleStorage(geometries) != transformer::Storage::F32;
  return areNarrow                   ? NumFields
         : haveFragments(geometries) ? ScaleStorage
         : haveGroups(geometries)    ? Fragments
         : haveExperts(geometries)   ? Group
                                     : Experts;
}
