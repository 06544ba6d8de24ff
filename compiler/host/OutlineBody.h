// The body of an outermost parallel loop as a function, and the call of the
// host's parallel_for with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_OUTLINEBODY_H
#define TFC_COMPILER_HOST_OUTLINEBODY_H

#include "compiler/host/ParallelLoops.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc {

/// Outlines one loop of an entry that has one argument, the step.
class Outliner {
public:
  explicit Outliner(mlir::scf::ParallelOp loop)
      : loop(loop), entry(loop->getParentOfType<mlir::func::FuncOp>()),
        b(loop.getLoc(), loop), converter(loop.getContext()), captures(loop) {}

  /// A function (captures, first item, end, worker) before the entry.
  mlir::LLVM::LLVMFuncOp buildBody(llvm::StringRef name);
  /// Puts a call in the loop's place. `body` may be that of another loop that
  /// does the same to what it captures.
  void buildCall(mlir::LLVM::LLVMFuncOp body);

private:
  /// The captures as they are in the body: loaded, or made again.
  mlir::IRMapping loadCaptures(mlir::Value argument);
  /// Runs the loop's operations for items [begin, end).
  void buildItems(mlir::IRMapping &mapping, mlir::Value begin, mlir::Value end);

  mlir::Value constant(int64_t value);
  mlir::Type stored(mlir::Value value) {
    return converter.convertType(value.getType());
  }

  mlir::scf::ParallelOp loop;
  mlir::func::FuncOp entry;
  mlir::ImplicitLocOpBuilder b;
  mlir::LLVMTypeConverter converter;
  Captures captures;
};

} // namespace tfc

#endif // TFC_COMPILER_HOST_OUTLINEBODY_H
