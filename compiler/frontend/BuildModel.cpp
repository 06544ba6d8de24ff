// ModelSpec -> `transformer` module: the entry function and the weight table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildModel.h"

#include "compiler/frontend/BuildLayer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

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
  void addModelAttribute();
  void addParameters();
  /// The cache's type, null when nothing attends; fails when layers differ.
  FailureOr<transformer::CacheType> cacheType();
  func::FuncOp addEntry(transformer::CacheType cache);
  Value buildEmbeddings();
  Value buildStack(Value x);
  Value buildRun(const spec::LayerRun &run, Value x);
  void buildOutput(const spec::Output &output, Value hidden);
  /// The value of a head, its `take` already applied.
  Value buildHead(const spec::Head &head, Value x);
  const spec::Head *findHead(const std::string &name) const;
  /// What a value's rows are: its first step, or that of the head before it.
  transformer::Take takeOf(const std::string &value) const;

  void addInput(const std::string &name, transformer::Fill fill,
                int64_t limit) {
    inputs.push_back({name, fill, limit});
  }
  Value input(const std::string &name) {
    for (auto [index, port] : llvm::enumerate(inputs)) {
      if (port.name == name) {
        return entry.getArgument(index);
      }
    }
    llvm_unreachable("ports are added before the body is built");
  }
  Location loc(const std::string &name) { return path.loc(name); }
  bool isDecoder() const { return spec.kind == spec::Kind::Decoder; }
  std::string hiddenName() const { return spec.mainStack().name + ".hidden"; }

  struct Port {
    std::string name;
    transformer::Fill fill;
    int64_t limit;
  };

  const spec::ModelSpec &spec;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  PathBuilder path;
  SmallVector<Port> inputs;
  func::FuncOp entry;
  Value rows;
  LayerContext context;
};

} // namespace

static ArrayAttr strings(OpBuilder &builder,
                         const std::vector<std::string> &values) {
  SmallVector<StringRef> refs(values.begin(), values.end());
  return builder.getStrArrayAttr(refs);
}

/// The fields of tfc_generation_v0 (runtime/include/tfc/abi.h), by name.
static DictionaryAttr describe(OpBuilder &builder,
                               const spec::Generation &generation) {
  NamedAttrList fields;
  auto i64 = [&](StringRef name, int64_t value) {
    fields.set(name, builder.getI64IntegerAttr(value));
  };
  auto f64 = [&](StringRef name, double value) {
    fields.set(name, builder.getF64FloatAttr(value));
  };
  i64("forced_bos", generation.forcedBos.value_or(-1));
  i64("forced_eos", generation.forcedEos.value_or(-1));
  i64("min_length", generation.minLength);
  i64("max_length", generation.maxLength);
  i64("no_repeat_ngram", generation.noRepeatNgram);
  i64("num_beams", generation.numBeams);
  i64("early_stopping", static_cast<int64_t>(generation.earlyStopping));
  i64("do_sample", generation.doSample);
  i64("top_k", generation.topK);
  f64("temperature", generation.temperature);
  f64("top_p", generation.topP);
  f64("min_p", generation.minP);
  f64("length_penalty", generation.lengthPenalty);
  f64("repetition_penalty", generation.repetitionPenalty);
  return fields.getDictionary(builder.getContext());
}

void ModelBuilder::addModelAttribute() {
  NamedAttrList model;
  model.set("name", builder.getStringAttr(spec.name));
  model.set("kind", builder.getStringAttr(isDecoder() ? "decoder" : "encoder"));
  model.set("spec", builder.getStringAttr(spec.canonical));
  model.set("max_positions", builder.getI64IntegerAttr(spec.maxPositions));
  model.set("pad", builder.getI64IntegerAttr(spec.tokens.pad.value_or(-1)));
  model.set("bos", builder.getI64IntegerAttr(spec.tokens.bos.value_or(-1)));
  model.set("decoder_start",
            builder.getI64IntegerAttr(spec.tokens.decoderStart.value_or(-1)));
  model.set("generation", describe(builder, spec.generation));
  model.set("eos", builder.getI64ArrayAttr(spec.tokens.eos));
  model.set("prefixes", strings(builder, spec.prefixes));
  std::vector<std::string> aliases;
  for (const auto &[first, second] : spec.aliases) {
    aliases.push_back(first);
    aliases.push_back(second);
  }
  model.set("aliases", strings(builder, aliases));
  (*module)->setAttr(transformer::kModelAttrName,
                     model.getDictionary(builder.getContext()));
}

void ModelBuilder::addParameters() {
  builder.setInsertionPointToEnd(module->getBody());
  for (const spec::Parameter &parameter : spec.parameters) {
    SmallVector<int64_t> shape = {parameter.rows};
    if (parameter.rank == 2) {
      shape.push_back(parameter.cols);
    }
    SmallVector<StringAttr> patterns;
    for (const std::string &pattern : parameter.patterns) {
      patterns.push_back(builder.getStringAttr(pattern));
    }
    bool perLayer = parameter.firstLayer >= 0;
    auto source = transformer::SourceAttr::get(
        builder.getContext(), patterns, perLayer ? parameter.firstLayer : 0,
        parameter.firstRow, parameter.storedRows, parameter.inOut,
        parameter.fillZeros,
        parameter.tiedTo.empty() ? StringAttr()
                                 : builder.getStringAttr(parameter.tiedTo));
    transformer::ParameterOp::create(
        builder, loc(parameter.name), parameter.name,
        RankedTensorType::get(shape, builder.getF32Type()),
        perLayer ? builder.getI64IntegerAttr(parameter.layers) : IntegerAttr(),
        source, /*panel=*/IntegerAttr(), /*offset=*/IntegerAttr(),
        /*stride=*/IntegerAttr());
  }
}

FailureOr<transformer::CacheType> ModelBuilder::cacheType() {
  transformer::CacheType type;
  for (const spec::LayerRun &run : spec.mainStack().runs) {
    for (const spec::Sublayer &sublayer : run.sublayers) {
      auto *attn = std::get_if<spec::Attention>(&sublayer.f);
      if (!attn) {
        continue;
      }
      auto next = transformer::CacheType::get(
          builder.getContext(), spec.mainStack().layers, attn->numKvHeads,
          attn->headDim, /*scratch=*/!isDecoder());
      if (type && type != next) {
        emitError(loc(run.prefix + "." + sublayer.name))
            << "expected num_kv_heads and head_dim as in the layers before "
               "(they share one cache), got "
            << attn->numKvHeads << " and " << attn->headDim;
        return failure();
      }
      type = next;
    }
  }
  return type;
}

func::FuncOp ModelBuilder::addEntry(transformer::CacheType cache) {
  MLIRContext *context = builder.getContext();
  auto ids =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  SmallVector<Type> types(inputs.size() + 1, ids);
  types.push_back(transformer::BatchType::get(context));
  if (cache) {
    types.push_back(cache);
  }
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc(spec.mainStack().name),
                                       isDecoder() ? "step" : "encode",
                                       builder.getFunctionType(types, {}));
  for (auto [index, port] : llvm::enumerate(inputs)) {
    function.setArgAttr(
        index, transformer::kInputAttrName,
        transformer::InputAttr::get(context, port.name, port.fill, port.limit));
  }
  function.setArgAttr(inputs.size(), transformer::kRowsAttrName,
                      builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

/// norm(token + position + segments), each table where the spec has one.
Value ModelBuilder::buildEmbeddings() {
  const spec::Embeddings &embeddings = spec.mainStack().embeddings;
  std::string name = spec.mainStack().name + ".embeddings";
  auto lookUp = [&](const std::string &ids, const std::string &table,
                    int64_t offset, bool optional) -> Value {
    return transformer::EmbeddingOp::create(builder, loc(name + "." + ids),
                                            input(ids), path.weight(table),
                                            offset, optional);
  };
  auto add = [&](Value x, Value y) -> Value {
    return transformer::AddOp::create(builder, loc(name), x, y);
  };
  std::string token = name + ".token.weight";
  Value x = lookUp("input_ids", token, 0, false);
  // Hugging Face's order of sums: token, segments, position (BERT).
  for (const spec::Segment &segment : embeddings.segments) {
    x = add(x, lookUp(segment.input,
                      segment.useToken
                          ? token
                          : name + ".segment." + segment.name + ".weight",
                      0, !segment.defaultId));
  }
  if (embeddings.position) {
    x = add(x, lookUp("position_ids", name + ".position.weight",
                      embeddings.position->offset, false));
  }
  if (embeddings.norm) {
    x = path.norm(x, *embeddings.norm, name + ".norm");
  }
  return x;
}

/// One loop over the layers of a run; the layer is an index, never a copy.
Value ModelBuilder::buildRun(const spec::LayerRun &run, Value x) {
  Location where = loc(run.prefix);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, where, value);
  };
  Value first = constant(run.first);
  auto loop =
      scf::ForOp::create(builder, where, constant(0), constant(run.count),
                         constant(1), ValueRange{x});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar(), layer = index;
  if (run.first != 0) {
    layer = arith::AddIOp::create(builder, where, index, first);
  }
  Value y =
      buildLayer(path, run, context, {index, layer}, loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, where, y);
  return loop.getResult(0);
}

Value ModelBuilder::buildStack(Value x) {
  for (const spec::LayerRun &run : spec.mainStack().runs) {
    x = buildRun(run, x);
  }
  return x;
}

const spec::Head *ModelBuilder::findHead(const std::string &name) const {
  for (const spec::Head &head : spec.heads) {
    if (head.name == name) {
      return &head;
    }
  }
  return nullptr;
}

transformer::Take ModelBuilder::takeOf(const std::string &value) const {
  const spec::Head *head = findHead(value);
  if (!head) {
    return transformer::Take::All;
  }
  for (const spec::HeadStep &step : head->steps) {
    if (auto *take = std::get_if<spec::TakeStep>(&step)) {
      return take->at == spec::TakeStep::At::First
                 ? transformer::Take::First
                 : transformer::Take::LastNonpad;
    }
  }
  return takeOf(head->from);
}

Value ModelBuilder::buildHead(const spec::Head &head, Value x) {
  if (const spec::Head *before = findHead(head.from)) {
    x = buildHead(*before, x);
  }
  for (const spec::HeadStep &step : head.steps) {
    if (auto *dense = std::get_if<spec::DenseStep>(&step)) {
      x = path.linear(x, dense->path, dense->bias);
      x = path.activation(x, dense->act, dense->path);
    } else if (auto *norm = std::get_if<spec::NormStep>(&step)) {
      x = path.norm(x, norm->norm, norm->path);
    } else if (auto *logits = std::get_if<spec::LogitsStep>(&step)) {
      Value weight = path.weight(logits->weight);
      Value bias = logits->bias ? path.weight(logits->path + ".bias") : Value();
      x = transformer::LinearOp::create(builder, loc(logits->path), x, weight,
                                        bias);
    } else if (auto *act = std::get_if<spec::ActStep>(&step)) {
      x = path.activation(x, act->act, "heads." + head.name);
    }
    // Takes are the rows that the output asks for; splits are its columns.
  }
  return x;
}

void ModelBuilder::buildOutput(const spec::Output &output, Value hidden) {
  transformer::Take take = takeOf(output.value);
  // Encoders give every token; whoever wants less says so in a head.
  bool wanted = isDecoder() || take != transformer::Take::All;
  auto op = transformer::OutputOp::create(
      builder, loc("outputs." + output.name), output.name,
      wanted ? transformer::RowKind::Wanted : transformer::RowKind::Tokens,
      take, /*squeezed=*/output.part >= 0);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  Value x = hidden;
  if (wanted) {
    x = transformer::GatherRowsOp::create(builder, op.getLoc(), x, rows);
  }
  // Norms are row by row: the last one waits for the choice of rows.
  if (spec.mainStack().finalNorm) {
    x = path.norm(x, *spec.mainStack().finalNorm,
                  spec.mainStack().name + ".final_norm");
  }
  if (const spec::Head *head = findHead(output.value)) {
    x = buildHead(*head, x);
  }
  if (output.part >= 0) {
    x = transformer::SliceColumnsOp::create(builder, op.getLoc(), x,
                                            output.part, 1);
  }
  transformer::YieldOp::create(builder, op.getLoc(), x);
}

OwningOpRef<ModuleOp> ModelBuilder::build() {
  addModelAttribute();
  addParameters();
  FailureOr<transformer::CacheType> cache = cacheType();
  if (failed(cache)) {
    return {};
  }
  const spec::Embeddings &embeddings = spec.mainStack().embeddings;
  addInput("input_ids", transformer::Fill::Required, embeddings.tokenRows);
  for (const spec::Segment &segment : embeddings.segments) {
    addInput(segment.input,
             segment.defaultId ? transformer::Fill::Zero
                               : transformer::Fill::Absent,
             segment.useToken ? embeddings.tokenRows : segment.rows);
  }
  if (embeddings.position) {
    addInput("position_ids", transformer::Fill::Position,
             embeddings.position->rows - embeddings.position->offset);
  }
  entry = addEntry(*cache);
  rows = entry.getArgument(inputs.size());
  context.batch = entry.getArgument(inputs.size() + 1);
  if (*cache) {
    context.cache = entry.getArgument(inputs.size() + 2);
  }
  Value hidden = buildStack(buildEmbeddings());
  for (const spec::Output &output : spec.outputs) {
    buildOutput(output, hidden);
  }
  func::ReturnOp::create(builder, entry.getLoc());
  return std::move(module);
}

OwningOpRef<ModuleOp> tfc::buildModel(const spec::ModelSpec &spec,
                                      MLIRContext *context) {
  return ModelBuilder(spec, context).build();
}
