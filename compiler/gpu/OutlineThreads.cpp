// Outermost parallel loops become kernels, a thread an item.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/thread/KernelModule.h"
#include "compiler/gpu/thread/SharedMemory.h"
#include "compiler/kernel/ParallelLoops.h"
#include "compiler/kernel/StepFields.h"
#include "compiler/support/DeviceKernels.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

namespace tfc {
#define GEN_PASS_DEF_OUTLINETHREADSPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Threads of a block: whole warps, and enough blocks for small steps.
static constexpr int32_t kBlockThreads = 128;
/// The memory space of what the threads of a block share.
static constexpr int64_t kSharedSpace = 3;

/// copy %from, %to -> a parallel loop over the elements
static void expandCopy(memref::CopyOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto type = cast<MemRefType>(op.getSource().getType());
  SmallVector<Value> lower(type.getRank(), zero), step(type.getRank(), one);
  SmallVector<Value> upper;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    upper.push_back(memref::DimOp::create(b, op.getSource(), axis));
  }
  auto loop = scf::ParallelOp::create(b, lower, upper, step);
  b.setInsertionPointToStart(loop.getBody());
  Value value =
      memref::LoadOp::create(b, op.getSource(), loop.getInductionVars());
  memref::StoreOp::create(b, value, op.getTarget(), loop.getInductionVars());
  op.erase();
}

/// The constant table that `value` is, or is a view of; null if it is none.
static memref::GetGlobalOp findTable(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
    value = view.getViewSource();
  }
  return value.getDefiningOp<memref::GetGlobalOp>();
}

/// Makes constant tables again in the loops that read them, views included: a
/// kernel cannot follow an address of the host's.
static void sinkTables(scf::ParallelOp loop) {
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  for (Value value : outsideValues(loop)) {
    if (!isa<MemRefType>(value.getType()) || !findTable(value)) {
      continue;
    }
    SmallVector<Operation *> chain = {value.getDefiningOp()};
    while (auto view = dyn_cast<ViewLikeOpInterface>(chain.back())) {
      chain.push_back(view.getViewSource().getDefiningOp());
    }
    IRMapping mapping;
    for (Operation *op : llvm::reverse(chain)) {
      b.clone(*op, mapping);
    }
    replaceAllUsesInRegionWith(value, mapping.lookup(value), loop.getRegion());
  }
}

/// Makes addresses of the step's fields again in the loops that read them: the
/// host has one step, the device another.
static void sinkFields(scf::ParallelOp loop) {
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  for (Value value : outsideValues(loop)) {
    auto field = value.getDefiningOp<LLVM::GEPOp>();
    if (field && isa<BlockArgument>(field.getBase()) &&
        field.getDynamicIndices().empty()) {
      replaceAllUsesInRegionWith(value, b.clone(*field)->getResult(0),
                                 loop.getRegion());
    }
  }
}

/// The parameter that a kernel gets for `value`.
static Type parameterOf(Value value) {
  return isPlain(value.getType())
             ? LLVM::LLVMPointerType::get(value.getContext())
             : value.getType();
}

/// What the kernel works with in place of `outside`, of its parameter.
static Value takeParameter(ImplicitLocOpBuilder &b, Value outside,
                           Value parameter) {
  if (!isPlain(outside.getType())) {
    return parameter;
  }
  // Whoever launches it knows how long it is.
  Value rows =
      arith::ConstantIndexOp::create(b, std::numeric_limits<int64_t>::max());
  return buildMemRef(b, cast<MemRefType>(outside.getType()), parameter, rows);
}

/// The argument of a launch for `value`.
static Value buildArgument(ImplicitLocOpBuilder &b, Value value, Value step) {
  if (value == step) {
    return loadPointer(b, step, offsetof(tfc_step_v0, device_step));
  }
  if (!isPlain(value.getType())) {
    return value;
  }
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, value);
  address = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  address);
}

namespace {

/// Makes the kernels of one module.
class ThreadOutliner {
public:
  ThreadOutliner(ModuleOp module, gpu::GPUModuleOp kernels)
      : module(module), symbols(module), kernels(kernels) {}

  /// A kernel that does what each loop of `group` does, and its launches.
  void outline(ArrayRef<scf::ParallelOp> group);

private:
  std::string nameKernel(ArrayRef<scf::ParallelOp> group);
  gpu::GPUFuncOp buildKernel(scf::ParallelOp loop, StringRef name);
  void buildLaunch(scf::ParallelOp loop, gpu::GPUFuncOp kernel);
  void copyTables(gpu::GPUFuncOp kernel);
  void takeShared(gpu::GPUFuncOp kernel);

  ModuleOp module;
  SymbolTable symbols;
  gpu::GPUModuleOp kernels;
  unsigned number = 0;
};

} // namespace

/// <entry>_<number>_<ops>: what PTX takes for a name.
std::string ThreadOutliner::nameKernel(ArrayRef<scf::ParallelOp> group) {
  auto entry = group[0]->getParentOfType<func::FuncOp>();
  std::string name = (entry.getName() + "_" + std::to_string(number++)).str();
  if (std::string ops = nameOf(group); !ops.empty()) {
    name += "_" + ops;
  }
  for (char &c : name) {
    c = llvm::isAlnum(c) ? c : '_';
  }
  return name;
}

/// What a thread does: the item of its number, if there is one.
static void buildThread(ImplicitLocOpBuilder &b, scf::ParallelOp loop,
                        IRMapping &mapping) {
  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value threads = arith::ConstantIndexOp::create(b, kBlockThreads);
  Value item = arith::AddIOp::create(
      b, arith::MulIOp::create(b, block, threads), thread);
  Value isItem = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, item,
                                       buildItemCount(b, loop, mapping));
  auto branch = scf::IfOp::create(b, isItem);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> places =
      splitItem(b, item, buildExtents(b, loop, mapping));
  buildItem(b, loop, places, mapping);
  IRRewriter rewriter(b.getContext());
  branch.walk([&](transformer::WorkerOp op) { rewriter.replaceOp(op, item); });
}

gpu::GPUFuncOp ThreadOutliner::buildKernel(scf::ParallelOp loop,
                                           StringRef name) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop.getContext());
  Captures captures(loop);
  SmallVector<Type> types = llvm::map_to_vector(captures.values, parameterOf);
  gpu::GPUFuncOp kernel =
      createKernel(b, kernels, name, types, kBlockThreads, /*sharedBytes=*/0);
  // What the loop says of its kernel to the device's code generator.
  for (NamedAttribute attribute : loop->getDiscardableAttrs()) {
    if (isa_and_present<NVVM::NVVMDialect>(attribute.getNameDialect()) ||
        attribute.getName() == kBeginsAloneAttrName) {
      kernel->setAttr(attribute.getName(), attribute.getValue());
    }
  }
  b.setInsertionPointToStart(&kernel.getBody().front());
  IRMapping mapping;
  for (auto [value, parameter] :
       llvm::zip_equal(captures.values, kernel.getArguments())) {
    mapping.map(value, takeParameter(b, value, parameter));
  }
  for (Operation *op : captures.constants) {
    b.clone(*op, mapping);
  }
  buildThread(b, loop, mapping);
  b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(b);
  return kernel;
}

void ThreadOutliner::copyTables(gpu::GPUFuncOp kernel) {
  kernel.walk([&](memref::GetGlobalOp op) {
    if (!kernels.lookupSymbol(op.getName())) {
      OpBuilder b = OpBuilder::atBlockBegin(kernels.getBody());
      b.clone(*symbols.lookup(op.getName()));
    }
  });
}

/// What a thread allocates in shared memory, its block has once; what is more
/// than kernels have by themselves, from its launch.
void ThreadOutliner::takeShared(gpu::GPUFuncOp kernel) {
  SmallVector<memref::AllocaOp> allocations;
  kernel.walk([&](memref::AllocaOp op) { allocations.push_back(op); });
  IRRewriter rewriter(kernel.getContext());
  for (memref::AllocaOp op : allocations) {
    auto space = dyn_cast_or_null<IntegerAttr>(op.getType().getMemorySpace());
    if (!space || space.getInt() != kSharedSpace) {
      continue;
    }
    int64_t bytes = op.getType().getNumElements() *
                    op.getType().getElementTypeBitWidth() / 8;
    if (bytes > kPlainSharedBytes) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      kernel->setAttr(kSharedBytesAttrName, b.getI32IntegerAttr(bytes));
      Value memory = findSharedMemory(b, kernels);
      rewriter.replaceOp(op, buildMemRef(b, op.getType(), memory, Value()));
      continue;
    }
    BlockArgument shared =
        kernel.addWorkgroupAttribution(op.getType(), op.getLoc());
    if (std::optional<uint64_t> alignment = op.getAlignment()) {
      kernel.setWorkgroupAttributionAttr(
          kernel.getNumWorkgroupAttributions() - 1,
          LLVM::LLVMDialect::getAlignAttrName(),
          rewriter.getI64IntegerAttr(*alignment));
    }
    rewriter.replaceOp(op, shared);
  }
}

void ThreadOutliner::buildLaunch(scf::ParallelOp loop, gpu::GPUFuncOp kernel) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value step = transformer::findArgument(loop->getParentOfType<func::FuncOp>(),
                                         transformer::kStepAttrName);
  SmallVector<Value> arguments;
  for (Value value : Captures(loop).values) {
    arguments.push_back(buildArgument(b, value, step));
  }
  Value count = buildItemCount(b, loop);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value threads = arith::ConstantIndexOp::create(b, kBlockThreads);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isAny =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, zero);
  auto branch = scf::IfOp::create(b, isAny);
  b.setInsertionPointToStart(branch.thenBlock());
  Value blocks = arith::CeilDivUIOp::create(b, count, threads);
  gpu::LaunchFuncOp::create(b, kernel, gpu::KernelDim3{blocks, one, one},
                            gpu::KernelDim3{threads, one, one},
                            /*dynamicSharedMemorySize=*/Value(), arguments);
  loop.erase();
}

void ThreadOutliner::outline(ArrayRef<scf::ParallelOp> group) {
  gpu::GPUFuncOp kernel = buildKernel(group[0], nameKernel(group));
  copyTables(kernel);
  takeShared(kernel);
  for (scf::ParallelOp loop : group) {
    buildLaunch(loop, kernel);
  }
}

static bool isOfEntry(scf::ParallelOp loop) {
  auto entry = loop->getParentOfType<func::FuncOp>();
  return loop.getNumReductions() == 0 && entry &&
         transformer::findArgument(entry, transformer::kStepAttrName);
}

/// A function would have to be the device's, too.
static LogicalResult expectNoCalls(scf::ParallelOp loop) {
  WalkResult result = loop.walk([](func::CallOp call) -> WalkResult {
    return call.emitOpError() << "expected no call in a loop that becomes a "
                                 "kernel, got one of "
                              << call.getCalleeAttr();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct OutlineThreadsPass
    : tfc::impl::OutlineThreadsPassBase<OutlineThreadsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](memref::CopyOp op) { expandCopy(op); });
    WalkResult result = module.walk([](scf::ParallelOp loop) -> WalkResult {
      if (!isOfEntry(loop)) {
        return loop.emitOpError()
               << "expected a loop without reductions in an entry with an "
                  "argument marked as '"
               << transformer::kStepAttrName << "' (by tfc-bind-weights)";
      }
      if (!loop->getParentOfType<scf::ParallelOp>()) {
        if (failed(expectNoCalls(loop))) {
          return WalkResult::interrupt();
        }
        sinkTables(loop);
        sinkFields(loop);
        // In the kernel a buffer is a pointer.
        hoistLengths(loop);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return signalPassFailure();
    }
    FailureOr<gpu::GPUModuleOp> kernels = findKernelModule(module);
    if (failed(kernels)) {
      return signalPassFailure();
    }
    ThreadOutliner outliner(module, *kernels);
    for (ArrayRef<scf::ParallelOp> group : groupParallelLoops(module)) {
      outliner.outline(group);
      ++numKernels;
      numShared += group.size() - 1;
    }
  }
};
} // namespace
