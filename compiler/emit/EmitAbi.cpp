// The module's description as constants, and tfc_module_query.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Passes.h"

#include "compiler/emit/WriteEntries.h"
#include "compiler/emit/WriteGeneration.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

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

/// What sets a program of a library apart from its others.
struct Program {
  std::string name, layout;
  uint64_t features = 0, packedBytes = 0;

  /// The name of something of it that other programs' objects see.
  std::string symbol(StringRef what) const {
    std::string symbol = name + "_" + what.str();
    for (char &c : symbol) {
      c = llvm::isAlnum(c) ? c : '_';
    }
    return symbol;
  }
};

/// Writes the description of one module.
class AbiWriter {
public:
  AbiWriter(ModuleOp module, Program program)
      : module(module), tables(module), program(std::move(program)) {}

  LogicalResult run();

private:
  SmallVector<Program> listPrograms();
  Field strings(ArrayAttr values);
  Field weights();
  Field programs(ArrayRef<Program> all, Field entries, unsigned numEntries);
  void describe(DictionaryAttr model, ArrayRef<Program> all, Field entries,
                unsigned numEntries);
  void buildQuery(StringRef description);
  void exportProgram(const Field &entries);
  void clean();

  ModuleOp module;
  Tables tables;
  Program program;
};

} // namespace

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
  SmallVector<transformer::ParameterOp> stored =
      transformer::listStored(module);
  for (auto [index, op] : llvm::enumerate(stored)) {
    numbers[op.getSymName()] = index;
  }
  std::vector<Field> items;
  for (transformer::ParameterOp op : stored) {
    transformer::SourceAttr source = *op.getSource();
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

/// The programs of the library in order; this one alone when the module does
/// not say.
SmallVector<Program> AbiWriter::listPrograms() {
  auto listed =
      module->getAttrOfType<ArrayAttr>(transformer::kProgramsAttrName);
  if (!listed) {
    return {program};
  }
  SmallVector<Program> all;
  for (auto record : listed.getAsRange<DictionaryAttr>()) {
    all.push_back({text(record, "name").str(), text(record, "layout").str(),
                   static_cast<uint64_t>(integer(record, "features")),
                   static_cast<uint64_t>(integer(record, "packed_bytes"))});
  }
  return all;
}

/// tfc_program_v0[]. What is of other programs is in their objects.
Field AbiWriter::programs(ArrayRef<Program> all, Field entries,
                          unsigned numEntries) {
  std::vector<Field> items;
  for (const Program &each : all) {
    Field pack = Field::symbol("pack"), table = entries;
    if (each.name != program.name) {
      pack = tables.otherFunction(each.symbol("pack"));
      table = numEntries ? tables.otherTable(each.symbol("entries"))
                         : Field::symbol("");
    }
    items.push_back(
        Field::record({Field::u32(TFC_PROGRAM_CPU), Field::u32(numEntries),
                       Field::u64(each.features), tables.string(each.name),
                       tables.string(each.layout), Field::u64(each.packedBytes),
                       pack, table}));
  }
  return tables.array(items);
}

/// Shows what the library's first program refers to.
void AbiWriter::exportProgram(const Field &entries) {
  auto pack = module.lookupSymbol<LLVM::LLVMFuncOp>("pack");
  pack.setSymName(program.symbol("pack"));
  pack.setVisibility_(LLVM::Visibility::Hidden);
  if (!entries.name.empty()) {
    tables.show(entries, program.symbol("entries"));
  }
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

/// TFC_KIND_*
static uint32_t kindOf(DictionaryAttr model) {
  return llvm::StringSwitch<uint32_t>(text(model, "kind"))
      .Case("decoder", TFC_KIND_DECODER)
      .Case("encoder_decoder", TFC_KIND_ENCODER_DECODER)
      .Default(TFC_KIND_ENCODER);
}

/// tfc_module_v0 and the query that returns it
void AbiWriter::describe(DictionaryAttr model, ArrayRef<Program> all,
                         Field entries, unsigned numEntries) {
  std::vector<Field> eos;
  auto ids = model.getAs<ArrayAttr>("eos");
  for (Attribute id : ids ? ids.getValue() : ArrayRef<Attribute>()) {
    eos.push_back(Field::u64(cast<IntegerAttr>(id).getInt()));
  }
  auto prefixes = model.getAs<ArrayAttr>("prefixes");
  auto aliases = model.getAs<ArrayAttr>("aliases");
  auto numWeights =
      static_cast<uint32_t>(transformer::listStored(module).size());
  Field header = Field::record({Field::u32(TFC_ABI_VERSION), Field::u32(0),
                                tables.string(text(model, "name")),
                                tables.string("tfc " TFC_VERSION)});
  Field description = Field::record(
      {header, tables.string(text(model, "spec")),
       Field::u64(hashOf(text(model, "spec"))), Field::u32(kindOf(model)),
       Field::u32(numWeights), Field::u32(static_cast<uint32_t>(all.size())),
       Field::u32(static_cast<uint32_t>(sizeOf(prefixes))),
       Field::u32(static_cast<uint32_t>(eos.size())),
       Field::u32(static_cast<uint32_t>(sizeOf(aliases) / 2)),
       Field::u64(integer(model, "max_positions")),
       Field::u64(integer(model, "pad")), Field::u64(integer(model, "bos")),
       Field::u64(integer(model, "decoder_start")), tables.array(eos),
       strings(prefixes), strings(aliases), weights(),
       programs(all, entries, numEntries),
       writeGeneration(model.getAs<DictionaryAttr>("generation"), tables)});
  buildQuery(tables.array({description}).name);
}

/// Nothing of the transformer dialect stays.
void AbiWriter::clean() {
  for (auto op : llvm::to_vector(module.getOps<transformer::ParameterOp>())) {
    op.erase();
  }
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    for (StringRef name :
         {transformer::kInputsAttrName, transformer::kOutputsAttrName,
          transformer::kCacheAttrName, transformer::kCrossCacheAttrName,
          transformer::kDistancesAttrName}) {
      function->removeAttr(name);
    }
  }
  for (StringRef name :
       {transformer::kModelAttrName, transformer::kPackedBytesAttrName,
        transformer::kProgramsAttrName}) {
    module->removeAttr(name);
  }
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
  SmallVector<Program> all = listPrograms();
  if (llvm::none_of(all, [&](const Program &each) {
        return each.name == program.name;
      })) {
    return module.emitOpError()
           << "expected program \"" << program.name << "\" in the attribute '"
           << transformer::kProgramsAttrName << "'";
  }
  unsigned numEntries = 0;
  FailureOr<Field> entryTable = writeEntries(module, tables, numEntries);
  if (failed(entryTable)) {
    return failure();
  }
  if (all.front().name == program.name) {
    describe(model, all, *entryTable, numEntries);
  } else {
    exportProgram(*entryTable);
  }
  clean();
  return success();
}

namespace {
struct EmitAbiPass : tfc::impl::EmitAbiPassBase<EmitAbiPass> {
  using Base::Base;

  void runOnOperation() override {
    auto packed = getOperation()->getAttrOfType<IntegerAttr>(
        transformer::kPackedBytesAttrName);
    Program self{program, layout, features,
                 packed ? static_cast<uint64_t>(packed.getInt()) : 0};
    if (failed(AbiWriter(getOperation(), self).run())) {
      signalPassFailure();
    }
  }
};
} // namespace
