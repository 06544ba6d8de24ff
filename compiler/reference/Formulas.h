// The formulas of the op descriptions (dialect/*.td) as plain loops over
// doubles. Operands have the shapes that the ops' verifiers demand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_REFERENCE_FORMULAS_H
#define TFC_COMPILER_REFERENCE_FORMULAS_H

#include "compiler/reference/Interpreter.h"

#include <functional>
#include <optional>

namespace tfc::reference {

/// y[t,:] = table[ids[t] + offset, :]; a negative id gives zeros. Ids are in
/// range.
Matrix embedding(const std::vector<int32_t> &ids, const Matrix &table,
                 int64_t offset);

/// What the two norms have: each of `parts` equal parts of a row is normalised
/// by itself, then times offset + weight (where there is a weight), plus bias
/// (where there is one). Both are as long as a part; a weight of as many
/// elements as a row has some for each part.
struct NormShape {
  const Matrix *weight = nullptr, *bias = nullptr;
  double eps = 0, offset = 0;
  int64_t parts = 1;
  /// Of layerNorm: divided by the deviation of a sample plus eps, not by the
  /// root of the variance and eps.
  bool unbiasedStd = false;
};
Matrix layerNorm(const Matrix &x, const NormShape &shape);
Matrix rmsNorm(const Matrix &x, const NormShape &shape);

/// y[t,:] = max(x[t,:] - (mean + deviations * std), 0), by row.
Matrix cutRows(const Matrix &x, double deviations);
/// y[t,:] = x[t,:] + sum_j (offset + weights[t, first + j]) terms_j[t,:]
Matrix mixRows(const Matrix &x, llvm::ArrayRef<const Matrix *> terms,
               const Matrix &weights, int64_t first, double offset);
/// y[t,:] = x[t,:] sqrt(mean(like[t,:]^2)) / sqrt(max(mean(x[t,:]^2), floor))
Matrix matchMagnitude(const Matrix &x, const Matrix &like, double floor);
/// The inputs' rows side by side.
Matrix joinColumns(llvm::ArrayRef<const Matrix *> inputs);

/// y[t,n] = sum_k x[t,k] weight[n,k] + bias[n]; `bias` may be null, here and
/// below.
Matrix linear(const Matrix &x, const Matrix &weight, const Matrix *bias);

/// The greatest element of a row by size over 127, or at least 2^-100 over it,
/// in `scales`, and each element over it to the nearest (even) integer. Of a
/// row with a NaN or an infinity the scale is a NaN.
Matrix quantizeRows(const Matrix &x, Matrix &scales);

/// The same to four bits, of as many groups of a row as `scales` has columns:
/// of a group's greatest element by size, or 2^-100, the -8th part, as `keep`
/// keeps it, and each element over that to the nearest integer, 7 at most.
Matrix quantizeGroups(const Matrix &x, Matrix &scales,
                      llvm::function_ref<double(double)> keep);
/// Each integer, minus its group's zero point where there are some, times its
/// group's scale. With zeros that are floats, each integer plus 8, times its
/// group's scale, minus its zero.
Matrix scaleGroups(const Matrix &integers, const Matrix &scales,
                   const Matrix *zeros, bool areFloat);

/// Each row of integers times its scale, of as many as there are rows.
Matrix scaleRows(const Matrix &integers, const Matrix &scales);

/// y[t,n] = x[t,n] rowScales[t] columnScales[n] + bias[n]; without scales of
/// columns those are 1.
Matrix scaleBoth(const Matrix &x, const Matrix &rowScales,
                 const Matrix &columnScales, const Matrix *bias);

/// y[t,:] = x[t,:] / max(|x[t,:]|, eps)
Matrix l2Normalize(const Matrix &x, double eps);

double activate(transformer::Activation act, double x);
Matrix activation(transformer::Activation act, const Matrix &x);

struct FfnWeights {
  const Matrix *up, *down, *gate, *upBias, *gateBias, *downBias;
  double alpha = 0, limit = 0; // of a clamped gate; 0: of another
};
/// down(act(up x)), or down(act(gate x) * up x), or, of a clamped gate, down of
/// what clampedGate makes of both.
Matrix ffn(const Matrix &x, const FfnWeights &weights,
           transformer::Activation act);

/// The options of transformer.route.
struct Router {
  transformer::RouterScore score = transformer::RouterScore::Softmax;
  const Matrix *choiceBias = nullptr; // [1, E]
  int64_t perToken = 1, groups = 1, groupsUsed = 1;
  transformer::GroupRank groupRank = transformer::GroupRank::Max;
  transformer::Renormalize renormalize = transformer::Renormalize::None;
  double plus = 0, floor = 0, factor = 1;
  double tolerance = 0; // of sparsemixer
};
/// The weights of the experts of each row, whose numbers, ascending, are
/// appended to `ids`. Of equal scores the lower number goes first.
Matrix route(const Matrix &logits, const Router &router,
             std::vector<int32_t> &ids);
/// y[t,:] = sum_j weights[t,j] f_e(x[t,:]), e = ids[t k + j]; matrices of all
/// experts are one below the other, biases have a row for each.
Matrix experts(const Matrix &x, const std::vector<int32_t> &ids,
               const Matrix &weights, const FfnWeights &matrices,
               transformer::Activation act);
/// The pairs of a row and an expert, sorted by expert, then by row; `places`
/// says where each of them stands.
struct GroupedRows {
  std::vector<int32_t> rows, experts, places;
};
GroupedRows groupBy(const std::vector<int32_t> &ids, int64_t perToken,
                    int64_t experts);
/// y[i,n] = sum_k x[i,k] weight[e,n,k] + bias[e,n], e = experts[i], a matrix
/// having `width` rows.
Matrix expertLinear(const Matrix &x, const std::vector<int32_t> &experts,
                    const Matrix &weight, int64_t width, const Matrix *bias);
/// y[t,:] = sum_j weights[t,j] x[places[t k + j],:]
Matrix combine(const Matrix &x, const std::vector<int32_t> &places,
               const Matrix &weights);
/// y = (u + 1) g / (1 + exp(-alpha g)), g = min(gate, limit), u = x between
/// -limit and limit
Matrix clampedGate(const Matrix &x, const Matrix &gate, double alpha,
                   double limit);
/// y[t,h] = [x[t,h,K:], W_h x[t,h,:K]]; the matrices of all heads are one below
/// the other, each of `width` rows and K columns.
Matrix headLinear(const Matrix &x, const Matrix &weight, int64_t heads,
                  int64_t width);
/// y[t,c] = x[t,c] act(gate[t, c / part]), parts being as many as gate is wide
Matrix gateRows(const Matrix &x, const Matrix &gate,
                transformer::Activation act);
/// p x^2 + beta x of those above 0, n (exp(min(x, least)) - 1 - x) + beta x of
/// others, with p = softplus(positive) and n = beta + softplus(negative)
Matrix xielu(const Matrix &x, double positive, double negative, double beta,
             double least);

Matrix add(const Matrix &a, const Matrix &b);
/// Element by element.
Matrix multiply(const Matrix &a, const Matrix &b);
Matrix scale(const Matrix &x, double factor);
/// Each element, or `least` where it is less.
Matrix clamp(const Matrix &x, double least);
/// y[r,:] = x[rows[r],:]. Rows are in range.
Matrix gatherRows(const Matrix &x, const std::vector<int32_t> &rows);
/// A row of the sequence's visible rows, in `result`. One that has none is not
/// a number.
void poolRows(const Matrix &x, const Sequence &sequence,
              transformer::Pooling how, int64_t skip, int64_t row,
              Matrix &result);
/// Writes [q, x, q - x, q * x] for each row x of the sequence, q being its
/// visible row that asks: the first or the last one.
void pairRows(const Matrix &x, const Sequence &sequence,
              transformer::QueryPlace query, Matrix &result);
/// [sum of w x, q] of the sequence's visible rows x but q, in row `row` of
/// `result`.
void weighRows(const Matrix &x, const Matrix &weights, const Sequence &sequence,
               transformer::QueryPlace query, int64_t row, Matrix &result);
/// ln softmax of x and of gates together, and in place of gate i that of
/// clusters[i] plus the gate's; gates may be null.
Matrix logSoftmax(const Matrix &x, const Matrix *gates,
                  llvm::ArrayRef<const Matrix *> clusters);
struct ZeroMemory {
  const Matrix &keys;           // by distance, the last row being span - 1
  const Matrix *bias = nullptr; // added to queries; or none
  int64_t heads = 1, left = 0, span = 1;
  double scale = 1;
};
/// ln of the sum of exponentials of what scores a query of the sequence has
/// with keys of zeros at the distances that lie before its beginning.
void memorySinks(const Matrix &query, const Sequence &sequence,
                 const ZeroMemory &memory, Matrix &result);
/// What attention by hashes reads, and how rows are put into chunks.
struct HashedRows {
  const Matrix &query, &key, &value, &rotations;
  int64_t heads = 1, block = 1, before = 0, after = 0, hashes = 1;
  llvm::ArrayRef<int64_t> buckets;
  int64_t multiple = 1;
  double scale = 1;
};
/// Writes the rows of the sequence to `result`.
void attendHashed(const HashedRows &of, const Sequence &sequence,
                  Matrix &result);
/// So many frames, from the `first` of a row's own on, a row having `frames`.
struct Taps {
  int64_t taps = 1, first = 0, frames = 1;
};
/// Writes frames of `sequence` with their neighbours to `result`; those that
/// are not in visible rows are zeros. A row is the columns of all inputs.
void unfold(const std::vector<const Matrix *> &inputs, const Sequence &sequence,
            const Taps &taps, Matrix &result);
/// Each column times its number, or all times the only one.
Matrix layerScale(const Matrix &x, const Matrix &weight);
Matrix sliceColumns(const Matrix &x, int64_t first, int64_t width);

/// [cosines, sines] of positions[t] * frequencies[i], times the factor of i (or
/// the only one); the angles are rounded to f32.
Matrix rotaryAngles(const std::vector<int32_t> &positions,
                    llvm::ArrayRef<double> frequencies,
                    llvm::ArrayRef<double> factors);
/// Sines and cosines of (positions[t] + offset) * frequencies[i], side by side
/// or in turns; zeros where positions[t] + offset is the zero row. The angles
/// are rounded to f32.
struct Sinusoid {
  llvm::ArrayRef<double> frequencies;
  bool interleaved = false;
  int64_t offset = 0;
  std::optional<int64_t> zeroRow;
};
Matrix sinusoid(const std::vector<int32_t> &positions, const Sinusoid &shape);
/// Turns pairs of columns of each head, by the angles of a kind of `kinds`.
struct Rotation {
  bool interleaved = false;
  int64_t numHeads = 1, kind = 0, kinds = 1;
};
Matrix rotary(const Matrix &x, const Matrix &angles, const Rotation &rotation);
/// y[h, M + d] = table[bucket(d), h] for d in [-M, M], M = maxDistance.
Matrix distanceBias(const Matrix &table, bool bidirectional,
                    int64_t maxDistance);

/// Puts the sequence's rows of `key` and `value` at its positions
/// [past, past + count) of `cache`, which holds at least `past`.
void cacheWrite(const Matrix &key, const Matrix &value,
                const Sequence &sequence, Cache::Layer &cache);

/// The sequence's rows of `result`; `state` is what precedes its new tokens,
/// K - 1 rows as wide as `x`, the oldest first, and becomes what precedes the
/// next ones.
void causalConv(const Matrix &x, const Matrix &weight, const Matrix *bias,
                const Sequence &sequence, double *state, Matrix &result);

struct RecurrenceInputs {
  /// Decay has a column for each head, or for each key of each.
  const Matrix &query, &key, &value, &decay, &beta;
  int64_t heads, keyHeads;
  transformer::RecurrenceRule rule = transformer::RecurrenceRule::Delta;
  const Matrix *skip = nullptr; // [1, heads]
  /// [keys of a head, values]: then every number has its own decay, and decay,
  /// beta and skip have a column for each value.
  const Matrix *logRate = nullptr;
};
/// The same of a recurrence, whose state is a matrix of keys to values for each
/// head.
void recurrence(const RecurrenceInputs &inputs, const Sequence &sequence,
                double *state, Matrix &result);
/// y[t,c] = exp(-exp(logRate[c / n]) softplus(x[t,c])), parts being n wide.
Matrix decay(const Matrix &x, const Matrix &logRate);

struct AttentionShape {
  int64_t numHeads = 0, kvHeads = 0, headDim = 0;
  double scale = 1;
  bool causal = false;
  /// How far a token sees; without one, to the end.
  std::optional<int64_t> left, right;
  const Matrix *bias = nullptr;  // [numHeads, 2 M + 1], by distance
  std::optional<double> cap;     // of scores: cap * tanh(score / cap)
  llvm::ArrayRef<double> slopes; // by head, times the distance; or none
  const Matrix *sinks = nullptr; // [1 or T, numHeads], one more score
  /// The scale is times ln(n) / ln(base) where a query sees n positions.
  std::optional<double> logBase;
  /// What keys and queries have at a distance, [2 span, numHeads * headDim], or
  /// null, and the farthest of distances that share rows.
  const Matrix *relativeKeys = nullptr, *relativeQueries = nullptr;
  /// What values have there. Tables of all heads are headDim wide.
  const Matrix *relativeValues = nullptr;
  int64_t span = 0;
  bool oddSpan = false; // one row less, and the row of a distance, too
  std::optional<int64_t> maxDistance;
  /// Slopes are times the key's position, rounded to bf16 at each step, in
  /// front of the scale.
  bool roundedSlopes = false;
  /// What is added to queries in products with keys, with rows of relativeKeys
  /// and with rows of segments, [1, numHeads * headDim]; or null.
  const Matrix *queryBias = nullptr, *relativeBias = nullptr;
  const Matrix *segmentBias = nullptr;
  /// What a query is multiplied with for keys of its type, and of another one,
  /// [2, numHeads * headDim], or null; and the types of the step's rows.
  const Matrix *segments = nullptr;
  const std::vector<int32_t> *types = nullptr;
  /// Of the step's rows, where it is not 0: no query sees the row's key. Or
  /// null.
  const std::vector<int32_t> *unseen = nullptr;
  /// Of block-sparse attention: positions of a block, 0 without, and how often
  /// block 0 is a random one.
  int64_t sparseBlock = 0, randomBlocks = 0;
  /// Or how many blocks before and behind its own a query sees.
  std::optional<int64_t> blocksBefore, blocksAfter;
  /// Whether queries, keys, values and exp(score - largest) are rounded to bf16
  /// before they are multiplied; the weights' sum is of those as they were.
  bool roundsFactors = false;
};
/// r(r(slope) r(position)), r being the rounding to bf16.
double roundedSlope(double slope, int64_t position);
/// What block-sparse attention adds to the score of a key: minus infinity where
/// the query does not see it.
double sparseTerm(const AttentionShape &shape, int64_t query, int64_t key,
                  int64_t keys);
/// The row of the tables of distances where the query is `distance` behind the
/// key.
int64_t relativeRow(const AttentionShape &shape, int64_t distance);
/// Called with a row of the step, a head, the first key and the probabilities
/// of the keys from there on.
using WatchFn = std::function<void(int64_t row, int64_t head, int64_t begin,
                                   const std::vector<double> &probabilities)>;
/// The sequence's rows of `result`, over the positions in `cache`. A row that
/// sees none is not a number. `watch` may be empty.
void attention(const Matrix &query, const Sequence &sequence,
               const AttentionShape &shape, const Cache::Layer &cache,
               Matrix &result, const WatchFn &watch = {});

/// Puts [ropeKey, latent] at the sequence's positions: rows are keys whose last
/// columns are values.
void latentWrite(const Matrix &ropeKey, const Matrix &latent,
                 const Sequence &sequence, Cache::Layer &cache);
/// Causal attention of `heads` queries a row to those rows.
void latentAttention(const Matrix &query, const Sequence &sequence,
                     int64_t heads, double scale, const Cache::Layer &cache,
                     Matrix &result, const WatchFn &watch);

} // namespace tfc::reference

#endif // TFC_COMPILER_REFERENCE_FORMULAS_H
