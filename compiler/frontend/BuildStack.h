// A stack of layers: its embeddings, what all its layers read, and the loops
// over them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FRONTEND_BUILDSTACK_H
#define TFC_COMPILER_FRONTEND_BUILDSTACK_H

#include "compiler/frontend/BuildEntry.h"
#include "compiler/frontend/BuildLayer.h"

namespace tfc {

/// The ports that the stack reads, each name behind `prefix` ("decoder_" when
/// a model has two stacks): tokens, segments, and positions if it has any.
llvm::SmallVector<Port> listPorts(const spec::Stack &stack,
                                  llvm::StringRef prefix, int64_t maxPositions);

/// Whether results depend on the distance of two tokens: TFC_ENTRY_DISTANCES.
bool countsDistances(const spec::Stack &stack);

/// The types of the cache of the stack's attentions (cross-attentions if
/// `kind` is Cross), none when there are none, and several where layers differ
/// in heads: its parts. `storage` is what is kept from step to step. A
/// diagnostic at `path` and failure where they differ in a cache that has no
/// parts.
mlir::FailureOr<llvm::SmallVector<transformer::CacheType>>
findCacheTypes(PathBuilder &path, const spec::Stack &stack,
               transformer::CacheKind kind, spec::Storage storage);

/// The type of the states of its layers, null when none keeps one. They are as
/// wide as the widest layer's.
transformer::StateType findStateType(PathBuilder &path,
                                     const spec::Stack &stack, int64_t hidden);

/// The embeddings and all layers; the final norm is not in it. `prefix` is
/// that of listPorts. What each layer reads is a part of the outputs called
/// `hiddenOutputs`, by the layer's number.
mlir::Value buildStack(PathBuilder &path, const spec::Stack &stack,
                       llvm::StringRef prefix, const Entry &entry,
                       llvm::ArrayRef<std::string> hiddenOutputs);

/// Part `part` of the outputs called `names`, which all hidden states of the
/// stack are.
void buildHiddenOutputs(PathBuilder &path, const spec::Stack &stack,
                        llvm::ArrayRef<std::string> names, mlir::Value x,
                        mlir::Value part);

/// Writes the keys and values of `hidden`, an encoder's result, for every
/// cross-attention of the decoder `stack` to the entry's cross cache.
void buildCrossWrites(PathBuilder &path, const spec::Stack &stack,
                      const Entry &entry, mlir::Value hidden);

} // namespace tfc

#endif // TFC_COMPILER_FRONTEND_BUILDSTACK_H
