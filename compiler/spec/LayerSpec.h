// What a layer is: norms, rotary, attention, feed-forward, and what is around
// them. A part of ModelSpec.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_LAYERSPEC_H
#define TFC_COMPILER_SPEC_LAYERSPEC_H

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace tfc::spec {

/// gelu is the erf form, gelu_new the tanh form, quick_gelu the sigmoid form,
/// relu2 the square of relu.
enum class Activation {
  Identity,
  Gelu,
  GeluNew,
  Relu,
  Silu,
  Tanh,
  Relu2,
  Sigmoid,
  QuickGelu
};

/// Normalisation over the last axis, eps inside the root: layernorm (biased
/// variance) or rmsnorm (mean of squares, no bias); then times offset + weight,
/// plus bias.
struct Norm {
  enum class Kind { LayerNorm, RmsNorm } kind = Kind::LayerNorm;
  double eps = 0;
  bool weight = true, bias = true;
  double offset = 0; // 0 without a weight
  /// Divided by the deviation of a sample plus eps (not of an RmsNorm).
  bool unbiasedStd = false;
  friend bool operator==(const Norm &a, const Norm &b) {
    return std::tie(a.kind, a.eps, a.weight, a.bias, a.offset, a.unbiasedStd) ==
           std::tie(b.kind, b.eps, b.weight, b.bias, b.offset, b.unbiasedStd);
  }
  friend bool operator!=(const Norm &a, const Norm &b) { return !(a == b); }
};

/// How frequencies are stretched for contexts longer than those of the
/// training.
struct RotaryScaling {
  enum class Kind {
    None,
    Linear,
    Dynamic,
    Llama3,
    Yarn,
    Longrope
  } kind = Kind::None;
  double factor = 1;
  /// Of llama3, yarn and longrope: the longest context of the training.
  int64_t originalMax = 0;
  double lowFreqFactor = 1, highFreqFactor = 4; // llama3
  double betaFast = 32, betaSlow = 1;           // yarn
  bool truncate = true;                         // yarn
  /// Of longrope: what divides each frequency, in contexts of the training.
  std::vector<double> shortFactors;
  auto fields() const {
    return std::tie(kind, factor, originalMax, lowFreqFactor, highFreqFactor,
                    betaFast, betaSlow, truncate, shortFactors);
  }
  friend bool operator==(const RotaryScaling &a, const RotaryScaling &b) {
    return a.fields() == b.fields();
  }
};

/// Rotation of the first 2 * frequencies.size() columns of each query and key
/// head by position * frequency (Su et al. 2021, arXiv:2104.09864). Who
/// computes needs `interleaved`, `frequencies` and `factor` alone: they have
/// the rest in them.
struct Rotary {
  bool interleaved = false;
  bool reverse = false; // by minus the angle
  int64_t dim = 0;      // even
  int64_t turned = 0;   // even; those behind have the frequency 0
  double theta = 0;
  RotaryScaling scaling;
  /// Radians per position, each an f32 number.
  std::vector<double> frequencies;
  /// Of cosine and sine (the attention_factor of yarn and longrope).
  double factor = 1;
  /// Tokens behind the `front` ones, which are not turned, are places of a
  /// picture, row by row. Of one, y and x go from -1 to 1 between the edges;
  /// the first half of the frequencies is for y, the other for x, in radians
  /// (Simeoni et al. 2025, arXiv:2508.10104).
  struct Grid {
    int64_t columns = 1, rows = 1, front = 0;
    int64_t tokens() const { return front + columns * rows; }
    friend bool operator==(const Grid &a, const Grid &b) {
      return std::tie(a.columns, a.rows, a.front) ==
             std::tie(b.columns, b.rows, b.front);
    }
  };
  std::optional<Grid> grid;
  auto fields() const {
    return std::tie(interleaved, reverse, dim, turned, theta, scaling,
                    frequencies, factor, grid);
  }
  friend bool operator==(const Rotary &a, const Rotary &b) {
    return a.fields() == b.fields();
  }
};

/// Position i sees those from i - left to i + right.
struct Window {
  int64_t left = 0, right = 0;
  friend bool operator==(const Window &a, const Window &b) {
    return a.left == b.left && a.right == b.right;
  }
};

/// A norm of queries and one of keys: of each head by itself, the weight being
/// the same for all, or of the whole row.
struct QkNorm {
  Norm norm;
  bool overRow = false;
  /// Of what rotary made of them.
  bool afterRotary = false;
  /// Each head has a weight of its own.
  bool perHead = false;
  friend bool operator==(const QkNorm &a, const QkNorm &b) {
    return std::tie(a.norm, a.overRow, a.afterRotary, a.perHead) ==
           std::tie(b.norm, b.overRow, b.afterRotary, b.perHead);
  }
};

/// The slopes of Press et al. 2021 (arXiv:2108.12409) for so many heads, each
/// a power of 2 for heads that are one.
std::vector<double> alibiSlopes(int64_t heads);

/// Terms of scores that come of the stack's table of distances: a product of
/// the query with what keys have at the distance, and one of the key with what
/// queries have there. Those are projections of the table's rows: by matrices
/// of their own ("attn.relative_k", "attn.relative_q"), or those of the keys
/// and queries; or, of a table as wide as a head, the rows themselves.
struct RelativeTerms {
  enum class Use { None, Own, Shared, Identity };
  Use keys = Use::None, queries = Use::None;
  bool keysBias = false, queriesBias = false; // of own ones
  /// The rows themselves are added to the values, too.
  bool values = false;
  auto fields() const {
    return std::tie(keys, queries, keysBias, queriesBias, values);
  }
  friend bool operator==(const RelativeTerms &a, const RelativeTerms &b) {
    return a.fields() == b.fields();
  }
};

/// Rounds of hashing, each with as many buckets as `buckets` multiplied.
struct Hashes {
  int64_t count = 1;
  std::vector<int64_t> buckets;
  int64_t seed = 0;
  /// A sequence has blocks for the next multiple of so many positions.
  int64_t multiple = 0;
  /// [columns, count * half the sum of buckets], as PyTorch's generator for a
  /// CPU draws normal numbers from the seed; at least 16.
  std::vector<float> rotations(int64_t columns) const;
  /// How many a column of queries has.
  int64_t width() const;
  auto fields() const { return std::tie(count, buckets, seed, multiple); }
  friend bool operator==(const Hashes &a, const Hashes &b) {
    return a.fields() == b.fields();
  }
};

/// Attention that sees a sequence of more than (5 + 2 random) blocks in part
/// (Zaheer et al. 2020, arXiv:2007.14062): of `block` positions each, a block
/// sees the first, its neighbours, itself and the last; the first counts
/// 1 + `random` times.
///
/// Or, where it is `isLocal`, attention to blocks that are near (Kitaev et al.
/// 2020, arXiv:2001.04451): a block sees itself, `before` blocks before it and
/// `after` behind it; of an encoder they are a circle.
///
/// Or, where it has `hashes`, attention to blocks of an order in which hashes
/// of queries put rows (of the same paper).
struct Sparse {
  int64_t block = 0, random = 0;
  bool isLocal = false;
  int64_t before = 0, after = 0;
  std::optional<Hashes> hashes;
  auto fields() const {
    return std::tie(block, random, isLocal, before, after, hashes);
  }
  friend bool operator==(const Sparse &a, const Sparse &b) {
    return a.fields() == b.fields();
  }
};

/// Keys and values of all heads come of one latent a position, of `rank`
/// columns, by a matrix of each head: `nopeDim` columns of a key, `valueDim` of
/// a value. Behind them a key has `ropeDim` columns that are turned, the same
/// for all heads. The cache keeps both, and no values.
struct Latent {
  int64_t rank = 0, nopeDim = 0, ropeDim = 0, valueDim = 0;
  /// Queries are made of a latent of their own, too; 0: of the input.
  int64_t queryRank = 0;
  Norm norm; // of both latents
  /// Of the products that make latents and turned columns, and of the last one.
  bool bias = false;
  /// The attention's: layers of one loop have the same.
  double scale = 1;
  friend bool operator==(const Latent &a, const Latent &b) {
    return std::tie(a.rank, a.nopeDim, a.ropeDim, a.valueDim, a.queryRank,
                    a.norm, a.bias, a.scale) ==
           std::tie(b.rank, b.nopeDim, b.ropeDim, b.valueDim, b.queryRank,
                    b.norm, b.bias, b.scale);
  }
};

/// What heads gave is times the sigmoid, or the softplus, of a projection of
/// what the attention reads: column by column, or a number for each head.
struct OutputGate {
  bool isSoftplus = false, perHead = false;
  friend bool operator==(const OutputGate &a, const OutputGate &b) {
    return a.isSoftplus == b.isSoftplus && a.perHead == b.perHead;
  }
};

/// Self-attention, or attention of a decoder to its encoder when `cross`.
struct Attention {
  bool cross = false;
  int64_t numHeads = 0;
  int64_t numKvHeads = 0;
  int64_t headDim = 0;
  bool qBias = false, kBias = false, vBias = false, oBias = false;
  double scale = 1;
  /// Scores are divided by (layer + 1) as well.
  bool scaleByInverseLayer = false;
  bool causal = false;
  /// The stack's position bias is added to the scores.
  bool positionBias = false;
  /// Causal attention has 0 to the right.
  std::optional<Window> window;
  std::optional<Rotary> rotary;
  std::optional<QkNorm> qkNorm;
  /// Of each head's values by itself, before they are kept.
  std::optional<Norm> vNorm;
  /// Queries, keys and values are at most so far from zero, behind their norms
  /// and before they are turned.
  std::optional<double> clip;
  /// Of what the last product reads.
  std::optional<Norm> innerNorm;
  /// Values are what keys are before norm and rotary: there is no product.
  bool valuesAreKeys = false;
  /// It reads what the last layer before it has kept that has keys of its own,
  /// as many and as wide heads, and the same window.
  bool sharedKeys = false;
  /// Scores s are cap * tanh(s / cap).
  std::optional<double> cap;
  /// By head: what a score gets for each position that the key is behind the
  /// query (it is before it: less). Empty: nothing.
  std::vector<double> slopes;
  /// Slopes are times the key's position instead, slope, position and product
  /// rounded to bf16, and added before the scale.
  bool roundedSlopes = false;
  /// The scale is times ln(n) / ln(base) where a query sees n positions.
  std::optional<double> logBase;
  /// A learned score a head that takes its part of the weights.
  bool sinks = false;
  /// Queries have a vector added where they are multiplied with keys, and
  /// another one where they are with what keys have at the distance.
  bool queryBias = false;
  /// And a third one where they are multiplied with one of two rows, by whether
  /// the key's type is their own.
  bool segments = false;
  std::optional<RelativeTerms> relative;
  /// What the window has before the sequence's beginning are keys and values of
  /// zeros, which a softmax counts.
  bool zeroMemory = false;
  std::optional<Sparse> sparse;
  std::optional<OutputGate> gate;
  /// Of latents there is one key head, headDim = latent->ropeDim +
  /// latent->rank wide: its turned columns, then the latent.
  std::optional<Latent> latent;
  /// What self-attentions of one loop may differ in, and all the rest.
  auto numbers() const { return std::tie(scale, window, rotary); }
  auto structure() const {
    return std::tie(cross, numHeads, numKvHeads, headDim, qBias, kBias, vBias,
                    oBias, scaleByInverseLayer, causal, positionBias, qkNorm,
                    vNorm, clip, innerNorm, valuesAreKeys, sharedKeys, cap,
                    slopes, roundedSlopes, logBase, sinks, queryBias, segments,
                    relative, zeroMemory, sparse, gate, latent);
  }
  /// Whether keys of both may lie in one part of a cache.
  bool hasKeysLike(const Attention &other) const {
    return numKvHeads == other.numKvHeads && headDim == other.headDim;
  }
  friend bool operator==(const Attention &a, const Attention &b) {
    return a.structure() == b.structure() && a.numbers() == b.numbers();
  }
};

/// o(out_gate(x) * c(in_gate(x) * value(x))), c being a convolution of each
/// column over so many tokens, the last of which is the row's own. With a bias
/// the projections and c have one.
struct Conv {
  int64_t kernel = 2;
  bool bias = false;
  friend bool operator==(const Conv &a, const Conv &b) {
    return a.kernel == b.kernel && a.bias == b.bias;
  }
};

/// A rule of transformer.recurrence over queries, keys and values, each of
/// which is the silu of a convolution of a projection. Of the gated delta rule
/// queries and keys are of length 1, and a norm of each value head is behind
/// it, then times the gate's activation. Of Mamba-2, whose C, B and x are
/// queries, keys and values, the silu of the gate comes first, then a norm of
/// each of normGroups parts of a row, with a weight for each column. Of Mamba
/// there is one head, queries and keys are products of the values, and the norm
/// is of these and of what a token's time is made of.
struct Recurrent {
  enum class Kind { GatedDelta, Mamba2, Mamba } kind = Kind::GatedDelta;
  /// What products of the row are times, of Mamba-2; of decay in front of its
  /// bias.
  struct Scales {
    double query = 1, key = 1, value = 1, gate = 1, decay = 1;
    auto all() const { return std::tie(query, key, value, gate, decay); }
  } scales;
  int64_t keyHeads = 1, valueHeads = 1, keyDim = 1, valueDim = 1;
  int64_t kernel = 2; // of the convolutions
  bool convBias = false;
  std::optional<Norm> norm;    // of the delta rule there is always one
  bool normBeforeGate = false; // of Mamba-2; the delta rule has it always
  int64_t normGroups = 1;
  /// What the time that a token takes is at least, of Mamba-2.
  double stepFloor = 0;
  double betaScale = 1; // what beta is times, of the delta rule
  /// Of the delta rule: whether each key of a value head has a decay; how wide
  /// what decay and gate are products of is, 0 where that is the row itself;
  /// and what is done to the gate.
  bool keyDecay = false;
  int64_t decayRank = 0, gateRank = 0;
  Activation gateAct = Activation::Silu;
  int64_t rank = 1;  // columns that a token's time is made of, of Mamba
  bool bias = false; // of v, gate and o, of Mamba
  /// Columns of convolutions.
  int64_t convWidth() const {
    return (kind == Kind::Mamba ? 0 : 2 * keyWidth()) + valueWidth();
  }
  int64_t keyWidth() const { return keyHeads * keyDim; }
  int64_t valueWidth() const { return valueHeads * valueDim; }
  int64_t decayWidth() const { return valueHeads * (keyDecay ? keyDim : 1); }
  auto all() const {
    return std::tie(kind, keyHeads, valueHeads, keyDim, valueDim, kernel,
                    convBias, norm, normBeforeGate, normGroups, stepFloor,
                    betaScale, keyDecay, decayRank, gateRank, gateAct, rank,
                    bias);
  }
  friend bool operator==(const Recurrent &a, const Recurrent &b) {
    return a.all() == b.all() && a.scales.all() == b.scales.all();
  }
};

/// down(act(up x)), or down(act(gateScale * gate x) * up x) when gated. With
/// `xielu` act is transformer.xielu, which has two weights of one number. With
/// `sparsity` the gate is what transformer.cut_rows leaves of it, where numbers
/// that are normally distributed have so great a part below.
struct Ffn {
  int64_t width = 0;
  Activation act = Activation::Gelu;
  bool gated = false;
  bool bias = false;
  double gateScale = 1;
  bool xielu = false;
  double sparsity = 0;           // 0 without
  std::optional<Norm> innerNorm; // of what the last product reads
  /// How many deviations above the mean the part ends.
  double deviations() const;
  friend bool operator==(const Ffn &a, const Ffn &b) {
    return std::tie(a.width, a.act, a.gated, a.bias, a.gateScale, a.xielu,
                    a.sparsity, a.innerNorm) ==
           std::tie(b.width, b.act, b.gated, b.bias, b.gateScale, b.xielu,
                    b.sparsity, b.innerNorm);
  }
};

/// Which experts a row takes, and how much of each: transformer.route.
struct Router {
  enum class Score {
    Softmax,
    Sigmoid,
    Logits,
    Sparsemixer,
    LateSigmoid
  } score = Score::Softmax;
  enum class Renormalize { None, Sum, Softmax } renormalize = Renormalize::None;
  /// Of the logits; of the choice alone.
  bool bias = false, choiceBias = false;
  int64_t groups = 1, groupsUsed = 1;
  bool groupByTwo = false;
  double plus = 0, floor = 0, factor = 1;
  double tolerance = 0; // of sparsemixer
  /// An expert reads rows times their weight, and what it makes of them counts
  /// as it is. Of one expert a row.
  bool onInput = false;
  /// What the router reads of a row: scale * pre_norm(x). A weight is times a
  /// learned number of its expert with `expertScale`.
  std::optional<Norm> preNorm;
  double scale = 1;
  bool expertScale = false;
  auto all() const {
    return std::tie(score, renormalize, bias, choiceBias, groups, groupsUsed,
                    groupByTwo, plus, floor, factor, tolerance, onInput,
                    preNorm, scale, expertScale);
  }
};

/// Feed-forward parts of which a row takes some, their sum by weights, and one
/// that all rows take, perhaps times the sigmoid of a column. Both sides may
/// have norms of their own: of what they read, and of what they make.
struct Moe {
  struct Shared {
    int64_t width = 0;
    bool gate = false;
    std::optional<Norm> preNorm = {}, outNorm = {};
  };
  int64_t experts = 1, perToken = 1, width = 0;
  /// How wide the rows are that experts read and make, which are projected
  /// before and after; 0 for those of the model.
  int64_t latent = 0;
  Activation act = Activation::Silu;
  bool gated = true, bias = false;
  /// Of a gate that is transformer.clamped_gate; limit is 0 without.
  double alpha = 0, limit = 0;
  std::optional<Norm> expertsPreNorm, expertsOutNorm;
  std::optional<Shared> shared;
  Router router;
  friend bool operator==(const Moe &a, const Moe &b) {
    auto sharedOf = [](const Moe &moe) {
      Shared shared = moe.shared.value_or(Shared());
      return std::tuple(shared.width, shared.gate, shared.preNorm,
                        shared.outNorm);
    };
    auto own = [](const Moe &moe) {
      return std::tie(moe.experts, moe.perToken, moe.width, moe.latent, moe.act,
                      moe.gated, moe.bias, moe.alpha, moe.limit,
                      moe.expertsPreNorm, moe.expertsOutNorm);
    };
    return own(a) == own(b) && sharedOf(a) == sharedOf(b) &&
           a.router.all() == b.router.all();
  }
};

/// o(act(gate(x)) * e), e being what the stack's LayerInputs have for the
/// layer; with `scaled` of x times a learned number for each column.
struct LayerInput {
  Activation act = Activation::Gelu;
  bool scaled = false;
  friend bool operator==(const LayerInput &a, const LayerInput &b) {
    return a.act == b.act && a.scaled == b.scaled;
  }
};

/// x + norm(out(in(x))), in between there being `rank` columns: a learned
/// residual (Menghani et al. 2024, arXiv:2411.07501).
struct LowRank {
  int64_t rank = 0;
  std::optional<Norm> norm;
  friend bool operator==(const LowRank &a, const LowRank &b) {
    return a.rank == b.rank && a.norm == b.norm;
  }
};

/// act(c(e)), c being a convolution over the sequence, with a bias, and e what
/// the stack's first layer reads, whatever x is (He et al. 2020,
/// arXiv:2006.03654). There is nothing beyond the sequence's ends.
struct Ngram {
  int64_t kernel = 3; // odd
  Activation act = Activation::Tanh;
  friend bool operator==(const Ngram &a, const Ngram &b) {
    return a.kernel == b.kernel && a.act == b.act;
  }
};

/// y = scale * post_norm(x + out_act(out_scale * out_norm(f(pre_norm(x))))),
/// scale being a learned number with `postScale`, and `postFactor` without;
/// out_scale is `outScale`, or with `outScales` a learned number for each
/// column. `name` ("attn", "cross", "low_rank", "conv", "recurrent", "ffn",
/// "moe", "layer_input", "ngram") is the word in parameter names and in
/// locations. With `gruGate` the sum is the gate of Parisotto et al. 2019
/// (arXiv:1910.06764) in its place: of x and y, what is to be added, (1 - z) x
/// + z tanh(W y + U (r x)), r and z being sigmoids of projections of both.
struct Sublayer {
  std::string name;
  std::variant<Attention, Ffn, Moe, Conv, Recurrent, LayerInput, Ngram, LowRank>
      f;
  std::optional<Norm> preNorm, outNorm, postNorm;
  double outScale = 1;
  bool outScales = false;
  bool postScale = false;
  double postFactor = 1;
  /// f reads what f of the sublayer before reads, or, with a pre_norm, this of
  /// what that one's pre_norm is of; the sum is with the result of that one.
  bool parallel = false;
  bool gruGate = false;
  Activation outAct = Activation::Identity;
  /// What f is; null where it is something else.
  const Attention *attention() const { return std::get_if<Attention>(&f); }
  Attention *attention() { return std::get_if<Attention>(&f); }
  const Moe *moe() const { return std::get_if<Moe>(&f); }
  /// All but f.
  auto around() const {
    return std::tie(name, preNorm, outNorm, postNorm, outScale, outScales,
                    postScale, postFactor, outAct, gruGate, parallel);
  }
  friend bool operator==(const Sublayer &a, const Sublayer &b) {
    return a.f == b.f && a.around() == b.around();
  }
};

/// How many numbers a sublayer of hidden columns keeps of a sequence from step
/// to step in place of keys and values; 0 for one that keeps none.
int64_t stateWidth(const Sublayer &sublayer, int64_t hidden);

/// Consecutive layers of a run that differ in nothing but their weights.
struct LayerGroup {
  int64_t count = 0;
  std::vector<Sublayer> sublayers;
};

/// Layers that differ in numbers alone, those of their self-attentions (scale,
/// window, the frequencies and factor of rotary): `count` of them, `step`
/// apart. Those between them are the runs behind it: `step` runs of one stack,
/// with firsts one after the other and the same count, are the places of a
/// period and one loop, whose body has a layer of each; a run of step 1 is a
/// loop of its own. `prefix` begins the names of their parameters:
/// "decoder.layers", or "decoder.layers.4-7" (layers 4 to 7), and
/// "decoder.layers.4-10:2" (every second one), when the stack has several runs.
struct LayerRun {
  std::string prefix;
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 0;
  /// What all layers are; of the numbers, those of the first layer that has
  /// them. A run where this has no window or rotary has none in any layer.
  std::vector<Sublayer> sublayers;
  /// The layers themselves, `count` in all.
  std::vector<LayerGroup> groups;
  /// Where layers share their weights, how many different ones there are: layer
  /// i of the run has those of number weightsOf(i). 0: each has its own. Then
  /// the `step` runs of a loop are the layers of one group, and this the number
  /// of its layer that the run is.
  int64_t numShared = 0;
  int64_t place = 0;
  int64_t weightsOf(int64_t layer) const;
  /// The number of the run's layer i in the stack.
  int64_t layerOf(int64_t i) const { return first + i * step; }
};

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_LAYERSPEC_H
