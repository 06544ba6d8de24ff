// The module's description as constants, and tfc_module_query.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Passes.h"

#include "compiler/emit/Tables.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"

namespace tfc {
#define GEN_PASS_DEF_EMITABIPASS
#include "compiler/emit/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
static uint64_t hashOf(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) {
    hash = (hash ^ c) * 0x100000001b3u;
  }
  return hash;
}

namespace {

/// Writes the description of one module.
class AbiWriter {
public:
  AbiWriter(ModuleOp module, StringRef program, uint64_t features)
      : module(module), tables(module), program(program), features(features) {}

  LogicalResult run();

private:
  Field strings(ArrayAttr values);
  Field weights();
  FailureOr<Field> entries(unsigned &count);
  FailureOr<Field> entry(LLVM::LLVMFuncOp function);
  Field inputs(ArrayAttr ports);
  Field outputs(ArrayAttr ports);
  Field cache(DictionaryAttr layout);
  Field programs(Field entries, unsigned numEntries);
  void buildQuery(StringRef description);

  ModuleOp module;
  Tables tables;
  StringRef program;
  uint64_t features;
};

} // namespace

static int64_t integer(DictionaryAttr dictionary, StringRef name) {
  auto value = dictionary ? dictionary.getAs<IntegerAttr>(name) : IntegerAttr();
  return value ? value.getInt() : 0;
}

static StringRef text(DictionaryAttr dictionary, StringRef name) {
  auto value = dictionary.getAs<StringAttr>(name);
  return value ? value.getValue() : "";
}

static size_t sizeOf(Attribute array) {
  return array ? cast<ArrayAttr>(array).size() : 0;
}

Field AbiWriter::strings(ArrayAttr values) {
  std::vector<Field> items;
  for (Attribute value : values ? values.getValue() : ArrayRef<Attribute>()) {
    items.push_back(tables.string(cast<StringAttr>(value).getValue()));
  }
  return tables.array(items);
}

/// tfc_weight_v0[]
Field AbiWriter::weights() {
  llvm::StringMap<uint32_t> numbers;
  for (auto [index, op] :
       llvm::enumerate(module.getOps<transformer::ParameterOp>())) {
    numbers[op.getSymName()] = index;
  }
  std::vector<Field> items;
  for (auto op : module.getOps<transformer::ParameterOp>()) {
    transformer::SourceAttr source = op.getSource();
    RankedTensorType type = op.getTensorType();
    std::vector<Field> patterns;
    for (StringAttr pattern : source.getPatterns()) {
      patterns.push_back(tables.string(pattern.getValue()));
    }
    uint32_t flags = 0, tiedTo = 0;
    flags |= source.getInOut() ? TFC_WEIGHT_IN_OUT : 0;
    flags |= source.getFillZeros() ? TFC_WEIGHT_FILL_ZEROS : 0;
    if (StringAttr tied = source.getTiedTo()) {
      flags |= TFC_WEIGHT_TIED;
      tiedTo = numbers.lookup(tied.getValue());
    }
    auto numPatterns = static_cast<uint32_t>(patterns.size());
    items.push_back(Field::record(
        {tables.string(op.getSymName()), tables.array(patterns),
         Field::u32(numPatterns), Field::u32(flags),
         Field::u32(source.getFirstLayer()),
         Field::u32(op.getLayers().value_or(1)), Field::u32(type.getRank()),
         Field::u32(tiedTo), Field::u64(type.getDimSize(0)),
         Field::u64(type.getRank() == 2 ? type.getDimSize(1) : 1),
         Field::u64(source.getFirstRow()),
         Field::u64(source.getStoredRows())}));
  }
  return tables.array(items);
}

/// tfc_port_v0[] of inputs
Field AbiWriter::inputs(ArrayAttr ports) {
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
Field AbiWriter::outputs(ArrayAttr ports) {
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
Field AbiWriter::cache(DictionaryAttr layout) {
  return Field::record({Field::u32(integer(layout, "block_tokens")),
                        Field::u32(integer(layout, "layers")),
                        Field::u64(integer(layout, "block_bytes")),
                        Field::u64(integer(layout, "layer_bytes"))});
}

/// tfc_entry_v0
FailureOr<Field> AbiWriter::entry(LLVM::LLVMFuncOp function) {
  auto inputPorts =
      function->getAttrOfType<ArrayAttr>(transformer::kInputsAttrName);
  auto outputPorts =
      function->getAttrOfType<ArrayAttr>(transformer::kOutputsAttrName);
  auto layout =
      function->getAttrOfType<DictionaryAttr>(transformer::kCacheAttrName);
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
       inputs(inputPorts), outputs(outputPorts), cache(layout), cache({}),
       Field::u32(std::max<int64_t>(integer(layout, "query_rows"), 1)),
       Field::u32(0), Field::symbol(size), Field::symbol(function.getName())});
}

FailureOr<Field> AbiWriter::entries(unsigned &count) {
  std::vector<Field> items;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(transformer::kInputsAttrName)) {
      continue;
    }
    FailureOr<Field> field = entry(function);
    if (failed(field)) {
      return failure();
    }
    items.push_back(*field);
  }
  count = items.size();
  return tables.array(items);
}

/// tfc_program_v0[1]
Field AbiWriter::programs(Field entries, unsigned numEntries) {
  auto packed =
      module->getAttrOfType<IntegerAttr>(transformer::kPackedBytesAttrName);
  return tables.array({Field::record(
      {Field::u32(TFC_PROGRAM_CPU), Field::u32(numEntries),
       Field::u64(features), tables.string(program), tables.string("f32-rows"),
       Field::u64(packed ? packed.getInt() : 0), Field::symbol("pack"),
       entries})});
}

/// tfc_module_query(max) = max < TFC_ABI_VERSION ? null : &description
void AbiWriter::buildQuery(StringRef description) {
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      b, TFC_MODULE_QUERY_SYMBOL,
      LLVM::LLVMFunctionType::get(pointer, b.getI32Type()));
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  Value version = LLVM::ConstantOp::create(b, b.getI32Type(), TFC_ABI_VERSION);
  Value old = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult,
                                   body->getArgument(0), version);
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value address = LLVM::AddressOfOp::create(b, pointer, description);
  LLVM::ReturnOp::create(
      b, ValueRange{LLVM::SelectOp::create(b, old, null, address)});
}

LogicalResult AbiWriter::run() {
  auto model =
      module->getAttrOfType<DictionaryAttr>(transformer::kModelAttrName);
  if (!model || !module.lookupSymbol<LLVM::LLVMFuncOp>("pack")) {
    return module.emitOpError()
           << "expected the attribute '" << transformer::kModelAttrName
           << "' (from the frontend) and a function @pack (from "
              "tfc-pack-weights)";
  }
  unsigned numEntries = 0;
  FailureOr<Field> entryTable = entries(numEntries);
  if (failed(entryTable)) {
    return failure();
  }
  std::vector<Field> eos;
  auto ids = model.getAs<ArrayAttr>("eos");
  for (Attribute id : ids ? ids.getValue() : ArrayRef<Attribute>()) {
    eos.push_back(Field::u64(cast<IntegerAttr>(id).getInt()));
  }
  auto prefixes = model.getAs<ArrayAttr>("prefixes");
  auto aliases = model.getAs<ArrayAttr>("aliases");
  auto numWeights = static_cast<uint32_t>(
      llvm::range_size(module.getOps<transformer::ParameterOp>()));
  uint32_t kind =
      text(model, "kind") == "decoder" ? TFC_KIND_DECODER : TFC_KIND_ENCODER;
  Field header = Field::record({Field::u32(TFC_ABI_VERSION), Field::u32(0),
                                tables.string(text(model, "name")),
                                tables.string("tfc " TFC_VERSION)});
  Field description = Field::record(
      {header, tables.string(text(model, "spec")),
       Field::u64(hashOf(text(model, "spec"))), Field::u32(kind),
       Field::u32(numWeights), Field::u32(1),
       Field::u32(static_cast<uint32_t>(sizeOf(prefixes))),
       Field::u32(static_cast<uint32_t>(eos.size())),
       Field::u32(static_cast<uint32_t>(sizeOf(aliases) / 2)),
       Field::u64(integer(model, "max_positions")),
       Field::u64(integer(model, "pad")), Field::u64(integer(model, "bos")),
       tables.array(eos), strings(prefixes), strings(aliases), weights(),
       programs(*entryTable, numEntries)});
  buildQuery(tables.array({description}).name);
  for (auto op : llvm::to_vector(module.getOps<transformer::ParameterOp>())) {
    op.erase();
  }
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    for (StringRef name :
         {transformer::kInputsAttrName, transformer::kOutputsAttrName,
          transformer::kCacheAttrName}) {
      function->removeAttr(name);
    }
  }
  module->removeAttr(transformer::kModelAttrName);
  module->removeAttr(transformer::kPackedBytesAttrName);
  return success();
}

namespace {
struct EmitAbiPass : tfc::impl::EmitAbiPassBase<EmitAbiPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(AbiWriter(getOperation(), program, features).run())) {
      signalPassFailure();
    }
  }
};
} // namespace
