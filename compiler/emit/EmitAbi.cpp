// The module's description as constants, and tfc_module_query.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Passes.h"

#include "compiler/emit/Record.h"
#include "compiler/emit/WriteEntries.h"
#include "compiler/emit/WriteGeneration.h"
#include "compiler/emit/WritePrograms.h"
#include "compiler/emit/WriteWeights.h"
#include "compiler/support/ClearStatistics.h"
#include "compiler/support/HashText.h"
#include "compiler/support/PassOptions.h"
#include "compiler/target/Machines.h"
#include "dialect/LayerFunctions.h"
#include "dialect/PackedLayout.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"

namespace tfc {
#define GEN_PASS_DEF_EMITABIPASS
#include "compiler/emit/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {

/// Writes the description of one module.
class AbiWriter {
public:
  AbiWriter(ModuleOp module, Program program)
      : module(module), tables(module), program(std::move(program)) {}

  LogicalResult run();
  unsigned numEntries() const { return own.numEntries; }

private:
  Field strings(ArrayAttr values);
  Field header(transformer::ModelAttr model);
  void describe(transformer::ModelAttr model, ArrayRef<Program> all);
  void buildQuery(StringRef description);
  void clean();

  ModuleOp module;
  Tables tables;
  Program program;
  ProgramTables own;
};

} // namespace

static size_t countOf(ArrayAttr array) { return array ? array.size() : 0; }

/// const char *[]
Field AbiWriter::strings(ArrayAttr values) {
  std::vector<Field> items;
  for (Attribute value : values ? values.getValue() : ArrayRef<Attribute>()) {
    items.push_back(tables.string(cast<StringAttr>(value).getValue()));
  }
  return tables.array(items);
}

/// How many ranks share the model; 0 where it is not shared.
static int64_t ranksOf(ModuleOp module) {
  auto ranks = module->getAttrOfType<IntegerAttr>(transformer::kRanksAttrName);
  return ranks ? ranks.getInt() : 0;
}

/// The oldest host that what is generated here works with: what experts are
/// called and where they are stored is news to those before 5; states, rows in
/// turn, columns of wider tensors, and caches without values to those before 6,
/// rows of embeddings, those at first end tokens, and tokens that never come,
/// to those before 7; tokens that none sees to those before 8; weights that
/// are made of others to those before 9; ranks to those before 10.
static uint32_t oldestHostOf(ModuleOp module) {
  if (ranksOf(module) != 0) {
    return 10;
  }
  bool hasStates = llvm::any_of(
      module.getOps<LLVM::LLVMFuncOp>(), [](LLVM::LLVMFuncOp function) {
        return function->hasAttr(transformer::kStateAttrName);
      });
  auto hasInput = [&](bool (*isOne)(transformer::InputAttr)) {
    return llvm::any_of(*module.getBody(), [&](Operation &entry) {
      auto inputs =
          entry.getAttrOfType<ArrayAttr>(transformer::kInputsAttrName);
      return inputs &&
             llvm::any_of(inputs.getAsRange<transformer::InputAttr>(), isOne);
    });
  };
  if (llvm::any_of(*module.getBody(), [](Operation &entry) {
        return entry.hasAttr(transformer::kPrepareAttrName);
      })) {
    return 9;
  }
  if (hasInput([](transformer::InputAttr input) {
        return input.getFill() == transformer::Fill::Unseen;
      })) {
    return 8;
  }
  bool hasGiven = hasInput(
      [](transformer::InputAttr input) { return input.getWidth() != 0; });
  bool takesFirst = llvm::any_of(*module.getBody(), [](Operation &entry) {
    auto outputs =
        entry.getAttrOfType<ArrayAttr>(transformer::kOutputsAttrName);
    return outputs &&
           llvm::any_of(outputs.getAsRange<transformer::OutputPortAttr>(),
                        [](transformer::OutputPortAttr output) {
                          return output.getTake() ==
                                 transformer::Take::FirstEos;
                        });
  });
  auto model = module->getAttrOfType<transformer::ModelAttr>(
      transformer::kModelAttrName);
  transformer::GenerationAttr generation =
      model ? model.getGeneration() : transformer::GenerationAttr();
  bool forbids =
      generation && (generation.getSuppress() || generation.getBeginSuppress());
  if (hasGiven || takesFirst || forbids) {
    return 7;
  }
  if (hasStates) {
    return 6;
  }
  auto stored = transformer::listStored(module);
  bool hasExperts = llvm::any_of(stored, [](transformer::ParameterOp op) {
    return op.getExperts().has_value();
  });
  bool isSpread = llvm::any_of(stored, [](transformer::ParameterOp op) {
    transformer::SourceAttr source = *op.getSource();
    return source.getRowStep() != 1 || source.getStoredCols() != 0;
  });
  bool hasLatents = llvm::any_of(*module.getBody(), [](Operation &entry) {
    auto layout = entry.getAttrOfType<transformer::CacheLayoutAttr>(
        transformer::kCacheAttrName);
    return layout && layout.getKeyWidth() != 0;
  });
  return isSpread || hasLatents ? 6 : hasExperts ? 5 : 3;
}

/// query(max) = max < oldest host ? null : &description
void AbiWriter::buildQuery(StringRef description) {
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      b, program.query.empty() ? TFC_MODULE_QUERY_SYMBOL : program.query,
      LLVM::LLVMFunctionType::get(pointer, b.getI32Type()));
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  Value oldest =
      LLVM::ConstantOp::create(b, b.getI32Type(), oldestHostOf(module));
  Value old = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult,
                                   body->getArgument(0), oldest);
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value address = LLVM::AddressOfOp::create(b, pointer, description);
  LLVM::ReturnOp::create(
      b, ValueRange{LLVM::SelectOp::create(b, old, null, address)});
}

using transformer::ModelKind;
static_assert(static_cast<int>(ModelKind::Encoder) == TFC_KIND_ENCODER &&
              static_cast<int>(ModelKind::Decoder) == TFC_KIND_DECODER &&
              static_cast<int>(ModelKind::EncoderDecoder) ==
                  TFC_KIND_ENCODER_DECODER);

/// tfc_module_header
Field AbiWriter::header(transformer::ModelAttr model) {
  using Header = tfc_module_header;
  return Record<Header>("tfc_module_header")
      .set(&Header::version, TFC_ABI_VERSION)
      .set(&Header::oldest, oldestHostOf(module))
      .set(&Header::name, tables.string(model.getName()))
      .set(&Header::producer, tables.string("tfc " TFC_VERSION))
      .finish();
}

/// tfc_sizes_v0
static Field sizes() {
  using Sizes = tfc_sizes_v0;
  return Record<Sizes>("tfc_sizes_v0")
      .set(&Sizes::module, sizeof(tfc_module_v0))
      .set(&Sizes::generation, sizeof(tfc_generation_v0))
      .set(&Sizes::weight, sizeof(tfc_weight_v0))
      .set(&Sizes::source, sizeof(tfc_source_v0))
      .set(&Sizes::program, sizeof(tfc_program_v0))
      .set(&Sizes::entry, sizeof(tfc_entry_v0))
      .set(&Sizes::port, sizeof(tfc_port_v0))
      .set(&Sizes::cache, sizeof(tfc_cache_v0))
      .set(&Sizes::kernel, sizeof(tfc_kernel_v0))
      .set(&Sizes::image, sizeof(tfc_image_v0))
      .set(&Sizes::place, sizeof(tfc_place_v0))
      .set(&Sizes::reserved, 0)
      .finish();
}

/// The text of JSON without what stands between its tokens.
static std::string withoutSpaces(StringRef json) {
  std::string text;
  bool isString = false, isEscaped = false;
  for (char c : json) {
    bool isSpace = c == ' ' || c == '\n';
    if (isString || !isSpace) {
      text += c;
    }
    isString ^= c == '"' && !isEscaped;
    isEscaped = c == '\\' && !isEscaped;
  }
  return text;
}

/// tfc_module_v0 and the query that returns it
void AbiWriter::describe(transformer::ModelAttr model, ArrayRef<Program> all) {
  using Module = tfc_module_v0;
  std::string spec = withoutSpaces(model.getSpec());
  Record<Module> record("tfc_module_v0");
  record.set(&Module::header, header(model))
      .set(&Module::sizes, sizes())
      .set(&Module::spec_json, tables.string(spec))
      .set(&Module::spec_hash, hashText(spec))
      .set(&Module::kind, model.getKind())
      .set(&Module::max_positions, model.getMaxPositions())
      .set(&Module::pad, model.getPad())
      .set(&Module::bos, model.getBos())
      .set(&Module::decoder_start, model.getDecoderStart())
      .set(&Module::n_eos, countOf(model.getEos()))
      .set(&Module::eos, writeIds(model.getEos(), tables))
      .set(&Module::n_prefixes, countOf(model.getPrefixes()))
      .set(&Module::prefixes, strings(model.getPrefixes()))
      .set(&Module::n_aliases, countOf(model.getAliases()) / 2)
      .set(&Module::aliases, strings(model.getAliases()));
  size_t numWeights = 0;
  Field weights = writeWeights(module, tables, numWeights);
  record.set(&Module::n_weights, numWeights)
      .set(&Module::weights, weights)
      .set(&Module::n_programs, all.size())
      .set(&Module::programs, writePrograms(all, program, own, module, tables))
      .set(&Module::generation, writeGeneration(model.getGeneration(), tables))
      .set(&Module::ranks, ranksOf(module))
      .set(&Module::reserved, 0);
  buildQuery(tables.array({record.finish()}).name);
}

/// Nothing of other dialects stays.
void AbiWriter::clean() {
  for (auto op : llvm::to_vector(module.getOps<gpu::BinaryOp>())) {
    op.erase();
  }
  for (auto op : llvm::to_vector(module.getOps<transformer::ParameterOp>())) {
    op.erase();
  }
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    for (StringRef name :
         {transformer::kInputsAttrName, transformer::kOutputsAttrName,
          transformer::kCacheAttrName, transformer::kCrossCacheAttrName,
          transformer::kStateAttrName, transformer::kDistancesAttrName,
          transformer::kPrepareAttrName, transformer::kLayersOfAttrName,
          transformer::kRoleAttrName}) {
      function->removeAttr(name);
    }
  }
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  for (StringRef name :
       {transformer::kModelAttrName, transformer::kPackedBytesAttrName,
        transformer::kPackedLayoutAttrName, transformer::kProgramsAttrName,
        transformer::kQueryAttrName, transformer::kTargetAttrName,
        transformer::kRanksAttrName}) {
    module->removeAttr(name);
  }
}

LogicalResult AbiWriter::run() {
  auto model = module->getAttrOfType<transformer::ModelAttr>(
      transformer::kModelAttrName);
  if (!model || !isa_and_nonnull<LLVM::LLVMFuncOp>(
                    transformer::findRole(module, transformer::RoleKind::Pack)
                        .getOperation())) {
    return module.emitOpError()
           << "expected the attribute '" << transformer::kModelAttrName
           << "' (from the frontend) and a function with the role pack (from "
              "tfc-pack-weights)";
  }
  FailureOr<Field> entryTable = writeEntries(module, tables, own.numEntries);
  FailureOr<DeviceTables> deviceTables = writeDevice(module, tables);
  if (failed(entryTable) || failed(deviceTables)) {
    return failure();
  }
  own.entries = *entryTable;
  own.device = *deviceTables;
  if (own.device.numImages != 0) {
    program.isa = transformer::Isa::Cuda;
  }
  SmallVector<Program> all = listPrograms(module, program);
  if (llvm::none_of(all, [&](const Program &each) {
        return each.name == program.name;
      })) {
    return module.emitOpError()
           << "expected program \"" << program.name << "\" in the attribute '"
           << transformer::kProgramsAttrName << "'";
  }
  if (all.front().name == program.name) {
    describe(model, all);
  } else {
    exportProgram(program, own, module, tables);
  }
  clean();
  return success();
}

namespace {
struct EmitAbiPass : tfc::impl::EmitAbiPassBase<EmitAbiPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    SmallVector<StringRef> names;
    for (const MachineInfo &machine : listMachines()) {
      StringRef name =
          transformer::stringifyIsa(static_cast<transformer::Isa>(machine.isa));
      if (!llvm::is_contained(names, name)) {
        names.push_back(name);
      }
    }
    return expectOneOf(*this, context, "isa", names, isa);
  }

  void runOnOperation() override {
    clearStatistics(*this);
    ModuleOp module = getOperation();
    auto bytes =
        module->getAttrOfType<IntegerAttr>(transformer::kPackedBytesAttrName);
    auto layout =
        module->getAttrOfType<StringAttr>(transformer::kPackedLayoutAttrName);
    if (!bytes || !layout) {
      module.emitOpError() << "expected the attributes '"
                           << transformer::kPackedBytesAttrName << "' and '"
                           << transformer::kPackedLayoutAttrName
                           << "' (from tfc-pack-weights)";
      return signalPassFailure();
    }
    Program self;
    self.isa = *transformer::symbolizeIsa(isa);
    self.name = program;
    self.layout = layout.str();
    self.features = features;
    self.packedBytes = static_cast<uint64_t>(bytes.getInt());
    if (auto query =
            module->getAttrOfType<StringAttr>(transformer::kQueryAttrName)) {
      self.query = query.str();
    }
    AbiWriter writer(module, self);
    if (failed(writer.run())) {
      return signalPassFailure();
    }
    numEntries += writer.numEntries();
  }
};
} // namespace
