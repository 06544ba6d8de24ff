// One op at a time: a call of its formula, after checks of what the dialect
// cannot know before it runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"
#include "compiler/reference/InterpreterState.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc::reference;
using namespace tfc::transformer;

//===-- ops with more to them than a formula ------------------------------===//

LogicalResult Interpreter::runOp(OutputOp output) {
  if (!step.outputs.empty() && !step.outputs.count(output.getName().str())) {
    return success();
  }
  Block &body = output.getBody().front();
  if (failed(runBlock(body))) {
    return failure();
  }
  const Matrix &value = rows(cast<YieldOp>(body.getTerminator()).getValue());
  Matrix &port = outputs[output.getName().str()];
  if (!output.getPart()) {
    port = value;
    return success();
  }
  auto parts = static_cast<int64_t>(*output.getParts());
  int64_t part = index(output.getPart());
  if (part < 0 || part >= parts) {
    return output.emitError() << "expected a part in [0, " << parts
                              << ") of the output, got " << part;
  }
  port.rows = value.rows;
  port.cols = value.cols * parts;
  port.data.resize(port.rows * port.cols);
  for (int64_t row = 0; row < value.rows; ++row) {
    std::copy_n(value.data.begin() + row * value.cols, value.cols,
                port.data.begin() + row * port.cols + part * value.cols);
  }
  return success();
}

LogicalResult Interpreter::runOp(TapOp tapOp) {
  if (!tap) {
    return success();
  }
  int64_t layer = tapOp.getLayer() ? index(tapOp.getLayer()) : -1;
  std::optional<Matrix> given = tap(tapOp, layer, rows(tapOp.getValue()));
  return given ? setRows(tapOp.getValue(), std::move(*given)) : success();
}

/// Integers and their scales are made of what is stored.
FailureOr<std::vector<double>> Interpreter::elementsOf(ParameterOp parameter,
                                                       int64_t layer) {
  ParameterOp matrix = parameter;
  std::optional<CompanionAttr> companion = parameter.getCompanion();
  if (companion) {
    matrix = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
        parameter, companion->getMatrix());
  }
  Type element = matrix.getTensorType().getElementType();
  if (!element.isInteger(8) && !element.isInteger(4)) {
    return storedElementsOf(matrix, layer);
  }
  FailureOr<IntegerElements> made = integersOf(matrix, layer);
  if (failed(made)) {
    return failure();
  }
  return std::move(!companion ? made->integers
                   : companion->getKind() == CompanionKind::Zeros
                       ? made->zeros
                       : made->scales);
}

static bool areFloatZeros(LinearOp op) {
  Value zeros = op.getWeightZeros();
  return zeros && isa<FloatType>(getElementTypeOrSelf(zeros));
}

/// A group's scale in `element`, of 16 bits: the nearest, or the next one by
/// size where the nearest is so small that 8 of it are not its extreme's size
/// by more than half of one.
static double keepScale(double scale, FloatType element) {
  APFloat kept(scale);
  bool losesInfo;
  kept.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
               &losesInfo);
  auto wide = [&] {
    APFloat same = kept;
    same.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
    return same.convertToDouble();
  };
  if (std::fabs(8 * scale) > std::fabs(8.5 * wide())) {
    kept.next(/*nextDown=*/kept.isNegative());
  }
  return wide();
}

/// What is rounded here has no zero points: floats in their place are 8 times
/// the scale. A group of bytes is rounded as a row is.
static IntegerElements roundElements(Matrix exact, int64_t groups, bool isFour,
                                     FloatType scaleElement,
                                     bool hasFloatZeros) {
  Matrix scales(exact.rows, groups), integers;
  if (isFour) {
    integers = quantizeGroups(exact, scales, [&](double scale) {
      return scaleElement.isF32() ? scale : keepScale(scale, scaleElement);
    });
  } else {
    int64_t count = std::max<int64_t>(groups, 1);
    exact.rows *= count;
    exact.cols /= count;
    integers = quantizeRows(exact, scales);
  }
  std::vector<double> zeros(scales.data.size());
  for (size_t i = 0; hasFloatZeros && i < zeros.size(); ++i) {
    zeros[i] = 8 * scales.data[i];
  }
  return {std::move(integers.data), std::move(scales.data), std::move(zeros)};
}

/// Of a matrix of integers, part by part: what is packed as it is stored, or
/// rounded.
FailureOr<IntegerElements> Interpreter::integersOf(ParameterOp matrix,
                                                   int64_t layer) {
  SmallVector<ParameterOp> parts = listParts(matrix);
  if (parts.empty()) {
    parts.push_back(matrix);
  }
  RankedTensorType type = matrix.getTensorType();
  bool isFour = type.getElementType().isInteger(4);
  int64_t columns = type.getDimSize(1), groups = 0;
  ParameterOp beside = matrix.findCompanion(CompanionKind::Scales);
  if (beside && beside.getTensorType().getRank() == 2) {
    groups = beside.getTensorType().getDimSize(1);
  }
  ParameterOp zeros = matrix.findCompanion(CompanionKind::Zeros);
  bool areFloat =
      zeros && isa<FloatType>(zeros.getTensorType().getElementType());
  FloatType scaleElement = Float32Type::get(matrix.getContext());
  if (groups > 0) {
    scaleElement = cast<FloatType>(beside.getTensorType().getElementType());
  }
  IntegerElements all;
  auto append = [&](ParameterOp part, int64_t number) -> LogicalResult {
    std::optional<IntegerElements> own;
    if (integers && part.getSource()) {
      own = integers(part, number,
                     {isFour, groups > 0 ? columns / groups : 0,
                      zeros && !areFloat, areFloat});
    }
    if (!own) {
      FailureOr<std::vector<double>> exact =
          part.getSource() ? weights(part, number)
                           : storedElementsOf(part, number);
      if (failed(exact)) {
        return failure();
      }
      Matrix wide(part.getTensorType().getDimSize(0), columns);
      if (exact->size() != wide.data.size()) {
        return part.emitError() << "expected " << wide.data.size()
                                << " elements, got " << exact->size();
      }
      wide.data = std::move(*exact);
      own = roundElements(std::move(wide), groups, isFour, scaleElement,
                          areFloat);
    }
    llvm::append_range(all.integers, own->integers);
    llvm::append_range(all.scales, own->scales);
    llvm::append_range(all.zeros, own->zeros);
    return success();
  };
  for (ParameterOp part : parts) {
    // Those of a layer's experts are counted through all layers.
    auto experts = static_cast<int64_t>(part.getExperts().value_or(1));
    for (int64_t expert = 0; expert < experts; ++expert) {
      if (failed(append(part, layer * experts + expert))) {
        return failure();
      }
    }
  }
  return all;
}

/// The rows of the parts one after the other, where there are parts.
FailureOr<std::vector<double>>
Interpreter::storedElementsOf(ParameterOp parameter, int64_t layer) {
  if (parameter.getSource() && !parameter.getExperts()) {
    return weights(parameter, layer);
  }
  if (auto experts = static_cast<int64_t>(parameter.getExperts().value_or(0))) {
    std::vector<double> all;
    for (int64_t expert = 0; expert < experts; ++expert) {
      FailureOr<std::vector<double>> own =
          weights(parameter, layer * experts + expert);
      if (failed(own)) {
        return failure();
      }
      all.insert(all.end(), own->begin(), own->end());
    }
    return all;
  }
  std::vector<double> elements;
  for (ParameterOp part : listParts(parameter)) {
    FailureOr<std::vector<double>> own = weights(part, layer);
    if (failed(own)) {
      return failure();
    }
    elements.insert(elements.end(), own->begin(), own->end());
  }
  return elements;
}

LogicalResult Interpreter::runOp(KeepOp keep) {
  auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      keep, keep.getNameAttr());
  if (!parameter) {
    return keep.emitError()
           << "expected a parameter named " << keep.getNameAttr();
  }
  Datum value = values[keep.getValue()];
  prepared[{parameter, keep.getLayer() ? index(keep.getLayer()) : 0}] =
      std::move(value);
  return success();
}

LogicalResult Interpreter::runOp(WeightOp weight) {
  auto parameter = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      weight, weight.getNameAttr());
  if (!parameter) {
    return weight.emitError()
           << "expected a parameter named " << weight.getNameAttr();
  }
  int64_t layer = weight.getLayer() ? index(weight.getLayer()) : 0;
  int64_t layers = parameter.getLayers().value_or(1);
  if (layer < 0 || layer >= layers) {
    return weight.emitError() << "expected a layer in [0, " << layers << ") of "
                              << weight.getNameAttr() << ", got " << layer;
  }
  if (parameter.getPrepared()) {
    auto made = prepared.find({parameter, layer});
    if (made == prepared.end()) {
      return weight.emitError() << "expected an entry that prepares "
                                << weight.getNameAttr() << ", got none";
    }
    set(weight, made->second);
    return success();
  }
  FailureOr<std::vector<double>> elements = elementsOf(parameter, layer);
  if (failed(elements)) {
    return failure();
  }
  RankedTensorType type = parameter.getLayerType();
  Matrix matrix;
  matrix.cols = type.getShape().back();
  matrix.rows = type.getRank() == 1 ? 1 : type.getNumElements() / matrix.cols;
  if (static_cast<int64_t>(elements->size()) != type.getNumElements()) {
    return weight.emitError()
           << "expected " << type.getNumElements() << " elements of "
           << weight.getNameAttr() << ", got " << elements->size();
  }
  matrix.data = std::move(*elements);
  return setRows(weight.getResult(), std::move(matrix));
}

LogicalResult Interpreter::runOp(EmbeddingOp op) {
  const Matrix &table = rows(op.getTable());
  int64_t offset = op.getOffset();
  // What was looked up, and what is given where the id is below zero.
  auto orGiven = [&](Matrix looked, const Ids &own) {
    for (auto [token, id] : llvm::enumerate(own)) {
      if (id < 0 && op.getGiven()) {
        const Matrix &given = rows(op.getGiven());
        std::copy_n(given.data.begin() + token * given.cols, given.cols,
                    looked.data.begin() + token * looked.cols);
      }
    }
    return looked;
  };
  if (std::optional<int64_t> first = op.getFirst()) {
    // As of ids that may be missing: others have zeros, or what is given.
    Ids own;
    for (int64_t id : ids(op.getIds())) {
      bool isOwn = id >= *first && id < *first + table.rows;
      own.push_back(isOwn ? static_cast<int32_t>(id - *first) : -1);
    }
    return setRows(op, orGiven(embedding(own, table, 0), own));
  }
  if (std::optional<int64_t> beyond = op.getBeyond()) {
    Ids own;
    for (int64_t id : ids(op.getIds())) {
      if (id < 0) {
        return op.emitError() << "expected an id of at least 0, got " << id;
      }
      own.push_back(static_cast<int32_t>(id < table.rows ? id : *beyond));
    }
    return setRows(op, embedding(own, table, 0));
  }
  if (std::optional<int64_t> every = op.getEvery()) {
    Ids own;
    for (int64_t id : ids(op.getIds())) {
      if (id < 0) {
        return op.emitError() << "expected an id of at least 0, got " << id;
      }
      own.push_back(static_cast<int32_t>(id / *every % table.rows));
    }
    return setRows(op, embedding(own, table, 0));
  }
  bool mayBeNegative = op.getOptional() || op.getGiven();
  for (int64_t id : ids(op.getIds())) {
    if ((id < 0 && !mayBeNegative) || id + offset >= table.rows) {
      return op.emitError() << "expected an id in [0, " << table.rows - offset
                            << "), got " << id;
    }
  }
  const Ids &all = ids(op.getIds());
  return setRows(op, orGiven(embedding(all, table, offset), all));
}

LogicalResult Interpreter::runOp(GivenRowsOp op) {
  const Matrix &input = rows(op.getInput());
  Ids own;
  for (int64_t id : ids(op.getIds())) {
    // Those of the table have no row here: zeros.
    own.push_back(id < 0 ? static_cast<int32_t>(-1 - id) : -1);
    if (own.back() >= input.rows) {
      return op.emitError() << "expected an id of at least " << -input.rows
                            << " (the rows given), got " << id;
    }
  }
  return setRows(op, embedding(own, input, 0));
}

LogicalResult Interpreter::runOp(PerLayerOp op) {
  auto numbers = dyn_cast<DenseF64ArrayAttr>(op.getValues());
  auto indices = dyn_cast<DenseI64ArrayAttr>(op.getValues());
  int64_t count = numbers ? numbers.size() : indices.size();
  int64_t layer = index(op.getLayer());
  if (layer < 0 || layer >= count) {
    return op.emitError() << "expected a layer in [0, " << count
                          << ") of the values, got " << layer;
  }
  numbers ? set(op, numbers[layer]) : set(op, indices[layer]);
  return success();
}

LogicalResult Interpreter::runOp(RotaryOp op) {
  Rotation rotation = {op.getStyle() == RotaryStyle::Interleaved,
                       static_cast<int64_t>(op.getNumHeads()),
                       op.getKind() ? index(op.getKind()) : 0,
                       static_cast<int64_t>(op.getKinds())};
  if (rotation.kind < 0 || rotation.kind >= rotation.kinds) {
    return op.emitError() << "expected a kind of angles in [0, "
                          << rotation.kinds << "), got " << rotation.kind;
  }
  return setRows(op,
                 rotary(rows(op.getInput()), rows(op.getAngles()), rotation));
}

LogicalResult Interpreter::runOp(GatherRowsOp op) {
  const Matrix &input = rows(op.getInput());
  for (int64_t row : ids(op.getRows())) {
    if (row < 0 || row >= input.rows) {
      return op.emitError()
             << "expected a row in [0, " << input.rows << "), got " << row;
    }
  }
  return setRows(op, gatherRows(input, ids(op.getRows())));
}

LogicalResult Interpreter::runOp(PoolRowsOp op) {
  const Matrix &input = rows(op.getInput());
  const Ids &wanted = ids(op.getRows());
  Matrix result(static_cast<int64_t>(wanted.size()), input.cols);
  for (int64_t row = 0; row < result.rows; ++row) {
    FailureOr<const Sequence *> own = sequenceOf(op, wanted[row]);
    if (failed(own)) {
      return failure();
    }
    poolRows(input, **own, op.getHow(),
             static_cast<int64_t>(op.getSkip().value_or(0)), row, result);
  }
  return setRows(op, std::move(result));
}

FailureOr<int64_t> Interpreter::layerOf(Operation *op, CacheType type,
                                        Value layer) {
  int64_t number = index(layer);
  if (number < 0 || number >= type.getLayers()) {
    return op->emitError() << "expected a layer in [0, " << type.getLayers()
                           << ") of the cache, got " << number;
  }
  return type.countLayersBefore() + number;
}

LogicalResult Interpreter::runOp(CacheWriteOp op) {
  CacheType type = op.getCache().getType();
  FailureOr<int64_t> layer = layerOf(op, type, op.getLayer());
  if (failed(layer)) {
    return failure();
  }
  Matrix keys = keep(op.getKey(), type), cached = keep(op.getValue(), type);
  for (const Sequence &sequence : step.sequences) {
    cacheWrite(keys, cached, sequence,
               type.isCross() ? cache.crossLayer(sequence.id, *layer)
                              : cache.layer(sequence.id, *layer));
  }
  return success();
}

/// The numbers of an attention that do not depend on its mask.
template <typename Op> static AttentionShape shapeOf(Op op, int64_t layer) {
  CacheType type = op.getCache().getType();
  AttentionShape shape;
  shape.numHeads = op.getNumHeads();
  shape.kvHeads = type.getKvHeads();
  shape.headDim = type.getHeadDim();
  shape.scale = op.getScale().convertToDouble();
  if (op.getScaleByInverseLayer()) {
    shape.scale /= static_cast<double>(layer + 1);
  }
  if (op.getCap()) {
    shape.cap = op.getCap()->convertToDouble();
  }
  shape.roundsFactors = op.getFactors().has_value();
  return shape;
}

WatchFn Interpreter::watchAttention(bool isCross) {
  int64_t number = numAttentions[isCross]++;
  if (!watcher) {
    return {};
  }
  return [this, isCross, number](int64_t row, int64_t head, int64_t begin,
                                 const std::vector<double> &probabilities) {
    watcher({isCross, number, row, head, begin, probabilities});
  };
}

LogicalResult Interpreter::runOp(CrossAttentionOp op) {
  FailureOr<int64_t> layer =
      layerOf(op, op.getCache().getType(), op.getLayer());
  if (failed(layer)) {
    return failure();
  }
  const Matrix &query = rows(op.getQuery());
  Matrix result(query.rows, query.cols);
  WatchFn watch = watchAttention(/*isCross=*/true);
  for (Sequence sequence : step.sequences) {
    const Cache::Layer &cached = cache.crossLayer(sequence.id, *layer);
    if (sequence.crossCount < 1 || sequence.crossCount > cached.keys.rows) {
      return op.emitError()
             << "expected sequence " << sequence.id << " to attend to 1 to "
             << cached.keys.rows << " encoded positions, got "
             << sequence.crossCount;
    }
    sequence.keys = sequence.crossCount;
    attention(query, sequence, shapeOf(op, *layer), cached, result, watch);
  }
  return setRows(op, std::move(result));
}

LogicalResult Interpreter::runOp(AttentionOp op) {
  CacheType type = op.getCache().getType();
  FailureOr<int64_t> checked = layerOf(op, type, op.getLayer());
  if (failed(checked)) {
    return failure();
  }
  int64_t layer = *checked;
  AttentionShape shape = shapeOf(op, layer);
  shape.causal = op.getMask() == Mask::Causal;
  if (op.getFactor()) {
    shape.scale *= number(op.getFactor());
  }
  shape.bias = rowsOrNull(op.getBias());
  shape.slopes = op.getSlopes().value_or(ArrayRef<double>());
  shape.sinks = rowsOrNull(op.getSinks());
  shape.relativeKeys = rowsOrNull(op.getRelativeKeys());
  shape.relativeQueries = rowsOrNull(op.getRelativeQueries());
  shape.relativeValues = rowsOrNull(op.getRelativeValues());
  shape.queryBias = rowsOrNull(op.getQueryBias());
  shape.relativeBias = rowsOrNull(op.getRelativeBias());
  shape.segments = rowsOrNull(op.getSegments());
  shape.segmentBias = rowsOrNull(op.getSegmentBias());
  shape.types = op.getTypes() ? &ids(op.getTypes()) : nullptr;
  shape.unseen = op.getUnseen() ? &ids(op.getUnseen()) : nullptr;
  shape.oddSpan = op.getOddSpan();
  shape.roundedSlopes = op.getRoundedSlopes();
  shape.sparseBlock = static_cast<int64_t>(op.getSparseBlock().value_or(0));
  shape.randomBlocks = static_cast<int64_t>(op.getRandomBlocks().value_or(0));
  shape.blocksBefore = op.getBlocksBefore();
  shape.blocksAfter = op.getBlocksAfter();
  shape.span = static_cast<int64_t>(op.getSpan().value_or(0));
  shape.maxDistance = op.getMaxDistance();
  if (op.getLogBase()) {
    shape.logBase = op.getLogBase()->convertToDouble();
  }
  if (op.getLeft()) {
    shape.left = index(op.getLeft());
  }
  if (op.getRight()) {
    shape.right = index(op.getRight());
  }
  // What a scratch cache holds is gone after the layer.
  Cache scratch;
  Cache &used = type.isScratch() ? scratch : cache;
  Matrix newKeys, newValues;
  if (op.getKey()) {
    newKeys = keep(op.getKey(), type);
    newValues = keep(op.getValue(), type);
  }
  // All is written before anything is read: a sequence may stand in the step
  // twice, its spectator as a sequence of its own.
  for (const Sequence &sequence : step.sequences) {
    Cache::Layer &cached = used.layer(sequence.id, layer);
    if (sequence.past > cached.keys.rows) {
      return op.emitError()
             << "expected sequence " << sequence.id << " after at most "
             << cached.keys.rows << " cached tokens, got " << sequence.past;
    }
    if ((op.getTypes() || op.getUnseen()) && sequence.past > sequence.first) {
      return op.emitError()
             << "expected the rows of sequence " << sequence.id
             << " behind those of its " << sequence.past
             << " tokens before (their numbers are looked at), got row "
             << sequence.first;
    }
    if (op.getKey()) {
      cacheWrite(newKeys, newValues, sequence, cached);
    }
  }
  const Matrix &query = rows(op.getQuery());
  Matrix result(query.rows, query.cols);
  WatchFn watch = watchAttention(/*isCross=*/false);
  for (const Sequence &sequence : step.sequences) {
    attention(query, sequence, shape, used.layer(sequence.id, layer), result,
              watch);
  }
  return setRows(op, std::move(result));
}

LogicalResult Interpreter::runOp(SliceColumnsOp op) {
  const Matrix &x = rows(op.getInput());
  auto first = static_cast<int64_t>(op.getFirst()),
       width = static_cast<int64_t>(op.getWidth());
  first += op.getLayer() ? index(op.getLayer()) * width : 0;
  if (first < 0 || first > x.cols - width) {
    return op.emitError() << "expected columns inside [0, " << x.cols
                          << "), got those from " << first << " on";
  }
  return setRows(op, sliceColumns(x, first, width));
}

LogicalResult Interpreter::runOp(LatentAttentionOp op) {
  CacheType type = op.getCache().getType();
  FailureOr<int64_t> layer = layerOf(op, type, op.getLayer());
  if (failed(layer)) {
    return failure();
  }
  Matrix ropeKeys = keep(op.getRopeKey(), type),
         latents = keep(op.getLatent(), type);
  for (const Sequence &sequence : step.sequences) {
    Cache::Layer &cached = cache.layer(sequence.id, *layer);
    if (sequence.past > cached.keys.rows) {
      return op.emitError()
             << "expected sequence " << sequence.id << " after at most "
             << cached.keys.rows << " cached tokens, got " << sequence.past;
    }
    latentWrite(ropeKeys, latents, sequence, cached);
  }
  const Matrix &query = rows(op.getQuery());
  Matrix result(query.rows, op.getType().getDimSize(1));
  WatchFn watch = watchAttention(/*isCross=*/false);
  for (const Sequence &sequence : step.sequences) {
    latentAttention(query, sequence, static_cast<int64_t>(op.getNumHeads()),
                    op.getScale().convertToDouble(),
                    cache.layer(sequence.id, *layer), result, watch);
  }
  return setRows(op, std::move(result));
}

//===-- the other ops -----------------------------------------------------===//

LogicalResult Interpreter::runOp(Operation &op) {
  using namespace tfc::reference;
  auto normOf = [&](auto norm, Value bias) {
    return NormShape{rowsOrNull(norm.getWeight()), rowsOrNull(bias),
                     norm.getEps().convertToDouble(),
                     norm.getOffset().convertToDouble(),
                     static_cast<int64_t>(norm.getParts())};
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<scf::ForOp, func::CallOp, arith::ConstantOp, OutputOp, TapOp,
            WeightOp, KeepOp, EmbeddingOp, GivenRowsOp, GatherRowsOp,
            PoolRowsOp, PerLayerOp, PairRowsOp, WeighRowsOp, LogSoftmaxOp,
            MemorySinksOp, HashedAttentionOp, RotaryOp, AttentionOp,
            CrossAttentionOp, CacheWriteOp, RouteOp, ScaleExpertsOp, ExpertsOp,
            GroupByOp, ExpertLinearOp, CombineOp, CausalConvOp, RecurrenceOp,
            LatentAttentionOp, SliceColumnsOp>(
          [&](auto known) { return runOp(known); })
      .Case<func::ReturnOp, scf::YieldOp, YieldOp>(
          [](auto) { return success(); })
      .Case([&](arith::AddIOp add) {
        set(add, index(add.getLhs()) + index(add.getRhs()));
        return success();
      })
      .Case([&](arith::MulIOp product) {
        set(product, index(product.getLhs()) * index(product.getRhs()));
        return success();
      })
      .Case([&](LinearOp linearOp) {
        Value scales = linearOp.getInputScales();
        const Matrix *bias = rowsOrNull(linearOp.getBias());
        const Matrix &weight = rows(linearOp.getWeight());
        Value weightScales = linearOp.getWeightScales();
        // Of a vector there are no groups.
        bool hasGroups =
            weightScales &&
            cast<RankedTensorType>(weightScales.getType()).getRank() == 2;
        Matrix y = linear(
            rows(linearOp.getInput()),
            hasGroups ? scaleGroups(weight, rows(weightScales),
                                    rowsOrNull(linearOp.getWeightZeros()),
                                    areFloatZeros(linearOp))
            // Of integers on both sides what rows have comes off first.
            : weightScales && !scales ? scaleRows(weight, rows(weightScales))
                                      : weight,
            scales ? nullptr : bias);
        if (scales) {
          y = scaleBoth(y, rows(scales),
                        hasGroups ? Matrix() : rows(weightScales), bias);
        }
        y = activation(linearOp.getAct(), y);
        if (Value factor = linearOp.getFactor()) {
          y = multiply(y, rows(factor));
        }
        Value residual = linearOp.getResidual();
        return setRows(linearOp, residual ? add(y, rows(residual)) : y);
      })
      .Case([&](QuantizeRowsOp quantize) {
        Matrix scales;
        Matrix integers = quantizeRows(rows(quantize.getInput()), scales);
        return failure(
            failed(setRows(quantize.getQuantized(), std::move(integers))) ||
            failed(setRows(quantize.getScales(), std::move(scales))));
      })
      .Case([&](LayerNormOp norm) {
        NormShape shape = normOf(norm, norm.getBias());
        shape.unbiasedStd = norm.getUnbiasedStd();
        return setRows(norm, layerNorm(rows(norm.getInput()), shape));
      })
      .Case([&](RmsNormOp norm) {
        return setRows(norm,
                       rmsNorm(rows(norm.getInput()), normOf(norm, Value())));
      })
      .Case([&](L2NormalizeOp norm) {
        return setRows(norm, l2Normalize(rows(norm.getInput()),
                                         norm.getEps().convertToDouble()));
      })
      .Case([&](CutRowsOp op) {
        return setRows(op, cutRows(rows(op.getInput()),
                                   op.getDeviations().convertToDouble()));
      })
      .Case([&](MixRowsOp op) {
        SmallVector<const Matrix *> terms;
        for (Value term : op.getTerms()) {
          terms.push_back(&rows(term));
        }
        return setRows(op, mixRows(rows(op.getInput()), terms,
                                   rows(op.getWeights()),
                                   static_cast<int64_t>(op.getFirst()),
                                   op.getOffset().convertToDouble()));
      })
      .Case([&](JoinColumnsOp op) {
        SmallVector<const Matrix *> inputs;
        for (Value input : op.getInputs()) {
          inputs.push_back(&rows(input));
        }
        return setRows(op, joinColumns(inputs));
      })
      .Case([&](MatchMagnitudeOp op) {
        return setRows(op,
                       matchMagnitude(rows(op.getInput()), rows(op.getLike()),
                                      op.getFloor().convertToDouble()));
      })
      .Case([&](RotaryAnglesOp angles) {
        return setRows(angles, rotaryAngles(ids(angles.getPositions()),
                                            angles.getFrequencies(),
                                            angles.getFactors()));
      })
      .Case([&](SinusoidOp op) {
        Sinusoid shape = {
            op.getFrequencies(), op.getLayout() == RotaryStyle::Interleaved,
            static_cast<int64_t>(op.getOffset()), op.getZeroRow()};
        return setRows(op, sinusoid(ids(op.getPositions()), shape));
      })
      .Case([&](DistanceBiasOp bias) {
        return setRows(bias, distanceBias(rows(bias.getTable()),
                                          bias.getMask() == Mask::Bidirectional,
                                          bias.getMaxDistance()));
      })
      .Case([&](FfnOp f) {
        FfnWeights w{&rows(f.getUp()),
                     &rows(f.getDown()),
                     rowsOrNull(f.getGate()),
                     rowsOrNull(f.getUpBias()),
                     rowsOrNull(f.getGateBias()),
                     rowsOrNull(f.getDownBias())};
        return setRows(f, ffn(rows(f.getInput()), w, f.getAct()));
      })
      .Case([&](ActivationOp act) {
        return setRows(act, activation(act.getAct(), rows(act.getInput())));
      })
      .Case([&](GateRowsOp op) {
        return setRows(
            op, gateRows(rows(op.getInput()), rows(op.getGate()), op.getAct()));
      })
      .Case([&](MultiplyOp op) {
        return setRows(op,
                       multiply(rows(op.getInput()),
                                activation(op.getAct(), rows(op.getGate()))));
      })
      .Case([&](DecayOp op) {
        return setRows(op, decay(rows(op.getInput()), rows(op.getLogRate())));
      })
      .Case([&](ClampedGateOp op) {
        return setRows(op, clampedGate(rows(op.getInput()), rows(op.getGate()),
                                       op.getAlpha().convertToDouble(),
                                       op.getLimit().convertToDouble()));
      })
      .Case([&](HeadLinearOp op) {
        return setRows(op, headLinear(rows(op.getInput()), rows(op.getWeight()),
                                      static_cast<int64_t>(op.getNumHeads()),
                                      op.getWeight().getType().getDimSize(1)));
      })
      .Case([&](AddOp sum) {
        return setRows(sum, add(rows(sum.getLhs()), rows(sum.getRhs())));
      })
      .Case([&](ScaleOp op) {
        return setRows(
            op, scale(rows(op.getInput()), op.getFactor().convertToDouble()));
      })
      .Case([&](ClampOp op) {
        return setRows(
            op, clamp(rows(op.getInput()), op.getLeast().convertToDouble()));
      })
      .Case([&](XieluOp op) {
        return setRows(op, xielu(rows(op.getInput()),
                                 rows(op.getPositive()).data.front(),
                                 rows(op.getNegative()).data.front(),
                                 op.getBeta().convertToDouble(),
                                 op.getLeast().convertToDouble()));
      })
      .Case([&](LayerScaleOp op) {
        return setRows(op,
                       layerScale(rows(op.getInput()), rows(op.getWeight())));
      })
      .Case([&](UnfoldOp op) {
        std::vector<const Matrix *> inputs;
        for (Value input : op.getInputs()) {
          inputs.push_back(&rows(input));
        }
        auto taps = static_cast<int64_t>(op.getTaps());
        auto frames = static_cast<int64_t>(op.getFrames());
        int64_t first = op.getFirst() ? *op.getFirst() : -(taps - 1) / 2;
        Matrix result(inputs.front()->rows, op.getType().getDimSize(1));
        for (const Sequence &sequence : step.sequences) {
          unfold(inputs, sequence, {taps, first, frames}, result);
        }
        return setRows(op, std::move(result));
      })
      .Default([](Operation *other) {
        return other->emitError()
               << "expected an op that the interpreter knows, got "
               << other->getName();
      });
}
