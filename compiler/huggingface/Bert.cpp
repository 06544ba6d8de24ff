// The BERT classes of transformers as specs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"
#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

constexpr std::string_view wordTable = "embeddings.word_embeddings.weight";
constexpr std::string_view decoder = "cls.predictions.decoder.weight";
constexpr const char *decoderBias = "cls.predictions.decoder.bias";
constexpr const char *predictionBias = "cls.predictions.bias";
constexpr std::string_view poolerWeight = "pooler.dense.weight";

struct Sizes {
  int64_t hidden, vocab, positions, layers, heads, width, types;
  double eps;
  std::string act;
};

std::string_view guessClass(const rt::TensorFiles &files) {
  if (storesTensor(files, "qa_outputs.weight")) {
    return "BertForQuestionAnswering";
  }
  if (storesTensor(files, "classifier.weight")) {
    return storesTensor(files, poolerWeight) ? "BertForSequenceClassification"
                                             : "BertForTokenClassification";
  }
  return storesTensor(files, "cls.predictions.transform.dense.weight")
             ? "BertForMaskedLM"
             : "BertModel";
}

Sizes readSizes(Config &config) {
  Sizes sizes;
  size_t faults = config.faults();
  sizes.hidden = config.integer("hidden_size", 768, 1, spec::maxWidth);
  sizes.vocab = config.integer("vocab_size", 30522, 1, spec::maxRows);
  sizes.positions =
      config.integer("max_position_embeddings", 512, 1, spec::maxRows);
  sizes.layers = config.integer("num_hidden_layers", 12, 0, spec::maxLayers);
  sizes.heads = config.integer("num_attention_heads", 12, 1, spec::maxWidth);
  sizes.width = config.integer("intermediate_size", 3072, 1, spec::maxWidth);
  sizes.types = config.integer("type_vocab_size", 2, 1, spec::maxRows);
  sizes.eps = config.epsilon("layer_norm_eps", 1e-12);
  sizes.act = readActivation(config, "hidden_act", "gelu");
  if (config.faults() == faults && sizes.hidden % sizes.heads != 0) {
    config.fault("num_attention_heads", "expected a divisor of hidden_size (" +
                                            std::to_string(sizes.hidden) +
                                            "), got " +
                                            std::to_string(sizes.heads));
  }
  return sizes;
}

void readOtherKeys(Config &config) {
  std::string kind = config.string("position_embedding_type", "absolute");
  if (kind != "absolute") {
    config.fault("position_embedding_type",
                 "expected \"absolute\" (tfc has no relative positions for "
                 "this model type), got " +
                     spec::inQuotes(kind));
  }
  config.refuseTrue("is_decoder", "tfc runs this model type as an encoder");
  // transformers would see what is before only where no mask is given.
  config.expectBoolean("is_causal", false,
                       "tfc runs this model type as an encoder");
  refuseWindows(config);
  config.ignore({"hidden_dropout_prob", "attention_probs_dropout_prob",
                 "classifier_dropout",
                 // Only a check of sizes reads whether it is there.
                 "embedding_size",
                 // Of the TensorFlow original; transformers never reads them.
                 "directionality", "pooler_fc_size",
                 "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type"});
}

/// The body, as a patch of the preset.
Json makeBody(const Sizes &sizes) {
  Json norm = makeObject({{"kind", "layernorm"}, {"eps", sizes.eps}});
  Json segment = makeObject({{"name", "token_type"},
                             {"rows", sizes.types},
                             {"input", "token_type_ids"},
                             {"default", 0}});
  Json embeddings =
      makeObject({{"segments", Json::array({segment})}, {"norm", norm}});
  Json block = makeObject(
      {{"norm", norm},
       {"attn", makeObject({{"num_heads", sizes.heads}})},
       {"ffn", makeObject({{"width", sizes.width}, {"act", sizes.act}})}});
  return makeObject(
      {{"embeddings", embeddings},
       {"layers", makeObject({{"repeat", sizes.layers}, {"block", block}})}});
}

/// Builds heads, outputs and the names of their tensors.
struct Heads {
  Json heads = Json::object(), outputs = Json::object(), map = Json::object();

  void addPooler(int64_t hidden) {
    heads.set(
        "pooler",
        makeObject({{"from", "encoder"},
                    {"steps", Json::array({
                                  makeObject({{"op", "take"}, {"at", "first"}}),
                                  makeObject({{"op", "dense"},
                                              {"name", "dense"},
                                              {"out", hidden},
                                              {"act", "tanh"}}),
                              })}}));
    map.set("heads.pooler.dense", "{p}pooler.dense");
  }

  /// A head of one dense step.
  void addDense(std::string_view name, std::string_view from, int64_t out,
                const std::string &stem) {
    heads.set(name, makeObject({{"from", std::string(from)},
                                {"steps",
                                 Json::array({makeObject({{"op", "dense"},
                                                          {"name", "dense"},
                                                          {"out", out}})})}}));
    map.set("heads." + std::string(name) + ".dense", stem);
  }
};

void addMaskedLm(Source &source, const Sizes &sizes, Heads &out) {
  std::optional<Json> logits = makeLogits(
      source, {"decoder", decoder, wordTable, "encoder.embeddings.token"},
      sizes.vocab);
  if (!logits) {
    return;
  }
  // Of a tied head too: other weights of this model must tie it as well.
  out.map.set("heads.mlm.decoder.weight",
              makeObject({{"tensor", std::string(decoder)}}));
  logits->set("bias", true);
  Json dense = makeObject({{"op", "dense"},
                           {"name", "dense"},
                           {"out", sizes.hidden},
                           {"act", sizes.act}});
  Json norm = makeObject({{"op", "norm"},
                          {"name", "norm"},
                          {"kind", "layernorm"},
                          {"eps", sizes.eps}});
  out.heads.set("mlm",
                makeObject({{"from", "encoder"},
                            {"steps", Json::array({dense, norm, *logits})}}));
  out.map.set("heads.mlm.dense", "cls.predictions.transform.dense");
  out.map.set("heads.mlm.norm", "cls.predictions.transform.LayerNorm");
  // transformers adds the decoder's own bias where both are stored.
  out.map.set("heads.mlm.decoder.bias",
              makeObject({{"tensor", Json::array({
                                         decoderBias,
                                         predictionBias,
                                     })}}));
  out.outputs.set("logits", "mlm");
}

void addQuestions(Source &source, Heads &out) {
  if (int64_t labels = readLabels(source.config); labels != 2) {
    source.config.fault(
        source.config.value("id2label") ? "id2label" : "num_labels",
        "expected 2 labels (start and end), got " + std::to_string(labels));
  }
  out.addDense("qa", "encoder", 2, "qa_outputs");
  out.heads.find("qa")->find("steps")->items.push_back(
      makeObject({{"op", "split"}, {"names", Json::array({"start", "end"})}}));
  out.outputs.set("start_logits", "qa.start");
  out.outputs.set("end_logits", "qa.end");
}

Heads makeHeads(Source &source, std::string_view className,
                const Sizes &sizes) {
  Heads out;
  if (className == "BertModel") {
    out.outputs.set("last_hidden_state", "encoder.hidden");
    // A model made with add_pooling_layer=False has none.
    if (storesTensor(source.files, poolerWeight)) {
      out.addPooler(sizes.hidden);
      out.outputs.set("pooler_output", "pooler");
    }
  } else if (className == "BertForMaskedLM") {
    addMaskedLm(source, sizes, out);
  } else if (className == "BertForSequenceClassification") {
    out.addPooler(sizes.hidden);
    out.addDense("cls", "pooler", readLabels(source.config), "classifier");
    out.outputs.set("logits", "cls");
  } else if (className == "BertForTokenClassification") {
    out.addDense("cls", "encoder", readLabels(source.config), "classifier");
    out.outputs.set("logits", "cls");
  } else {
    addQuestions(source, out);
  }
  return out;
}

/// What files of this family may hold beside the class's own tensors: buffers
/// of old versions, and heads of other classes.
Json ignoredTensors(const rt::TensorFiles &files, const Heads &heads) {
  std::vector<Json> globs = {"*embeddings.position_ids",
                             "*embeddings.token_type_ids",
                             "cls.seq_relationship.*", "fit_dense*"};
  if (!heads.heads.find("pooler")) {
    globs.push_back("*pooler.dense.*");
  }
  if (!heads.heads.find("cls")) {
    globs.push_back("classifier.*");
  }
  if (!heads.heads.find("qa")) {
    globs.push_back("qa_outputs.*");
  }
  if (!heads.heads.find("mlm")) {
    globs.push_back("cls.predictions.*");
  } else if (files.find(decoderBias)) {
    globs.push_back(predictionBias);
  }
  return Json::array(std::move(globs));
}

Json makeSpec(Source &source, std::string_view className) {
  readOtherKeys(source.config);
  Sizes sizes = readSizes(source.config);
  Heads heads = makeHeads(source, className, sizes);
  Json dims = makeObject({{"hidden", sizes.hidden},
                          {"vocab", sizes.vocab},
                          {"max_positions", sizes.positions}});
  TokenDefaults defaults;
  defaults.pad = 0;
  Json ignore = ignoredTensors(source.files, heads);
  return makeObject(
      {{"dims", dims},
       {"encoder", makeBody(sizes)},
       {"heads", std::move(heads.heads)},
       {"outputs", std::move(heads.outputs)},
       {"tokens", readTokens(source, sizes.vocab, false, defaults)},
       {"weights", makeObject({{"ignore", std::move(ignore)},
                               {"map", std::move(heads.map)}})}});
}

} // namespace

const Family &huggingface::bertFamily() {
  static const Family family = {
      "bert",
      {"BertModel", "BertForMaskedLM", "BertForSequenceClassification",
       "BertForTokenClassification", "BertForQuestionAnswering"},
      guessClass,
      makeSpec};
  return family;
}
