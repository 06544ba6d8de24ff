// What a model is: the canonical spec as plain structs, every default filled,
// every parameter resolved. ReadSpec makes it, the frontend consumes it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_MODELSPEC_H
#define TFC_COMPILER_SPEC_MODELSPEC_H

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace tfc::spec {

enum class Kind { Encoder, Decoder, EncoderDecoder };
/// The spec's word for it.
const char *nameOf(Kind kind);

/// gelu is the erf form, gelu_new the tanh form, relu2 the square of relu.
enum class Activation { Identity, Gelu, GeluNew, Relu, Silu, Tanh, Relu2 };

/// Normalisation over the last axis, eps inside the root: layernorm (biased
/// variance) or rmsnorm (mean of squares, no bias); then times offset + weight,
/// plus bias.
struct Norm {
  enum class Kind { LayerNorm, RmsNorm } kind = Kind::LayerNorm;
  double eps = 0;
  bool weight = true, bias = true;
  double offset = 0; // 0 without a weight
  friend bool operator==(const Norm &a, const Norm &b) {
    return std::tie(a.kind, a.eps, a.weight, a.bias, a.offset) ==
           std::tie(b.kind, b.eps, b.weight, b.bias, b.offset);
  }
  friend bool operator!=(const Norm &a, const Norm &b) { return !(a == b); }
};

/// A table of positions. A token's row, where the caller gives no position_ids:
/// its column, or the number of tokens before it that the mask leaves, plus
/// `offset`; or the pad token's id plus the number of tokens up to it that are
/// no padding, and the id alone at padding.
struct Position {
  enum class Ids { Arange, FromMask, FromPad } ids = Ids::Arange;
  int64_t rows = 0;
  int64_t offset = 0;
};

/// An extra table, or a second look-up in the token table. Without a default,
/// a sequence whose input is not given gets nothing added.
struct Segment {
  std::string name;
  std::string input;
  bool useToken = false;
  int64_t rows = 0;
  std::optional<int64_t> defaultId;
};

/// x = norm(token * scale + position + sum of segments).
struct Embeddings {
  /// The parameter that is looked up: "encoder.embeddings.token.weight", or
  /// "shared.token.weight" when stacks share it.
  std::string tokenTable;
  int64_t tokenRows = 0;
  double tokenScale = 1;
  std::optional<Position> position;
  std::vector<Segment> segments;
  std::optional<Norm> norm;
};

/// How frequencies are stretched for contexts longer than those of the
/// training.
struct RotaryScaling {
  enum class Kind { None, Linear, Dynamic, Llama3, Yarn } kind = Kind::None;
  double factor = 1;
  /// Of llama3 and yarn: the longest context of the training.
  int64_t originalMax = 0;
  double lowFreqFactor = 1, highFreqFactor = 4; // llama3
  double betaFast = 32, betaSlow = 1;           // yarn
  bool truncate = true;                         // yarn
  auto fields() const {
    return std::tie(kind, factor, originalMax, lowFreqFactor, highFreqFactor,
                    betaFast, betaSlow, truncate);
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
  int64_t dim = 0; // even
  double theta = 0;
  RotaryScaling scaling;
  /// Radians per position, each an f32 number.
  std::vector<double> frequencies;
  /// Of cosine and sine (yarn's attention_factor).
  double factor = 1;
  auto fields() const {
    return std::tie(interleaved, dim, theta, scaling, frequencies, factor);
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
  friend bool operator==(const QkNorm &a, const QkNorm &b) {
    return std::tie(a.norm, a.overRow, a.afterRotary) ==
           std::tie(b.norm, b.overRow, b.afterRotary);
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
  /// Scores s are cap * tanh(s / cap).
  std::optional<double> cap;
  auto fields() const {
    return std::tie(cross, numHeads, numKvHeads, headDim, qBias, kBias, vBias,
                    oBias, scale, scaleByInverseLayer, causal, positionBias,
                    window, rotary, qkNorm, cap);
  }
  friend bool operator==(const Attention &a, const Attention &b) {
    return a.fields() == b.fields();
  }
};

/// down(act(up x)), or down(act(gate x) * up x) when gated.
struct Ffn {
  int64_t width = 0;
  Activation act = Activation::Gelu;
  bool gated = false;
  bool bias = false;
  friend bool operator==(const Ffn &a, const Ffn &b) {
    return std::tie(a.width, a.act, a.gated, a.bias) ==
           std::tie(b.width, b.act, b.gated, b.bias);
  }
};

/// y = post_norm(x + out_scale * out_norm(f(pre_norm(x)))). `name` ("attn",
/// "cross", "ffn") is the word in parameter names and in locations.
struct Sublayer {
  std::string name;
  std::variant<Attention, Ffn> f;
  std::optional<Norm> preNorm, outNorm, postNorm;
  double outScale = 1;
  /// f reads what f of the sublayer before reads, or, with a pre_norm, this of
  /// what that one's pre_norm is of; the sum is with the result of that one.
  bool parallel = false;
  /// All but f.
  auto around() const {
    return std::tie(name, preNorm, outNorm, postNorm, outScale, parallel);
  }
  friend bool operator==(const Sublayer &a, const Sublayer &b) {
    return a.f == b.f && a.around() == b.around();
  }
};

/// Consecutive layers that differ in nothing but their weights.
struct LayerGroup {
  int64_t count = 0;
  std::vector<Sublayer> sublayers;
};

/// Consecutive layers that differ in numbers alone, those of their
/// self-attentions (scale, window, the frequencies and factor of rotary): one
/// loop. `prefix` begins the names of their parameters: "decoder.layers", or
/// "decoder.layers.4-7" when the stack has several runs.
struct LayerRun {
  std::string prefix;
  int64_t first = 0;
  int64_t count = 0;
  /// What all layers are; of the numbers, those of the first layer that has
  /// them. A run where this has no window or rotary has none in any layer.
  std::vector<Sublayer> sublayers;
  /// The layers themselves, `count` in all.
  std::vector<LayerGroup> groups;
};

/// A learned number per head and bucket of distances, added to the scores of
/// a stack's self-attentions (Raffel et al. 2019, arXiv:1910.10683). The table
/// is "<stack>.position_bias.weight" [buckets, heads].
struct PositionBias {
  int64_t buckets = 0;
  int64_t maxDistance = 0;
  bool bidirectional = false;
};

struct Stack {
  std::string name; // "encoder" or "decoder"
  Embeddings embeddings;
  std::optional<PositionBias> positionBias;
  int64_t layers = 0;
  std::vector<LayerRun> runs; // empty when layers == 0
  std::optional<Norm> finalNorm;
};

/// One step of a head. `width` is the width after the step; `path`, of steps
/// with parameters, begins their names ("heads.pooler.dense").
struct TakeStep {
  enum class At { First, LastNonpad, LastEos } at = At::First;
};
struct DenseStep {
  std::string path;
  int64_t width = 0;
  Activation act = Activation::Identity;
  bool bias = true;
};
struct NormStep {
  std::string path;
  Norm norm;
};
struct LogitsStep {
  std::string path;
  int64_t width = 0;
  /// Name of the parameter whose rows are the output weights:
  /// "<path>.weight", or that of the table it is tied to.
  std::string weight;
  bool bias = false;
};
/// [rows, n] -> n results of [rows], each a named output of the head.
struct SplitStep {
  std::vector<std::string> names;
};
struct ActStep {
  Activation act = Activation::Identity;
};
/// Times a number ("rsqrt_hidden" is resolved).
struct ScaleStep {
  double factor = 1;
};
using HeadStep = std::variant<TakeStep, DenseStep, NormStep, LogitsStep,
                              SplitStep, ActStep, ScaleStep>;

/// `from` is "encoder", "decoder" or the name of an earlier head.
struct Head {
  std::string name;
  std::string from;
  std::vector<HeadStep> steps;
};

/// An output of the library. `value` is "encoder.hidden", "decoder.hidden", or
/// a head's name (its root says which stack); `part` is the index among a
/// split's results, else -1.
struct Output {
  std::string name;
  std::string value;
  int64_t part = -1;
};

struct Tokens {
  std::optional<int64_t> pad, bos, decoderStart;
  std::vector<int64_t> eos;
};

/// What generation does unless the caller says otherwise; the words and the
/// meaning are those of Hugging Face's generation_config.
struct Generation {
  std::optional<int64_t> forcedBos, forcedEos;
  int64_t minLength = 0, maxLength = 0; // 0: none
  int64_t noRepeatNgram = 0;            // 0: off
  int64_t numBeams = 1;
  enum class EarlyStopping { No, Yes, Never };
  EarlyStopping earlyStopping = EarlyStopping::No;
  bool doSample = false;
  int64_t topK = 50; // 0: off; read when sampling, as the next three
  double temperature = 1, topP = 1, minP = 0;
  double lengthPenalty = 1, repetitionPenalty = 1;
};

/// A parameter and where it is stored; tfc_weight_v0 in runtime/include/tfc/
/// abi.h says what the fields mean. Shape [rows, cols]; rank 1: cols = 1.
struct Parameter {
  std::string name; // "encoder.layers.attn.q.weight"
  std::vector<std::string> patterns;
  int64_t rank = 2, rows = 0, cols = 1;
  int64_t firstRow = 0, storedRows = 0;
  /// The stored rows are that many groups, of which each has its share of these
  /// rows, from its row `firstRow` on.
  int64_t groups = 1;
  bool inOut = false;
  bool fillZeros = false;
  /// -1: one tensor; otherwise one a layer.
  int64_t firstLayer = -1;
  int64_t layers = 1;
  /// Not a parameter of its own: a tensor that, if stored, must equal this
  /// other parameter (a tied head).
  std::string tiedTo;
};

/// What matrices are kept in; the numbers are those of abi.h.
enum class Storage { F32 = 0, F16 = 1, BF16 = 2 };

struct ModelSpec {
  std::string name;
  Kind kind = Kind::Encoder;
  int64_t hidden = 0, vocab = 0, maxPositions = 0;
  /// Of the table "shared.token.weight" [rows, hidden]; 0: there is none.
  int64_t sharedRows = 0;
  /// Each where the kind has it.
  std::optional<Stack> encoder, decoder;
  /// The stacks that there are, the encoder first.
  std::vector<const Stack *> stacks() const {
    std::vector<const Stack *> all;
    for (const std::optional<Stack> *stack : {&encoder, &decoder}) {
      if (*stack) {
        all.push_back(&**stack);
      }
    }
    return all;
  }
  /// Vectors are f32 always, and so is arithmetic.
  Storage storage = Storage::F32;
  /// What keys and values are kept in, from step to step.
  Storage cache = Storage::F32;
  /// Whether stored matrices of more bits are rounded to it (--dtype); else
  /// such a one is an error when weights are loaded.
  bool roundsWeights = false;
  std::vector<Head> heads;
  std::vector<Output> outputs;
  Tokens tokens;
  Generation generation;
  std::vector<std::string> prefixes;
  std::vector<std::pair<std::string, std::string>> aliases;
  /// Globs of tensors that may stay unclaimed.
  std::vector<std::string> ignore;
  /// All parameters, in the order of the weight table.
  std::vector<Parameter> parameters;
  /// The canonical spec as JSON text: a function of the model alone, equal for
  /// equal models, and itself a valid spec that reads back to the same text.
  std::string canonical;
};

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_MODELSPEC_H
