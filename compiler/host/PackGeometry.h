// Where the numbers of each parameter come from and go to, as numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_PACKGEOMETRY_H
#define TFC_COMPILER_HOST_PACKGEOMETRY_H

#include "dialect/TransformerDialect.h"

#include <array>

namespace tfc::pack {

/// Where a parameter's elements come from and go to; what `pack` switches on.
/// With R = FirstTarget + r, row r of the result, element c, is element
///   (R / Panel) * PanelStride + (c / Word * Panel + R % Panel) * Word + c %
///   Word
/// (of integers of four bits in bytes, and of Fragments in their order, as
/// #transformer.packed has them) of what is packed at Offset: the parameter, or
/// the one that it is a part of. Of a parameter of experts, layer i is of
/// expert i % Experts of layer i / Experts, ExpertBytes behind the one before,
/// and ExpertElements in what is stored. Rows one after the other are panels of
/// one row. Of a matrix of bytes row R has element R of the vectors at Scales
/// and, with HasExcess, at Excess.
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
  Scales,
  ScalesStride,
  Excess,
  ExcessStride,
  HasExcess,
  // From here on only where some parameter has experts.
  Experts,
  ExpertBytes,
  ExpertElements,
  // And these, where some parameter's integers have groups: columns that have a
  // scale, which of other bytes are all, rows of a panel of scales, and zero
  // points, packed as those; HasZeros is kFloatZeros where they are floats.
  Group,
  ScalePanel,
  Zeros,
  ZerosStride,
  HasZeros,
  // And this one, where some parameter lies as fragments have it.
  Fragments,
  // And what scales of four bits, and their zeros that are floats, are kept in,
  // where that is not f32: a Storage.
  ScaleStorage,
  NumFields
};
using Geometry = std::array<int64_t, NumFields>;

constexpr int64_t kFloatZeros = 2;

/// Where a parameter is packed: in `whole`, itself or what it is a part of,
/// from row `first` on.
struct Target {
  transformer::ParameterOp whole;
  int64_t first;
};

/// What is packed for no parameter. The host asks for weights of the table
/// only; panels and experts of 1 keep even the code that never runs from
/// dividing by zero.
Geometry noGeometry();
/// Of a parameter that lies at `target`.
Geometry geometryOf(transformer::ParameterOp op, Target target);

bool haveExperts(llvm::ArrayRef<Geometry> geometries);
bool haveFragments(llvm::ArrayRef<Geometry> geometries);
/// Integers that have groups of columns.
bool haveGroups(llvm::ArrayRef<Geometry> geometries);
bool haveIntegers(llvm::ArrayRef<Geometry> geometries);
/// Of four bits all or none have zeros that are floats.
bool haveFloatZeros(llvm::ArrayRef<Geometry> geometries);
/// Of four bits all have scales, and such zeros, of one type.
transformer::Storage scaleStorage(llvm::ArrayRef<Geometry> geometries);
/// How many of the fields some of the parameters need.
size_t countFields(llvm::ArrayRef<Geometry> geometries);

} // namespace tfc::pack

#endif // TFC_COMPILER_HOST_PACKGEOMETRY_H
