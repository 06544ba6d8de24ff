// The table of a program's entries: ports, cache, functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteEntries.h"

#include "compiler/emit/Record.h"
#include "compiler/support/DeviceKernels.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"

using namespace mlir;
using namespace tfc;

namespace {

/// Writes the entries of one module.
class EntryWriter {
public:
  EntryWriter(ModuleOp module, Tables &tables)
      : module(module), tables(tables) {}

  FailureOr<Field> entry(LLVM::LLVMFuncOp function);

private:
  /// tfc_port_v0[]
  Field inputs(ArrayAttr ports);
  /// `greatest`: the number of the one that heeds tfc_step_v0.greatest.
  Field outputs(ArrayAttr ports, std::optional<int64_t> greatest);

  ModuleOp module;
  Tables &tables;
};

} // namespace

// The dialect's numbers are those of abi.h.
static_assert(
    static_cast<int>(transformer::Fill::Required) == TFC_FILL_REQUIRED &&
    static_cast<int>(transformer::Fill::Zero) == TFC_FILL_ZERO &&
    static_cast<int>(transformer::Fill::Absent) == TFC_FILL_ABSENT &&
    static_cast<int>(transformer::Fill::Position) == TFC_FILL_POSITION &&
    static_cast<int>(transformer::Fill::Shifted) == TFC_FILL_SHIFTED &&
    static_cast<int>(transformer::Fill::FromPad) == TFC_FILL_FROM_PAD &&
    static_cast<int>(transformer::Fill::FromMask) == TFC_FILL_FROM_MASK &&
    static_cast<int>(transformer::Fill::Given) == TFC_FILL_GIVEN &&
    static_cast<int>(transformer::Fill::Unseen) == TFC_FILL_UNSEEN);
static_assert(static_cast<int>(transformer::Storage::F32) == TFC_DTYPE_F32 &&
              static_cast<int>(transformer::Storage::F16) == TFC_DTYPE_F16 &&
              static_cast<int>(transformer::Storage::BF16) == TFC_DTYPE_BF16 &&
              static_cast<int>(transformer::Storage::Int8) == TFC_DTYPE_I8);
static_assert(static_cast<int>(transformer::RowKind::Tokens) ==
                  TFC_ROWS_TOKENS &&
              static_cast<int>(transformer::RowKind::Wanted) ==
                  TFC_ROWS_WANTED);
static_assert(
    static_cast<int>(transformer::Take::All) == TFC_TAKE_ALL &&
    static_cast<int>(transformer::Take::First) == TFC_TAKE_FIRST &&
    static_cast<int>(transformer::Take::LastNonpad) == TFC_TAKE_LAST_NONPAD &&
    static_cast<int>(transformer::Take::LastEos) == TFC_TAKE_LAST_EOS &&
    static_cast<int>(transformer::Take::LastVisible) == TFC_TAKE_LAST_VISIBLE &&
    static_cast<int>(transformer::Take::FirstEos) == TFC_TAKE_FIRST_EOS);

Field EntryWriter::inputs(ArrayAttr ports) {
  std::vector<Field> items;
  for (auto port : ports.getAsRange<transformer::InputAttr>()) {
    bool isGiven = port.getWidth() != 0;
    items.push_back(
        Record<tfc_port_v0>("tfc_port_v0")
            .set(&tfc_port_v0::name, tables.string(port.getName()))
            .set(&tfc_port_v0::dtype, isGiven ? TFC_DTYPE_F32 : TFC_DTYPE_I32)
            .set(&tfc_port_v0::rows, TFC_ROWS_TOKENS)
            .set(&tfc_port_v0::width, isGiven ? port.getWidth() : 1)
            .set(&tfc_port_v0::flags, isGiven ? TFC_PORT_EMBEDS : 0)
            .set(&tfc_port_v0::fill, port.getFill())
            .set(&tfc_port_v0::take, 0)
            .set(&tfc_port_v0::limit, port.getLimit())
            .finish());
  }
  return tables.array(items);
}

Field EntryWriter::outputs(ArrayAttr ports, std::optional<int64_t> greatest) {
  std::vector<Field> items;
  for (auto port : ports.getAsRange<transformer::OutputPortAttr>()) {
    bool isGreatest = greatest == static_cast<int64_t>(items.size());
    items.push_back(Record<tfc_port_v0>("tfc_port_v0")
                        .set(&tfc_port_v0::name, tables.string(port.getName()))
                        .set(&tfc_port_v0::dtype, TFC_DTYPE_F32)
                        .set(&tfc_port_v0::rows, port.getRows())
                        .set(&tfc_port_v0::width, port.getWidth())
                        .set(&tfc_port_v0::flags,
                             (port.getSqueezed() ? TFC_PORT_SQUEEZED : 0) |
                                 (port.getHeadRows() ? TFC_PORT_HEAD_ROWS : 0) |
                                 (isGreatest ? TFC_PORT_GREATEST : 0))
                        .set(&tfc_port_v0::fill, 0)
                        .set(&tfc_port_v0::take, port.getTake())
                        .set(&tfc_port_v0::limit, 0)
                        .finish());
  }
  return tables.array(items);
}

static Field cache(transformer::CacheLayoutAttr layout, uint32_t role) {
  using Cache = tfc_cache_v0;
  return Record<Cache>("tfc_cache_v0")
      .set(&Cache::role, role)
      .set(&Cache::dtype,
           layout ? layout.getStorage() : transformer::Storage::F32)
      .set(&Cache::block_tokens, layout ? layout.getBlockTokens() : 0)
      .set(&Cache::layers, layout ? layout.getLayers() : 0)
      .set(&Cache::block_bytes, layout ? layout.getBlockBytes() : 0)
      .set(&Cache::layer_bytes, layout ? layout.getLayerBytes() : 0)
      .set(&Cache::window, layout ? layout.getWindow() : 0)
      .set(&Cache::key_width, layout ? layout.getKeyWidth() : 0)
      .set(&Cache::value_width, 0)
      .finish();
}

/// The cache of an entry's own tokens is number 0, a cross cache or one of
/// states number 1 (CacheGeometry::number, StateLayout::kNumber): one that is
/// not there before one that is has no layers.
static std::vector<Field> listCaches(transformer::CacheLayoutAttr self,
                                     transformer::CacheLayoutAttr cross,
                                     transformer::CacheLayoutAttr state) {
  std::vector<Field> caches;
  if (self || cross || state) {
    caches.push_back(cache(self, TFC_CACHE_SELF));
  }
  if (cross) {
    caches.push_back(cache(cross, TFC_CACHE_CROSS));
  }
  if (state) {
    caches.push_back(cache(state, TFC_CACHE_STATE));
  }
  return caches;
}

/// Of an item of attention: no more than any of the caches' kernels takes.
static int64_t queryRowsOf(transformer::CacheLayoutAttr self,
                           transformer::CacheLayoutAttr cross) {
  return std::max<int64_t>(
      {self ? self.getQueryRows() : 1, cross ? cross.getQueryRows() : 1, 1});
}

FailureOr<Field> EntryWriter::entry(LLVM::LLVMFuncOp function) {
  auto inputPorts =
      function->getAttrOfType<ArrayAttr>(transformer::kInputsAttrName);
  auto outputPorts =
      function->getAttrOfType<ArrayAttr>(transformer::kOutputsAttrName);
  auto self = function->getAttrOfType<transformer::CacheLayoutAttr>(
      transformer::kCacheAttrName);
  auto cross = function->getAttrOfType<transformer::CacheLayoutAttr>(
      transformer::kCrossCacheAttrName);
  auto state = function->getAttrOfType<transformer::CacheLayoutAttr>(
      transformer::kStateAttrName);
  if (cross && state) {
    return function.emitOpError()
           << "expected a cross cache or states (both have one place in the "
              "step), got both";
  }
  bool hasDistances = function->hasAttr(transformer::kDistancesAttrName);
  bool prepares = function->hasAttr(transformer::kPrepareAttrName);
  FunctionOpInterface size = transformer::findRole(
      module, transformer::RoleKind::WorkspaceBytes, function.getName());
  if (!outputPorts || !size) {
    return function.emitOpError()
           << "expected its output ports as the attribute '"
           << transformer::kOutputsAttrName
           << "' and a function with the role workspace_bytes of it (from "
              "tfc-plan-workspace)";
  }
  std::vector<Field> caches = listCaches(self, cross, state);
  auto greatest = function->getAttrOfType<IntegerAttr>(kGreatestAttrName);
  return Record<tfc_entry_v0>("tfc_entry_v0")
      .set(&tfc_entry_v0::name, tables.string(function.getName()))
      .set(&tfc_entry_v0::n_inputs, inputPorts.size())
      .set(&tfc_entry_v0::n_outputs, outputPorts.size())
      .set(&tfc_entry_v0::inputs, inputs(inputPorts))
      .set(&tfc_entry_v0::outputs,
           outputs(outputPorts,
                   greatest ? std::optional(greatest.getInt()) : std::nullopt))
      .set(&tfc_entry_v0::n_caches, caches.size())
      .set(&tfc_entry_v0::caches, tables.array(caches))
      .set(&tfc_entry_v0::query_rows, queryRowsOf(self, cross))
      .set(&tfc_entry_v0::flags, (hasDistances ? TFC_ENTRY_DISTANCES : 0) |
                                     (prepares ? TFC_ENTRY_PREPARE : 0))
      .set(&tfc_entry_v0::reserved, 0)
      .set(&tfc_entry_v0::workspace_bytes, Field::symbol(size.getName()))
      .set(&tfc_entry_v0::run, Field::symbol(function.getName()))
      .finish();
}

FailureOr<Field> tfc::writeEntries(ModuleOp module, Tables &tables,
                                   unsigned &count) {
  EntryWriter writer(module, tables);
  std::vector<Field> items;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(transformer::kInputsAttrName)) {
      continue;
    }
    FailureOr<Field> field = writer.entry(function);
    if (failed(field)) {
      return failure();
    }
    items.push_back(*field);
  }
  count = items.size();
  return tables.array(items);
}
