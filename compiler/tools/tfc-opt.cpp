// tfc-opt: every pass and every stage alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tfc::registerAllTfc(registry);
  tfc::registerAllTfcPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "tfc's passes and stages, one at a time\n", registry));
}
