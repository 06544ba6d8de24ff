// The pass: which emitter expands which structured op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "compiler/cpu/ExpandAttention.h"
#include "compiler/cpu/ExpandCacheWrite.h"
#include "compiler/cpu/ExpandProduct.h"
#include "compiler/cpu/ExpandScalar.h"
#include "compiler/host/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDCPUKERNELSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {

/// What the host lends an entry, as its new arguments.
struct Lent {
  Value step, weights, workers;
};

} // namespace

static FailureOr<Lent> addArguments(func::FuncOp entry) {
  Builder builder(entry.getContext());
  auto add = [&](Type type, StringRef name) -> FailureOr<Value> {
    unsigned index = entry.getNumArguments();
    DictionaryAttr marked = builder.getDictionaryAttr(
        builder.getNamedAttr(name, builder.getUnitAttr()));
    if (failed(entry.insertArgument(index, type, marked, entry.getLoc()))) {
      return failure();
    }
    return Value(entry.getArgument(index));
  };
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  FailureOr<Value> step = add(LLVM::LLVMPointerType::get(entry.getContext()),
                              transformer::kStepAttrName);
  FailureOr<Value> weights = add(bytes, transformer::kWeightsAttrName);
  FailureOr<Value> workers =
      add(builder.getIndexType(), transformer::kWorkersAttrName);
  if (failed(step) || failed(weights) || failed(workers)) {
    return failure();
  }
  return Lent{*step, *weights, *workers};
}

/// Batch and cache are in the step; their arguments have no users left.
static LogicalResult eraseHandles(func::FuncOp entry) {
  llvm::BitVector erased(entry.getNumArguments());
  for (BlockArgument argument : entry.getArguments()) {
    erased[argument.getArgNumber()] =
        isa<transformer::BatchType, transformer::CacheType>(argument.getType());
  }
  return entry.eraseArguments(erased);
}

/// How blocks are laid out: as an attribute of the entry, one for each cache.
static void describeCache(func::FuncOp entry, transformer::CacheType type,
                          const CacheGeometry &cache) {
  Builder b(entry.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  entry->setAttr(type.isCross() ? transformer::kCrossCacheAttrName
                                : transformer::kCacheAttrName,
                 b.getDictionaryAttr(
                     {number("block_tokens", cache.blockTokens),
                      number("layers", type.isScratch() ? 1 : type.getLayers()),
                      number("block_bytes", cache.blockBytes),
                      number("layer_bytes", cache.layerBytes),
                      number("query_rows", cache.queryRows)}));
}

/// weight @name[%layer] -> view of the packed weights at offset + layer *
/// stride
static LogicalResult expandWeight(transformer::WeightOp op, Value weights,
                                  SymbolTable &symbols,
                                  RewriterBase &rewriter) {
  auto parameter = symbols.lookup<transformer::ParameterOp>(op.getName());
  if (!parameter || !parameter.getOffset()) {
    return op.emitOpError() << "expected a parameter with an offset (placed by "
                               "tfc-pack-weights)";
  }
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Value offset = arith::ConstantIndexOp::create(b, *parameter.getOffset());
  if (op.getLayer()) {
    Value stride = arith::ConstantIndexOp::create(b, *parameter.getStride());
    Value distance = arith::MulIOp::create(b, op.getLayer(), stride);
    offset = arith::AddIOp::create(b, offset, distance);
  }
  rewriter.replaceOpWithNewOp<memref::ViewOp>(op, op.getType(), weights, offset,
                                              ValueRange());
  return success();
}

/// tap "id" %x -> if (host->tap) host->tap(ctx, "id", layer, x, rows, width)
static void expandTap(transformer::TapOp op, Value step, ModuleOp module,
                      int64_t number, RewriterBase &rewriter) {
  rewriter.setInsertionPointToStart(module.getBody());
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  SmallString<64> text(op.getId());
  text.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
  auto global = LLVM::GlobalOp::create(
      b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      "tap_" + std::to_string(number), b.getStringAttr(text));

  b.setInsertionPoint(op);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value tap = loadPointer(b, host, offsetof(tfc_host_v0, tap));
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value given = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, tap, null);
  auto conditional = scf::IfOp::create(b, given, /*withElseRegion=*/false);
  b.setInsertionPoint(conditional.getThenRegion().front().getTerminator());
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  };
  Value layer = op.getLayer()
                    ? toI64(op.getLayer())
                    : arith::ConstantIntOp::create(b, -1, 64).getResult();
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, op.getValue());
  Value data = LLVM::IntToPtrOp::create(b, pointer, toI64(address));
  Value rows = toI64(memref::DimOp::create(b, op.getValue(), 0));
  Value width =
      arith::ConstantIntOp::create(b, transformer::widthOf(op.getValue()), 64);
  Value id = LLVM::AddressOfOp::create(b, global);
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  auto function =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, b.getI64Type(), pointer,
                                   b.getI64Type(), b.getI64Type()});
  LLVM::CallOp::create(b, function,
                       ValueRange{tap, context, id, layer, data, rows, width});
  rewriter.eraseOp(op);
}

namespace {
struct ExpandCpuKernelsPass
    : tfc::impl::ExpandCpuKernelsPassBase<ExpandCpuKernelsPass> {
  using Base::Base;

  bool isVector() const { return kernels == "vector"; }

  LogicalResult expandEntry(func::FuncOp entry, SymbolTable &symbols) {
    FailureOr<Lent> lent = addArguments(entry);
    if (failed(lent)) {
      return failure();
    }
    for (BlockArgument argument : entry.getArguments()) {
      if (auto type = dyn_cast<transformer::CacheType>(argument.getType())) {
        describeCache(entry, type,
                      isVector() ? VectorCache(type) : getScalarCache(type));
      }
    }
    IRRewriter rewriter(entry.getContext());
    WalkResult result = entry.walk([&](Operation *op) -> WalkResult {
      if (auto weight = dyn_cast<transformer::WeightOp>(op)) {
        return expandWeight(weight, lent->weights, symbols, rewriter);
      }
      if (auto write = dyn_cast<transformer::CacheWriteOp>(op)) {
        isVector() ? expandCacheWrite(write, lent->step, lanes, rewriter)
                   : expandScalar(write, lent->step, rewriter);
      } else if (auto attention = dyn_cast<transformer::PagedAttentionOp>(op)) {
        isVector()
            ? expandAttention(attention, lent->step, lent->workers, lanes,
                              rewriter)
            : expandScalar(attention, lent->step, lent->workers, rewriter);
      } else if (auto product = dyn_cast<transformer::ProductOp>(op)) {
        return expandProduct(product, lent->workers, rewriter);
      } else if (auto tap = dyn_cast<transformer::TapOp>(op)) {
        expandTap(tap, lent->step, getOperation(), numTaps++, rewriter);
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted() || failed(eraseHandles(entry)));
  }

  void runOnOperation() override {
    if (kernels != "scalar" && !isVector()) {
      getOperation().emitError()
          << "expected kernels=scalar or kernels=vector, got \"" << kernels
          << '"';
      return signalPassFailure();
    }
    if (lanes != 16 && lanes != 8) {
      getOperation().emitError()
          << "expected lanes=16 or lanes=8, got " << lanes.getValue();
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      bool isEntry = llvm::any_of(entry.getArgumentTypes(),
                                  llvm::IsaPred<transformer::BatchType>);
      if (isEntry && failed(expandEntry(entry, symbols))) {
        return signalPassFailure();
      }
    }
  }

  int64_t numTaps = 0;
};
} // namespace
