// The weight table of a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteWeights.h"

#include "compiler/emit/Record.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "tfc/abi.h"

using namespace mlir;
using namespace tfc;

/// What pack reads (PackBuilder.cpp).
static constexpr uint32_t readDtypes =
    1U << TFC_DTYPE_F32 | 1U << TFC_DTYPE_F16 | 1U << TFC_DTYPE_BF16;

static_assert(static_cast<int>(transformer::Storage::Int8) == TFC_DTYPE_I8 &&
              static_cast<int>(transformer::Storage::Int4) == TFC_DTYPE_I4);

/// The parameter itself, or what it is a part of.
static transformer::ParameterOp findWhole(transformer::ParameterOp op) {
  for (auto whole : op->getBlock()->getOps<transformer::ParameterOp>()) {
    if (llvm::is_contained(transformer::listParts(whole), op)) {
      return whole;
    }
  }
  return op;
}

/// tfc_weight_v0's kept and group, and flags of what its groups have.
struct KeptIntegers {
  uint32_t kept = 0, group = 0, flags = 0;
};

static KeptIntegers describeKept(transformer::ParameterOp op) {
  Type element = op.getTensorType().getElementType();
  if (!element.isInteger(8) && !element.isInteger(4)) {
    return {};
  }
  KeptIntegers own;
  own.kept = static_cast<uint32_t>(transformer::storageOf(element));
  transformer::ParameterOp whole = findWhole(op);
  transformer::ParameterOp scales =
      whole.findCompanion(transformer::CompanionKind::Scales);
  if (scales && scales.getTensorType().getRank() == 2) {
    own.group =
        op.getTensorType().getDimSize(1) / scales.getTensorType().getDimSize(1);
    transformer::ParameterOp zeros =
        whole.findCompanion(transformer::CompanionKind::Zeros);
    own.flags = !zeros ? 0
                : isa<FloatType>(zeros.getTensorType().getElementType())
                    ? TFC_WEIGHT_FLOAT_ZEROS
                    : TFC_WEIGHT_ZEROS;
    if (!scales.getTensorType().getElementType().isF32()) {
      own.flags |= TFC_WEIGHT_HALF_SCALES;
    }
  }
  return own;
}

static int64_t colsOf(transformer::ParameterOp op) {
  RankedTensorType type = op.getTensorType();
  return type.getRank() == 2 ? type.getDimSize(1) : 1;
}

/// tfc_source_v0
static Field writeSource(transformer::ParameterOp op, Tables &tables) {
  transformer::SourceAttr source = *op.getSource();
  std::vector<Field> patterns;
  for (StringAttr pattern : source.getPatterns()) {
    patterns.push_back(tables.string(pattern.getValue()));
  }
  uint32_t flags = 0;
  flags |= source.getInOut() ? TFC_SOURCE_IN_OUT : 0;
  flags |= source.getFillZeros() ? TFC_SOURCE_FILL_ZEROS : 0;
  flags |= source.getStacked() ? TFC_SOURCE_STACKED : 0;
  transformer::ShareAttr share = source.getShare();
  flags |= share && share.getFirstRank() ? TFC_SOURCE_FIRST_RANK : 0;
  return Record<tfc_source_v0>("tfc_source_v0")
      .set(&tfc_source_v0::patterns, tables.array(patterns))
      .set(&tfc_source_v0::n_patterns, patterns.size())
      .set(&tfc_source_v0::flags, flags)
      .set(&tfc_source_v0::rank, op.getTensorType().getRank())
      .set(&tfc_source_v0::dtypes, readDtypes)
      .set(&tfc_source_v0::cols, colsOf(op))
      .set(&tfc_source_v0::first_row, source.getFirstRow())
      .set(&tfc_source_v0::stored_rows, source.getStoredRows())
      .set(&tfc_source_v0::row_step, source.getRowStep())
      .set(&tfc_source_v0::stored_cols, source.getStoredCols())
      .set(&tfc_source_v0::rank_parts, share ? share.getParts() : 0)
      .set(&tfc_source_v0::rank_rows, share ? share.getRows() : 0)
      .set(&tfc_source_v0::rank_cols, share ? share.getCols() : 0)
      .finish();
}

/// tfc_weight_v0; `tiedTo` is the number of the weight that it must equal.
static Field writeWeight(transformer::ParameterOp op, uint32_t tiedTo,
                         Tables &tables) {
  KeptIntegers own = describeKept(op);
  return Record<tfc_weight_v0>("tfc_weight_v0")
      .set(&tfc_weight_v0::name, tables.string(op.getSymName()))
      .set(&tfc_weight_v0::sources, tables.array({writeSource(op, tables)}))
      .set(&tfc_weight_v0::n_sources, 1)
      .set(&tfc_weight_v0::flags,
           (op.isTied() ? TFC_WEIGHT_TIED : 0) | own.flags)
      .set(&tfc_weight_v0::first_layer, op.getSource()->getFirstLayer())
      .set(&tfc_weight_v0::layer_step, op.getSource()->getLayerStep())
      .set(&tfc_weight_v0::layers,
           op.getLayers().value_or(1) * op.getExperts().value_or(1))
      .set(&tfc_weight_v0::tied_to, tiedTo)
      .set(&tfc_weight_v0::rows, op.getTensorType().getDimSize(0))
      .set(&tfc_weight_v0::cols, colsOf(op))
      .set(&tfc_weight_v0::adapter_rank, 0)
      .set(&tfc_weight_v0::experts, op.getExperts().value_or(0))
      .set(&tfc_weight_v0::kept, own.kept)
      .set(&tfc_weight_v0::group, own.group)
      .finish();
}

Field tfc::writeWeights(ModuleOp module, Tables &tables, size_t &count) {
  llvm::StringMap<uint32_t> numbers;
  SmallVector<transformer::ParameterOp> stored =
      transformer::listStored(module);
  for (auto [index, op] : llvm::enumerate(stored)) {
    numbers[op.getSymName()] = index;
  }
  std::vector<Field> items;
  for (transformer::ParameterOp op : stored) {
    StringAttr tied = op.getSource()->getTiedTo();
    items.push_back(
        writeWeight(op, tied ? numbers.lookup(tied.getValue()) : 0, tables));
  }
  count = items.size();
  return tables.array(items);
}
