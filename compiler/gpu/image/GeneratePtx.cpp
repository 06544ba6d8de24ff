// Kernels in the LLVM dialect -> PTX.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/image/GeneratePtx.h"

#include "compiler/target/RunLlvmPasses.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;

static std::unique_ptr<llvm::TargetMachine> makeMachine(StringRef chip,
                                                        std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    return nullptr;
  }
  // Products and sums are joined only where the IR says so: ours does not.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip, tfc::kPtxFeature, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// What kernels are made of is loops that a thread runs alone: addresses are
/// folded and what a loop does not change leaves it. The driver, or ptxas, does
/// the rest.
static const char kPasses[] =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// A device has no library to link with: NVIDIA's, whose names begin with
/// __nv_, is not asked for, and others there are none.
static LogicalResult checkCalls(gpu::GPUModuleOp kernels,
                                const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty()) {
      return kernels.emitOpError()
             << "expected kernels that call nothing (tfc-expand-math makes "
                "arithmetic of what has no instruction), got a call of "
             << function.getName();
    }
  }
  return success();
}

FailureOr<std::string> tfc::generatePtx(gpu::GPUModuleOp kernels,
                                        StringRef chip) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(kernels, context);
  if (!ir) {
    return failure();
  }
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(chip, error);
  if (!machine) {
    return kernels.emitError()
           << "expected an LLVM that targets NVPTX: " << error;
  }
  ir->setDataLayout(machine->createDataLayout());
  ir->setTargetTriple(machine->getTargetTriple());
  tfc::runLlvmPasses(*ir, *machine, kPasses);
  if (failed(checkCalls(kernels, *ir))) {
    return failure();
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    return kernels.emitError() << "this LLVM cannot write PTX";
  }
  codegen.run(*ir);
  return text.str().str();
}
