// The table of a program's entries: ports, cache, functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteEntries.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"

using namespace mlir;
using namespace tfc;

int64_t tfc::integer(DictionaryAttr dictionary, StringRef name) {
  auto value = dictionary ? dictionary.getAs<IntegerAttr>(name) : IntegerAttr();
  return value ? value.getInt() : 0;
}

StringRef tfc::text(DictionaryAttr dictionary, StringRef name) {
  auto value = dictionary.getAs<StringAttr>(name);
  return value ? value.getValue() : "";
}

namespace {

/// Writes the entries of one module.
class EntryWriter {
public:
  EntryWriter(ModuleOp module, Tables &tables)
      : module(module), tables(tables) {}

  FailureOr<Field> entry(LLVM::LLVMFuncOp function);

private:
  Field inputs(ArrayAttr ports);
  Field outputs(ArrayAttr ports);
  Field cache(DictionaryAttr layout);

  ModuleOp module;
  Tables &tables;
};

} // namespace

/// tfc_port_v0[] of inputs
Field EntryWriter::inputs(ArrayAttr ports) {
  std::vector<Field> items;
  for (auto port : ports.getAsRange<transformer::InputAttr>()) {
    items.push_back(Field::record(
        {tables.string(port.getName()), Field::u32(TFC_DTYPE_I32),
         Field::u32(TFC_ROWS_TOKENS), Field::u32(1), Field::u32(0),
         Field::u32(static_cast<uint32_t>(port.getFill())), Field::u32(0),
         Field::u64(port.getLimit())}));
  }
  return tables.array(items);
}

/// tfc_port_v0[] of outputs
Field EntryWriter::outputs(ArrayAttr ports) {
  std::vector<Field> items;
  for (auto port : ports.getAsRange<DictionaryAttr>()) {
    auto rows = port.getAs<transformer::RowKindAttr>("rows").getValue();
    auto take = port.getAs<transformer::TakeAttr>("take").getValue();
    bool squeezed = port.getAs<BoolAttr>("squeezed").getValue();
    items.push_back(Field::record(
        {tables.string(text(port, "name")), Field::u32(TFC_DTYPE_F32),
         Field::u32(static_cast<uint32_t>(rows)),
         Field::u32(integer(port, "width")),
         Field::u32(squeezed ? TFC_PORT_SQUEEZED : 0), Field::u32(0),
         Field::u32(static_cast<uint32_t>(take)), Field::u64(0)}));
  }
  return tables.array(items);
}

/// tfc_cache_desc_v0
Field EntryWriter::cache(DictionaryAttr layout) {
  return Field::record({Field::u32(integer(layout, "block_tokens")),
                        Field::u32(integer(layout, "layers")),
                        Field::u64(integer(layout, "block_bytes")),
                        Field::u64(integer(layout, "layer_bytes"))});
}

/// tfc_entry_v0
FailureOr<Field> EntryWriter::entry(LLVM::LLVMFuncOp function) {
  auto inputPorts =
      function->getAttrOfType<ArrayAttr>(transformer::kInputsAttrName);
  auto outputPorts =
      function->getAttrOfType<ArrayAttr>(transformer::kOutputsAttrName);
  auto layout =
      function->getAttrOfType<DictionaryAttr>(transformer::kCacheAttrName);
  auto cross =
      function->getAttrOfType<DictionaryAttr>(transformer::kCrossCacheAttrName);
  std::string size = (function.getName() + "_workspace_bytes").str();
  if (!outputPorts || !module.lookupSymbol<LLVM::LLVMFuncOp>(size)) {
    return function.emitOpError()
           << "expected its output ports as the attribute '"
           << transformer::kOutputsAttrName << "' and a function @" << size;
  }
  return Field::record(
      {tables.string(function.getName()),
       Field::u32(static_cast<uint32_t>(inputPorts.size())),
       Field::u32(static_cast<uint32_t>(outputPorts.size())),
       inputs(inputPorts), outputs(outputPorts), cache(layout), cache(cross),
       Field::u32(std::max<int64_t>(
           {integer(layout, "query_rows"), integer(cross, "query_rows"), 1})),
       Field::u32(function->hasAttr(transformer::kDistancesAttrName)
                      ? TFC_ENTRY_DISTANCES
                      : 0),
       Field::symbol(size), Field::symbol(function.getName())});
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
