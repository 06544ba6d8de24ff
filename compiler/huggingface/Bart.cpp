// The BART classes of transformers as specs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"
#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

struct StackSizes {
  int64_t layers, heads, width;
};

struct Sizes {
  int64_t hidden, vocab, positions;
  StackSizes encoder, decoder;
  std::string act;
  bool scaled;
};

std::string_view guessClass(const rt::TensorFiles &files) {
  if (storesTensor(files, "qa_outputs.weight")) {
    return "BartForQuestionAnswering";
  }
  if (storesTensor(files, "classification_head.dense.weight")) {
    return "BartForSequenceClassification";
  }
  // Classes with a head write the prefix, and this one its bias.
  bool head = files.find("final_logits_bias") ||
              files.find("model.shared.weight") || files.find("lm_head.weight");
  return head ? "BartForConditionalGeneration" : "BartModel";
}

Sizes readSizes(Config &config) {
  Sizes sizes;
  size_t faults = config.faults();
  sizes.hidden =
      config.integer("d_model", "hidden_size", 1024, 1, spec::maxWidth);
  sizes.vocab = config.integer("vocab_size", 50265, 1, spec::maxRows);
  sizes.positions =
      config.integer("max_position_embeddings", 1024, 1, spec::maxRows);
  sizes.encoder.layers = config.integer("encoder_layers", "num_hidden_layers",
                                        12, 0, spec::maxLayers);
  sizes.encoder.heads = config.integer(
      "encoder_attention_heads", "num_attention_heads", 16, 1, spec::maxWidth);
  sizes.encoder.width =
      config.integer("encoder_ffn_dim", 4096, 1, spec::maxWidth);
  sizes.decoder.layers =
      config.integer("decoder_layers", 12, 0, spec::maxLayers);
  sizes.decoder.heads =
      config.integer("decoder_attention_heads", 16, 1, spec::maxWidth);
  sizes.decoder.width =
      config.integer("decoder_ffn_dim", 4096, 1, spec::maxWidth);
  sizes.act = readActivation(config, "activation_function", "gelu");
  sizes.scaled = config.boolean("scale_embedding", false);
  for (auto [key, heads] :
       {std::pair("encoder_attention_heads", sizes.encoder.heads),
        std::pair("decoder_attention_heads", sizes.decoder.heads)}) {
    if (config.faults() == faults && sizes.hidden % heads != 0) {
      config.fault(key, "expected a divisor of d_model (" +
                            std::to_string(sizes.hidden) + "), got " +
                            std::to_string(heads));
    }
  }
  return sizes;
}

void readOtherKeys(Config &config) {
  config.refuseTrue("is_decoder", "tfc runs this model type with an encoder");
  config.refuseKey("is_causal", "tfc runs an encoder that sees all tokens and "
                                "a decoder that sees those before");
  refuseWindows(config);
  config.ignore({"dropout", "attention_dropout", "activation_dropout",
                 "classifier_dropout", "classif_dropout", "encoder_layerdrop",
                 "decoder_layerdrop", "init_std",
                 // Of files of old versions; no class reads them any more.
                 "add_bias_logits", "add_final_layer_norm", "normalize_before",
                 "normalize_embedding", "static_position_embeddings",
                 "extra_pos_embeddings", "force_bos_token_to_be_generated"});
}

Json makeStack(const Sizes &sizes, bool decoder) {
  const StackSizes &own = decoder ? sizes.decoder : sizes.encoder;
  Json attention = makeObject({{"num_heads", own.heads}});
  Json block = makeObject({{"attn", attention}});
  if (decoder) {
    block.set("cross", attention);
  }
  block.set("ffn", makeObject({{"width", own.width}, {"act", sizes.act}}));
  Json stack = makeObject(
      {{"layers", makeObject({{"repeat", own.layers}, {"block", block}})}});
  if (sizes.scaled) {
    Json token = makeObject({{"scale", "sqrt_hidden"}});
    stack.set("embeddings", makeObject({{"token", std::move(token)}}));
  }
  return stack;
}

void addLanguageModel(Source &source, const Sizes &sizes, Heads &out) {
  std::optional<Json> logits = makeLogits(
      source, {"proj", "lm_head.weight", "shared.weight", "shared.token"},
      sizes.vocab);
  if (!logits) {
    return;
  }
  logits->set("bias", true);
  out.map.set("heads.lm.proj.weight",
              makeObject({{"tensor", "lm_head.weight"}}));
  out.map.set("heads.lm.proj.bias", makeObject({{"tensor", "final_logits_bias"},
                                                {"optional", "zeros"}}));
  out.add("lm", "decoder", {*logits});
}

void addClassifier(Source &source, const Sizes &sizes, Heads &out) {
  Json take = makeObject({{"op", "take"}, {"at", "last_eos"}});
  Json dense = makeObject({{"op", "dense"},
                           {"name", "dense"},
                           {"out", sizes.hidden},
                           {"act", "tanh"}});
  Json project = makeObject({{"op", "dense"},
                             {"name", "out_proj"},
                             {"out", readLabels(source.config, 3)}});
  out.add("cls", "decoder", {take, dense, project});
  out.map.set("heads.cls.dense", "classification_head.dense");
  out.map.set("heads.cls.out_proj", "classification_head.out_proj");
}

/// The class has two labels, whatever its config.json says.
void addQuestions(Heads &out) {
  Json dense = makeObject({{"op", "dense"}, {"name", "dense"}, {"out", 2}});
  Json split =
      makeObject({{"op", "split"}, {"names", Json::array({"start", "end"})}});
  out.heads.set("qa", makeObject({{"from", "decoder"},
                                  {"steps", Json::array({dense, split})}}));
  out.outputs.set("start_logits", "qa.start");
  out.outputs.set("end_logits", "qa.end");
  out.map.set("heads.qa.dense", "qa_outputs");
}

Heads makeHeads(Source &source, std::string_view className,
                const Sizes &sizes) {
  Heads out;
  out.ignore = {"*.embed_tokens.weight", "*encoder.version",
                "*decoder.version"};
  out.outputs.set("encoder_last_hidden_state", "encoder.hidden");
  if (className == "BartForConditionalGeneration") {
    addLanguageModel(source, sizes, out);
  } else {
    out.ignore.push_back("lm_head.weight");
    out.ignore.push_back("final_logits_bias");
  }
  if (className == "BartForSequenceClassification") {
    addClassifier(source, sizes, out);
  } else {
    out.ignore.push_back("classification_head.*");
  }
  if (className == "BartForQuestionAnswering") {
    addQuestions(out);
  } else {
    out.ignore.push_back("qa_outputs.*");
  }
  if (className == "BartModel") {
    out.outputs.set("last_hidden_state", "decoder.hidden");
  }
  return out;
}

Json makeSpec(Source &source, std::string_view className) {
  readOtherKeys(source.config);
  Sizes sizes = readSizes(source.config);
  checkCopies(source, {"shared.weight", "decoder.embed_tokens.weight",
                       "encoder.embed_tokens.weight"});
  Heads heads = makeHeads(source, className, sizes);
  Json made =
      makeObject({{"dims", makeObject({{"hidden", sizes.hidden},
                                       {"vocab", sizes.vocab},
                                       {"max_positions", sizes.positions}})},
                  {"encoder", makeStack(sizes, false)},
                  {"decoder", makeStack(sizes, true)}});
  TokenDefaults defaults = {1, 0, 2, 2};
  bool generates = className == "BartForConditionalGeneration";
  addTokens(source, sizes.vocab, generates, defaults, {-1, 2}, made);
  heads.addTo(made);
  return made;
}

} // namespace

const Family &huggingface::bartFamily() {
  static const Family family = {"bart",
                                {"BartModel", "BartForConditionalGeneration",
                                 "BartForSequenceClassification",
                                 "BartForQuestionAnswering"},
                                guessClass,
                                makeSpec,
                                true};
  return family;
}
