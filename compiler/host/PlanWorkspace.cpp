// Every allocation becomes a view of one workspace, whose size is linear in
// tokens, rows, sequences and workers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/host/BufferLives.h"
#include "compiler/kernel/StepFields.h"
#include "dialect/CheckedAccess.h"
#include "dialect/LayerFunctions.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

namespace tfc {
#define GEN_PASS_DEF_PLANWORKSPACEPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {

/// What a buffer's first axis counts; the order is that of the parameters of
/// workspace_bytes. One: its size is static.
enum class Count { Tokens, Rows, Sequences, Workers, One };
constexpr unsigned kNumParameters = 4;
constexpr int64_t kAlignment = 64;

/// Behind every place that grows with the step: else, with a convenient number
/// of rows, all buffers begin at the same offset of a 4 KB page, and a load
/// waits for a store to another buffer whose low 12 bits are the same. Lines,
/// about a third of a page.
constexpr int64_t kStaggerBytes = 21 * kAlignment;

/// A buffer: the function that it is in, its bytes for a count of one, and when
/// it is alive.
struct Buffer {
  memref::AllocOp op;
  func::FuncOp function;
  Count count;
  int64_t rowBytes;
  BufferLife life;
  unsigned place = 0;
};

/// A place that buffers of one kind share one after the other, as large as the
/// largest of them.
struct Place {
  Count count;
  int64_t rowBytes;
  SmallVector<const Buffer *> buffers;

  bool isFreeFor(const Buffer &buffer) const {
    return count == buffer.count &&
           llvm::all_of(buffers, [&](const Buffer *other) {
             return other->life.end < buffer.life.begin ||
                    buffer.life.end < other->life.begin;
           });
  }
};

/// Plans one entry, and its layers with it.
class Planner {
public:
  /// `isChecked`: every buffer has a place of its own, with a red zone behind
  /// it.
  Planner(func::FuncOp entry, ArrayRef<transformer::LayerCall> calls,
          bool isChecked)
      : entry(entry), calls(calls), lives(entry, calls), isChecked(isChecked) {}

  LogicalResult collect();
  void assignPlaces();
  LogicalResult rewrite();
  void buildSizeFunction();

  unsigned numBuffers() const { return buffers.size(); }
  unsigned numPlaces() const { return places.size(); }

private:
  LogicalResult collect(func::FuncOp function);
  FailureOr<Count> countOf(memref::AllocOp op, Value size);
  /// The bytes of the buffer for a count of one.
  FailureOr<int64_t> rowBytesOf(memref::AllocOp op);
  /// Where each place begins, and behind them the size of all.
  SmallVector<Value> buildOffsets(ImplicitLocOpBuilder &b,
                                  ArrayRef<Value> counts);
  FailureOr<SmallVector<Value>> buildCounts(ImplicitLocOpBuilder &b);
  /// Those of a function of layers, which has no ports.
  SmallVector<Value> readCounts(ImplicitLocOpBuilder &b, func::FuncOp function);
  void placeBuffers(func::FuncOp function, ImplicitLocOpBuilder &b,
                    Value workspace, ArrayRef<Value> counts);
  Value argument(StringRef attribute) {
    return transformer::findArgument(entry, attribute);
  }
  /// Tells the host of the red zones, and at the end that there are none.
  void poison(ImplicitLocOpBuilder &b, Value workspace, ArrayRef<Value> counts);
  /// The bytes of a place that buffers may touch.
  Value buildBytes(ImplicitLocOpBuilder &b, const Place &place,
                   ArrayRef<Value> counts);
  /// Whether the step says how many sequences have a buffer, in `places`.
  bool countsSequences() const;

  func::FuncOp entry;
  ArrayRef<transformer::LayerCall> calls;
  BufferLives lives;
  SmallVector<Buffer> buffers;
  SmallVector<Place> places;
  const bool isChecked;
};

} // namespace

/// `size` as so many times another: the experts that each token takes.
static std::pair<Value, int64_t> cutFactor(Value size) {
  auto product = size.getDefiningOp<arith::MulIOp>();
  APInt factor;
  if (product && matchPattern(product.getRhs(), m_ConstantInt(&factor)) &&
      factor.isStrictlyPositive()) {
    return {product.getLhs(), factor.getSExtValue()};
  }
  return {size, 1};
}

/// The most rows of a buffer that has fewer where a step has few tokens: the
/// constant of a minimum; null of others.
static std::optional<int64_t> boundOf(memref::AllocOp op) {
  if (op.getDynamicSizes().size() != 1 || !op.getType().isDynamicDim(0)) {
    return std::nullopt;
  }
  auto least = op.getDynamicSizes().front().getDefiningOp<arith::MinSIOp>();
  std::optional<int64_t> most =
      least ? getConstantIntValue(least.getRhs()) : std::nullopt;
  return most && *most > 0 ? most : std::nullopt;
}

FailureOr<Count> Planner::countOf(memref::AllocOp op, Value size) {
  if (!size || boundOf(op)) {
    return Count::One;
  }
  auto function = op->getParentOfType<func::FuncOp>();
  auto argument = [&](StringRef attribute) -> Value {
    return transformer::findArgument(function, attribute);
  };
  if (op.getDynamicSizes().size() == 1 && op.getType().isDynamicDim(0)) {
    if (size == argument(transformer::kWorkersAttrName)) {
      return Count::Workers;
    }
    if (isSequenceCount(size, argument(transformer::kStepAttrName))) {
      return Count::Sequences;
    }
    auto dim = size.getDefiningOp<memref::DimOp>();
    auto source =
        dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
    if (source && source.getOwner() == &function.getBody().front()) {
      unsigned index = source.getArgNumber();
      if (function.getArgAttr(index, transformer::kInputAttrName) ||
          function.getArgAttr(index, transformer::kTokensAttrName)) {
        return Count::Tokens;
      }
      if (function.getArgAttr(index, transformer::kRowsAttrName)) {
        return Count::Rows;
      }
      if (auto output = function.getArgAttrOfType<transformer::OutputPortAttr>(
              index, transformer::kOutputAttrName)) {
        return output.getRows() == transformer::RowKind::Tokens ? Count::Tokens
                                                                : Count::Rows;
      }
    }
  }
  return op.emitOpError()
         << "expected a first axis of tokens, wanted rows, sequences or "
            "workers and static other axes (the workspace is linear in those)";
}

FailureOr<int64_t> Planner::rowBytesOf(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (!type.getElementType().isIntOrFloat()) {
    return op.emitOpError() << "expected elements that are integers or floats, "
                               "got "
                            << type.getElementType();
  }
  std::optional<int64_t> bits = llvm::checkedMul<int64_t>(
      type.getElementTypeBitWidth(), boundOf(op).value_or(1));
  if (bits && !op.getDynamicSizes().empty()) {
    bits =
        llvm::checkedMul(*bits, cutFactor(op.getDynamicSizes().front()).second);
  }
  for (int64_t size : type.getShape()) {
    if (bits && !ShapedType::isDynamic(size)) {
      bits = llvm::checkedMul(*bits, size);
    }
  }
  // Lines of 64 bytes are added up later on.
  if (!bits || *bits > std::numeric_limits<int64_t>::max() - kAlignment) {
    return op.emitOpError()
           << "expected a row of less than 2^63 bits, got " << type;
  }
  return llvm::divideCeil(*bits, CHAR_BIT);
}

LogicalResult Planner::collect() {
  for (const transformer::LayerCall &layers : calls) {
    func::CallOp call = layers.call;
    if (call.getNumResults() != 0) {
      return call.emitOpError()
             << "expected layers that return nothing (what they compute is in "
                "the place of an argument)";
    }
  }
  return failure(failed(collect(entry)) ||
                 llvm::any_of(calls, [&](const transformer::LayerCall &each) {
                   return failed(collect(each.function));
                 }));
}

LogicalResult Planner::collect(func::FuncOp function) {
  WalkResult result = function.walk([&](memref::AllocOp op) -> WalkResult {
    Value size = op.getDynamicSizes().empty()
                     ? Value()
                     : cutFactor(op.getDynamicSizes().front()).first;
    FailureOr<Count> count = countOf(op, size);
    if (failed(count)) {
      return WalkResult::interrupt();
    }
    FailureOr<int64_t> rowBytes = rowBytesOf(op);
    if (failed(rowBytes)) {
      return WalkResult::interrupt();
    }
    FailureOr<BufferLife> life = lives.find(op);
    if (failed(life)) {
      return WalkResult::interrupt();
    }
    buffers.push_back({op, function, *count, *rowBytes, *life});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// First fit, the largest first: in the order of birth a narrow buffer could
/// keep a wide one out of the place that was made for another wide one.
void Planner::assignPlaces() {
  auto order = llvm::map_to_vector(buffers, [](Buffer &b) { return &b; });
  llvm::sort(order, [](const Buffer *a, const Buffer *b) {
    return std::pair(b->rowBytes, a->life.begin) <
           std::pair(a->rowBytes, b->life.begin);
  });
  for (Buffer *buffer : order) {
    auto *free = llvm::find_if(places, [&](const Place &place) {
      return !isChecked && place.isFreeFor(*buffer);
    });
    if (free == places.end()) {
      places.push_back({buffer->count, buffer->rowBytes, {}});
      free = std::prev(places.end());
    }
    free->buffers.push_back(buffer);
    buffer->place = free - places.begin();
  }
}

SmallVector<Value> Planner::buildOffsets(ImplicitLocOpBuilder &b,
                                         ArrayRef<Value> counts) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  SmallVector<Value> offsets = {constant(0)};
  for (const Place &place : places) {
    Value bytes = constant(llvm::alignTo(place.rowBytes, kAlignment));
    if (place.count != Count::One) {
      // Align the sum, not the row: rows are dense.
      Value exact =
          arith::MulIOp::create(b, counts[static_cast<unsigned>(place.count)],
                                constant(place.rowBytes));
      Value lines = arith::CeilDivUIOp::create(b, exact, constant(kAlignment));
      bytes = arith::AddIOp::create(
          b, arith::MulIOp::create(b, lines, constant(kAlignment)),
          constant(kStaggerBytes));
    }
    if (isChecked && place.count == Count::One) {
      bytes = arith::AddIOp::create(b, bytes, constant(kStaggerBytes));
    }
    offsets.push_back(arith::AddIOp::create(b, offsets.back(), bytes));
  }
  return offsets;
}

Value Planner::buildBytes(ImplicitLocOpBuilder &b, const Place &place,
                          ArrayRef<Value> counts) {
  Value row = arith::ConstantIndexOp::create(b, place.rowBytes);
  return place.count == Count::One
             ? row
             : arith::MulIOp::create(
                   b, counts[static_cast<unsigned>(place.count)], row)
                   .getResult();
}

/// A call of the host's check, in buffers.
static void callCheck(ImplicitLocOpBuilder &b, Value address, Value size,
                      transformer::AccessKind kind) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, i64, index);
  };
  Value at =
      address ? LLVM::IntToPtrOp::create(b, pointer, toI64(address)).getResult()
              : LLVM::ZeroOp::create(b, pointer).getResult();
  Value bytes = toI64(size);
  Value number = LLVM::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(kind)));
  Value none = LLVM::ZeroOp::create(b, pointer);
  LLVM::CallOp::create(b, TypeRange(), transformer::kCheckAccessName,
                       ValueRange{at, bytes, number, none});
}

/// The function that is called, of the host.
static void declareCheck(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  LLVM::LLVMFuncOp::create(
      b, module.getLoc(), transformer::kCheckAccessName,
      LLVM::LLVMFunctionType::get(
          LLVM::LLVMVoidType::get(b.getContext()),
          {pointer, b.getI64Type(), b.getI32Type(), pointer}));
}

void Planner::poison(ImplicitLocOpBuilder &b, Value workspace,
                     ArrayRef<Value> counts) {
  SmallVector<Value> offsets = buildOffsets(b, counts);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, workspace);
  callCheck(b, base, offsets.back(), transformer::AccessKind::Unpoison);
  for (auto [index, place] : llvm::enumerate(places)) {
    Value end =
        arith::AddIOp::create(b, offsets[index], buildBytes(b, place, counts));
    callCheck(b, arith::AddIOp::create(b, base, end),
              arith::SubIOp::create(b, offsets[index + 1], end),
              transformer::AccessKind::Poison);
  }
  entry.walk([&](func::ReturnOp end) {
    ImplicitLocOpBuilder here(end.getLoc(), end);
    callCheck(here, base, offsets.back(), transformer::AccessKind::Unpoison);
  });
}

/// Loops over layers say which one is next: those whose trips do parallel work.
static void markLayers(func::FuncOp function) {
  for (auto loop : function.getOps<scf::ForOp>()) {
    WalkResult parallel =
        loop.walk([](scf::ParallelOp) { return WalkResult::interrupt(); });
    if (parallel.wasInterrupted()) {
      ImplicitLocOpBuilder b(loop.getLoc(), loop.getBody(),
                             loop.getBody()->begin());
      callCheck(b, {}, loop.getInductionVar(), transformer::AccessKind::Layer);
    }
  }
}

bool Planner::countsSequences() const {
  return llvm::any_of(places, [](const Place &place) {
    return place.count == Count::Sequences;
  });
}

static Value buildSequenceCount(ImplicitLocOpBuilder &b, Value step) {
  return loadIndex(b, step, offsetof(tfc_step_v0, n_sequences), 64);
}

FailureOr<SmallVector<Value>> Planner::buildCounts(ImplicitLocOpBuilder &b) {
  auto rowsOf = [&](Value memref) -> Value {
    return memref ? memref::DimOp::create(b, memref, 0).getResult() : Value();
  };
  Value sequences =
      countsSequences()
          ? buildSequenceCount(b, argument(transformer::kStepAttrName))
          : arith::ConstantIndexOp::create(b, 0).getResult();
  Value tokens =
      entry->hasAttr(transformer::kPrepareAttrName)
          ? arith::ConstantIndexOp::create(b, 0).getResult() // no ports
          : rowsOf(argument(transformer::kInputAttrName));
  SmallVector<Value> counts = {
      tokens, rowsOf(argument(transformer::kRowsAttrName)), sequences,
      argument(transformer::kWorkersAttrName)};
  if (llvm::is_contained(counts, Value())) {
    return entry.emitOpError() << "expected arguments marked as input, rows "
                                  "and workers (by tfc-bind-weights)";
  }
  return counts;
}

SmallVector<Value> Planner::readCounts(ImplicitLocOpBuilder &b,
                                       func::FuncOp function) {
  Value step = transformer::findArgument(function, transformer::kStepAttrName);
  Value sequences = countsSequences()
                        ? buildSequenceCount(b, step)
                        : arith::ConstantIndexOp::create(b, 0).getResult();
  return {loadIndex(b, step, offsetof(tfc_step_v0, n_tokens), 64),
          loadIndex(b, step, offsetof(tfc_step_v0, n_rows), 64), sequences,
          transformer::findArgument(function, transformer::kWorkersAttrName)};
}

/// The buffers of `function` become views of its workspace.
void Planner::placeBuffers(func::FuncOp function, ImplicitLocOpBuilder &b,
                           Value workspace, ArrayRef<Value> counts) {
  SmallVector<Value> offsets = buildOffsets(b, counts);
  for (Buffer &buffer : buffers) {
    if (buffer.function != function) {
      continue;
    }
    ImplicitLocOpBuilder here(buffer.op.getLoc(), buffer.op);
    Value view = memref::ViewOp::create(here, buffer.op.getType(), workspace,
                                        offsets[buffer.place],
                                        buffer.op.getDynamicSizes());
    buffer.op.replaceAllUsesWith(view);
    buffer.op.erase();
  }
}

LogicalResult Planner::rewrite() {
  Builder builder(entry.getContext());
  unsigned index = entry.getNumArguments();
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  DictionaryAttr marked = builder.getDictionaryAttr(builder.getNamedAttr(
      transformer::kWorkspaceAttrName, builder.getUnitAttr()));
  if (failed(entry.insertArgument(index, bytes, marked, entry.getLoc()))) {
    return failure();
  }
  Value workspace = entry.getArgument(index);
  ImplicitLocOpBuilder b(entry.getLoc(), entry.getContext());
  b.setInsertionPointToStart(&entry.getBody().front());
  FailureOr<SmallVector<Value>> counts = buildCounts(b);
  if (failed(counts)) {
    return failure();
  }
  placeBuffers(entry, b, workspace, *counts);
  if (isChecked) {
    poison(b, workspace, *counts);
    markLayers(entry);
  }
  for (const transformer::LayerCall &layers : calls) {
    FailureOr<BlockArgument> ofLayers = transformer::addArgument(
        layers, workspace, transformer::kWorkspaceAttrName);
    if (failed(ofLayers)) {
      return failure();
    }
    func::FuncOp function = layers.function;
    ImplicitLocOpBuilder inside(function.getLoc(), function.getContext());
    inside.setInsertionPointToStart(&function.getBody().front());
    placeBuffers(function, inside, *ofLayers, readCounts(inside, function));
    if (isChecked) {
      markLayers(function);
    }
  }
  return success();
}

void Planner::buildSizeFunction() {
  ImplicitLocOpBuilder b(entry.getLoc(), entry.getContext());
  b.setInsertionPointAfter(entry);
  SmallVector<Type> parameters(kNumParameters, b.getIndexType());
  auto function =
      func::FuncOp::create(b, (entry.getName() + "_workspace_bytes").str(),
                           b.getFunctionType(parameters, b.getIndexType()));
  function->setAttr(transformer::kRoleAttrName,
                    transformer::RoleAttr::get(
                        b.getContext(), transformer::RoleKind::WorkspaceBytes,
                        FlatSymbolRefAttr::get(entry.getNameAttr())));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  SmallVector<Value> counts(body->getArguments());
  func::ReturnOp::create(b, buildOffsets(b, counts).back());
}

namespace {
struct PlanWorkspacePass : tfc::impl::PlanWorkspacePassBase<PlanWorkspacePass> {
  void runOnOperation() override {
    bool isChecked = getOperation()->hasAttr(transformer::kCheckedAttrName);
    if (isChecked) {
      declareCheck(getOperation());
    }
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (transformer::isOfLayers(entry) ||
          !transformer::findArgument(entry, transformer::kStepAttrName)) {
        continue;
      }
      if (transformer::findArgument(entry, transformer::kWorkspaceAttrName)) {
        entry.emitOpError() << "expected no argument marked as '"
                            << transformer::kWorkspaceAttrName
                            << "' (the pass adds it), got one";
        return signalPassFailure();
      }
      FailureOr<SmallVector<transformer::LayerCall>> calls =
          transformer::listLayerCalls(entry);
      if (failed(calls)) {
        return signalPassFailure();
      }
      Planner planner(entry, *calls, isChecked);
      if (failed(planner.collect())) {
        return signalPassFailure();
      }
      planner.assignPlaces();
      if (failed(planner.rewrite())) {
        return signalPassFailure();
      }
      planner.buildSizeFunction();
      numBuffers += planner.numBuffers();
      numPlaces += planner.numPlaces();
    }
  }
};
} // namespace
