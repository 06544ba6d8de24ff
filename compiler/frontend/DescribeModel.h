// What the library says of the model beside its tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_DESCRIBEMODEL_H
#define TFC_COMPILER_FRONTEND_DESCRIBEMODEL_H

#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/Builders.h"

namespace tfc {

/// The module attribute transformer::kModelAttrName: fields of tfc_module_v0
/// and tfc_generation_v0 (runtime/include/tfc/abi.h), by name.
mlir::DictionaryAttr describeModel(mlir::OpBuilder &builder,
                                   const spec::ModelSpec &spec);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_DESCRIBEMODEL_H
