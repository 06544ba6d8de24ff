// tfc: compiles transformer models to shared libraries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CommandLine.h"
#include "runtime/tools/LostFiles.h"

int main(int argc, char **argv) {
  tfc::tools::reportLostFiles("tfc");
  return tfc::runTfc(argc, argv);
}
