// The parameters of a model in the order in which it uses them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/weights/ResolveWeights.h"

#include "compiler/spec/Visit.h"

namespace tfc::spec {
namespace {

class Lister {
public:
  explicit Lister(const ModelSpec &model) : model(model) {}

  std::vector<Slot> slots;

  void list() {
    if (model.sharedRows > 0) {
      addLinear("shared.token", model.sharedRows, model.hidden, false);
    }
    std::vector<std::pair<std::string, int64_t>> widths;
    for (const Stack *each : model.stacks()) {
      stack = each;
      listStack();
      widths.emplace_back(each->name, each->resultWidth(model.hidden));
    }
    stack = nullptr;
    for (const Head &head : model.heads) {
      int64_t width = model.hidden;
      for (const auto &[name, known] : widths) {
        width = name == head.from ? known : width;
      }
      for (const HeadStep &step : head.steps) {
        std::visit([&](const auto &s) { listStep(s, width); }, step);
      }
      widths.emplace_back(head.name, width);
    }
  }

private:
  const ModelSpec &model;
  const Stack *stack = nullptr;
  const LayerRun *run = nullptr;

  /// `stem` is the full name, or the name within a layer of the current run.
  void add(const std::string &stem, const char *part, int64_t rank,
           int64_t rows, int64_t cols) {
    Slot slot;
    slot.stem = run ? run->prefix + "." + stem : stem;
    slot.common = run ? stack->name + ".layers." + stem : stem;
    slot.stackLayers = !run                 ? 0
                       : run->numShared > 0 ? run->numShared
                                            : stack->layers;
    slot.part = part;
    slot.parameter.name = slot.stem + "." + part;
    slot.parameter.rank = rank;
    slot.parameter.rows = slot.parameter.storedRows = rows;
    slot.parameter.cols = cols;
    if (run) {
      bool isShared = run->numShared > 0;
      slot.place = run->place;
      slot.places = isShared ? run->step : 0;
      slot.parameter.firstLayer = isShared ? 0 : run->first;
      slot.parameter.layerStep = isShared ? 1 : run->step;
      slot.parameter.layers = isShared ? run->numShared : run->count;
    }
    slots.push_back(std::move(slot));
  }

  void addLinear(const std::string &stem, int64_t rows, int64_t cols,
                 bool bias) {
    add(stem, "weight", 2, rows, cols);
    if (bias) {
      add(stem, "bias", 1, rows, 1);
    }
  }

  /// What each of `experts` experts has.
  void addExperts(const std::string &stem, int64_t experts, int64_t rows,
                  int64_t cols, bool bias) {
    size_t before = slots.size();
    addLinear(stem, rows, cols, bias);
    for (size_t i = before; i < slots.size(); ++i) {
      slots[i].parameter.experts = experts;
    }
  }

  /// What has rows for each of `heads` heads.
  void addHeads(const std::string &stem, int64_t heads, int64_t rows,
                int64_t cols, bool bias) {
    size_t before = slots.size();
    addLinear(stem, rows, cols, bias);
    for (size_t i = before; i < slots.size(); ++i) {
      slots[i].parameter.heads = heads;
    }
  }

  /// What piece `number` of a vocabulary has, or layer `number` of a step.
  void addPiece(const std::string &stem, int64_t number, int64_t rows,
                int64_t cols, bool bias) {
    size_t before = slots.size();
    addLinear(stem + "." + std::to_string(number), rows, cols, bias);
    for (size_t i = before; i < slots.size(); ++i) {
      slots[i].piece = number;
      slots[i].ofPieces = stem;
    }
  }

  void addNorm(const std::string &stem, const std::optional<Norm> &norm,
               int64_t width) {
    if (norm && norm->weight) {
      add(stem, "weight", 1, width, 1);
    }
    if (norm && norm->bias) {
      add(stem, "bias", 1, width, 1);
    }
  }

  void listStack() {
    listEmbeddings();
    listPositionBias();
    listLayerInputs();
    if (stack->relative && !stack->relative->isOdd() && !stack->runs.empty()) {
      addLinear(stack->name + ".relative", stack->relative->rows(),
                model.hidden, false);
      addNorm(stack->name + ".relative.norm", stack->relative->norm,
              model.hidden);
    }
    if (stack->hasTargets) {
      addLinear(stack->name + ".streams.target", 1, stack->embeddings.width,
                false);
    }
    listStreams("in");
    for (const LayerRun &each : stack->runs) {
      run = &each;
      listRouter();
      for (const Sublayer &sublayer : each.sublayers) {
        listSublayer(sublayer);
      }
    }
    run = nullptr;
    listStreams("out");
    addNorm(stack->name + ".final_norm", stack->finalNorm,
            stack->resultWidth(model.hidden));
  }

  void listPositionBias() {
    for (const LayerRun &each : stack->runs) {
      for (const Sublayer &sublayer : each.sublayers) {
        const Attention *attn = sublayer.attention();
        if (attn && attn->positionBias && !stack->positionBias->perLayer) {
          addLinear(stack->name + ".position_bias",
                    stack->positionBias->buckets, attn->numHeads, false);
          return;
        }
      }
    }
  }

  void listPatches(const Embeddings::Patches &patches,
                   const std::string &stem) {
    if (patches.convs.empty()) {
      addLinear(stem, model.hidden, patches.width, patches.bias);
    }
    int64_t width = patches.width / patches.frames();
    for (size_t i = 0; i < patches.convs.size(); ++i) {
      const Embeddings::Patches::Conv &conv = patches.convs[i];
      addLinear(stem + "." + std::to_string(i), model.hidden,
                width * conv.kernel, conv.bias);
      width = model.hidden;
    }
  }

  void listEmbeddings() {
    const Embeddings &embeddings = stack->embeddings;
    std::string stem = stack->name + ".embeddings.";
    if (embeddings.adaptive) {
      listPieces(*embeddings.adaptive, stem);
    } else if (embeddings.tokenTable == stem + "token.weight") {
      addLinear(stem + "token", embeddings.tokenRows, embeddings.width, false);
    }
    if (embeddings.patches) {
      listPatches(*embeddings.patches, stem + "patches");
    }
    if (embeddings.position) {
      listPosition(*embeddings.position, stem + "position",
                   embeddings.sumWidth);
    }
    for (const Segment &segment : embeddings.segments) {
      if (!segment.useToken) {
        addLinear(stem + "segment." + segment.name, segment.rows,
                  embeddings.sumWidth, false);
      }
    }
    addNorm(stem + "norm", embeddings.norm, embeddings.normWidth(model.hidden));
    if (embeddings.projection) {
      addLinear(stem + "projection", model.hidden, embeddings.width,
                embeddings.projection->bias);
    }
  }

  void listPosition(const Position &position, const std::string &stem,
                    int64_t width) {
    int64_t number = 0;
    for (const Position::Axis &axis : position.axes) {
      addPiece(stem, number++, axis.rows, axis.width, false);
    }
    if (position.axes.empty() && !position.sinusoid) {
      addLinear(stem, position.rows, width, false);
    }
  }

  void listPieces(const Pieces &pieces, const std::string &stem) {
    int64_t number = 0;
    for (const Pieces::Piece &piece : pieces.list()) {
      addPiece(stem + "token", number, piece.rows, piece.width, false);
      if (pieces.isProjected()) {
        addPiece(stem + "projection", number, model.hidden, piece.width, false);
      }
      ++number;
    }
  }

  void listSublayer(const Sublayer &sublayer) {
    std::string stem = sublayer.name + ".";
    addNorm(stem + "pre_norm", sublayer.preNorm, model.hidden);
    visit(
        sublayer.f,
        [&](const Attention &attn) {
          attn.latent ? listLatent(attn, stem) : listAttention(attn, stem);
        },
        [&](const Ffn &ffn) { listFfn(ffn, stem); },
        [&](const Moe &moe) { listMoe(moe, stem); },
        [&](const Conv &conv) { listConv(conv, stem); },
        [&](const Recurrent &recurrent) { listRecurrent(recurrent, stem); },
        [&](const LayerInput &own) { listLayerInput(own, stem); },
        [&](const LowRank &own) {
          addLinear(stem + "in", own.rank, model.hidden, false);
          addLinear(stem + "out", model.hidden, own.rank, false);
          addNorm(stem + "norm", own.norm, model.hidden);
        },
        [&](const Ngram &ngram) {
          addLinear(stem + "conv", model.hidden, model.hidden * ngram.kernel,
                    true);
        });
    addNorm(stem + "out_norm", sublayer.outNorm, model.hidden);
    if (sublayer.gruGate) {
      for (const char *part : {"reset", "update", "state"}) {
        bool isUpdate = part == std::string("update");
        addLinear(stem + "gru." + part, model.hidden, model.hidden, isUpdate);
        addLinear(stem + "gru." + part + "_x", model.hidden, model.hidden,
                  false);
      }
    }
    addNorm(stem + "post_norm", sublayer.postNorm, model.hidden);
    if (sublayer.outScales) {
      add(stem + "out_scale", "weight", 1, model.hidden, 1);
    }
    if (sublayer.postScale) {
      add(stem + "post_scale", "weight", 1, 1, 1);
    }
  }

  void listLayerInput(const LayerInput &own, const std::string &stem) {
    int64_t width = stack->layerInputs ? stack->layerInputs->width : 0;
    if (own.scaled) {
      add(stem + "in_scale", "weight", 1, model.hidden, 1);
    }
    addLinear(stem + "gate", width, model.hidden, false);
    addLinear(stem + "o", model.hidden, width, false);
  }

  void listLayerInputs() {
    if (!stack->layerInputs || stack->runs.empty()) {
      return;
    }
    const LayerInputs &inputs = *stack->layerInputs;
    std::string stem = stack->name + ".layer_inputs.";
    int64_t columns = inputs.width * stack->layers;
    addLinear(stem + "token", inputs.rows, columns, false);
    addLinear(stem + "projection", columns, model.hidden, false);
    addNorm(stem + "norm", inputs.norm, inputs.width);
  }

  /// A matrix for each stream but the first.
  void listStreams(const char *end) {
    if (!stack->streams || stack->streams->reversible) {
      return;
    }
    for (int64_t i = 1; i < stack->streams->count; ++i) {
      addPiece(stack->name + ".streams." + end, i - 1, model.hidden,
               model.hidden, false);
    }
  }

  /// What a layer has of its own for the streams.
  void listRouter() {
    if (!stack->streams || stack->streams->reversible) {
      return;
    }
    int64_t count = stack->streams->count;
    addNorm("streams.router_norm", stack->streams->norm, model.hidden);
    addLinear("streams.router", count, model.hidden, false);
    addLinear("streams.predict", count * count, count, false);
    addLinear("streams.correct", count, count, false);
  }

  void listAttention(const Attention &attn, const std::string &stem) {
    int64_t queries = attn.numHeads * attn.headDim;
    int64_t keys = attn.numKvHeads * attn.headDim;
    int64_t heads = attn.numHeads, kvHeads = attn.numKvHeads;
    addHeads(stem + "q", heads, queries, model.hidden, attn.qBias);
    bool hasKeys = !attn.sharedKeys;
    bool isHashed = attn.sparse && attn.sparse->hashes;
    if (hasKeys && !isHashed) {
      addHeads(stem + "k", kvHeads, keys, model.hidden, attn.kBias);
    }
    if (hasKeys && !attn.valuesAreKeys) {
      addHeads(stem + "v", kvHeads, keys, model.hidden, attn.vBias);
    }
    if (attn.gate && attn.gate->perHead) {
      addLinear(stem + "gate", heads, model.hidden, attn.qBias);
    } else if (attn.gate) {
      addHeads(stem + "gate", heads, queries, model.hidden, attn.qBias);
    }
    if (attn.qkNorm && attn.qkNorm->perHead) {
      addHeads(stem + "q_norm", heads, heads, attn.headDim, false);
      if (hasKeys) {
        addHeads(stem + "k_norm", kvHeads, kvHeads, attn.headDim, false);
      }
    } else if (attn.qkNorm) {
      bool overRow = attn.qkNorm->overRow;
      addNorm(stem + "q_norm", attn.qkNorm->norm,
              overRow ? queries : attn.headDim);
      if (hasKeys) {
        addNorm(stem + "k_norm", attn.qkNorm->norm,
                overRow ? keys : attn.headDim);
      }
    }
    addNorm(stem + "v_norm", attn.vNorm, attn.headDim);
    if (attn.positionBias && stack->positionBias->perLayer) {
      addLinear(stem + "position_bias", stack->positionBias->buckets, heads,
                false);
    }
    if (attn.relative && stack->relative->perLayer) {
      addLinear(stem + "relative", stack->relative->rows(), attn.headDim,
                false);
    }
    using Use = RelativeTerms::Use;
    if (attn.relative && attn.relative->keys == Use::Own) {
      addLinear(stem + "relative_k", queries, model.hidden,
                attn.relative->keysBias);
    }
    if (attn.relative && attn.relative->queries == Use::Own) {
      addLinear(stem + "relative_q", queries, model.hidden,
                attn.relative->queriesBias);
    }
    if (attn.queryBias) {
      add(stem + "query_bias", "weight", 1, queries, 1);
      add(stem + "relative_bias", "weight", 1, queries, 1);
    }
    if (attn.segments) {
      addLinear(stem + "segments", 2, queries, false);
      add(stem + "segment_bias", "weight", 1, queries, 1);
    }
    if (attn.sinks) {
      add(stem + "sinks", "weight", 1, attn.numHeads, 1);
    }
    addNorm(stem + "inner_norm", attn.innerNorm, queries);
    addLinear(stem + "o", model.hidden, queries, attn.oBias);
  }

  /// What makes a head's key of a latent is used the other way, on queries.
  void listLatent(const Attention &attn, const std::string &stem) {
    const Latent &latent = *attn.latent;
    int64_t queries = attn.numHeads * (latent.nopeDim + latent.ropeDim);
    if (latent.queryRank > 0) {
      addLinear(stem + "q_a", latent.queryRank, model.hidden, latent.bias);
      addNorm(stem + "q_a_norm", latent.norm, latent.queryRank);
      addLinear(stem + "q_b", queries, latent.queryRank, false);
    } else {
      addLinear(stem + "q", queries, model.hidden, false);
    }
    addLinear(stem + "latent", latent.rank, model.hidden, latent.bias);
    addLinear(stem + "k_rope", latent.ropeDim, model.hidden, latent.bias);
    addNorm(stem + "latent_norm", latent.norm, latent.rank);
    addExperts(stem + "k_up", attn.numHeads, latent.rank, latent.nopeDim,
               false);
    addExperts(stem + "v_up", attn.numHeads, latent.valueDim, latent.rank,
               false);
    addLinear(stem + "o", model.hidden, attn.numHeads * latent.valueDim,
              latent.bias);
  }

  void listFfn(const Ffn &ffn, const std::string &stem) {
    if (ffn.gated) {
      addLinear(stem + "gate", ffn.width, model.hidden, ffn.bias);
    }
    addLinear(stem + "up", ffn.width, model.hidden, ffn.bias);
    if (ffn.xielu) {
      add(stem + "positive", "weight", 1, 1, 1);
      add(stem + "negative", "weight", 1, 1, 1);
    }
    addNorm(stem + "inner_norm", ffn.innerNorm, ffn.width);
    addLinear(stem + "down", model.hidden, ffn.width, ffn.bias);
  }

  void listConv(const Conv &conv, const std::string &stem) {
    for (const char *part : {"in_gate", "out_gate", "value"}) {
      addLinear(stem + part, model.hidden, model.hidden, conv.bias);
    }
    addLinear(stem + "conv", model.hidden, conv.kernel, conv.bias);
    addLinear(stem + "o", model.hidden, model.hidden, conv.bias);
  }

  /// Keys, queries and times are products of the values, behind their
  /// convolution.
  void listSelective(const Recurrent &f, const std::string &stem) {
    for (const char *part : {"v", "gate"}) {
      addLinear(stem + part, f.valueWidth(), model.hidden, f.bias);
    }
    addLinear(stem + "v_conv", f.valueWidth(), f.kernel, f.convBias);
    for (auto [part, rows] :
         {std::pair("q", f.keyDim), {"k", f.keyDim}, {"time", f.rank}}) {
      addLinear(stem + part, rows, f.valueWidth(), false);
      addNorm(stem + part + "_norm", f.norm, rows);
    }
    addLinear(stem + "decay", f.valueWidth(), f.rank, true);
    addLinear(stem + "log_rate", f.keyDim, f.valueWidth(), false);
    add(stem + "skip", "weight", 1, f.valueWidth(), 1);
    addLinear(stem + "o", model.hidden, f.valueWidth(), f.bias);
  }

  /// A product of the row, or, with a rank, of one that is so wide.
  void addLowRank(const std::string &part, int64_t rows, int64_t rank,
                  bool bias) {
    if (rank == 0) {
      addLinear(part, rows, model.hidden, bias);
      return;
    }
    addLinear(part + "_a", rank, model.hidden, false);
    addLinear(part + "_b", rows, rank, bias);
  }

  void listRecurrent(const Recurrent &f, const std::string &stem) {
    if (f.kind == Recurrent::Kind::Mamba) {
      listSelective(f, stem);
      return;
    }
    for (auto [part, rows] : {std::pair("q", f.keyWidth()),
                              {"k", f.keyWidth()},
                              {"v", f.valueWidth()}}) {
      addLinear(stem + part, rows, model.hidden, false);
    }
    addLowRank(stem + "gate", f.valueWidth(), f.gateRank, false);
    bool isMamba = f.kind == Recurrent::Kind::Mamba2;
    if (!isMamba) {
      addLinear(stem + "beta", f.valueHeads, model.hidden, false);
    }
    addLowRank(stem + "decay", f.decayWidth(), f.decayRank, true);
    add(stem + "log_rate", "weight", 1, f.valueHeads, 1);
    if (isMamba) {
      add(stem + "skip", "weight", 1, f.valueHeads, 1);
    }
    for (auto [part, rows] : {std::pair("q_conv", f.keyWidth()),
                              {"k_conv", f.keyWidth()},
                              {"v_conv", f.valueWidth()}}) {
      addLinear(stem + part, rows, f.kernel, f.convBias);
    }
    if (f.norm) {
      addNorm(stem + "norm", *f.norm, isMamba ? f.valueWidth() : f.valueDim);
    }
    addLinear(stem + "o", model.hidden, f.valueWidth(), false);
  }

  void listMoe(const Moe &moe, const std::string &stem) {
    addLinear(stem + "router", moe.experts, model.hidden, moe.router.bias);
    if (moe.router.choiceBias) {
      add(stem + "choice_bias", "weight", 1, moe.experts, 1);
    }
    addNorm(stem + "router_norm", moe.router.preNorm, model.hidden);
    if (moe.router.expertScale) {
      add(stem + "expert_scale", "weight", 1, moe.experts, 1);
    }
    addNorm(stem + "experts_pre_norm", moe.expertsPreNorm, model.hidden);
    addNorm(stem + "experts_out_norm", moe.expertsOutNorm, model.hidden);
    int64_t rows = moe.latent > 0 ? moe.latent : model.hidden;
    if (moe.latent > 0) {
      addLinear(stem + "in", rows, model.hidden, false);
    }
    if (moe.gated) {
      addExperts(stem + "gate", moe.experts, moe.width, rows, moe.bias);
    }
    addExperts(stem + "up", moe.experts, moe.width, rows, moe.bias);
    addExperts(stem + "down", moe.experts, rows, moe.width, moe.bias);
    if (moe.latent > 0) {
      addLinear(stem + "out", model.hidden, rows, false);
    }
    if (moe.shared) {
      Ffn shared;
      shared.width = moe.shared->width;
      shared.gated = moe.gated;
      listFfn(shared, stem + "shared.");
      addNorm(stem + "shared.pre_norm", moe.shared->preNorm, model.hidden);
      addNorm(stem + "shared.out_norm", moe.shared->outNorm, model.hidden);
      if (moe.shared->gate) {
        addLinear(stem + "shared_gate", 1, model.hidden, false);
      }
    }
  }

  void listStep(const DenseStep &step, int64_t &width) {
    addLinear(step.path, step.width, width, step.bias);
    width = step.width;
  }
  void listStep(const NormStep &step, int64_t &width) {
    addNorm(step.path, step.norm, width);
  }
  void listStep(const LogitsStep &step, int64_t &width) {
    addLinear(step.path, step.width, width, step.bias);
    if (step.weight != step.path + ".weight") {
      slots[slots.size() - (step.bias ? 2 : 1)].tiedTo = step.weight;
    }
    width = step.width;
  }
  void listStep(const AdaptiveLogitsStep &step, int64_t &width) {
    int64_t number = 0;
    for (const Pieces::Piece &piece : step.pieces.list()) {
      if (step.pieces.isProjected()) {
        addPiece(step.path + ".projection", number, piece.width, width, false);
      }
      addPiece(step.path, number, piece.rows, piece.width, step.bias);
      if (step.isTied()) {
        slots[slots.size() - (step.bias ? 2 : 1)].tiedTo =
            step.weights[size_t(number)];
      }
      ++number;
    }
    if (number > 1) {
      addLinear(step.path + ".clusters", number - 1, step.pieces.width,
                step.bias);
    }
    width = step.pieces.rows;
  }
  void listStep(const ActivationUnitStep &step, int64_t &width) {
    int64_t number = 0, in = 4 * width;
    for (int64_t out : step.hidden) {
      addPiece(step.path, number++, out, in, true);
      in = out;
    }
    addPiece(step.path, number, 1, in, true);
    width *= 2;
  }
  void listStep(const ProbeStep &step, int64_t &width) {
    int64_t heads = step.numHeads * step.headDim;
    add(step.path + ".probe", "weight", 2, 1, width);
    for (const char *part : {".q", ".k", ".v"}) {
      addLinear(step.path + part, heads, width, true);
    }
    addLinear(step.path + ".o", width, heads, true);
    addNorm(step.path + ".norm", step.norm, width);
    addLinear(step.path + ".up", step.width, width, true);
    addLinear(step.path + ".down", width, step.width, true);
  }
  void listStep(const SplitStep &, int64_t &width) { width = 1; }
  void listStep(const TakeStep &, int64_t &) {}
  void listStep(const TruncateStep &step, int64_t &width) {
    width = step.width;
  }
  void listStep(const PoolStep &pool, int64_t &width) {
    width *= pool.besideFirst ? 2 : 1;
  }
  void listStep(const L2NormalizeStep &, int64_t &) {}
  void listStep(const ActStep &, int64_t &) {}
  void listStep(const ScaleStep &, int64_t &) {}
};

} // namespace

std::vector<Slot> listParameters(const ModelSpec &model) {
  Lister lister(model);
  lister.list();
  return std::move(lister.slots);
}

} // namespace tfc::spec
