// ModelSpec -> `transformer` module: the entry functions and the weight table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildModel.h"

#include "compiler/frontend/BuildHead.h"
#include "compiler/frontend/BuildStack.h"
#include "compiler/frontend/DescribeModel.h"
#include "compiler/spec/weights/StoredParts.h"
#include "dialect/PrecisionRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

namespace {

/// Builds one module from one spec; used once.
class ModelBuilder {
public:
  ModelBuilder(const spec::ModelSpec &spec, MLIRContext *context)
      : spec(spec), builder(context),
        module(ModuleOp::create(builder, builder.getUnknownLoc())),
        path(builder, *module) {}

  OwningOpRef<ModuleOp> build();

private:
  /// A stack's result: its rows, and whether its final norm is in them.
  struct Hidden {
    const spec::Stack *stack;
    Value rows;
    bool isNormed;
  };

  void addParameters();
  void addParts(const spec::Parameter &parameter,
                ArrayRef<spec::Parameter> stored);
  void addStored(const spec::Parameter &parameter, const std::string &name,
                 int64_t rows, int64_t firstRow);
  void add(const spec::Parameter &parameter, const std::string &name,
           int64_t rows, transformer::SourceAttr source, ArrayAttr parts);
  LogicalResult addEncode(const spec::Stack &stack);
  LogicalResult addStep(const spec::Stack &stack);
  /// Opens the entry; fails when layers do not fit into one cache.
  FailureOr<Entry> open(StringRef name, const spec::Stack &stack,
                        StringRef prefix, transformer::CacheKind kind);
  /// Adds the outputs that come from the stack, and ends the entry.
  void close(const Entry &entry, const Hidden &hidden);
  void buildOutput(const spec::Output &output, const Entry &entry,
                   const Hidden &hidden);
  Value norm(const spec::Stack &stack, Value x);
  /// The embeddings and layers of a stack, with the outputs of each layer.
  Value buildLayers(const spec::Stack &stack, StringRef prefix,
                    const Entry &entry);

  const spec::ModelSpec &spec;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  PathBuilder path;
};

} // namespace

/// A row of the weight table: `rows` rows from row `firstRow` of the stored
/// tensor on.
void ModelBuilder::addStored(const spec::Parameter &parameter,
                             const std::string &name, int64_t rows,
                             int64_t firstRow) {
  SmallVector<StringAttr> patterns;
  for (const std::string &pattern : parameter.patterns) {
    patterns.push_back(builder.getStringAttr(pattern));
  }
  auto source = transformer::SourceAttr::get(
      builder.getContext(), patterns,
      std::max<int64_t>(parameter.firstLayer, 0), parameter.layerStep, firstRow,
      parameter.storedRows, parameter.rowStep, parameter.storedCols,
      parameter.inOut, parameter.fillZeros, parameter.stacked,
      parameter.tiedTo.empty() ? StringAttr()
                               : builder.getStringAttr(parameter.tiedTo));
  add(parameter, name, rows, source, ArrayAttr());
}

void ModelBuilder::add(const spec::Parameter &parameter,
                       const std::string &name, int64_t rows,
                       transformer::SourceAttr source, ArrayAttr parts) {
  SmallVector<int64_t> shape = {rows};
  if (parameter.rank == 2) {
    shape.push_back(parameter.cols);
  }
  bool perLayer = parameter.firstLayer >= 0;
  auto op = transformer::ParameterOp::create(
      builder, path.loc(name), name,
      RankedTensorType::get(shape, builder.getF32Type()),
      perLayer ? builder.getI64IntegerAttr(parameter.layers) : IntegerAttr(),
      parameter.experts > 0 ? builder.getI64IntegerAttr(parameter.experts)
                            : IntegerAttr(),
      source, parts, /*companion=*/transformer::CompanionAttr(),
      /*packed=*/transformer::PackedAttr(), /*rounds=*/false,
      /*offset=*/IntegerAttr(), /*stride=*/IntegerAttr());
  if (parameter.isKeptWide) {
    op->setAttr(transformer::kKeptWideAttrName, builder.getUnitAttr());
  }
  if (parameter.isKeptByte) {
    op->setAttr(transformer::kKeptByteAttrName, builder.getUnitAttr());
  }
}

/// A parameter whose rows are stored apart: "attn.q_norm.3.weight".
void ModelBuilder::addParts(const spec::Parameter &parameter,
                            ArrayRef<spec::Parameter> stored) {
  auto [stem, last] = StringRef(parameter.name).rsplit('.');
  SmallVector<Attribute> parts;
  for (auto [number, part] : llvm::enumerate(stored)) {
    std::string name = (stem + "." + Twine(number) + "." + last).str();
    addStored(part, name, part.rows, part.firstRow);
    parts.push_back(FlatSymbolRefAttr::get(builder.getContext(), name));
  }
  add(parameter, parameter.name, parameter.rows, transformer::SourceAttr(),
      builder.getArrayAttr(parts));
}

/// What is stored in groups has a part for each: "attn.q.3.weight".
void ModelBuilder::addParameters() {
  builder.setInsertionPointToEnd(module->getBody());
  for (const spec::Parameter &parameter : spec.parameters) {
    std::vector<spec::Parameter> stored = spec::partsOf(parameter);
    if (!stored.empty()) {
      addParts(parameter, stored);
      continue;
    }
    if (parameter.groups == 1) {
      addStored(parameter, parameter.name, parameter.rows, parameter.firstRow);
      continue;
    }
    auto [stem, last] = StringRef(parameter.name).rsplit('.');
    int64_t rows = parameter.rows / parameter.groups;
    int64_t stride = parameter.storedRows / parameter.groups;
    SmallVector<Attribute> parts;
    for (int64_t group = 0; group < parameter.groups; ++group) {
      std::string name = (stem + "." + Twine(group) + "." + last).str();
      addStored(parameter, name, rows, parameter.firstRow + group * stride);
      parts.push_back(FlatSymbolRefAttr::get(builder.getContext(), name));
    }
    add(parameter, parameter.name, parameter.rows, transformer::SourceAttr(),
        builder.getArrayAttr(parts));
  }
}

FailureOr<Entry> ModelBuilder::open(StringRef name, const spec::Stack &stack,
                                    StringRef prefix,
                                    transformer::CacheKind kind) {
  using Caches = SmallVector<transformer::CacheType>;
  FailureOr<Caches> caches = findCacheTypes(path, stack, kind, spec.cache);
  transformer::CacheType cross;
  if (spec.decoder) {
    FailureOr<Caches> found = findCacheTypes(
        path, *spec.decoder, transformer::CacheKind::Cross, spec.cache);
    if (failed(found)) {
      return failure();
    }
    cross = found->empty() ? transformer::CacheType() : found->front();
  }
  if (failed(caches)) {
    return failure();
  }
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Port> ports = listPorts(stack, prefix, spec.maxPositions);
  // Where the last end token of input_ids is a row of the decoder, that reads
  // the same tokens.
  if (kind == transformer::CacheKind::Self && spec.encoder &&
      llvm::any_of(spec.outputs, [&](const spec::Output &output) {
        return takeOf(spec, output.value) == transformer::Take::LastEos;
      })) {
    ports.front().fill = transformer::Fill::Shifted;
  }
  Entry entry = buildEntry(builder, path.loc(stack.name), name, ports, *caches,
                           cross, findStateType(path, stack, spec.hidden));
  if (countsDistances(stack)) {
    entry.function->setAttr(transformer::kDistancesAttrName,
                            builder.getUnitAttr());
  }
  return entry;
}

Value ModelBuilder::norm(const spec::Stack &stack, Value x) {
  return stack.finalNorm
             ? path.norm(x, *stack.finalNorm, stack.name + ".final_norm")
             : x;
}

Value ModelBuilder::buildLayers(const spec::Stack &stack, StringRef prefix,
                                const Entry &entry) {
  SmallVector<std::string> hiddenOutputs;
  for (const spec::Output &output : spec.outputs) {
    if (output.value == stack.name + ".all_hidden") {
      hiddenOutputs.push_back(output.name);
    }
  }
  return buildStack(path, stack, prefix, entry, hiddenOutputs);
}

/// The positions of all tokens; null where the entry reads none.
static Value positionsOf(const Entry &entry) {
  bool has = llvm::any_of(entry.ports, [](const Port &port) {
    return port.name == "position_ids";
  });
  return has ? entry.input("position_ids") : Value();
}

void ModelBuilder::buildOutput(const spec::Output &output, const Entry &entry,
                               const Hidden &hidden) {
  transformer::Take take = takeOf(spec, output.value);
  // The layers have given theirs of all hidden states; this is the last one.
  bool isLast = output.value == hidden.stack->name + ".all_hidden";
  Location where = path.loc("outputs." + output.name);
  Value part;
  IntegerAttr parts;
  if (isLast) {
    part = arith::ConstantIndexOp::create(builder, where, hidden.stack->layers);
    parts = builder.getI64IntegerAttr(hidden.stack->layers + 1);
  }
  // Encoders give every token; whoever wants less says so in a head.
  bool isWanted = !isLast && (hidden.stack->name == "decoder" ||
                              take != transformer::Take::All);
  auto op = transformer::OutputOp::create(
      builder, where, output.name,
      isWanted ? transformer::RowKind::Wanted : transformer::RowKind::Tokens,
      take, /*squeezed=*/output.part >= 0, part, parts);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  Value x = hidden.rows;
  if (isWanted && !readsAllRows(spec, output.value)) {
    x = transformer::GatherRowsOp::create(builder, op.getLoc(), x, entry.rows);
  }
  // Norms are row by row: the last one waits for the choice of rows.
  if (!hidden.isNormed) {
    x = norm(*hidden.stack, x);
  }
  if (const spec::Head *head = findHead(spec, output.value)) {
    x = buildHead(path, spec, *head, x,
                  {op.getLoc(), entry.rows, entry.batch, entry.caches,
                   positionsOf(entry)});
  }
  if (output.part >= 0) {
    x = transformer::SliceColumnsOp::create(builder, op.getLoc(), x,
                                            output.part, 1, /*layer=*/Value());
  }
  transformer::YieldOp::create(builder, op.getLoc(), x);
}

void ModelBuilder::close(const Entry &entry, const Hidden &hidden) {
  for (const spec::Output &output : spec.outputs) {
    if (comesFrom(spec, output.value, hidden.stack->name)) {
      buildOutput(output, entry, hidden);
    }
  }
  func::ReturnOp::create(builder, entry.function->getLoc());
}

LogicalResult ModelBuilder::addEncode(const spec::Stack &stack) {
  FailureOr<Entry> entry =
      open("encode", stack, "", transformer::CacheKind::Scratch);
  if (failed(entry)) {
    return failure();
  }
  Value x = buildLayers(stack, "", *entry);
  // A decoder's keys and values are of every normalised row.
  if (spec.decoder) {
    x = norm(stack, x);
    buildCrossWrites(path, *spec.decoder, *entry, x);
  }
  close(*entry, {&stack, x, spec.decoder.has_value()});
  return success();
}

LogicalResult ModelBuilder::addStep(const spec::Stack &stack) {
  StringRef prefix = spec.encoder ? "decoder_" : "";
  FailureOr<Entry> entry =
      open("step", stack, prefix, transformer::CacheKind::Self);
  if (failed(entry)) {
    return failure();
  }
  close(*entry,
        {&stack, buildLayers(stack, prefix, *entry), /*isNormed=*/false});
  return success();
}

OwningOpRef<ModuleOp> ModelBuilder::build() {
  (*module)->setAttr(transformer::kModelAttrName, describeModel(builder, spec));
  addParameters();
  if ((spec.encoder && failed(addEncode(*spec.encoder))) ||
      (spec.decoder && failed(addStep(*spec.decoder)))) {
    return {};
  }
  return std::move(module);
}

OwningOpRef<ModuleOp> tfc::buildModel(const spec::ModelSpec &spec,
                                      MLIRContext *context) {
  return ModelBuilder(spec, context).build();
}
