// tfc-opt: every pass and every stage alone, beside all of MLIR's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  tfc::registerTfc(registry);
  mlir::registerAllPasses();
  tfc::registerTfcPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "tfc's passes and stages, one at a time\n", registry));
}
