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

/// Whether an output reads all rows of a sequence, of which it makes one.
bool readsAllRows(const spec::ModelSpec &spec, const std::string &value);

/// The rows that an output gives, and the sequences that they are of; the
/// entry's caches and the positions of all tokens (null where it reads none).
struct WantedRows {
  mlir::Location loc;
  mlir::Value rows, batch;
  llvm::ArrayRef<mlir::Value> caches;
  mlir::Value positions;
};

/// The value of a head of `x`, rows of its stack of which the take has been
/// made.
mlir::Value buildHead(PathBuilder &path, const spec::ModelSpec &spec,
                      const spec::Head &head, mlir::Value x,
                      const WantedRows &wanted);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDHEAD_H
