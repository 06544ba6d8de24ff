// tfc: compiles transformer models to shared libraries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CommandLine.h"
#include "runtime/tools/LostFiles.h"

#ifdef TFC_STATIC
#include "compiler/tools/Linker.h"
#include "compiler/tools/OptMain.h"
#endif

int main(int argc, char **argv) {
#ifdef TFC_STATIC
  if (tfc::isCalledAsLinker(argc, argv)) {
    return tfc::runAsLinker(argc, argv);
  }
  if (tfc::isCalledAsOpt(argc, argv)) {
    return tfc::runAsOpt(argc, argv);
  }
  tfc::useOwnLinker();
#endif
  tfc::tools::reportLostFiles("tfc");
  return tfc::runTfc(argc, argv);
}
