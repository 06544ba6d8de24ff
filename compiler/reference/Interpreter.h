// The meaning of the model-level dialect, executed in double precision: the
// yardstick that compiled code is compared with (`tfc verify`).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_REFERENCE_INTERPRETER_H
#define TFC_COMPILER_REFERENCE_INTERPRETER_H

#include "compiler/reference/Matrix.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tfc::reference {

/// A sequence of a step, as tfc_sequence_v0 in runtime/include/tfc/abi.h has
/// it; `id` names its rows in the Cache in place of blocks. `crossCount` is how
/// many positions of the cross cache it attends to: what an `encode` has
/// written there for the same id.
struct Sequence {
  int64_t id = 0;
  int32_t first = 0, count = 0, past = 0, keys = 0, crossCount = 0;
};

/// What one call of an entry gets. Every input port must be given, one value a
/// token; `rows` are the tokens that `wanted` outputs get. Sequences of one id
/// share their cached rows; all of them are written before any is read.
struct Step {
  std::map<std::string, std::vector<int32_t>> inputs;
  /// Of inputs with a width.
  std::map<std::string, Matrix> given;
  std::vector<int32_t> rows;
  std::vector<Sequence> sequences;
  /// Names of the outputs to compute; empty: all.
  std::set<std::string> outputs;
};

/// Keys and values as plain rows, kept between the steps of a generation, and
/// between `encode` and `step` of an encoder-decoder. A sequence's positions of
/// one layer are the rows of two matrices.
class Cache {
public:
  struct Layer {
    Matrix keys, values;
  };
  /// Empty until a step has written there. Lives until `drop` of the sequence.
  Layer &layer(int64_t sequence, int64_t layer) {
    return self[{sequence, layer}];
  }
  /// The same of what the decoder's layer reads of the encoder.
  Layer &crossLayer(int64_t sequence, int64_t layer) {
    return cross[{sequence, layer}];
  }
  /// What stands for all tokens of the sequence in a layer that keeps a state;
  /// the same holds of it.
  std::vector<double> &state(int64_t sequence, int64_t layer) {
    return states[{sequence, layer}];
  }
  void drop(int64_t sequence) {
    states.erase(states.lower_bound({sequence, INT64_MIN}),
                 states.upper_bound({sequence, INT64_MAX}));
    for (Layers *layers : {&self, &cross}) {
      layers->erase(layers->lower_bound({sequence, INT64_MIN}),
                    layers->upper_bound({sequence, INT64_MAX}));
    }
  }

private:
  using Layers = std::map<std::pair<int64_t, int64_t>, Layer>;
  Layers self, cross;
  std::map<std::pair<int64_t, int64_t>, std::vector<double>> states;
};

/// Elements of a parameter, in the shape of its type, row-major; of its layer
/// `layer` (0 when the parameter has no layers). Of a parameter of experts
/// `layer` counts those of all layers. On failure the provider has reported
/// why.
using WeightProvider = std::function<mlir::FailureOr<std::vector<double>>(
    transformer::ParameterOp parameter, int64_t layer)>;

/// A matrix of integers [rows, columns] with what groups of a row's columns
/// have: scales [rows, groups], and of four bits zero points, or zeros behind
/// the scale of integers that are 8 more, or none.
struct IntegerElements {
  std::vector<double> integers, scales, zeros;
};
/// How a program keeps them: of four bits, or bytes; columns of a row that have
/// a scale, 0 being all of them; and whether there are zero points, or zeros
/// that are floats.
struct IntegerForm {
  bool isFour = false;
  int64_t group = 0;
  bool hasZeros = false, hasFloatZeros = false;
};
/// The same of a stored parameter whose integers and scales are packed as the
/// checkpoint has them; nothing where its elements are rounded.
using IntegerProvider = std::function<std::optional<IntegerElements>(
    transformer::ParameterOp parameter, int64_t layer,
    const IntegerForm &form)>;

/// Called for each `transformer.tap`, in order; `layer` is -1 outside layers.
/// A matrix that it returns takes the place of `value` in all that follows.
using TapFn = std::function<std::optional<Matrix>(
    transformer::TapOp tap, int64_t layer, const Matrix &value)>;

/// What a head of an attention looked at from a row of the step: probabilities
/// of the keys at [begin, begin + size) of what it attends to, whose sum is 1.
/// `number` counts the attentions of the entry's run from 0, those across
/// stacks apart.
struct AttentionRow {
  bool isCross = false;
  int64_t number = 0, row = 0, head = 0, begin = 0;
  llvm::ArrayRef<double> probabilities;
};
using AttentionFn = std::function<void(const AttentionRow &row)>;

/// By port name; a squeezed output is one column.
using Outputs = std::map<std::string, Matrix>;

/// Runs an entry (`@encode`, `@step`) as it is in the stages `model` and
/// `fused`. Reads and extends `cache`. `tap`, `attention` and `integers` may be
/// empty. Wrong inputs and unsupported ops are reported at the op's location;
/// then `cache` is in no particular state.
mlir::FailureOr<Outputs> runEntry(mlir::func::FuncOp entry, const Step &step,
                                  const WeightProvider &weights, Cache &cache,
                                  const TapFn &tap = {},
                                  const AttentionFn &attention = {},
                                  const IntegerProvider &integers = {});

} // namespace tfc::reference

#endif // TFC_COMPILER_REFERENCE_INTERPRETER_H
