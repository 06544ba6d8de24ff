// lld as a part of tfc, without the CPUs that tfc does not compile for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tools/Linker.h"

#include "compiler/emit/LinkLibrary.h"
#include "lld/Common/Driver.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(macho)

// lld initialises every CPU of LLVM, for link-time optimisation, which tfc has
// no use for. Those that have an empty function here are not linked.
#define TFC_SECOND(a, b, ...) b
#define TFC_CHOOSE(...) TFC_SECOND(__VA_ARGS__)
#define TFC_KEEP_X86 ~, KEEP
#define TFC_KEEP_AArch64 ~, KEEP
#define TFC_KEEP_RISCV ~, KEEP
#define TFC_KEEP_NVPTX ~, KEEP
#define TFC_EMPTY_KEEP(name)
#define TFC_EMPTY_DROP(name)                                                   \
  extern "C" void name();                                                      \
  extern "C" void name() {}
#define TFC_PASTE(a, b) a##b
#define TFC_EMPTY(choice, name) TFC_PASTE(TFC_EMPTY_, choice)(name)

#define LLVM_TARGET(cpu)                                                       \
  TFC_EMPTY(TFC_CHOOSE(TFC_KEEP_##cpu, DROP, ), LLVMInitialize##cpu##Target)   \
  TFC_EMPTY(TFC_CHOOSE(TFC_KEEP_##cpu, DROP, ),                                \
            LLVMInitialize##cpu##TargetInfo)                                   \
  TFC_EMPTY(TFC_CHOOSE(TFC_KEEP_##cpu, DROP, ), LLVMInitialize##cpu##TargetMC)
#include "llvm/Config/Targets.def"
#define LLVM_ASM_PRINTER(cpu)                                                  \
  TFC_EMPTY(TFC_CHOOSE(TFC_KEEP_##cpu, DROP, ), LLVMInitialize##cpu##AsmPrinter)
#include "llvm/Config/AsmPrinters.def"
#define LLVM_ASM_PARSER(cpu)                                                   \
  TFC_EMPTY(TFC_CHOOSE(TFC_KEEP_##cpu, DROP, ), LLVMInitialize##cpu##AsmParser)
#include "llvm/Config/AsmParsers.def"

/// An optimiser that LLVM's package is built with and that nothing here runs.
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }

bool tfc::isCalledAsLinker(int argc, char **argv) {
  return argc > 0 && (llvm::StringRef(argv[0]) == kElfLinker ||
                      llvm::StringRef(argv[0]) == kMachOLinker);
}

int tfc::runAsLinker(int argc, char **argv) {
  lld::Result result = lld::lldMain(
      llvm::ArrayRef<const char *>(argv, argv + argc), llvm::outs(),
      llvm::errs(),
      {{lld::Gnu, &lld::elf::link}, {lld::Darwin, &lld::macho::link}});
  return result.retCode;
}

void tfc::useOwnLinker() {
  setLinker(llvm::sys::fs::getMainExecutable(nullptr, nullptr));
}
