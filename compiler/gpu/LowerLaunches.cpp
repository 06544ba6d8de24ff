// Launches of kernels become calls of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/kernel/StepFields.h"
#include "compiler/support/DeviceKernels.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERLAUNCHESPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Every argument gets a slot of so many bytes, whatever its size.
static constexpr int64_t kSlotBytes = 8;

/// Of a struct or an array, how many elements it has; of a scalar none.
static unsigned countElements(Type type) {
  if (auto record = dyn_cast<LLVM::LLVMStructType>(type)) {
    return record.getBody().size();
  }
  auto array = dyn_cast<LLVM::LLVMArrayType>(type);
  return array ? array.getNumElements() : 0;
}

/// The values that `value` is as parameters of a kernel: a memref is its
/// descriptor, field by field.
static void flatten(ImplicitLocOpBuilder &b, Value value,
                    SmallVectorImpl<Value> &fields) {
  unsigned count = countElements(value.getType());
  if (count == 0) {
    fields.push_back(value);
  }
  for (unsigned i = 0; i < count; ++i) {
    flatten(b, LLVM::ExtractValueOp::create(b, value, i), fields);
  }
}

/// The number of a kernel in the table of the module's images.
static std::optional<unsigned> findNumber(ModuleOp module, StringAttr kernel) {
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    gpu::KernelTableAttr kernels = object.getKernels();
    for (auto [number, each] : llvm::enumerate(kernels.getKernelTable())) {
      if (each.getName() == kernel) {
        return number;
      }
    }
  }
  return std::nullopt;
}

namespace {

/// Lowers the launches of one entry, a function of the step.
class EntryLauncher {
public:
  explicit EntryLauncher(func::FuncOp entry)
      : entry(entry), converter(entry.getContext()) {}

  /// How many launches there were.
  FailureOr<size_t> run();

private:
  /// What the kernel's parameters get, before the launch.
  SmallVector<Value> buildArguments(gpu::LaunchFuncOp launch);
  void buildFrame(unsigned most);
  LogicalResult lower(gpu::LaunchFuncOp launch, ArrayRef<Value> arguments);
  void storeField(ImplicitLocOpBuilder &b, Value value, int64_t offset) {
    LLVM::StoreOp::create(b, value, buildAddress(b, record, offset));
  }

  func::FuncOp entry;
  LLVMTypeConverter converter;
  /// On the stack: a slot for each argument, and tfc_launch_v0.
  Value slots, record;
};

} // namespace

SmallVector<Value> EntryLauncher::buildArguments(gpu::LaunchFuncOp launch) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  SmallVector<Value> arguments;
  for (Value value : launch.getKernelOperands()) {
    Type type = converter.convertType(value.getType());
    Value converted =
        UnrealizedConversionCastOp::create(b, TypeRange(type), value)
            .getResult(0);
    flatten(b, converted, arguments);
  }
  return arguments;
}

/// Room for launches of up to `most` arguments, with args[i] = &slots[i].
void EntryLauncher::buildFrame(unsigned most) {
  ImplicitLocOpBuilder b(entry.getLoc(), entry.getContext());
  b.setInsertionPointToStart(&entry.getBody().front());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto allocate = [&](Type type, unsigned count) -> Value {
    Value size = LLVM::ConstantOp::create(b, b.getI64Type(), count);
    return LLVM::AllocaOp::create(b, pointer, type, size);
  };
  slots = allocate(b.getI64Type(), most);
  Value args = allocate(pointer, most);
  record = allocate(b.getI64Type(), sizeof(tfc_launch_v0) / sizeof(int64_t));
  for (unsigned i = 0; i < most; ++i) {
    Value slot = buildAddress(b, slots, i * kSlotBytes);
    LLVM::StoreOp::create(b, slot, buildAddress(b, args, i * sizeof(void *)));
  }
  Value size =
      LLVM::ConstantOp::create(b, b.getI32Type(), sizeof(tfc_launch_v0));
  storeField(b, size, offsetof(tfc_launch_v0, struct_size));
  storeField(b, args, offsetof(tfc_launch_v0, args));
}

LogicalResult EntryLauncher::lower(gpu::LaunchFuncOp launch,
                                   ArrayRef<Value> arguments) {
  std::optional<unsigned> number =
      findNumber(entry->getParentOfType<ModuleOp>(), launch.getKernelName());
  if (!number) {
    return launch.emitOpError()
           << "expected a kernel of the module's gpu.binary (see "
              "tfc-emit-image), got "
           << launch.getKernelName();
  }
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  auto constant = [&](unsigned value) -> Value {
    return LLVM::ConstantOp::create(b, b.getI32Type(), value);
  };
  for (auto [index, value] : llvm::enumerate(arguments)) {
    LLVM::StoreOp::create(b, value, buildAddress(b, slots, index * kSlotBytes));
  }
  storeField(b, constant(*number), offsetof(tfc_launch_v0, kernel));
  storeField(b, constant(arguments.size()), offsetof(tfc_launch_v0, n_args));
  uint64_t flags = launch->hasAttr(kOverlapsAttrName) ? TFC_LAUNCH_OVERLAPS : 0;
  storeField(b, LLVM::ConstantOp::create(b, b.getI64Type(), flags),
             offsetof(tfc_launch_v0, flags));
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  Value sizes[] = {grid.x, grid.y, grid.z};
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    Value blocks = arith::IndexCastOp::create(b, b.getI32Type(), size);
    storeField(b, blocks,
               offsetof(tfc_launch_v0, grid) + axis * sizeof(uint32_t));
  }
  Value step = entry.getArgument(0);
  Value host = loadPointer(b, step, offsetof(tfc_step_v0, host));
  Value function = loadPointer(b, host, offsetof(tfc_host_v0, launch));
  Value context = loadPointer(b, host, offsetof(tfc_host_v0, ctx));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto callee = LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer});
  auto call =
      LLVM::CallOp::create(b, callee, ValueRange{function, context, record});
  call->setAttr(transformer::kStatusAttrName, b.getUnitAttr());
  launch.erase();
  return success();
}

FailureOr<size_t> EntryLauncher::run() {
  SmallVector<gpu::LaunchFuncOp> launches;
  entry.walk([&](gpu::LaunchFuncOp op) { launches.push_back(op); });
  if (launches.empty()) {
    return 0;
  }
  if (entry.getNumArguments() != 1 ||
      !isa<LLVM::LLVMPointerType>(entry.getArgumentTypes()[0])) {
    return launches.front().emitOpError()
           << "expected an entry of one pointer (see tfc-bind-step)";
  }
  SmallVector<SmallVector<Value>> arguments;
  size_t most = 0;
  for (gpu::LaunchFuncOp launch : launches) {
    arguments.push_back(buildArguments(launch));
    most = std::max(most, arguments.back().size());
  }
  buildFrame(most);
  for (auto [launch, values] : llvm::zip_equal(launches, arguments)) {
    if (failed(lower(launch, values))) {
      return failure();
    }
  }
  return launches.size();
}

namespace {
struct LowerLaunchesPass : tfc::impl::LowerLaunchesPassBase<LowerLaunchesPass> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      FailureOr<size_t> launches = EntryLauncher(entry).run();
      if (failed(launches)) {
        return signalPassFailure();
      }
      numLaunches += *launches;
    }
  }
};
} // namespace
