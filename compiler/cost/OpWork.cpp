// The floating-point operations of an op in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/OpWork.h"

#include "compiler/cost/WorkOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::cost;

double tfc::cost::countArithmetic(Region &body) {
  double count = 0;
  body.walk([&](Operation *op) {
    bool isArithmetic = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
        op->getDialect());
    auto isFloat = [](Type type) { return isa<FloatType>(type); };
    bool converts = isa<CastOpInterface>(op);
    count += isArithmetic && !converts && op->getNumOperands() > 0 &&
             llvm::all_of(op->getResultTypes(), isFloat) &&
             llvm::all_of(op->getOperandTypes(), isFloat);
  });
  return count;
}

bool tfc::cost::doesWork(Operation *op) {
  return isa<WorkOpInterface>(op) ||
         (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op));
}

/// How often the body of `op` runs.
static std::optional<double> iterationsOf(linalg::LinalgOp op,
                                          const StepSizes &sizes) {
  double count = 1;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    Value operand;
    unsigned dimension = 0;
    if (failed(op.mapIterationSpaceDimToOperandDim(loop, operand, dimension))) {
      return std::nullopt;
    }
    std::optional<int64_t> size = sizes.extent(operand, dimension);
    if (!size) {
      return std::nullopt;
    }
    count *= static_cast<double>(*size);
  }
  return count;
}

std::optional<Work> tfc::cost::workOf(Operation *op, const StepSizes &sizes) {
  if (auto known = dyn_cast<WorkOpInterface>(op)) {
    return known.getWork(sizes);
  }
  auto structured = cast<linalg::LinalgOp>(op);
  std::optional<double> iterations = iterationsOf(structured, sizes);
  if (!iterations) {
    return std::nullopt;
  }
  Work work;
  double operations = *iterations * countArithmetic(op->getRegion(0));
  (linalg::isaContractionOpInterface(structured) ? work.products
                                                 : work.others) = operations;
  op->getRegion(0).walk([&](tensor::ExtractOp read) {
    work.bytes += *iterations * sizes.elementBytes(read.getType());
  });
  return work;
}
