// The body of an outermost parallel loop as a function, and the call of the
// host's parallel_for with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_OUTLINEBODY_H
#define TFC_COMPILER_HOST_OUTLINEBODY_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {

/// What a loop uses from outside, its bounds included, in order of first use.
llvm::SetVector<mlir::Value> outsideValues(mlir::scf::ParallelOp loop);

bool isConstant(mlir::Value value);

/// Outlines one loop of an entry that has one argument, the step.
class Outliner {
public:
  explicit Outliner(mlir::scf::ParallelOp loop)
      : loop(loop), entry(loop->getParentOfType<mlir::func::FuncOp>()),
        b(loop.getLoc(), loop), converter(loop.getContext()) {
    collectCaptures();
  }

  /// A function (captures, first item, end, worker) before the entry.
  mlir::LLVM::LLVMFuncOp buildBody(llvm::StringRef name);
  /// Puts a call in the loop's place. `body` may be that of another loop that
  /// does the same to what it captures.
  void buildCall(mlir::LLVM::LLVMFuncOp body);

private:
  void collectCaptures();
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
  llvm::SmallVector<mlir::Value> captures;
  llvm::SmallVector<mlir::Operation *> constants;
};

} // namespace tfc

#endif // TFC_COMPILER_HOST_OUTLINEBODY_H
