// What a model is: the canonical spec as plain structs, every default filled,
// every parameter resolved. ReadSpec makes it, the frontend consumes it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_MODELSPEC_H
#define TFC_COMPILER_SPEC_MODELSPEC_H

#include "compiler/spec/LayerSpec.h"

namespace tfc::spec {

enum class Kind { Encoder, Decoder, EncoderDecoder };
/// The spec's word for it.
const char *nameOf(Kind kind);

/// How sines and cosines of a position lie in its row, and how their
/// frequencies fall: 1 / base^(k / (n - 1)), or 1 / base^(k / n), of n.
struct Sinusoid {
  bool interleaved = false; // otherwise all sines, then all cosines
  bool halfMinusOne = false;
  std::optional<int64_t> zeroRow; // a row of zeros
  double base = 10000;
  /// The n frequencies of a row `width` wide.
  std::vector<double> frequencies(int64_t width) const;
};

/// A table of positions, learned or computed. A token's row, where the caller
/// gives no position_ids: its column, or the number of tokens before it that
/// the mask leaves, plus `offset`; or the pad token's id plus the number of
/// tokens up to it that are no padding, and the id alone at padding.
struct Position {
  enum class Ids { Arange, FromMask, FromPad } ids = Ids::Arange;
  int64_t rows = 0;
  int64_t offset = 0;
  std::optional<Sinusoid> sinusoid;
  /// Of a grid, the position being the number of a place in it, the last axis
  /// counted first: each axis has a table, whose rows are side by side in that
  /// of a position, "encoder.embeddings.position.0.weight" and so on (Kitaev et
  /// al. 2020, arXiv:2001.04451). `rows` is how many places there are.
  struct Axis {
    int64_t rows = 0, width = 0;
  };
  std::vector<Axis> axes;
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

/// A vocabulary in pieces, whose rare tokens have narrow rows: piece i are the
/// ids from one cutoff to the next and is width / div^i wide, down to a whole
/// number (Baevski and Auli 2018, arXiv:1809.10853; Grave et al. 2016,
/// arXiv:1609.04309). With a div of more than 1 each piece is projected to
/// hidden.
struct Pieces {
  struct Piece {
    int64_t first = 0, rows = 0, width = 0;
  };
  std::vector<int64_t> cutoffs;
  int64_t div = 1, rows = 0, width = 0;
  bool isProjected() const { return div > 1; }
  std::vector<Piece> list() const;
  friend bool operator==(const Pieces &a, const Pieces &b) {
    return std::tie(a.cutoffs, a.div, a.rows, a.width) ==
           std::tie(b.cutoffs, b.div, b.rows, b.width);
  }
};

/// x = norm(token * scale + position + sum of segments), or the projection of
/// it; or with the projection of the token's row in place of that, or of the
/// sum.
struct Embeddings {
  /// The parameter that is looked up: "encoder.embeddings.token.weight", or
  /// "shared.token.weight" when stacks share it.
  std::string tokenTable;
  int64_t tokenRows = 0;
  /// Of the token table: hidden, unless there is a projection.
  int64_t width = 0;
  /// Of the other tables: as of the token table, or hidden where the projection
  /// comes before the sum.
  int64_t sumWidth = 0;
  double tokenScale = 1;
  /// The token table is several, "encoder.embeddings.token.0.weight" and so on,
  /// with projections "encoder.embeddings.projection.0.weight".
  std::optional<Pieces> adaptive;
  std::optional<Position> position;
  std::vector<Segment> segments;
  std::optional<Norm> norm;
  /// It is of the token alone, before anything is added.
  bool normsToken = false;
  /// A product [hidden, width].
  struct Projection {
    enum class At { AfterNorm, Token, Sum } at = At::AfterNorm;
    bool bias = false;
  };
  std::optional<Projection> projection;
  /// Tokens behind those of the table (all where there is none) have a row of
  /// so many floats each, which a product of its own,
  /// "encoder.embeddings.patches", makes one of hidden (Dosovitskiy et al.
  /// 2020, arXiv:2010.11929).
  struct Patches {
    /// In place of the product: act(convolution) over the sequence's frames,
    /// of which a row has as many as the strides multiply to, with zeros beyond
    /// the ends; "encoder.embeddings.patches.0" and so on, [hidden, columns of
    /// a frame x kernel] (Radford et al. 2022, arXiv:2212.04356).
    struct Conv {
      int64_t kernel = 1, stride = 1;
      bool bias = true;
      Activation act = Activation::Identity;
    };
    int64_t width = 0;
    bool bias = true;
    std::vector<Conv> convs;
    int64_t frames() const {
      int64_t count = 1;
      for (const Conv &conv : convs) {
        count *= conv.stride;
      }
      return count;
    }
  };
  std::optional<Patches> patches;
  /// Of the norm's rows: hidden where they are projected by then.
  int64_t normWidth(int64_t hidden) const {
    bool isProjected =
        projection && projection->at == Projection::At::Sum && !normsToken;
    return isProjected ? hidden : sumWidth;
  }
};

/// A learned number per head and bucket of distances, added to the scores of
/// a stack's self-attentions (Raffel et al. 2019, arXiv:1910.10683). The table
/// is "<stack>.position_bias.weight" [buckets, heads], or that of each layer,
/// "<stack>.layers.attn.position_bias.weight".
struct PositionBias {
  int64_t buckets = 0;
  int64_t maxDistance = 0;
  bool bidirectional = false;
  bool perLayer = false;
};

/// A table of distances, of which attentions project terms of their scores
/// (He et al. 2020, arXiv:2006.03654): "<stack>.relative.weight"
/// [2 span, hidden]. Where the query is d behind the key, that is its row
/// d + span, between the first and the last one; with `maxDistance` M distances
/// from span / 2 on share rows by their logarithm, which end at M.
///
/// Or tables as wide as a head, [2 span - 1, head_dim], whose row is
/// d + span - 1: one of each layer (Shaw et al. 2018, arXiv:1803.02155),
/// "<stack>.layers.attn.relative.weight", or a computed one of all (Wei et al.
/// 2019, arXiv:1909.00204): sine and cosine, in turns, of its rows' numbers,
/// counted from the last row.
///
/// Or a computed one [2 span - 1, hidden] with `ofHidden`, whose rows are sines
/// and then cosines of the distance itself (Dai et al. 2019, arXiv:1901.02860).
struct RelativeTable {
  int64_t span = 0;
  std::optional<int64_t> maxDistance;
  std::optional<Norm> norm; // of its rows
  bool perLayer = false, sinusoid = false, ofHidden = false;
  /// Whether it is as wide as a head.
  bool isOfHeads() const { return perLayer || (sinusoid && !ofHidden); }
  /// Whether there is a row for each distance below the span, and no more.
  bool isOdd() const { return perLayer || sinusoid; }
  int64_t rows() const { return isOdd() ? 2 * span - 1 : 2 * span; }
};

/// What the stack's tokens are for each layer, beside the layer's input: with x
/// the embeddings, of layer l `outScale (norm(projectionScale W_l x) + scale
/// table_l[id])`, `width` columns. W and the table have those of all layers
/// side by side: "<stack>.layer_inputs.projection.weight" [layers width,
/// hidden],
/// "<stack>.layer_inputs.token.weight" [rows, layers width]. Where there are
/// fewer rows than ids, those beyond have the row `beyond`.
struct LayerInputs {
  int64_t width = 0, rows = 0;
  std::optional<int64_t> beyond;
  double scale = 1, projectionScale = 1, outScale = 1;
  Norm norm; // of each layer's columns, with the same weight
};

/// Layers go from `count` streams of rows to as many (Baykal et al. 2023,
/// arXiv:2301.13310). Stream 0 begins with the embeddings x and stream i with
/// transformer.match_magnitude of "<stack>.streams.in.<i - 1>" x to x; the
/// layers' result is the mean of stream 0 and of those of
/// "<stack>.streams.out.<i - 1>" of the others to it. With m(x) =
/// tanh(router(routerScale norm(x))), of a layer's parameters
/// "<stack>.layers.streams.router" and so on, which is `count` numbers:
///
/// * A layer begins with p_i = x_i + sum_j (predict m(x_a))_ij x_j, a being
///   `active`.
/// * Its sublayers but a layer_input make y of p_a.
/// * It gives x_i = p_i + (1 + (correct m(y))_i) (y - p_a).
/// * What its layer_input makes of x_a is added to all of them but stream 0.
///
/// Or, where they are `reversible`, two streams that both begin with the
/// embeddings (Kitaev et al. 2020, arXiv:2001.04451): what the first sublayer
/// of a layer, the third and so on make of stream 1 is added to stream 0, and
/// what the others make of that to stream 1. The layers' result is both, side
/// by side.
struct Streams {
  bool reversible = false;
  int64_t count = 2, active = 0;
  Norm norm;
  double routerScale = 1;
  double floor = 0; // of match_magnitude
};

struct Stack {
  std::string name; // "encoder" or "decoder"
  Embeddings embeddings;
  std::optional<Streams> streams;
  /// Whether the input `targets` says which tokens have the row of
  /// "<stack>.streams.target" in the place of their own and are seen by none:
  /// the query stream of Yang et al. 2019, arXiv:1906.08237.
  bool hasTargets = false;
  std::optional<LayerInputs> layerInputs;
  std::optional<PositionBias> positionBias;
  std::optional<RelativeTable> relative;
  int64_t layers = 0;
  std::vector<LayerRun> runs; // empty when layers == 0
  std::optional<Norm> finalNorm;
  /// The self-attention of each layer, in their order; null where it has none.
  std::vector<const Attention *> selfAttentions() const;
  /// How wide the rows of its result are.
  int64_t resultWidth(int64_t hidden) const {
    return streams && streams->reversible ? 2 * hidden : hidden;
  }
};

/// The self-attention of a layer; null where it has none.
const Attention *selfAttentionOf(const std::vector<Sublayer> &layer);

/// One step of a head. `width` is the width after the step; `path`, of steps
/// with parameters, begins their names ("heads.pooler.dense").
struct TakeStep {
  enum class At {
    First,
    LastNonpad,
    LastEos,
    FirstEos,
    FirstVisible,
    LastVisible
  } at = At::First;
};
/// A row of all rows of a sequence that the mask leaves, but so many in front.
struct PoolStep {
  enum class How { Mean, Max, MeanSqrtLen } how = How::Mean;
  int64_t skip = 0;
  /// Behind the first row that the mask leaves, in one of twice the width.
  bool besideFirst = false;
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
/// Log probabilities of a vocabulary in pieces: those of the first and of the
/// others as a whole ("<path>.clusters") are of one softmax, and each other
/// piece has one of its own. Of piece i the matrix is "<path>.<i>", or the
/// table that it is tied to, of the rows' projection "<path>.projection.<i>".
struct AdaptiveLogitsStep {
  std::string path;
  Pieces pieces;
  /// Of each piece, the parameter whose rows are the output weights.
  std::vector<std::string> weights;
  bool bias = false;
  bool isTied() const { return weights.front() != path + ".0.weight"; }
};
/// DIN's activation unit (Zhou et al. 2018, arXiv:1706.06978): the sum of a
/// sequence's rows, each by what a small network makes of it and the row that
/// asks, and behind it that row. Layers are "<path>.0", and so on.
struct ActivationUnitStep {
  std::string path;
  bool first = false;          // the row that asks; otherwise the last one
  std::vector<int64_t> hidden; // widths of layers but the last, which is 1
  Activation act = Activation::Sigmoid;
};
/// What a learned row, "<path>.probe", finds as the one query of an attention
/// over all rows of a sequence, and behind it a feed-forward part: y +
/// down(act(up(norm(y)))). Heads are those of the stack (Lee et al. 2019,
/// arXiv:1810.00825; Zhai et al. 2022, arXiv:2106.04560). All products have
/// biases.
struct ProbeStep {
  std::string path;
  int64_t numHeads = 1, headDim = 0;
  Norm norm;
  int64_t width = 0; // of the feed-forward part
  Activation act = Activation::Gelu;
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
/// The first columns.
struct TruncateStep {
  int64_t width = 0;
};
/// Divided by its length, or by `eps` where that is more.
struct L2NormalizeStep {
  double eps = 1e-12;
};
using HeadStep =
    std::variant<TakeStep, PoolStep, DenseStep, NormStep, LogitsStep, SplitStep,
                 ActStep, ScaleStep, TruncateStep, L2NormalizeStep,
                 AdaptiveLogitsStep, ActivationUnitStep, ProbeStep>;

/// `from` is "encoder", "decoder" or the name of an earlier head.
struct Head {
  std::string name;
  std::string from;
  std::vector<HeadStep> steps;
};

/// An output of the library. `value` is "encoder.hidden", "decoder.hidden", the
/// same with "all_hidden", or a head's name (its root says which stack); `part`
/// is the index among a split's results, else -1.
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
  /// Tokens that never come, and those that are not the first new one.
  std::vector<int64_t> suppress, beginSuppress;
};

/// Some of a parameter's rows, from row `firstRow` of a tensor; zeros where
/// there are no names.
struct StoredPart {
  std::vector<std::string> patterns;
  int64_t rows = 0, firstRow = 0, storedRows = 0;
};

/// A parameter and where it is stored; tfc_weight_v0 in runtime/include/tfc/
/// abi.h says what the fields mean. Shape [rows, cols]; rank 1: cols = 1.
struct Parameter {
  std::string name; // "encoder.layers.attn.q.weight"
  std::vector<std::string> patterns;
  int64_t rank = 2, rows = 0, cols = 1;
  int64_t firstRow = 0, storedRows = 0;
  /// Or its rows are these, one part below the other; without `patterns`.
  std::vector<StoredPart> parts;
  /// The stored rows are that many groups, of which each has its share of these
  /// rows, from its row `firstRow` on.
  int64_t groups = 1;
  /// Or each row is so far behind the one before: rows of several parameters,
  /// one of each in turn.
  int64_t rowStep = 1;
  /// The columns of what is stored, of which these are the first; 0: `cols`.
  int64_t storedCols = 0;
  /// Of heads that may be tensors of their own ({h}), how many; else 0.
  int64_t heads = 0;
  bool inOut = false;
  bool fillZeros = false;
  /// A matrix that is bf16 where others are integers, and one that is int8
  /// where others are int4.
  bool isKeptWide = false, isKeptByte = false;
  /// Of a parameter of experts, how many a layer has; else 0. Each has these
  /// rows, in a tensor of its own ({e}) or, stacked, in one of all.
  int64_t experts = 0;
  bool stacked = false;
  /// -1: one tensor; otherwise one a layer, from this layer on, `layerStep`
  /// apart.
  int64_t firstLayer = -1;
  int64_t layerStep = 1;
  int64_t layers = 1;
  /// Not a parameter of its own: a tensor that, if stored, must equal this
  /// other parameter (a tied head).
  std::string tiedTo;
};

/// What matrices are kept in; the numbers are those of abi.h.
enum class Storage { F32 = 0, F16 = 1, BF16 = 2, Int8 = 4, Int4 = 5 };

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
  /// Vectors are f32 always.
  Storage storage = Storage::F32;
  /// Of integers, columns that have a scale, 0 being all of a row; and of int4
  /// whether they have a zero point, too, or a zero that is a float, and what
  /// scales and such zeros are kept in.
  int64_t group = 0;
  bool hasZeros = false, hasFloatZeros = false;
  Storage scales = Storage::F32;
  bool hasIntegers() const {
    return storage == Storage::Int8 || storage == Storage::Int4;
  }
  /// Whether products may multiply bf16, to which their rows are rounded then,
  /// where the machine is fast at it. Otherwise arithmetic is f32.
  bool multipliesBf16 = false;
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
