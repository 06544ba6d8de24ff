// A head: its steps, on the rows that an output asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDHEAD_H
#define TFC_COMPILER_FRONTEND_BUILDHEAD_H

#include "compiler/frontend/BuildLayer.h"

namespace tfc {

/// The head called `name`, or null: then `name` is a stack's hidden state, or
/// all of them.
const spec::Head *findHead(const spec::ModelSpec &spec,
                           const std::string &name);

/// Whether the value of an output comes from the stack called `stack`.
bool comesFrom(const spec::ModelSpec &spec, const std::string &value,
               const std::string &stack);

/// What a value's rows are: its first take, or that of the head before it.
transformer::Take takeOf(const spec::ModelSpec &spec, const std::string &value);

/// How an output pools the rows of a sequence; null where it takes one.
const spec::PoolStep *findPool(const spec::ModelSpec &spec,
                               const std::string &value);
transformer::Pooling toDialect(spec::PoolStep::How how);

/// The value of a head of `x`, rows of its stack of which the take has been
/// made; `pool` makes one row a sequence of all, where a step says so.
mlir::Value buildHead(PathBuilder &path, const spec::ModelSpec &spec,
                      const spec::Head &head, mlir::Value x,
                      llvm::function_ref<mlir::Value(mlir::Value)> pool);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDHEAD_H
