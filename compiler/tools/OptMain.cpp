// tfc-opt as a part of tfc.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/tools/OptMain.h"

#include "compiler/pipeline/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/Path.h"

bool tfc::isCalledAsOpt(int argc, char **argv) {
  return argc > 0 && llvm::sys::path::filename(argv[0]) == "tfc-opt";
}

int tfc::runAsOpt(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerTfc(registry);
  registerTfcPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "tfc's passes and stages, one at a time\n", registry));
}
