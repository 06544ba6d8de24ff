// A stack of layers: its embeddings, what all its layers read, and the loops
// over them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildStack.h"

#include "compiler/frontend/BuildPatches.h"
#include "compiler/frontend/BuildStreams.h"
#include "compiler/frontend/CountLayers.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tfc;

static void forEachAttention(
    const spec::Stack &stack,
    function_ref<void(const std::string &name, const spec::Attention &)> body) {
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::Sublayer &sublayer : run.sublayers) {
      if (const spec::Attention *attn = sublayer.attention()) {
        body(run.prefix + "." + sublayer.name, *attn);
      }
    }
  }
}

static bool hasRotary(const spec::Stack &stack) {
  bool result = false;
  forEachAttention(stack, [&](const std::string &, const spec::Attention &a) {
    result |= a.rotary.has_value();
  });
  return result;
}

/// The input that says the types of tokens.
static constexpr StringRef kTypes = "token_type_ids";

/// The input that says which tokens are asked for, and not told.
static constexpr StringRef kTargets = "targets";

static bool comparesTypes(const spec::Stack &stack) {
  bool result = false;
  forEachAttention(stack, [&](const std::string &, const spec::Attention &a) {
    result |= a.segments;
  });
  return result;
}

bool tfc::countsDistances(const spec::Stack &stack) {
  const auto &patches = stack.embeddings.patches;
  // Keys that are unseen are found by their rows.
  bool result = (patches && !patches->convs.empty()) || stack.hasTargets;
  forEachAttention(stack, [&](const std::string &, const spec::Attention &a) {
    result |= a.positionBias || a.window.has_value() || !a.slopes.empty() ||
              a.relative.has_value() || a.sparse.has_value();
  });
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::Sublayer &sublayer : run.sublayers) {
      result |= std::holds_alternative<spec::Ngram>(sublayer.f);
    }
  }
  return result;
}

SmallVector<Port> tfc::listPorts(const spec::Stack &stack, StringRef prefix,
                                 int64_t maxPositions) {
  const spec::Embeddings &embeddings = stack.embeddings;
  auto named = [&](StringRef name) { return (prefix + name).str(); };
  SmallVector<Port> ports;
  const auto &patches = embeddings.patches;
  ports.push_back(
      {named("input_ids"),
       patches ? transformer::Fill::Given : transformer::Fill::Required,
       embeddings.tokenRows});
  if (patches) {
    ports.push_back(
        {named("patches"), transformer::Fill::Required, 1, patches->width});
  }
  for (const spec::Segment &segment : embeddings.segments) {
    ports.push_back({named(segment.input),
                     segment.defaultId ? transformer::Fill::Zero
                                       : transformer::Fill::Absent,
                     segment.useToken ? embeddings.tokenRows : segment.rows});
  }
  bool isListed =
      llvm::any_of(embeddings.segments, [](const spec::Segment &segment) {
        return kTypes == segment.input;
      });
  if (comparesTypes(stack) && !isListed) {
    ports.push_back({named(kTypes), transformer::Fill::Zero,
                     std::numeric_limits<int32_t>::max()});
  }
  if (stack.hasTargets) {
    ports.push_back({named(kTargets), transformer::Fill::Unseen, 2});
  }
  if (embeddings.position || hasRotary(stack)) {
    int64_t limit =
        maxPositions > 0 ? maxPositions : std::numeric_limits<int32_t>::max();
    transformer::Fill fill = transformer::Fill::Position;
    if (const auto &position = embeddings.position) {
      limit = position->rows - position->offset;
      using Ids = spec::Position::Ids;
      fill = position->ids == Ids::FromPad    ? transformer::Fill::FromPad
             : position->ids == Ids::FromMask ? transformer::Fill::FromMask
                                              : transformer::Fill::Position;
    }
    ports.push_back({named("position_ids"), fill, limit});
  }
  return ports;
}

/// How many positions a token of the stack sees at most, itself included: 0
/// when some layer's window has no end.
static int64_t findWindow(const spec::Stack &stack) {
  int64_t longest = 0;
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::LayerGroup &group : run.groups) {
      for (const spec::Sublayer &sublayer : group.sublayers) {
        const spec::Attention *attn = sublayer.attention();
        if (!attn || attn->cross) {
          continue;
        }
        if (attn->sparse) {
          // Of a decoder, whose blocks are those before.
          longest = std::max(longest,
                             (attn->sparse->before + 1) * attn->sparse->block);
          continue;
        }
        if (!attn->window || attn->window->left >= transformer::kUnlimited) {
          return 0;
        }
        longest = std::max(longest, attn->window->left + 1);
      }
    }
  }
  return longest;
}

/// One attention of each kind of heads whose keys a cache of `kind` has, and
/// its name, in the order of the layers.
static SmallVector<std::pair<std::string, const spec::Attention *>>
listKeyShapes(const spec::Stack &stack, transformer::CacheKind kind) {
  SmallVector<std::pair<std::string, const spec::Attention *>> shapes;
  forEachAttention(
      stack, [&](const std::string &name, const spec::Attention &attn) {
        bool isKnown = llvm::any_of(shapes, [&](const auto &known) {
          return known.second->hasKeysLike(attn);
        });
        if (attn.cross == (kind == transformer::CacheKind::Cross) && !isKnown) {
          shapes.emplace_back(name, &attn);
        }
      });
  return shapes;
}

FailureOr<SmallVector<transformer::CacheType>>
tfc::findCacheTypes(PathBuilder &path, const spec::Stack &stack,
                    transformer::CacheKind kind, spec::Storage storage) {
  int64_t window = kind == transformer::CacheKind::Self ? findWindow(stack) : 0;
  // What stays for no longer than a layer saves no memory.
  bool isScratch = kind == transformer::CacheKind::Scratch;
  MLIRContext *context = path.getBuilder().getContext();
  Type element = transformer::elementOf(
      context, isScratch ? transformer::Storage::F32
                         : static_cast<transformer::Storage>(storage));
  auto shapes = listKeyShapes(stack, kind);
  // Of a decoder's own tokens; every layer has a cross-attention.
  bool isApart = kind == transformer::CacheKind::Self && countsApart(stack);
  SmallVector<int64_t> numbers;
  for (const auto &shape : shapes) {
    const spec::Attention *attn = shape.second;
    if (shapes.size() > 1 && (!isApart || attn->latent)) {
      emitError(path.loc(shapes[1].first))
          << "expected num_kv_heads and head_dim as in the layers before (they "
             "share one cache), got "
          << shapes[1].second->numKvHeads << " and "
          << shapes[1].second->headDim;
      return failure();
    }
    int64_t layers = stack.layers;
    if (isApart) {
      layers = countLayers(stack, [&](const spec::LayerRun &run) {
        return keepsKeys(run) &&
               attn->hasKeysLike(*spec::selfAttentionOf(run.sublayers));
      });
    }
    llvm::append_range(
        numbers, ArrayRef<int64_t>{layers, attn->numKvHeads, attn->headDim});
  }
  SmallVector<transformer::CacheType> types;
  for (auto [part, shape] : llvm::enumerate(shapes)) {
    ArrayRef<int64_t> own = ArrayRef(numbers).slice(3 * part, 3);
    const spec::Attention &attn = *shape.second;
    types.push_back(transformer::CacheType::get(
        context, own[0], own[1], own[2], attn.latent ? attn.latent->rank : 0,
        kind, window, element, static_cast<int64_t>(part),
        shapes.size() > 1 ? ArrayRef<int64_t>(numbers) : ArrayRef<int64_t>()));
  }
  return types;
}

transformer::StateType tfc::findStateType(PathBuilder &path,
                                          const spec::Stack &stack,
                                          int64_t hidden) {
  int64_t width = 0;
  for (const spec::LayerRun &run : stack.runs) {
    int64_t own = 0;
    for (const spec::Sublayer &sublayer : run.sublayers) {
      own += spec::stateWidth(sublayer, hidden);
    }
    width = std::max(width, own);
  }
  return width == 0
             ? transformer::StateType()
             : transformer::StateType::get(path.getBuilder().getContext(),
                                           countLayers(stack, keepsState),
                                           width);
}

static Value buildSinusoid(OpBuilder &builder, Location where,
                           const spec::Embeddings &embeddings,
                           Value positions) {
  const spec::Sinusoid &sinusoid = *embeddings.position->sinusoid;
  auto layout = sinusoid.interleaved ? transformer::RotaryStyle::Interleaved
                                     : transformer::RotaryStyle::Half;
  return transformer::SinusoidOp::create(
      builder, where, layout, positions,
      sinusoid.frequencies(embeddings.sumWidth), embeddings.position->offset,
      sinusoid.zeroRow ? builder.getI64IntegerAttr(*sinusoid.zeroRow)
                       : IntegerAttr());
}

/// The sum of what each piece of the vocabulary has for a token, which is zeros
/// but in its own.
static Value buildPieces(PathBuilder &path, const spec::Pieces &pieces,
                         const std::string &name, Value ids) {
  OpBuilder &builder = path.getBuilder();
  Value sum;
  int64_t number = 0;
  for (const spec::Pieces::Piece &piece : pieces.list()) {
    std::string end = "." + std::to_string(number++);
    Value rows = transformer::EmbeddingOp::create(
        builder, path.loc(name + ".token" + end), ids,
        path.weight(name + ".token" + end + ".weight"), /*given=*/Value(),
        /*offset=*/0, /*optional=*/false,
        builder.getI64IntegerAttr(piece.first), /*beyond=*/IntegerAttr(),
        /*every=*/IntegerAttr());
    if (pieces.isProjected()) {
      rows = path.linear(rows, name + ".projection" + end, /*bias=*/false);
    }
    sum = sum ? Value(transformer::AddOp::create(
                    builder, path.loc(name + ".pieces" + end), sum, rows))
              : rows;
  }
  return sum;
}

/// The rows of a grid's axes for the place of each position, side by side.
static Value buildAxes(PathBuilder &path, const spec::Position &position,
                       const std::string &name, Value ids) {
  OpBuilder &b = path.getBuilder();
  SmallVector<Value> rows;
  int64_t every = position.rows;
  for (auto [number, axis] : llvm::enumerate(position.axes)) {
    std::string own = name + ".position." + std::to_string(number);
    every /= axis.rows;
    rows.push_back(transformer::EmbeddingOp::create(
        b, path.loc(own), ids, path.weight(own + ".weight"), /*given=*/Value(),
        /*offset=*/0, /*optional=*/false, /*first=*/IntegerAttr(),
        /*beyond=*/IntegerAttr(), b.getI64IntegerAttr(every)));
  }
  return transformer::JoinColumnsOp::create(b, path.loc(name + ".position_ids"),
                                            rows);
}

/// The learned row in the place of the token's, where one is asked for.
static Value buildTargets(PathBuilder &path, const std::string &stack,
                          Value targets, Value x) {
  OpBuilder &builder = path.getBuilder();
  std::string name = stack + ".streams.target";
  return transformer::EmbeddingOp::create(
      builder, path.loc(name), targets, path.weight(name + ".weight"), x,
      /*offset=*/0, /*optional=*/false, builder.getI64IntegerAttr(1),
      /*beyond=*/IntegerAttr(), /*every=*/IntegerAttr());
}

/// norm(token * scale + position + segments), each table where the spec has
/// one; or norm(token * scale) + position + segments.
static Value buildEmbeddings(PathBuilder &path, const spec::Stack &stack,
                             StringRef prefix, const Entry &entry) {
  const spec::Embeddings &embeddings = stack.embeddings;
  OpBuilder &builder = path.getBuilder();
  std::string name = stack.name + ".embeddings";
  auto lookUp = [&](const std::string &ids, const std::string &table,
                    int64_t offset, bool optional) -> Value {
    return transformer::EmbeddingOp::create(
        builder, path.loc(name + "." + ids), entry.input((prefix + ids).str()),
        path.weight(table), /*given=*/Value(), offset, optional,
        /*first=*/IntegerAttr(), /*beyond=*/IntegerAttr(),
        /*every=*/IntegerAttr());
  };
  auto add = [&](Value x, Value y) -> Value {
    return transformer::AddOp::create(builder, path.loc(name), x, y);
  };
  auto inputOf = [&](StringRef port) {
    return entry.input((prefix + port).str());
  };
  Value x = embeddings.adaptive ? buildPieces(path, *embeddings.adaptive, name,
                                              inputOf("input_ids"))
            : embeddings.patches
                ? buildPatches(path, embeddings, name, inputOf("input_ids"),
                               inputOf("patches"), entry.batch)
                : lookUp("input_ids", embeddings.tokenTable, 0, false);
  if (stack.hasTargets) {
    x = buildTargets(path, stack.name, inputOf(kTargets), x);
  }
  if (embeddings.tokenScale != 1) {
    x = path.scale(x, embeddings.tokenScale, name + ".scale");
  }
  using At = spec::Embeddings::Projection::At;
  auto projectAt = [&](At at) {
    if (embeddings.projection && embeddings.projection->at == at) {
      x = path.linear(x, name + ".projection", embeddings.projection->bias);
    }
  };
  projectAt(At::Token);
  auto normAt = [&](bool token) {
    if (embeddings.norm && embeddings.normsToken == token) {
      x = path.norm(x, *embeddings.norm, name + ".norm");
    }
  };
  normAt(true);
  // Hugging Face's order of sums: token, segments, position (BERT).
  for (const spec::Segment &segment : embeddings.segments) {
    x = add(x, lookUp(segment.input,
                      segment.useToken
                          ? embeddings.tokenTable
                          : name + ".segment." + segment.name + ".weight",
                      0, !segment.defaultId));
  }
  if (embeddings.position && embeddings.position->sinusoid) {
    x = add(x,
            buildSinusoid(builder, path.loc(name + ".position_ids"), embeddings,
                          entry.input((prefix + "position_ids").str())));
  } else if (embeddings.position && !embeddings.position->axes.empty()) {
    x = add(x, buildAxes(path, *embeddings.position, name,
                         inputOf("position_ids")));
  } else if (embeddings.position) {
    x = add(x, lookUp("position_ids", name + ".position.weight",
                      embeddings.position->offset, false));
  }
  projectAt(At::Sum);
  normAt(false);
  projectAt(At::AfterNorm);
  return x;
}

/// What token `position` turns a pair of columns by.
static double angleOf(const spec::Rotary &kind, int64_t position,
                      size_t number) {
  double frequency = kind.frequencies[number];
  if (!kind.grid) {
    return double(position) * frequency;
  }
  int64_t place = position - kind.grid->front;
  if (place < 0) {
    return 0;
  }
  int64_t columns = kind.grid->columns, rows = kind.grid->rows;
  bool isRow = number < kind.frequencies.size() / 2;
  double at = isRow ? (double(place / columns) + 0.5) / double(rows)
                    : (double(place % columns) + 0.5) / double(columns);
  return (2 * at - 1) * frequency;
}

/// The angles of all positions, where they are no multiples of these: a table
/// whose row is looked up, cosines of all kinds and then sines.
static Value buildAngleTable(OpBuilder &builder, Location where,
                             ArrayRef<spec::Rotary> kinds, int64_t positions,
                             Value ids) {
  SmallVector<float> numbers;
  for (int64_t position = 0; position < positions; ++position) {
    for (bool isSine : {false, true}) {
      for (const spec::Rotary &kind : kinds) {
        for (size_t i = 0; i < kind.frequencies.size(); ++i) {
          double angle = angleOf(kind, position, i);
          double number = isSine ? std::sin(angle) : std::cos(angle);
          numbers.push_back(float(kind.factor * number));
        }
      }
    }
  }
  auto type = RankedTensorType::get(
      {positions, int64_t(numbers.size()) / positions}, builder.getF32Type());
  Value table = arith::ConstantOp::create(
      builder, where, DenseElementsAttr::get(type, ArrayRef<float>(numbers)));
  return transformer::EmbeddingOp::create(
      builder, where, ids, table, /*given=*/Value(), /*offset=*/0,
      /*optional=*/false, /*first=*/IntegerAttr(), /*beyond=*/IntegerAttr(),
      /*every=*/IntegerAttr());
}

/// The angles of all kinds, a table.
static Value buildAngles(OpBuilder &builder, Location where,
                         ArrayRef<spec::Rotary> kinds, Value positions) {
  for (const spec::Rotary &kind : kinds) {
    if (kind.grid) {
      return buildAngleTable(builder, where, kinds, kind.grid->tokens(),
                             positions);
    }
  }
  SmallVector<double> frequencies, factors;
  for (const spec::Rotary &kind : kinds) {
    llvm::append_range(frequencies, kind.frequencies);
    factors.append(kind.frequencies.size(), kind.factor);
  }
  if (llvm::all_equal(factors)) {
    factors.truncate(1);
  }
  return transformer::RotaryAnglesOp::create(builder, where, positions,
                                             frequencies, factors);
}

/// outScale (norm(projectionScale linear(x)) + scale * tokens), the columns of
/// all layers side by side.
static Value buildLayerInputs(PathBuilder &path, const spec::Stack &stack,
                              StringRef prefix, const Entry &entry, Value x) {
  const spec::LayerInputs &inputs = *stack.layerInputs;
  OpBuilder &b = path.getBuilder();
  std::string name = stack.name + ".layer_inputs";
  bool hasFewer = inputs.rows < stack.embeddings.tokenRows;
  Value tokens = transformer::EmbeddingOp::create(
      b, path.loc(name + ".token"), entry.input((prefix + "input_ids").str()),
      path.weight(name + ".token.weight"), /*given=*/Value(), 0,
      /*optional=*/false, /*first=*/IntegerAttr(),
      hasFewer ? b.getI64IntegerAttr(*inputs.beyond) : IntegerAttr(),
      /*every=*/IntegerAttr());
  tokens = path.scale(tokens, inputs.scale, name + ".token.scale");
  Value y = path.linear(x, name + ".projection", false);
  y = path.scale(y, inputs.projectionScale, name + ".projection.scale");
  y = path.norm(y, inputs.norm, name + ".norm", {}, stack.layers);
  y = transformer::AddOp::create(b, path.loc(name), y, tokens);
  return path.scale(y, inputs.outScale, name + ".scale");
}

/// Adds what the stack's ngrams read, once for each kernel.
static void buildUnfolded(PathBuilder &path, const spec::Stack &stack, Value x,
                          LayerContext &context) {
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::Sublayer &sublayer : run.sublayers) {
      const auto *ngram = std::get_if<spec::Ngram>(&sublayer.f);
      if (!ngram || context.unfoldedFor(ngram->kernel)) {
        continue;
      }
      Location where = path.loc(run.prefix + "." + sublayer.name + ".unfold");
      context.unfolded.emplace_back(
          ngram->kernel,
          transformer::UnfoldOp::create(path.getBuilder(), where, x,
                                        ngram->kernel, /*first=*/IntegerAttr(),
                                        /*frames=*/1, context.batch));
    }
  }
}

/// What the layers have in common: caches, the bias of distances, what each of
/// them has of the tokens, and the angles of each kind of rotation, once a
/// step. `x` is what the first one reads.
static LayerContext buildContext(PathBuilder &path, const spec::Stack &stack,
                                 StringRef prefix, const Entry &entry,
                                 Value x) {
  LayerContext context;
  if (stack.layerInputs && !stack.runs.empty()) {
    context.layerInputs = buildLayerInputs(path, stack, prefix, entry, x);
  }
  context.streams = stack.streams ? &*stack.streams : nullptr;
  if (stack.hasTargets) {
    context.unseen = entry.input((prefix + kTargets).str());
  }
  context.batch = entry.batch;
  context.caches = entry.caches;
  context.cross = entry.cross;
  buildUnfolded(path, stack, x, context);
  context.state = entry.state;
  OpBuilder &builder = path.getBuilder();
  // Without layers nothing reads it, and it is no parameter.
  if (stack.positionBias && stack.positionBias->perLayer) {
    context.biasOfLayers = &*stack.positionBias;
  } else if (stack.positionBias && !stack.runs.empty()) {
    context.bias = buildPositionBias(path, *stack.positionBias,
                                     stack.name + ".position_bias");
  }
  if (stack.relative && !stack.runs.empty()) {
    context.distances = &*stack.relative;
    context.distancesName = stack.name + ".relative";
    if (comparesTypes(stack)) {
      context.types = entry.input((prefix + kTypes).str());
    }
  }
  for (const spec::LayerRun &run : stack.runs) {
    for (auto [number, sublayer] : llvm::enumerate(run.sublayers)) {
      const spec::Attention *attn = sublayer.attention();
      if (!attn || !attn->rotary) {
        continue;
      }
      RotaryKinds rotations = listRotations(listAttentions(run, number));
      if (!context.angles(rotations.kinds)) {
        Value positions = entry.input((prefix + "position_ids").str());
        Location where = path.loc(run.prefix + "." + sublayer.name + ".rotary");
        Value angles = buildAngles(builder, where, rotations.kinds, positions);
        context.rotations.push_back({std::move(rotations.kinds), angles});
      }
    }
  }
  return context;
}

/// The runs of each loop, in their order: one, or the places of a period.
static SmallVector<ArrayRef<spec::LayerRun>>
listLoops(const spec::Stack &stack) {
  SmallVector<ArrayRef<spec::LayerRun>> loops;
  for (ArrayRef<spec::LayerRun> rest = stack.runs; !rest.empty();
       rest = rest.drop_front(loops.back().size())) {
    loops.push_back(rest.take_front(rest.front().step));
  }
  return loops;
}

namespace {
/// Numbers of a run's layers: of the stack's, and, where that counts them
/// apart, of those that have keys and of those that have a state.
struct LoopNumbers {
  LayerCounter layer;
  std::optional<LayerCounter> cache, state;
};
} // namespace

/// In front of the loop over the runs' layers, for a function made of it to be
/// told: layers that differ in nothing but their number do the same to it.
static LoopNumbers buildNumbers(OpBuilder &builder, Location where,
                                const spec::Stack &stack,
                                const spec::LayerRun &run, bool isOnly) {
  ImplicitLocOpBuilder b(where, builder);
  SmallVector<int64_t> layers;
  for (int64_t i = 0; i < run.count; ++i) {
    layers.push_back(run.layerOf(i));
  }
  LoopNumbers numbers{
      LayerCounter(b, layers, !isOnly || run.first != 0), {}, {}};
  if (countsApart(stack) && spec::selfAttentionOf(run.sublayers)) {
    numbers.cache =
        LayerCounter(b, keyNumbersOf(stack, run), /*hasFirst=*/true);
  }
  if (keepsState(run)) {
    numbers.state =
        LayerCounter(b, numbersOf(stack, run, keepsState), /*hasFirst=*/true);
  }
  return numbers;
}

/// Where the layer of `run` is that a trip of its loop computes.
static LayerPosition buildPosition(OpBuilder &builder, Location where,
                                   const spec::LayerRun &run,
                                   const LoopNumbers &numbers, Value index) {
  ImplicitLocOpBuilder b(where, builder);
  LayerPosition position;
  position.index = position.weights = index;
  position.layer = numbers.layer.build(b, index);
  position.cache =
      numbers.cache ? numbers.cache->build(b, index) : position.layer;
  position.state = numbers.state ? numbers.state->build(b, index) : Value();
  if (run.numShared > 0) {
    SmallVector<int64_t> shared;
    for (int64_t layer = 0; layer < run.count; ++layer) {
      shared.push_back(run.weightsOf(layer));
    }
    position.weights = buildLayerIndex(b, index, shared);
  }
  return position;
}

/// One loop over the layers of `runs`, whose body has a layer of each; the
/// layer is an index, never a copy. `body` gets the run, the layer and what the
/// loop carries, if anything, and returns its next values.
static SmallVector<Value>
buildLoop(PathBuilder &path, const spec::Stack &stack,
          ArrayRef<spec::LayerRun> runs, ValueRange carried,
          function_ref<SmallVector<Value>(const spec::LayerRun &,
                                          const LayerPosition &, ValueRange)>
              body) {
  OpBuilder &builder = path.getBuilder();
  SmallVector<Location> places;
  for (const spec::LayerRun &run : runs) {
    places.push_back(path.loc(run.prefix));
  }
  Location where = builder.getFusedLoc(places);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, where, value);
  };
  bool isOnly =
      static_cast<int64_t>(runs.size()) * runs.front().count == stack.layers;
  SmallVector<LoopNumbers> numbers;
  for (const spec::LayerRun &run : runs) {
    numbers.push_back(buildNumbers(builder, where, stack, run, isOnly));
  }
  auto loop =
      scf::ForOp::create(builder, where, constant(0),
                         constant(runs.front().count), constant(1), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next(loop.getRegionIterArgs());
  for (auto [run, place, own] : llvm::zip_equal(runs, places, numbers)) {
    LayerPosition position =
        buildPosition(builder, place, run, own, loop.getInductionVar());
    next = body(run, position, next);
  }
  if (!carried.empty()) {
    scf::YieldOp::create(builder, where, next);
  }
  return SmallVector<Value>(loop.getResults());
}

void tfc::buildHiddenOutputs(PathBuilder &path, const spec::Stack &stack,
                             ArrayRef<std::string> names, Value x, Value part) {
  OpBuilder &builder = path.getBuilder();
  for (const std::string &name : names) {
    auto op = transformer::OutputOp::create(
        builder, path.loc("outputs." + name), name,
        transformer::RowKind::Tokens, transformer::Take::All,
        /*squeezed=*/false, part, builder.getI64IntegerAttr(stack.layers + 1));
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&op.getBody());
    transformer::YieldOp::create(builder, op.getLoc(), x);
  }
}

Value tfc::buildStack(PathBuilder &path, const spec::Stack &stack,
                      StringRef prefix, const Entry &entry,
                      ArrayRef<std::string> hiddenOutputs) {
  Value x = buildEmbeddings(path, stack, prefix, entry);
  LayerContext context = buildContext(path, stack, prefix, entry, x);
  SmallVector<Value> rows = openStreams(path, stack, x);
  for (ArrayRef<spec::LayerRun> runs : listLoops(stack)) {
    rows = buildLoop(path, stack, runs, rows,
                     [&](const spec::LayerRun &run,
                         const LayerPosition &position, ValueRange carried) {
                       // Streams have no such outputs.
                       buildHiddenOutputs(path, stack, hiddenOutputs,
                                          carried.front(), position.layer);
                       return buildLayer(path, run, context, position, carried);
                     });
  }
  return closeStreams(path, stack, rows);
}

void tfc::buildCrossWrites(PathBuilder &path, const spec::Stack &stack,
                           const Entry &entry, Value hidden) {
  for (ArrayRef<spec::LayerRun> runs : listLoops(stack)) {
    buildLoop(path, stack, runs, {},
              [&](const spec::LayerRun &run, const LayerPosition &position,
                  ValueRange) {
                for (const spec::Sublayer &sublayer : run.sublayers) {
                  const spec::Attention *attn = sublayer.attention();
                  if (attn && attn->cross) {
                    buildCrossWrite(path, *attn,
                                    run.prefix + "." + sublayer.name, entry,
                                    position, hidden);
                  }
                }
                return SmallVector<Value>();
              });
  }
}
