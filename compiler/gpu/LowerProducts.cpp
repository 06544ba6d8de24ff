// Products become launches of kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/product/ProductKernels.h"
#include "compiler/gpu/thread/KernelModule.h"
#include "compiler/support/ClearStatistics.h"
#include "dialect/PanelShape.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERPRODUCTSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// The address of the first element, which lies at a constant offset.
static Value addressOf(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  if (offset != 0) {
    Value bytes = arith::ConstantIndexOp::create(
        b, offset * type.getElementTypeBitWidth() / 8);
    base = arith::AddIOp::create(b, base, bytes);
  }
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), base);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  integer);
}

static Value number(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

/// Elements from row to row.
static Value strideOf(ImplicitLocOpBuilder &b, Value buffer) {
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  return number(b, strides[0]);
}

/// 1 where rows have none.
static int64_t countExperts(transformer::ProductOp op) {
  bool ofExperts = static_cast<bool>(op.getExperts());
  return transformer::PanelShape(cast<ShapedType>(op.getPanels().getType()),
                                 ofExperts)
      .experts;
}

/// What a launch passes; `tokens` is an index.
static ProductOperands buildOperands(ImplicitLocOpBuilder &b,
                                     transformer::ProductOp op,
                                     transformer::ProductOp gate,
                                     Value tokens) {
  ProductOperands operands;
  auto addresses = [&](ValueRange buffers) {
    return llvm::map_to_vector(
        buffers, [&](Value buffer) { return addressOf(b, buffer); });
  };
  operands.input = addressOf(b, op.getInput());
  operands.weights = addressOf(b, op.getPanels());
  operands.result = addressOf(b, op.getInit());
  operands.columns = addresses(op.getColumns());
  auto groupsOf = [&](transformer::ProductOp each) {
    auto find = [&](Value buffer) {
      return buffer ? addressOf(b, buffer) : Value();
    };
    return ProductOperands::Groups{find(each.getGroups()),
                                   find(each.getZeros())};
  };
  operands.groups = groupsOf(op);
  if (gate) {
    operands.gateWeights = addressOf(b, gate.getPanels());
    operands.gateColumns = addresses(gate.getColumns());
    operands.gateGroups = groupsOf(gate);
  } else {
    operands.rows = addresses(op.getRows());
  }
  if (Value experts = op.getExperts()) {
    operands.experts = addressOf(b, experts);
    operands.numExperts = number(b, countExperts(op));
  }
  operands.tokens = arith::IndexCastOp::create(b, b.getI32Type(), tokens);
  operands.width = number(b, transformer::widthOf(op.getInit()));
  operands.depth = number(b, transformer::widthOf(op.getInput()));
  operands.inputStride = strideOf(b, op.getInput());
  operands.resultStride = strideOf(b, op.getInit());
  if (!gate) {
    for (Value rows : op.getRows()) {
      operands.rowStrides.push_back(strideOf(b, rows));
    }
  }
  return operands;
}

namespace {

/// The sizes of a result; `tokens` is an index. Rows without experts have one.
struct ResultSize {
  int64_t width, experts;
  bool ofExperts;
  Value tokens;
};

} // namespace

/// How many tiles of rows `kernel` does, or of experts how many they are at
/// most: each expert that is there may have one that is not whole.
static Value countRowTiles(ImplicitLocOpBuilder &b, const ProductKernel &kernel,
                           const ResultSize &size) {
  Value rows = arith::ConstantIndexOp::create(b, kernel.tileRows);
  if (size.ofExperts) {
    Value experts = arith::ConstantIndexOp::create(b, size.experts);
    return arith::AddIOp::create(
        b, arith::DivUIOp::create(b, size.tokens, rows),
        arith::MinUIOp::create(b, size.tokens, experts));
  }
  // A kernel for few rows alone has them all in one tile.
  return kernel.tokens != 0
             ? arith::ConstantIndexOp::create(b, 1).getResult()
             : arith::CeilDivUIOp::create(b, size.tokens, rows).getResult();
}

static void buildLaunch(ImplicitLocOpBuilder &b, const ProductKernel &kernel,
                        const ResultSize &size,
                        const ProductOperands &operands) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value one = constant(1);
  Value columns = constant(llvm::divideCeil(size.width, kernel.tileColumns));
  Value rows = countRowTiles(b, kernel, size);
  gpu::LaunchFuncOp::create(
      b, kernel.function, gpu::KernelDim3{columns, rows, one},
      gpu::KernelDim3{constant(kernel.threads), one, one},
      /*dynamicSharedMemorySize=*/Value(), operands.list());
}

/// Blocks of large tiles that leave half of most devices idle.
constexpr int64_t kFewBlocks = 64;

/// The most rows that the first of `kernels` does, which is not the last: of
/// small tiles one row of them at least. Of experts so many that one of them
/// has on average what fills a small tile.
static int64_t mostTokens(ArrayRef<ProductKernel> kernels,
                          const ResultSize &size) {
  const ProductKernel &first = kernels.front();
  if (size.ofExperts) {
    return size.experts * first.tileRows;
  }
  if (!first.isForFewBlocks) {
    return first.tokens;
  }
  const ProductKernel &next = kernels[1];
  auto across =
      static_cast<int64_t>(llvm::divideCeil(size.width, next.tileColumns));
  return std::max(kFewBlocks / across * next.tileRows, first.tileRows);
}

/// Of `kernels`, the first one that has room for all rows, which are more than
/// `done`.
static void buildChoice(ImplicitLocOpBuilder &b,
                        ArrayRef<ProductKernel> kernels, const ResultSize &size,
                        const ProductOperands &operands, int64_t done = 0) {
  const ProductKernel &first = kernels.front();
  if (kernels.size() == 1) {
    buildLaunch(b, first, size, operands);
    return;
  }
  int64_t mostOfFirst = mostTokens(kernels, size);
  if (mostOfFirst <= done) {
    buildChoice(b, kernels.drop_front(), size, operands, done);
    return;
  }
  Value most = arith::ConstantIndexOp::create(b, mostOfFirst);
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, size.tokens, most);
  auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  buildLaunch(b, first, size, operands);
  b.setInsertionPointToStart(branch.elseBlock());
  buildChoice(b, kernels.drop_front(), size, operands, mostOfFirst);
}

/// Of `kernels` those for sums of `depth` steps: one that is for such alone is
/// the last.
static SmallVector<ProductKernel>
chooseForDepth(ArrayRef<ProductKernel> kernels, int64_t depth) {
  SmallVector<ProductKernel> chosen;
  for (const ProductKernel &kernel : kernels) {
    if (kernel.mostDepth == 0) {
      chosen.push_back(kernel);
    } else if (depth <= kernel.mostDepth) {
      chosen.push_back(kernel);
      break;
    }
  }
  return chosen;
}

/// Kernels that are for products of other sizes than there are.
static void eraseUnused(ModuleOp module, gpu::GPUModuleOp kernels) {
  llvm::DenseSet<StringAttr> launched;
  module.walk([&](gpu::LaunchFuncOp launch) {
    launched.insert(launch.getKernelName());
  });
  for (auto kernel :
       llvm::make_early_inc_range(kernels.getOps<gpu::GPUFuncOp>())) {
    if (!launched.contains(SymbolTable::getSymbolName(kernel))) {
      kernel.erase();
    }
  }
}

namespace {
struct LowerProductsPass : tfc::impl::LowerProductsPassBase<LowerProductsPass> {
  using Base::Base;

  LogicalResult lower(transformer::ProductOp op, ProductKernels &kernels) {
    FailureOr<ProductForm> form = ProductForm::get(op);
    if (failed(form)) {
      return failure();
    }
    transformer::ProductOp gate = ProductForm::findGate(op);
    if (gate && failed(form->addGate(gate))) {
      return failure();
    }
    Location loc = op.getLoc();
    if (gate) {
      loc = FusedLoc::get({gate.getLoc(), loc}, Attribute(), op.getContext());
    }
    ImplicitLocOpBuilder b(loc, op);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value tokens = memref::DimOp::create(b, op.getInit(), 0);
    // A grid has at least one block.
    Value isAny =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tokens, zero);
    auto branch = scf::IfOp::create(b, isAny);
    b.setInsertionPointToStart(branch.thenBlock());
    ResultSize size = {transformer::widthOf(op.getInit()), countExperts(op),
                       form->ofExperts, tokens};
    buildChoice(b,
                chooseForDepth(kernels.find(*form),
                               transformer::widthOf(op.getInput())),
                size, buildOperands(b, op, gate, tokens));
    op.erase();
    ++numProducts;
    if (gate) {
      gate.erase();
      ++numProducts;
    }
    return success();
  }

  void runOnOperation() override {
    clearStatistics(*this);
    SmallVector<transformer::ProductOp> products;
    getOperation().walk(
        [&](transformer::ProductOp op) { products.push_back(op); });
    if (products.empty()) {
      return;
    }
    FailureOr<gpu::GPUModuleOp> kernelModule = findKernelModule(getOperation());
    if (failed(kernelModule)) {
      return signalPassFailure();
    }
    ProductKernels kernels(*kernelModule, {deterministic, warpgroups, overlap});
    llvm::DenseSet<Operation *> gates;
    for (transformer::ProductOp op : products) {
      if (transformer::ProductOp gate = ProductForm::findGate(op)) {
        gates.insert(gate);
      }
    }
    llvm::erase_if(products, [&](transformer::ProductOp op) {
      return gates.contains(op);
    });
    for (transformer::ProductOp op : products) {
      if (failed(lower(op, kernels))) {
        return signalPassFailure();
      }
    }
    eraseUnused(getOperation(), *kernelModule);
  }
};
} // namespace
