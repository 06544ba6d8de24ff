// The GPT-2 classes of transformers as specs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"
#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

struct Sizes {
  int64_t hidden, vocab, positions, layers, heads, width;
  double eps;
  std::string act;
  bool scaled, scaledByLayer;
};

std::string_view guessClass(const rt::TensorFiles &files) {
  if (storesTensor(files, "score.weight")) {
    return "GPT2ForSequenceClassification";
  }
  // A tied head is not stored; only classes with a head write the prefix.
  bool head = storesTensor(files, "lm_head.weight") ||
              files.find("transformer.wte.weight");
  return head ? "GPT2LMHeadModel" : "GPT2Model";
}

Sizes readSizes(Config &config) {
  Sizes sizes;
  size_t faults = config.faults();
  sizes.hidden =
      config.integer("n_embd", "hidden_size", 768, 1, spec::maxWidth);
  sizes.vocab = config.integer("vocab_size", 50257, 1, spec::maxRows);
  sizes.positions = config.integer("n_positions", "max_position_embeddings",
                                   1024, 1, spec::maxRows);
  sizes.layers =
      config.integer("n_layer", "num_hidden_layers", 12, 0, spec::maxLayers);
  sizes.heads =
      config.integer("n_head", "num_attention_heads", 12, 1, spec::maxWidth);
  sizes.width =
      config.integer("n_inner", 4 * sizes.hidden, 1, 4 * spec::maxWidth);
  sizes.eps = config.epsilon("layer_norm_epsilon", 1e-5);
  sizes.act = readActivation(config, "activation_function", "gelu_new");
  sizes.scaled = config.boolean("scale_attn_weights", true);
  sizes.scaledByLayer =
      config.boolean("scale_attn_by_inverse_layer_idx", false);
  // The same numbers in another order, and f32 anyway.
  config.boolean("reorder_and_upcast_attn", false);
  if (config.faults() == faults && sizes.hidden % sizes.heads != 0) {
    config.fault("n_head", "expected a divisor of n_embd (" +
                               std::to_string(sizes.hidden) + "), got " +
                               std::to_string(sizes.heads));
  }
  return sizes;
}

Json makeBody(const Sizes &sizes) {
  Json norm = makeObject({{"kind", "layernorm"}, {"eps", sizes.eps}});
  Json attention = makeObject({{"num_heads", sizes.heads}});
  if (!sizes.scaled) {
    attention.set("scale", 1);
  }
  if (sizes.scaledByLayer) {
    attention.set("scale_by_inverse_layer", true);
  }
  Json block = makeObject(
      {{"norm", norm},
       {"attn", attention},
       {"ffn", makeObject({{"width", sizes.width}, {"act", sizes.act}})}});
  return makeObject(
      {{"layers", makeObject({{"repeat", sizes.layers}, {"block", block}})},
       {"final_norm", norm}});
}

void addLanguageModel(Source &source, const Sizes &sizes, Heads &out) {
  std::optional<Json> logits = makeLogits(
      source,
      {"proj", "lm_head.weight", "wte.weight", "decoder.embeddings.token"},
      sizes.vocab);
  if (!logits) {
    return;
  }
  // Of a tied head too: other weights of this model must tie it as well.
  out.map.set("heads.lm.proj.weight",
              makeObject({{"tensor", "lm_head.weight"}}));
  out.add("lm", "decoder", {*logits});
}

Heads makeHeads(Source &source, std::string_view className,
                const Sizes &sizes) {
  Heads out;
  out.ignore = {"*.attn.bias", "*.attn.masked_bias", "multiple_choice_head.*"};
  if (className == "GPT2LMHeadModel") {
    addLanguageModel(source, sizes, out);
    out.ignore.push_back("score.weight");
    return out;
  }
  out.ignore.push_back("lm_head.weight");
  if (className == "GPT2Model") {
    out.outputs.set("last_hidden_state", "decoder.hidden");
    out.ignore.push_back("score.weight");
    return out;
  }
  Json take = makeObject({{"op", "take"}, {"at", "last_nonpad"}});
  Json dense = makeObject({{"op", "dense"},
                           {"name", "score"},
                           {"out", readLabels(source.config)},
                           {"bias", false}});
  out.add("cls", "decoder", {take, dense});
  out.map.set("heads.cls.score", "score");
  return out;
}

Json makeSpec(Source &source, std::string_view className) {
  source.config.ignore({"n_ctx", "resid_pdrop", "embd_pdrop", "attn_pdrop",
                        // Of the double-heads class.
                        "summary_type", "summary_use_proj",
                        "summary_activation", "summary_proj_to_labels",
                        "summary_first_dropout", "summary_last_dropout",
                        "is_decoder", "classifier_dropout", "hidden_dropout"});
  bool generates = className == "GPT2LMHeadModel";
  source.bothSides = !readCausal(source, generates);
  Sizes sizes = readSizes(source.config);
  refuseWindows(source.config);
  Heads heads = makeHeads(source, className, sizes);
  Json dims = makeObject({{"hidden", sizes.hidden},
                          {"vocab", sizes.vocab},
                          {"max_positions", sizes.positions}});
  TokenDefaults defaults;
  defaults.bos = defaults.eos = 50256;
  Json made = makeObject(
      {{"dims", dims},
       {"decoder", makeBody(sizes)},
       {"tokens", readTokens(source, sizes.vocab, generates, defaults)}});
  if (generates) {
    made.set("generation", readGeneration(source, "lm", sizes.vocab, {}));
  }
  heads.addTo(made);
  return made;
}

} // namespace

const Family &huggingface::gpt2Family() {
  static const Family family = {
      "gpt2",
      {"GPT2Model", "GPT2LMHeadModel", "GPT2ForSequenceClassification"},
      guessClass,
      makeSpec};
  return family;
}
