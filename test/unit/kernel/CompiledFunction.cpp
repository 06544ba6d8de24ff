// A loop around the op, the conversions to LLVM, LLVM's compiler in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/kernel/CompiledFunction.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc;

static std::string makeLoop(const std::string &op, const std::string &type,
                            int lanes) {
  return llvm::formatv(R"(
    func.func @apply(%from: !llvm.ptr, %to: !llvm.ptr) {{
      %c0 = arith.constant 0 : i64
      %count = arith.constant {2} : i64
      %step = arith.constant {3} : i64
      scf.for %i = %c0 to %count step %step : i64 {{
        %source = llvm.getelementptr %from[%i]
          : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %x = llvm.load %source {{alignment = 4} : !llvm.ptr -> {1}
        %y = {0} %x : {1}
        %target = llvm.getelementptr %to[%i]
          : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %y, %target {{alignment = 4} : {1}, !llvm.ptr
      }
      return
    })",
                       op, type, CompiledFunction::kCount, lanes);
}

static LogicalResult lower(ModuleOp module, Polynomials polynomials) {
  PassManager pm(module.getContext());
  ExpandMathPassOptions options;
  options.polynomials = polynomials;
  pm.addPass(createExpandMathPass(options));
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
compile(ModuleOp module, const std::string &cpu) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  llvm::orc::JITTargetMachineBuilder machine(triple);
  machine.setCPU(cpu);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(machine))
                 .create();
  if (!jit) {
    return jit;
  }
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, *context);
  if (!code) {
    return llvm::createStringError("expected a module of LLVM IR, got none");
  }
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(code), std::move(context)))) {
    return std::move(error);
  }
  return jit;
}

CompiledFunction::CompiledFunction(const std::string &op,
                                   const std::string &type, int lanes,
                                   const std::string &cpu,
                                   Polynomials polynomials) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, arith::ArithDialect, scf::SCFDialect,
                      math::MathDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  auto module = parseSourceString<ModuleOp>(makeLoop(op, type, lanes),
                                            ParserConfig(&context));
  if (!module || failed(lower(*module, polynomials))) {
    ADD_FAILURE() << "expected " << op << " to be lowered";
    return;
  }
  auto compiled = compile(*module, cpu);
  if (!compiled) {
    ADD_FAILURE() << llvm::toString(compiled.takeError());
    return;
  }
  jit = std::move(*compiled);
  auto address = jit->lookup("apply");
  if (!address) {
    ADD_FAILURE() << llvm::toString(address.takeError());
    return;
  }
  apply = address->toPtr<void (*)(const float *, float *)>();
}

bool tfc::hostRuns(const std::string &cpu) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::ArrayRef<llvm::StringRef> names) {
    return llvm::all_of(names,
                        [&](llvm::StringRef name) { return features[name]; });
  };
  return has({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}) &&
         (cpu != "x86-64-v4" ||
          has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}));
}
