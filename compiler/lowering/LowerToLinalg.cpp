// The pass: value ops become linalg, outputs become arguments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/DistanceRows.h"
#include "compiler/lowering/Passes.h"
#include "compiler/lowering/Patterns.h"
#include "compiler/support/ClearStatistics.h"
#include "compiler/support/PassOptions.h"

#include "dialect/FragmentWord.h"
#include "dialect/LayerFunctions.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// What emit-abi needs to describe the port, on its argument. `width` is all
/// the port's.
static transformer::OutputPortAttr describe(transformer::OutputOp op,
                                            bool headRows, int64_t width) {
  return transformer::OutputPortAttr::get(op.getContext(), op.getName(),
                                          op.getRows(), op.getTake(),
                                          op.getSqueezed(), headRows, width);
}

/// The value at the root of the chain of destinations that ends in `value`.
static Value findRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      value = insert.getDest();
    } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
    } else {
      break;
    }
  }
  return value;
}

/// The new tensor that `value` is computed in, if that is in `block`; or null.
static Operation *findDestination(Value value, Block *block) {
  Operation *root = findRoot(value).getDefiningOp();
  bool isNew =
      isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(root);
  return isNew && root->getBlock() == block ? root : nullptr;
}

/// Stores `value` to the buffer `out`. What is computed for this output alone
/// is computed in place; a value from outside is copied, because the buffer
/// exists only where the output is wanted (so upstream's elimination of empty
/// tensors, which would make it the home of the outer value, does not do).
static void storeOutput(ImplicitLocOpBuilder &b, Value value, Value out) {
  if (Operation *root = findDestination(value, b.getBlock())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(root);
    Value destination = bufferization::ToTensorOp::create(
        b, root->getResult(0).getType(), out, /*restrict=*/true,
        /*writable=*/true);
    root->getResult(0).replaceAllUsesWith(destination);
    root->erase();
  }
  auto store = bufferization::MaterializeInDestinationOp::create(b, value, out);
  store.setRestrict(true);
  store.setWritable(true);
}

/// The columns of `out` that are part number `part`, `width` wide.
static Value columnsOf(ImplicitLocOpBuilder &b, Value out, Value part,
                       int64_t width) {
  Value first =
      arith::MulIOp::create(b, part, arith::ConstantIndexOp::create(b, width));
  OpFoldResult rows = memref::DimOp::create(b, out, 0).getResult();
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return memref::SubViewOp::create(b, out, {zero, first},
                                   {rows, b.getIndexAttr(width)}, {one, one});
}

/// As storeOutput, to columns. A value from outside is copied by loops: nothing
/// else copies rows that are not side by side.
static void storePart(ImplicitLocOpBuilder &b, Value value, Value columns) {
  if (!findDestination(value, b.getBlock())) {
    Value destination = bufferization::ToTensorOp::create(
        b, value.getType(), columns, /*restrict=*/true, /*writable=*/true);
    value = linalg::CopyOp::create(b, value, destination).getResult(0);
  }
  storeOutput(b, value, columns);
}

/// The entry's argument for the port of `op`, which the first part adds.
static FailureOr<Value> findOrAddPort(transformer::OutputOp op, bool headRows) {
  auto entry = op->getParentOfType<func::FuncOp>();
  for (BlockArgument argument : entry.getArguments()) {
    auto port = entry.getArgAttrOfType<transformer::OutputPortAttr>(
        argument.getArgNumber(), transformer::kOutputAttrName);
    if (port && port.getName() == op.getName()) {
      return Value(argument);
    }
  }
  auto yield = cast<transformer::YieldOp>(op.getBody().front().getTerminator());
  auto type = cast<RankedTensorType>(yield.getValue().getType());
  int64_t width = type.getDimSize(1) * op.getParts().value_or(1);
  auto buffer =
      MemRefType::get({type.getDimSize(0), width}, type.getElementType());
  unsigned index = entry.getNumArguments();
  Builder builder(op.getContext());
  DictionaryAttr attributes = builder.getDictionaryAttr(builder.getNamedAttr(
      transformer::kOutputAttrName, describe(op, headRows, width)));
  if (failed(entry.insertArgument(index, buffer, attributes, op.getLoc()))) {
    return failure();
  }
  return Value(entry.getArgument(index));
}

/// output "name" { ... yield %y } -> if %out is given { ...; %y into %out }
/// With `panels` a product may do some of its panels alone.
static LogicalResult lowerOutput(transformer::OutputOp op, bool panels) {
  auto yield = cast<transformer::YieldOp>(op.getBody().front().getTerminator());
  bool headRows = panels && offerHeadRows(op);
  FailureOr<Value> port = findOrAddPort(op, headRows);
  if (failed(port)) {
    return failure();
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value out = *port;
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, out);
  Value null = arith::ConstantIndexOp::create(b, 0);
  Value given =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, address, null);
  auto conditional = scf::IfOp::create(b, given, /*withElseRegion=*/false);
  Block &then = conditional.getThenRegion().front();
  then.getOperations().splice(
      then.begin(), op.getBody().front().getOperations(),
      op.getBody().front().begin(), Block::iterator(yield));
  Value y = yield.getValue();
  if (op.getPart()) {
    b.setInsertionPointToStart(&then);
    int64_t width = cast<RankedTensorType>(y.getType()).getDimSize(1);
    out = columnsOf(b, out, op.getPart(), width);
  }
  b.setInsertionPoint(then.getTerminator());
  op.getPart() ? storePart(b, y, out) : storeOutput(b, y, out);
  op.erase();
  return success();
}

/// keep %x, @w[%layer] -> %x into the packed weights
static void lowerKeep(transformer::KeepOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto parameter =
      SymbolTable::lookupNearestSymbolFrom<transformer::ParameterOp>(
          op, op.getNameAttr());
  RankedTensorType declared = parameter.getTensorType();
  // Rows are counted at run time; of those there are always as many.
  auto type = cast<RankedTensorType>(op.getValue().getType());
  // In front of what is computed there.
  Operation *layer = op.getLayer() ? op.getLayer().getDefiningOp() : nullptr;
  if (layer && layer->getBlock() == op->getBlock()) {
    b.setInsertionPointAfter(layer);
  } else {
    b.setInsertionPointToStart(op->getBlock());
  }
  Value place = transformer::WeightOp::create(
      b, MemRefType::get(declared.getShape(), declared.getElementType()),
      op.getNameAttr(), op.getLayer());
  auto rows = MemRefType::get(type.getShape(), type.getElementType());
  if (place.getType() != rows) {
    place = memref::CastOp::create(b, rows, place);
  }
  b.setInsertionPoint(op);
  storeOutput(b, op.getValue(), place);
  op.erase();
}

/// Whether kernels of rows do a product: rows of f32 or of 16 bits, whole times
/// `multiple` elements of the latter long, and a matrix of the same, or of
/// integers beside 16 bits.
static bool isOfRows(Type element, int64_t width, Value weight,
                     int64_t multiple) {
  Type kept = getElementTypeOrSelf(weight);
  bool isNarrow = element.isFloat(16);
  return (isNarrow || element.isF32()) &&
         (kept == element || (isNarrow && kept.isInteger())) &&
         width * (isNarrow ? 1 : 2) % multiple == 0;
}

static bool isOfRows(Value input, Value weight, int64_t multiple) {
  return isOfRows(getElementTypeOrSelf(input), transformer::widthOf(input),
                  weight, multiple);
}

/// Says that there are products that no kernel reads, by the first one.
static void reportPlain(ArrayRef<Operation *> plain, int64_t multiple) {
  if (!plain.empty()) {
    Operation *first = plain.front();
    emitRemark(first->getLoc())
        << "expected rows of f32 or of 16 bits, a multiple of " << 2 * multiple
        << " bytes long, and a matrix like them, got "
        << first->getOperand(0).getType()
        << ": a plain loop does this product, and " << plain.size() - 1
        << " more";
  }
}

using ProductsOf =
    llvm::MapVector<Operation *, SmallVector<transformer::LinearOp>>;

/// The products of each parameter that has some.
static ProductsOf findProducts(ModuleOp module) {
  SymbolTable symbols(module);
  ProductsOf products;
  module.walk([&](transformer::LinearOp op) {
    if (auto weight = op.getWeight().getDefiningOp<transformer::WeightOp>()) {
      products[symbols.lookup(weight.getName())].push_back(op);
    }
  });
  return products;
}

static void pack(Operation *parameter, int64_t panel, int64_t word) {
  cast<transformer::ParameterOp>(parameter).setPackedAttr(
      transformer::PackedAttr::get(parameter->getContext(), panel, word));
}

/// Declares by how much too large a matrix's products are with rows of bytes
/// without a sign.
static void addExcess(transformer::ParameterOp matrix) {
  OpBuilder b(matrix->getContext());
  b.setInsertionPointAfter(matrix);
  auto type = RankedTensorType::get({matrix.getTensorType().getDimSize(0)},
                                    b.getI32Type());
  auto companion = transformer::CompanionAttr::get(
      b.getContext(), transformer::CompanionKind::Excess,
      FlatSymbolRefAttr::get(matrix.getSymNameAttr()));
  auto excess = transformer::ParameterOp::create(
      b, matrix.getLoc(), (matrix.getSymName() + ".excess").str(), type,
      matrix.getLayersAttr(), /*experts=*/IntegerAttr(),
      /*source=*/transformer::SourceAttr(),
      /*parts=*/ArrayAttr(), companion, /*packed=*/transformer::PackedAttr(),
      /*rounds=*/false, /*offset=*/IntegerAttr(), /*stride=*/IntegerAttr());
  // It gets another name where there is one of this name.
  SymbolTable(matrix->getParentOp()).insert(excess);
}

/// Columns of bytes in what a word of a row is multiplied by.
static int64_t byteWord(IntegerRows rows) {
  return rows == IntegerRows::Wide ? 2 : rows == IntegerRows::Matrices ? 8 : 4;
}

/// Columns of integers of four bits that kernels read as a word of 32 bits, and
/// the fewest that are whole bytes.
constexpr int64_t kFourWord = 8;
constexpr int64_t kFourByte = 2;

/// Columns of bytes that have groups in such a word: rows of theirs are bytes,
/// too, whatever the machine has.
constexpr int64_t kByteWord = 4;

/// Whether columns have scales by groups.
static bool hasGroups(transformer::ParameterOp parameter) {
  transformer::ParameterOp scales =
      parameter.findCompanion(transformer::CompanionKind::Scales);
  return scales && scales.getTensorType().getRank() == 2;
}

/// Rows of a matrix that a fragment of tensor cores has.
constexpr int64_t kFragmentRows = 8;

/// What the groups of a matrix have, in panels.
static void packGroups(transformer::ParameterOp parameter, int64_t panel) {
  for (auto kind : {transformer::CompanionKind::Scales,
                    transformer::CompanionKind::Zeros}) {
    if (transformer::ParameterOp own = parameter.findCompanion(kind)) {
      pack(own, panel, /*word=*/1);
    }
  }
}

/// A panel of its groups goes with one of the matrix.
static void packWithGroups(transformer::ParameterOp matrix, int64_t panel) {
  bool isFour = matrix.getTensorType().getElementType().isInteger(4);
  pack(matrix, panel, isFour ? kFourWord : kByteWord);
  packGroups(matrix, panel);
}

/// Where no kernel reads it: two columns a byte.
static void packPlainFours(transformer::ParameterOp parameter) {
  if (parameter.getTensorType().getElementType().isInteger(4)) {
    pack(parameter, /*panel=*/1, kFourByte);
  }
}

/// Matrices of products are packed in panels; so are tables tied to them.
static void packPanels(ModuleOp module, int64_t panel, int64_t bf16Word,
                       IntegerRows integers) {
  for (auto &[parameter, products] : findProducts(module)) {
    Type element = getElementTypeOrSelf(products.front().getWeight());
    auto matrix = cast<transformer::ParameterOp>(parameter);
    if (hasGroups(matrix)) {
      packWithGroups(matrix, panel);
      continue;
    }
    bool isByte = element.isInteger();
    pack(parameter, panel,
         isByte             ? byteWord(integers)
         : element.isBF16() ? bf16Word
                            : 1);
    if (isByte && integers == IntegerRows::Excess) {
      addExcess(cast<transformer::ParameterOp>(parameter));
    }
  }
}

/// So are those of experts, whose integers have groups, and of heads.
static void packExperts(ModuleOp module, int64_t panel, int64_t bf16Word) {
  SymbolTable symbols(module);
  auto packWeight = [&](auto op) {
    auto weight =
        op.getWeight().template getDefiningOp<transformer::WeightOp>();
    if (!weight) {
      return;
    }
    auto parameter = symbols.lookup<transformer::ParameterOp>(weight.getName());
    Type element = getElementTypeOrSelf(op.getWeight());
    if (hasGroups(parameter)) {
      packWithGroups(parameter, panel);
    } else {
      pack(parameter, panel, element.isBF16() ? bf16Word : 1);
    }
  };
  module.walk([&](transformer::ExpertLinearOp op) { packWeight(op); });
  module.walk([&](transformer::HeadLinearOp op) { packWeight(op); });
}

/// Matrices of experts and of heads, floats that nobody else reads; products
/// that kernels do not do are added to `plain`.
static void packExpertRows(ModuleOp module, int64_t multiple,
                           SmallVectorImpl<Operation *> &plain) {
  SymbolTable symbols(module);
  auto packWeight = [&](auto op) {
    auto weight =
        op.getWeight().template getDefiningOp<transformer::WeightOp>();
    // Of a head's columns some may be none of the product's.
    int64_t width = op.getWeight().getType().getShape().back();
    if (weight && isOfRows(getElementTypeOrSelf(op.getInput()), width,
                           op.getWeight(), multiple)) {
      pack(symbols.lookup(weight.getName()), /*panel=*/1, /*word=*/1);
    } else {
      plain.push_back(op);
    }
  };
  module.walk([&](transformer::ExpertLinearOp op) { packWeight(op); });
  module.walk([&](transformer::HeadLinearOp op) { packWeight(op); });
}

/// Those of such products alone are for kernels, which read them as they are,
/// or integers as fragments have them, and scales of their groups for eight
/// rows at a time: as many as a fragment has.
static void packRows(ModuleOp module, int64_t multiple) {
  SmallVector<Operation *> plain;
  for (auto &[parameter, products] : findProducts(module)) {
    auto matrix = cast<transformer::ParameterOp>(parameter);
    if (!llvm::all_of(products, [&](transformer::LinearOp op) {
          return isOfRows(op.getInput(), op.getWeight(), multiple);
        })) {
      packPlainFours(matrix);
      llvm::append_range(plain, products);
    } else if (matrix.getTensorType().getElementType().isInteger()) {
      pack(matrix, /*panel=*/1, transformer::kFragmentWord);
      if (matrix.getTensorType().getElementType().isInteger(4)) {
        packGroups(matrix, kFragmentRows);
      }
    } else {
      pack(matrix, /*panel=*/1, /*word=*/1);
    }
  }
  packExpertRows(module, multiple, plain);
  reportPlain(plain, multiple);
}

/// What `end` hands on, it hands on in the place of `carried`; where the last
/// op could not write there, a copy does.
static void carryInPlace(Operation *end, ValueRange carried) {
  ImplicitLocOpBuilder b(end->getLoc(), end);
  for (auto [operand, place] : llvm::zip(end->getOpOperands(), carried)) {
    Value root = findRoot(operand.get());
    // A loop computes in the place of what it is given.
    if (auto loop = root.getDefiningOp<scf::ForOp>()) {
      root = loop.getTiedLoopInit(cast<OpResult>(root))->get();
    }
    if (isa<RankedTensorType>(place.getType()) && root != place) {
      operand.set(linalg::CopyOp::create(b, operand.get(), place).getResult(0));
    }
  }
}

/// Loops and functions of layers carry their values in one place.
static void carryInPlace(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    carryInPlace(loop.getBody()->getTerminator(), loop.getRegionIterArgs());
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (transformer::isOfLayers(function)) {
      Block &body = function.getBody().front();
      carryInPlace(body.getTerminator(), body.getArguments());
    }
  }
}

/// What read the matrices as rows is gone; where somebody else did, packing
/// them is of no use.
static LogicalResult eraseUnread(ModuleOp module) {
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](transformer::WeightOp op) -> WalkResult {
    if (op.use_empty()) {
      op.erase();
      return WalkResult::advance();
    }
    auto parameter = symbols.lookup<transformer::ParameterOp>(op.getName());
    if (op.getType() == parameter.getPackedType()) {
      return WalkResult::advance();
    }
    return op.emitOpError() << "expected products and look-ups alone to read "
                            << op.getNameAttr() << " (it is packed), got '"
                            << (*op->user_begin())->getName() << "'";
  });
  return failure(result.wasInterrupted());
}

namespace {
/// Counts the ops of the model that patterns replace.
struct ReplacedOps : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override {
    count += isa_and_nonnull<transformer::TransformerDialect>(op->getDialect());
  }
  unsigned count = 0;
};

struct LowerToLinalgPass : tfc::impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (panel > 0 && kernelRows > 0) {
      return emitOptionError(*this, context, "kernel-rows")
             << "0 with panel, got " << kernelRows.getValue();
    }
    return failure(
        failed(expectAtLeast(*this, context, "panel", 0, panel)) ||
        failed(expectAtLeast(*this, context, "bf16-word", 1, bf16Word)) ||
        failed(expectAtLeast(*this, context, "kernel-rows", 0, kernelRows)));
  }

  void runOnOperation() override {
    clearStatistics(*this);
    if (panel > 0) {
      packPanels(getOperation(), panel, bf16Word, int8Rows);
      packExperts(getOperation(), panel, bf16Word);
    } else if (kernelRows > 0) {
      packRows(getOperation(), kernelRows);
    } else {
      for (auto parameter : getOperation().getOps<transformer::ParameterOp>()) {
        packPlainFours(parameter);
      }
    }
    LastUses lastUses(getOperation());
    // Behind the search for last uses: a weight's rows are nobody's to write.
    cutTables(getOperation());
    RewritePatternSet patterns(&getContext());
    populateNormPatterns(patterns, lastUses);
    populateEmbeddingPatterns(patterns);
    populateExpertPatterns(patterns, lastUses);
    populateLatentPatterns(patterns);
    populateLayerPatterns(patterns);
    populatePositionPatterns(patterns);
    populateProjectionPatterns(patterns, lastUses);
    populateRecurrentPatterns(patterns, lastUses);
    populateStreamPatterns(patterns, lastUses);
    populateQuantizePatterns(patterns,
                             panel > 0 ? std::optional<IntegerRows>(int8Rows)
                                       : std::nullopt);
    populateAttentionPatterns(patterns);
    ReplacedOps replaced;
    walkAndApplyPatterns(getOperation(), std::move(patterns), &replaced);
    numLowered += replaced.count;
    carryInPlace(getOperation());
    if (failed(eraseUnread(getOperation()))) {
      return signalPassFailure();
    }
    getOperation().walk([](transformer::KeepOp op) { lowerKeep(op); });
    // Ports are in the order of the entry's own outputs, not of those in loops.
    SmallVector<transformer::OutputOp> outputs, inLoops;
    getOperation().walk([&](transformer::OutputOp op) {
      bool isOwn = isa<func::FuncOp>(op->getParentOp());
      (isOwn ? outputs : inLoops).push_back(op);
    });
    llvm::append_range(outputs, inLoops);
    for (transformer::OutputOp op : outputs) {
      if (failed(lowerOutput(op, /*panels=*/kernelRows == 0))) {
        return signalPassFailure();
      }
      ++numOutputs;
    }
  }
};
} // namespace
