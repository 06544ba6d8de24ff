// Printed IR in lines, each with the paths that its location names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_LOCATEDLINES_H
#define TFC_COMPILER_DRIVER_LOCATEDLINES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tfc {

struct LocatedLine {
  std::string text; // without locations; what is long is cut
  std::vector<std::string> paths;
};

/// The lines of `module`. One that opens a region has the location of its op,
/// which is printed where the region ends, as has the line that ends it.
std::vector<LocatedLine> printLocated(mlir::ModuleOp module);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_LOCATEDLINES_H
