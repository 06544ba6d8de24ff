// How the structured ops and weights become memref ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Bufferization.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tfc::transformer;

namespace {

/// A weight is a view of the packed weights, which nobody may write.
struct WeightModel
    : BufferizableOpInterface::ExternalModel<WeightModel, WeightOp> {
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return false;
  }
  FailureOr<BufferLikeType>
  getBufferType(Operation *, Value value, const BufferizationOptions &,
                const BufferizationState &,
                SmallVector<Value> & /*invocationStack*/) const {
    return cast<BufferLikeType>(getMemRefTypeWithStaticIdentityLayout(
        cast<TensorType>(value.getType())));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto weight = cast<WeightOp>(op);
    FailureOr<BufferLikeType> type =
        bufferization::getBufferType(weight.getResult(), options, state);
    if (failed(type)) {
      return failure();
    }
    auto buffer = WeightOp::create(rewriter, op->getLoc(), Type(*type),
                                   weight.getNameAttr(), weight.getLayer());
    replaceOpWithBufferizedValues(rewriter, op, buffer.getResult());
    return success();
  }
};

/// Makes `op` again with the buffers of its tensor operands, its regions and
/// without results.
static LogicalResult cloneOnBuffers(Operation *op, RewriterBase &rewriter,
                                    const BufferizationOptions &options,
                                    BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer)) {
      return failure();
    }
    operands.push_back(*buffer);
  }
  OperationState clone(op->getLoc(), op->getName(), operands, TypeRange(),
                       op->getDiscardableAttrDictionary().getValue());
  clone.propertiesAttr = op->getPropertiesAsAttribute();
  for (Region &region : op->getRegions()) {
    clone.addRegion()->takeBody(region);
  }
  rewriter.create(clone);
  return success();
}

/// Ops that read their tensors and have no results.
template <typename Op>
struct ReadOnlyModel
    : BufferizableOpInterface::ExternalModel<ReadOnlyModel<Op>, Op> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    if (failed(cloneOnBuffers(op, rewriter, options, state))) {
      return failure();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// The inits are overwritten, and read before where the op says so; whatever
/// else there is is read.
template <typename Op, bool readsInits = false>
struct DestinationModel
    : DstBufferizableOpInterfaceExternalModel<DestinationModel<Op, readsInits>,
                                              Op> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return readsInits ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> inits;
    for (Value init : cast<DestinationStyleOpInterface>(op).getDpsInits()) {
      FailureOr<Value> buffer = getBuffer(rewriter, init, options, state);
      if (failed(buffer)) {
        return failure();
      }
      inits.push_back(*buffer);
    }
    if (failed(cloneOnBuffers(op, rewriter, options, state))) {
      return failure();
    }
    replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};

} // namespace

void tfc::transformer::registerBufferizableOpInterfaces(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TransformerDialect *) {
    WeightOp::attachInterface<WeightModel>(*context);
    CacheWriteOp::attachInterface<ReadOnlyModel<CacheWriteOp>>(*context);
    TapOp::attachInterface<ReadOnlyModel<TapOp>>(*context);
    PagedAttentionOp::attachInterface<DestinationModel<PagedAttentionOp>>(
        *context);
    RaggedHashedOp::attachInterface<DestinationModel<RaggedHashedOp>>(*context);
    ReduceInPlaceOp::attachInterface<
        DestinationModel<ReduceInPlaceOp, /*readsInits=*/true>>(*context);
    RaggedPoolOp::attachInterface<DestinationModel<RaggedPoolOp>>(*context);
    RaggedUnfoldOp::attachInterface<DestinationModel<RaggedUnfoldOp>>(*context);
    RaggedPairsOp::attachInterface<DestinationModel<RaggedPairsOp>>(*context);
    RaggedWeightsOp::attachInterface<DestinationModel<RaggedWeightsOp>>(
        *context);
    RaggedSinksOp::attachInterface<DestinationModel<RaggedSinksOp>>(*context);
    ClusteredLogSoftmaxOp::attachInterface<
        DestinationModel<ClusteredLogSoftmaxOp>>(*context);
    RaggedConvOp::attachInterface<DestinationModel<RaggedConvOp>>(*context);
    RaggedRecurrenceOp::attachInterface<DestinationModel<RaggedRecurrenceOp>>(
        *context);
    ProductOp::attachInterface<DestinationModel<ProductOp>>(*context);
    ChooseExpertsOp::attachInterface<DestinationModel<ChooseExpertsOp>>(
        *context);
    PagedLatentOp::attachInterface<DestinationModel<PagedLatentOp>>(*context);
    SortByExpertOp::attachInterface<DestinationModel<SortByExpertOp>>(*context);
  });
}
