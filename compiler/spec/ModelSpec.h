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

enum class Kind { Encoder, Decoder };

/// gelu is the erf form, gelu_new the tanh form.
enum class Activation { Identity, Gelu, GeluNew, Relu, Silu, Tanh };

/// Layer normalisation over the last axis, biased variance, eps inside the
/// root.
struct Norm {
  double eps = 0;
  bool bias = true;
  friend bool operator==(const Norm &a, const Norm &b) {
    return a.eps == b.eps && a.bias == b.bias;
  }
};

struct Position {
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

/// x = norm(token + position + sum of segments).
struct Embeddings {
  int64_t tokenRows = 0;
  std::optional<Position> position;
  std::vector<Segment> segments;
  std::optional<Norm> norm;
};

struct Attention {
  int64_t numHeads = 0;
  int64_t numKvHeads = 0;
  int64_t headDim = 0;
  bool qBias = false, kBias = false, vBias = false, oBias = false;
  double scale = 1;
  /// Scores are divided by (layer + 1) as well.
  bool scaleByInverseLayer = false;
  bool causal = false;
  friend bool operator==(const Attention &a, const Attention &b) {
    return std::tie(a.numHeads, a.numKvHeads, a.headDim, a.qBias, a.kBias,
                    a.vBias, a.oBias, a.scale, a.scaleByInverseLayer,
                    a.causal) ==
           std::tie(b.numHeads, b.numKvHeads, b.headDim, b.qBias, b.kBias,
                    b.vBias, b.oBias, b.scale, b.scaleByInverseLayer, b.causal);
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

/// y = post_norm(x + f(pre_norm(x))). `name` ("attn", "ffn") is the word
/// in parameter names and in locations.
struct Sublayer {
  std::string name;
  std::variant<Attention, Ffn> f;
  std::optional<Norm> preNorm, postNorm;
  friend bool operator==(const Sublayer &a, const Sublayer &b) {
    return std::tie(a.name, a.f, a.preNorm, a.postNorm) ==
           std::tie(b.name, b.f, b.preNorm, b.postNorm);
  }
};

/// Consecutive layers that differ in nothing but their weights: one loop.
/// `prefix` begins the names of their parameters: "decoder.layers", or
/// "decoder.layers.4-7" when the stack has several runs.
struct LayerRun {
  std::string prefix;
  int64_t first = 0;
  int64_t count = 0;
  std::vector<Sublayer> sublayers;
};

struct Stack {
  std::string name; // "encoder" or "decoder"
  Embeddings embeddings;
  int64_t layers = 0;
  std::vector<LayerRun> runs; // empty when layers == 0
  std::optional<Norm> finalNorm;
};

/// One step of a head. `width` is the width after the step; `path`, of steps
/// with parameters, begins their names ("heads.pooler.dense").
struct TakeStep {
  enum class At { First, LastNonpad } at = At::First;
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
using HeadStep =
    std::variant<TakeStep, DenseStep, NormStep, LogitsStep, SplitStep, ActStep>;

/// `from` is "encoder", "decoder" or the name of an earlier head.
struct Head {
  std::string name;
  std::string from;
  std::vector<HeadStep> steps;
};

/// An output of the library. `value` is "encoder.hidden", "decoder.hidden", or
/// a head's name; `part` is the index among a split's results, else -1.
struct Output {
  std::string name;
  std::string value;
  int64_t part = -1;
};

struct Tokens {
  std::optional<int64_t> pad, bos;
  std::vector<int64_t> eos;
};

/// A parameter and where it is stored; tfc_weight_v0 in runtime/include/tfc/
/// abi.h says what the fields mean. Shape [rows, cols]; rank 1: cols = 1.
struct Parameter {
  std::string name; // "encoder.layers.attn.q.weight"
  std::vector<std::string> patterns;
  int64_t rank = 2, rows = 0, cols = 1;
  int64_t firstRow = 0, storedRows = 0;
  bool inOut = false;
  bool fillZeros = false;
  /// -1: one tensor; otherwise one a layer.
  int64_t firstLayer = -1;
  int64_t layers = 1;
  /// Not a parameter of its own: a tensor that, if stored, must equal this
  /// other parameter (a tied head).
  std::string tiedTo;
};

struct ModelSpec {
  std::string name;
  Kind kind = Kind::Encoder;
  int64_t hidden = 0, vocab = 0, maxPositions = 0;
  Stack stack;
  std::vector<Head> heads;
  std::vector<Output> outputs;
  Tokens tokens;
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
