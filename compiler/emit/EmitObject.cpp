// LLVM dialect -> LLVM IR -> optimised object file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/EmitObject.h"

#include "compiler/emit/HalfConversions.h"
#include "compiler/emit/InstructionModels.h"
#include "compiler/target/RunLlvmPasses.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <mutex>

using namespace mlir;

/// LLVM turns loops and block copies into calls of these (bzero for macOS); the
/// library imports nothing, so it brings its own. no-builtins keeps them from
/// calling themselves.
static const char kMemoryFunctions[] = R"(
define ptr @memset(ptr %to, i32 %value, i64 %size) #0 {
entry:
  %byte = trunc i32 %value to i8
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %body, label %done
body:
  %p = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %p
  %next = add i64 %i, 1
  br label %head
done:
  ret ptr %to
}
define void @bzero(ptr %to, i64 %size) #0 {
  %same = call ptr @memset(ptr %to, i32 0, i64 %size)
  ret void
}
define ptr @memcpy(ptr %to, ptr %from, i64 %size) #0 {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %body, label %done
body:
  %p = getelementptr i8, ptr %from, i64 %i
  %byte = load i8, ptr %p
  %q = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %q
  %next = add i64 %i, 1
  br label %head
done:
  ret ptr %to
}
define ptr @memmove(ptr %to, ptr %from, i64 %size) #0 {
entry:
  %backward = icmp ugt ptr %to, %from
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %body, label %done
body:
  %next = add i64 %i, 1
  %last = sub i64 %size, %next
  %at = select i1 %backward, i64 %last, i64 %i
  %p = getelementptr i8, ptr %from, i64 %at
  %byte = load i8, ptr %p
  %q = getelementptr i8, ptr %to, i64 %at
  store i8 %byte, ptr %q
  br label %head
done:
  ret ptr %to
}
attributes #0 = { nounwind "no-builtins" }
)";

static std::unique_ptr<llvm::TargetMachine>
makeMachine(const tfc::TargetInfo &info, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmPrinter();
  });
  llvm::Triple triple(info.triple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    return nullptr;
  }
  llvm::TargetOptions options;
  options.MCOptions.ABIName = tfc::machineInfo(info.machine).abi.str();
  // The object's header says what is had of these, functions what they use.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, info.cpu, info.attributes, options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Only the query is exported, and what is hidden serves the library's other
/// objects; the rest may be inlined and dropped.
static void hide(llvm::Module &module, StringRef query) {
  for (llvm::Function &function : module) {
    if (!function.isDeclaration() && !function.hasHiddenVisibility() &&
        function.getName() != query) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    function.setDoesNotThrow();
  }
}

static bool addMemoryFunctions(llvm::Module &module) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> functions = llvm::parseAssemblyString(
      kMemoryFunctions, diagnostic, module.getContext());
  assert(functions && "the text above is well formed");
  functions->setDataLayout(module.getDataLayout());
  functions->setTargetTriple(module.getTargetTriple());
  llvm::SmallVector<std::string> names;
  for (llvm::Function &function : *functions) {
    names.push_back(function.getName().str());
  }
  if (llvm::Linker::linkModules(module, std::move(functions))) {
    return false;
  }
  // Each program of a library has its own, for its instruction sets. The calls
  // appear when code is generated, too late to be seen as uses: the linker
  // drops the section of what nobody calls, and of Mach-O the function.
  llvm::SmallVector<llvm::GlobalValue *> used;
  for (const std::string &name : names) {
    llvm::Function *function = module.getFunction(name);
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    if (module.getTargetTriple().isOSBinFormatELF()) {
      function->setSection(".text." + name);
    }
    used.push_back(function);
  }
  llvm::appendToCompilerUsed(module, used);
  return true;
}

/// Tiles, unrolling and the order of the hot loops were decided before. What is
/// left: addresses and constants are folded, what a loop does not change leaves
/// it, loops of plain rows (`pack`; all of --opt=none) become vectors, and
/// counters that loops share with their bounds become simple. See
/// docs/rationale/0016.
static const char kPasses[] =
    "function(early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),early-cse<memssa>,loop-vectorize,"
    "instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/// The code generator's passes but for those that find nothing here. Loop
/// strength reduction: kernels move their pointers themselves
/// (compiler/cpu/MovingPointer.h), and it takes a third of the code generator's
/// time; what makes loops ready for it needs another twentieth. The others look
/// for comparisons of memory, library calls and constants too large for an
/// instruction. Whether a pass runs is a global option of LLVM and no property
/// of a machine, so they are taken out on their way into the manager. See
/// docs/rationale/0016.
class CodegenPasses : public llvm::legacy::PassManagerBase {
public:
  CodegenPasses() {
    for (llvm::Pass *pass : std::initializer_list<llvm::Pass *>{
             llvm::createLoopStrengthReducePass(),
             llvm::createCanonicalizeFreezeInLoopsPass(),
             llvm::createMergeICmpsLegacyPass(),
             llvm::createExpandMemCmpLegacyPass(),
             llvm::createConstantHoistingPass(),
             llvm::createPartiallyInlineLibCallsPass()}) {
      leftOut.insert(pass->getPassID());
      delete pass;
    }
  }

  void add(llvm::Pass *pass) override {
    if (leftOut.contains(pass->getPassID())) {
      delete pass;
    } else {
      manager.add(pass);
    }
  }

  void run(llvm::Module &module) { manager.run(module); }

private:
  llvm::DenseSet<llvm::AnalysisID> leftOut;
  llvm::legacy::PassManager manager;
};

/// The first instruction of another machine that `ir` names; "" for none.
static StringRef findForeign(const llvm::Module &ir, tfc::Machine machine) {
  for (const llvm::Function &function : ir) {
    for (const tfc::MachineInfo &other : tfc::listMachines()) {
      if (other.intrinsics != tfc::machineInfo(machine).intrinsics &&
          function.getName().starts_with(other.intrinsics)) {
        return function.getName();
      }
    }
  }
  return "";
}

/// Vectors of any width can be done by narrower ones, LLVM sees to that; what
/// names an instruction needs its model.
static LogicalResult useModels(ModuleOp module, llvm::Module &ir) {
  if (std::string unknown = tfc::replaceByModels(ir); !unknown.empty()) {
    return module.emitError() << "expected an instruction with a model, to "
                                 "emulate it, got "
                              << unknown;
  }
  return success();
}

LogicalResult tfc::emitObject(ModuleOp module, const TargetInfo &target,
                              StringRef query, SmallVectorImpl<char> &object) {
  llvm::LLVMContext context;
  // tfc-verify-stage has looked at the same functions.
  std::unique_ptr<llvm::Module> ir =
      translateModuleToLLVMIR(module, context, "LLVMDialectModule",
                              /*disableVerification=*/true);
  if (!ir) {
    return failure();
  }
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, error);
  if (!machine) {
    return module.emitError() << "expected an LLVM that targets "
                              << target.triple() << ": " << error;
  }
  ir->setDataLayout(machine->createDataLayout());
  ir->setTargetTriple(machine->getTargetTriple());
  if (target.needsModels() && failed(useModels(module, *ir))) {
    return failure();
  }
  if (StringRef foreign = findForeign(*ir, target.machine); !foreign.empty()) {
    return module.emitError() << "expected instructions of " << target.triple()
                              << ", got " << foreign;
  }
  if (!machineInfo(target.machine).hasHalves) {
    expandHalves(*ir);
  }
  hide(*ir, query);
  if (!addMemoryFunctions(*ir)) {
    return module.emitError() << "cannot link the memory functions";
  }
  for (llvm::Function &function : *ir) {
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("tune-cpu", target.tuning);
    if (!target.attributes.empty()) {
      function.addFnAttr("target-features", target.attributes);
    }
  }
  if (target.needsModels()) {
    tfc::runLlvmPasses(*ir, *machine, "always-inline");
  }
  tfc::runLlvmPasses(*ir, *machine, kPasses);
  llvm::raw_svector_ostream stream(object);
  CodegenPasses codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile)) {
    return module.emitError() << "this LLVM cannot write object files";
  }
  codegen.run(*ir);
  return success();
}
