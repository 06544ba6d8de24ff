// What the library says of the model beside its tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_DESCRIBEMODEL_H
#define TFC_COMPILER_FRONTEND_DESCRIBEMODEL_H

#include "compiler/spec/ModelSpec.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/Builders.h"

namespace tfc {

/// The module attribute transformer::kModelAttrName.
transformer::ModelAttr describeModel(mlir::OpBuilder &builder,
                                     const spec::ModelSpec &spec);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_DESCRIBEMODEL_H
