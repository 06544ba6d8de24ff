// Finds or makes what kernels share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/thread/KernelModule.h"

#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tfc;

/// The state space of shared memory in pointers.
static constexpr unsigned kSharedSpace = 3;
/// Swizzled rows of tiles repeat after so many bytes.
static constexpr unsigned kSharedAlignment = 1024;

FailureOr<gpu::GPUModuleOp> tfc::findKernelModule(ModuleOp module) {
  auto found = module.getOps<gpu::GPUModuleOp>();
  if (!found.empty()) {
    return *found.begin();
  }
  StringRef name = "kernels";
  if (Operation *taken = module.lookupSymbol(name)) {
    return taken->emitOpError() << "expected a gpu.module for the kernels, got "
                                   "another op of its name";
  }
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToStart(module.getBody());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  b.getUnitAttr());
  return gpu::GPUModuleOp::create(b, name);
}

gpu::GPUFuncOp tfc::createKernel(ImplicitLocOpBuilder &b,
                                 gpu::GPUModuleOp kernels, StringRef name,
                                 TypeRange types, int32_t threads,
                                 int32_t sharedBytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(kernels.getBody());
  auto kernel =
      gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, TypeRange()));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({threads, 1, 1}));
  if (sharedBytes != 0) {
    kernel->setAttr(kSharedBytesAttrName, b.getI32IntegerAttr(sharedBytes));
  }
  return kernel;
}

Value tfc::findSharedMemory(ImplicitLocOpBuilder &b, gpu::GPUModuleOp kernels) {
  StringRef name = "shared_memory";
  auto memory = SymbolTable(kernels).lookup<LLVM::GlobalOp>(name);
  if (!memory) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(kernels.getBody());
    memory = LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
        LLVM::Linkage::External, name, Attribute(), kSharedAlignment,
        kSharedSpace);
  }
  return LLVM::AddressOfOp::create(b, memory);
}
