// The body of an outermost parallel loop as a function, and the call of the
// host's parallel_for with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_OUTLINEBODY_H
#define TFC_COMPILER_HOST_OUTLINEBODY_H

#include "compiler/kernel/ParallelLoops.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc {

/// Outlines one loop of an entry, or of its layers, whose first argument is the
/// step.
class Outliner {
public:
  explicit Outliner(mlir::scf::ParallelOp loop)
      : loop(loop), entry(loop->getParentOfType<mlir::func::FuncOp>()),
        b(loop.getLoc(), loop), converter(loop.getContext()), captures(loop) {}

  /// A function (captures, first item, end, worker) before the entry.
  mlir::LLVM::LLVMFuncOp buildBody(llvm::StringRef name);
  /// Puts a call in the loop's place. `body` may be that of another loop that
  /// does the same to what it captures. They travel in `frame`, which holds
  /// `getContextType`.
  void buildCall(mlir::LLVM::LLVMFuncOp body, mlir::Value frame);

  /// The struct that captures travel in: a field each.
  mlir::LLVM::LLVMStructType getContextType();

private:
  /// A capture as a field; and as the loop knows it, of its field.
  mlir::Value store(mlir::Value value);
  mlir::Value restore(mlir::Type type, mlir::Value field);
  /// The captures as they are in the body: loaded, or made again.
  mlir::IRMapping loadCaptures(mlir::Value argument);
  /// Runs the loop's operations for items [begin, end).
  void buildItems(mlir::IRMapping &mapping, mlir::Value begin, mlir::Value end);

  mlir::Value constant(int64_t value);
  /// What a capture is kept as: of a buffer, the pointer is all that the body
  /// does not know.
  mlir::Type stored(mlir::Value value);

  mlir::scf::ParallelOp loop;
  mlir::func::FuncOp entry;
  mlir::ImplicitLocOpBuilder b;
  mlir::LLVMTypeConverter converter;
  Captures captures;
};

} // namespace tfc

#endif // TFC_COMPILER_HOST_OUTLINEBODY_H
