// The table of SpecFields.h: the vocabulary of version 1, top down at the end.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/TypeBuilders.h"

namespace tfc::spec {
namespace {

using namespace build;

TypeRef activationOf(std::vector<std::string> words, std::string name) {
  Type act = *build::words(std::move(words), {}, 28);
  act.name = std::move(name);
  act.meant = {{"gelu_tanh", "gelu_new"}, {"gelu_pytorch_tanh", "gelu_new"},
               {"gelu_fast", "gelu_new"}, {"gelu_erf", "gelu"},
               {"swish", "silu"},         {"linear", "identity"}};
  return make(std::move(act));
}

const TypeRef &activation() {
  static const TypeRef type =
      activationOf({"gelu", "gelu_new", "quick_gelu", "relu", "relu2", "silu",
                    "tanh", "sigmoid", "identity"},
                   "act");
  return type;
}

/// And those that have weights.
TypeRef ffnActivation() {
  return activationOf({"gelu", "gelu_new", "quick_gelu", "relu", "relu2",
                       "silu", "tanh", "sigmoid", "identity", "xielu"},
                      "ffn_act");
}

const TypeRef &norm() {
  static const TypeRef type =
      orNone(object({needed("kind", words({"layernorm", "rmsnorm", "none"})),
                     key("eps", number()), key("bias", flag()),
                     key("affine", flag()), key("offset", number()),
                     key("form", words({"var_eps", "std_eps_unbiased"}))}),
             "norm");
  return type;
}

TypeRef idOrList() { return oneOf({index(), list(index(), 1)}); }

// ---- Embeddings ----------------------------------------------------------

TypeRef embeddings() {
  TypeRef scale = oneOf({number(), words({"sqrt_hidden"})});
  TypeRef token =
      object({key("rows", rows()), key("dim", width()), key("scale", scale),
              key("use", words({"shared.token"})),
              key("adaptive", object({needed("cutoffs", list(rows(), 0, 64)),
                                      needed("div", rows())})),
              unsupported("input", text())});
  TypeRef position =
      object({needed("kind", words({"learned", "sinusoid", "axial", "none"})),
              key("rows", rows()), key("offset", index()),
              key("ids", words({"arange", "from_mask", "from_pad"},
                               {"arange_skip_left_pad", "input"})),
              key("layout", words({"interleaved", "concat"})),
              key("denominator", words({"dim", "half_minus_1"})),
              key("zero_row", index()), key("base", number()),
              key("shape", list(rows(), 2, maxAxes)),
              key("dims", list(width(), 2, maxAxes))});
  TypeRef segment = object({needed("name", text()), needed("input", text()),
                            key("rows", rows()), key("use", words({"token"})),
                            key("default", index())});
  TypeRef projection =
      object({needed("at", words({"after_norm", "token", "sum"})),
              needed("bias", flag())});
  TypeRef conv =
      object({needed("kernel", integer(1, 16)), key("stride", integer(1, 16)),
              key("bias", flag()), key("act", activation())});
  TypeRef patches = object({needed("width", width()), key("bias", flag()),
                            key("convs", list(conv, 1, 8))});
  return object({needed("token", orNone(token)), key("patches", patches),
                 key("position", position),
                 key("segments", list(segment, 0, 16)),
                 key("projection", projection), key("norm", norm()),
                 key("norm_of", words({"sum", "token"})),
                 unsupported("mask_rows", flag(), Json(false))});
}

// ---- A layer -------------------------------------------------------------

Fields sublayerFields() {
  return {key("pre_norm", norm()),
          key("out_norm", norm()),
          key("out_scale", oneOf({number(), words({"learned"})})),
          key("post_norm", norm()),
          key("parallel", flag()),
          key("out_act", activation()),
          key("post_scale", oneOf({flag(), number()})),
          key("residual", words({"add", "gru_gate"}, {"none"}))};
}

TypeRef relativeTerms() {
  TypeRef use = words({"none", "own", "shared", "identity"});
  TypeRef biases = object({key("keys", flag()), key("queries", flag())});
  return orNone(object({key("keys", use), key("queries", use),
                        key("bias", oneOf({flag(), biases})),
                        key("values", flag()), key("query_bias", flag()),
                        key("segments", flag()), key("zero_memory", flag())}));
}

TypeRef relativeTable() {
  return orNone(object({needed("kind", words({"table", "sinusoid"})),
                        needed("span", integer(1, maxSpan)),
                        key("max_distance", integer(2, maxSpan)),
                        key("norm", norm()), key("per_layer", flag()),
                        key("width", words({"head", "hidden"}))}));
}

TypeRef sparse() {
  Type type;
  type.kind = Kind::Tagged;
  type.tag = "kind";
  type.choices.push_back({"block", true,
                          object({needed("block", integer(1, maxSparse)),
                                  needed("random", integer(0, maxSparse))})});
  type.choices.push_back({"chunk_local", true,
                          object({needed("block", integer(1, maxSparse)),
                                  needed("before", integer(0, 1)),
                                  needed("after", integer(0, 1))})});
  TypeRef factor = integer(2, maxBuckets);
  type.choices.push_back(
      {"lsh", true,
       object({needed("block", integer(1, maxSparse)),
               needed("before", integer(0, 1)), needed("after", integer(0, 1)),
               needed("hashes", integer(1, maxHashes)),
               needed("buckets", oneOf({factor, list(factor, 1, 8)})),
               needed("seed", integer(0, maxSeed)),
               key("multiple", integer(1, maxRows))})});
  return orNone(make(std::move(type)));
}

TypeRef rotary() {
  Type scaling;
  scaling.kind = Kind::Tagged;
  scaling.tag = "kind";
  scaling.meant = {{"dynamic_ntk", "dynamic"}, {"ntk", "dynamic"}};
  auto kind = [&](std::string word, Fields fields) {
    fields.insert(fields.begin(), needed("factor", number()));
    scaling.choices.push_back({std::move(word), true, object(fields)});
  };
  kind("linear", {});
  kind("dynamic", {});
  kind("llama3",
       {needed("low_freq_factor", number()),
        needed("high_freq_factor", number()), key("original_max", rows())});
  kind("yarn", {key("original_max", rows()), key("attention_factor", number()),
                key("mscale", number()), key("mscale_all_dim", number()),
                key("beta_fast", number()), key("beta_slow", number()),
                key("truncate", flag())});
  kind("longrope",
       {needed("short_factor", list(number(), 1, maxRotary / 2)),
        key("original_max", rows()), key("attention_factor", number())});
  return orNone(object(
      {needed("style", words({"half", "interleaved"})), key("dim", width()),
       key("turned", width()), needed("theta", number()),
       key("reverse", flag()),
       key("grid", object({needed("columns", width()), needed("rows", width()),
                           key("front", index())})),
       key("scaling", orNone(make(std::move(scaling))))}));
}

TypeRef attention() {
  TypeRef biases = object(
      {key("q", flag()), key("k", flag()), key("v", flag()), key("o", flag())});
  TypeRef window =
      orNone(object({needed("left", index()), needed("right", index())}));
  TypeRef qkNorm = orNone(object(
      {needed("kind", words({"layernorm", "rmsnorm"})), needed("eps", number()),
       key("bias", flag()), key("affine", flag()), key("offset", number()),
       key("over", words({"head", "each_head", "row"})),
       key("after_rotary", flag())}));
  TypeRef latent =
      orNone(object({needed("rank", width()), key("q_rank", orNone(width())),
                     needed("nope_dim", width()), needed("rope_dim", width()),
                     needed("value_dim", width()), needed("norm", norm()),
                     key("bias", flag())}));
  Fields fields = {
      needed("num_heads", width()),
      key("latent", latent),
      key("num_kv_heads", width()),
      key("head_dim", width()),
      key("bias", oneOf({flag(), biases})),
      key("scale", oneOf({number(), words({"rsqrt_head_dim"})})),
      key("scale_by_inverse_layer", flag()),
      key("softcap", oneOf({words({"none"}), number()})),
      key("qk_norm", qkNorm),
      key("v_norm", norm()),
      key("clip", oneOf({words({"none"}), number()})),
      key("inner_norm", norm()),
      key("values_are_keys", flag()),
      key("shared_kv", flag()),
      key("causal", flag()),
      key("window", window),
      key("rotary", rotary()),
      key("slopes", oneOf({words({"alibi", "none"}), list(number(), 1, 4096)})),
      key("rounded_slopes", flag()),
      key("log_scale_base", oneOf({words({"none"}), number()})),
      key("sinks", flag()),
      key("gate", words({"none", "sigmoid", "softplus"})),
      key("gate_per", words({"column", "head"})),
      key("relative", relativeTerms()),
      key("use_position_bias", flag()),
      key("sparse", sparse()),
      unsupported("shared_qk", flag(), Json(false)),
      unsupported("all_masked", words({"zero", "uniform"}), Json("zero")),
      unsupported("mask_value", number()),
      unsupported("score", words({"dot", "din_mlp"}), Json("dot")),
      unsupported("normalize", words({"softmax", "none"}), Json("softmax"))};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "attention");
}

TypeRef ffn() {
  Fields fields = {needed("width", width()),    needed("act", ffnActivation()),
                   key("gated", flag()),        key("bias", flag()),
                   key("gate_scale", number()), key("sparsity", number()),
                   key("inner_norm", norm())};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "ffn");
}

TypeRef moe() {
  TypeRef router =
      object({needed("score", words({"softmax", "sigmoid", "late_sigmoid",
                                     "logits", "sparsemixer"})),
              key("bias", flag()), key("choice_bias", flag()),
              key("groups", integer(1, maxExperts)),
              key("groups_used", integer(1, maxExperts)),
              key("group_by", words({"max", "top2"})),
              key("renormalize", words({"none", "sum", "softmax"})),
              key("plus", number()), key("floor", number()),
              key("factor", number()), key("tolerance", number()),
              key("on_input", flag()), key("pre_norm", norm()),
              key("scale", number()), key("expert_scale", flag())});
  TypeRef shared =
      orNone(object({needed("width", width()), key("gate", flag()),
                     key("pre_norm", norm()), key("out_norm", norm())}));
  Fields fields = {needed("experts", integer(1, maxExperts)),
                   needed("per_token", integer(1, maxPerToken)),
                   needed("width", width()),
                   key("latent", width()),
                   needed("act", activation()),
                   key("gated", oneOf({flag(), words({"clamped"})})),
                   key("alpha", number()),
                   key("limit", number()),
                   key("bias", flag()),
                   key("experts_pre_norm", norm()),
                   key("experts_out_norm", norm()),
                   key("shared", shared),
                   needed("router", router)};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "moe");
}

TypeRef conv() {
  Fields fields = {needed("kernel", integer(2, maxKernel)),
                   key("bias", flag())};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "conv");
}

TypeRef recurrent() {
  Type type;
  type.kind = Kind::Tagged;
  type.name = "recurrent";
  type.tag = "kind";
  auto kind = [&](std::string word, Fields fields) {
    fields.push_back(needed("conv", integer(2, maxKernel)));
    fields.push_back(needed("norm", norm()));
    for (Field &field : sublayerFields()) {
      fields.push_back(std::move(field));
    }
    type.choices.push_back({std::move(word), true, object(std::move(fields))});
  };
  kind("gated_delta",
       {needed("key_heads", width()), needed("value_heads", width()),
        needed("key_dim", width()), needed("value_dim", width()),
        key("beta_scale", number()), key("key_decay", flag()),
        key("decay_rank", orNone(width())), key("gate_rank", orNone(width())),
        key("gate_act", activation())});
  TypeRef scales =
      object({key("q", number()), key("k", number()), key("v", number()),
              key("gate", number()), key("decay", number())});
  kind("mamba2", {needed("heads", width()), needed("head_dim", width()),
                  needed("state", width()), key("groups", width()),
                  key("conv_bias", flag()), key("norm_groups", width()),
                  key("norm_before_gate", flag()), key("step_floor", number()),
                  key("scales", scales)});
  kind("mamba", {needed("width", width()), needed("state", width()),
                 needed("rank", width()), key("conv_bias", flag()),
                 key("bias", flag())});
  return make(std::move(type));
}

TypeRef layerInput() {
  Fields fields = {needed("act", activation()), key("scaled", flag())};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "layer_input");
}

TypeRef lowRank() {
  Fields fields = {needed("rank", width()), key("norm", norm())};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "low_rank");
}

TypeRef ngram() {
  Fields fields = {needed("kernel", integer(1, maxKernel)),
                   needed("act", activation())};
  for (Field &field : sublayerFields()) {
    fields.push_back(std::move(field));
  }
  return object(std::move(fields), "ngram");
}

const TypeRef &block() {
  static const TypeRef type = [] {
    TypeRef attn = attention(), feedForward = ffn();
    Fields sublayers = {key("attn", attn),
                        key("cross", attn),
                        key("low_rank", lowRank()),
                        key("conv", conv()),
                        key("recurrent", recurrent()),
                        key("ffn", feedForward),
                        key("moe", moe()),
                        key("ngram", ngram()),
                        key("layer_input", layerInput())};
    Fields fields = {
        key("placement", words({"post", "pre", "parallel", "none"})),
        key("norm", norm()), key("sublayers", list(object(sublayers), 1, 9))};
    fields.insert(fields.end(), sublayers.begin(), sublayers.end());
    return object(std::move(fields), "block");
  }();
  return type;
}

// ---- A stack -------------------------------------------------------------

TypeRef layers() {
  TypeRef share = object({needed("groups", integer(1, maxLayers)),
                          key("inner", integer(1, maxLayers))});
  TypeRef selector = oneOf({text(), list(integer(-maxLayers, maxLayers), 1)});
  TypeRef overrides =
      list(object({needed("layers", selector), needed("set", any())}), 0, 1024);
  TypeRef repeated = object({needed("repeat", integer(0, maxLayers)),
                             deferred(needed("block", block())),
                             key("share", share), key("overrides", overrides)});
  TypeRef blocks = oneOf({block(), list(block(), 1, maxPeriod)});
  TypeRef run =
      object({needed("repeat", integer(1, maxLayers)),
              deferred(needed("block", blocks)), key("share", share)});
  return oneOf({repeated, list(run, 0, maxLayers)});
}

TypeRef stack() {
  TypeRef bias = orNone(
      object({needed("kind", words({"bucket"})), needed("buckets", width()),
              needed("max_distance", width()), needed("bidirectional", flag()),
              key("per_layer", flag())}));
  TypeRef inputs = orNone(object(
      {needed("width", width()), key("rows", rows()), key("beyond", index()),
       key("scale", number()), key("projection_scale", number()),
       key("out_scale", number()), needed("norm", norm())}));
  TypeRef memory =
      object({needed("len", rows()), key("init", words({"zeros", "none"})),
              key("same_length", flag()), key("keep", words({"hidden"}))});
  Type streams;
  streams.kind = Kind::Tagged;
  streams.tag = "kind";
  streams.choices.push_back(
      {"altup", true,
       object({needed("count", integer(2, maxStreams)),
               key("active", integer(0, maxStreams - 1)),
               needed("norm", norm()), key("router_scale", number()),
               needed("floor", number())})});
  streams.choices.push_back({"reversible", true, object({})});
  streams.choices.push_back({"two_stream", true, object({})});
  return object({needed("embeddings", embeddings()), key("position_bias", bias),
                 key("relative", relativeTable()), key("layer_inputs", inputs),
                 key("streams", orNone(make(std::move(streams)))),
                 needed("layers", layers()), key("final_norm", norm()),
                 unsupported("memory", memory),
                 unsupported("mask_rows_each_layer", flag(), Json(false))},
                "stack");
}

// ---- Heads ---------------------------------------------------------------

TypeRef headStep() {
  Type step;
  step.kind = Kind::Tagged;
  step.name = "step";
  step.tag = "op";
  auto op = [&](std::string word, Fields fields, bool supported) {
    step.choices.push_back({std::move(word), supported, object(fields)});
  };
  op("take",
     {needed("at", words({"first", "last_nonpad", "last_eos", "first_eos",
                          "first_visible", "last_visible"},
                         {"last", "index_input"})),
      unsupported("input", text())},
     true);
  op("dense",
     {needed("name", text()), needed("out", width()), key("act", activation()),
      key("bias", flag())},
     true);
  op("norm",
     {key("name", text()), needed("kind", words({"layernorm", "rmsnorm"})),
      needed("eps", number()), key("bias", flag()), key("affine", flag()),
      key("offset", number())},
     true);
  op("logits",
     {needed("name", text()), key("tied", text()), key("out", rows()),
      key("bias", flag())},
     true);
  op("split", {needed("names", list(text(), 1, 64))}, true);
  op("act", {needed("kind", activation())}, true);
  op("pool",
     {needed("how", words({"mean", "max", "mean_sqrt_len"})),
      key("skip", integer(0, 1 << 20)),
      key("beside", words({"none", "first_visible"}))},
     true);
  op("scale", {needed("by", oneOf({number(), words({"rsqrt_hidden"})}))}, true);
  op("adaptive_logits",
     {needed("name", text()), key("tied", text()), key("out", rows()),
      key("cutoffs", list(rows(), 0, 64)), key("div", rows()),
      key("dim", width()), key("bias", flag())},
     true);
  op("activation_unit",
     {needed("name", text()), needed("query", words({"first", "last"})),
      needed("hidden", list(width(), 0, 64)), needed("act", activation())},
     true);
  op("probe",
     {needed("name", text()), needed("norm", norm()), needed("width", width()),
      needed("act", activation())},
     true);
  op("truncate", {needed("dims", width())}, true);
  op("l2_normalize", {key("eps", number())}, true);
  for (const char *word : {"squeeze", "softmax", "log_softmax", "sigmoid"}) {
    op(word, {}, false);
  }
  return make(std::move(step));
}

// ---- The whole -----------------------------------------------------------

TypeRef tokens() {
  Fields fields;
  for (const char *name :
       {"pad", "bos", "unk", "cls", "sep", "mask", "decoder_start"}) {
    fields.push_back(key(name, index()));
  }
  fields.push_back(key("eos", idOrList()));
  fields.push_back(key("lang", mapOf(index(), 4096)));
  return object(std::move(fields));
}

TypeRef generation() {
  return object({needed("head", text()),
                 key("max_length", rows()),
                 key("max_new_tokens", rows()),
                 key("min_length", index()),
                 key("do_sample", flag()),
                 key("temperature", number()),
                 key("top_k", index()),
                 key("top_p", number()),
                 key("min_p", number()),
                 key("num_beams", integer(1, 1024)),
                 key("length_penalty", number()),
                 key("early_stopping", oneOf({flag(), words({"never"})})),
                 key("no_repeat_ngram_size", index()),
                 key("repetition_penalty", number()),
                 key("forced_bos", idOrList()),
                 key("forced_eos", idOrList()),
                 key("suppress_tokens", list(index(), 0)),
                 key("begin_suppress_tokens", list(index(), 0)),
                 unsupported("prefix_ids", list(index())),
                 unsupported("must_start_with", list(index())),
                 unsupported("tasks", any())});
}

TypeRef precision() {
  return object(
      {key("weights", words({"f32", "f16", "bf16", "int8", "int4"})),
       key("compute", words({"f32", "bf16", "int8"}, {"f16"})),
       key("group", integer(32, 128)),
       key("zeros", oneOf({flag(), words({"float"})})),
       key("scales", words({"f32", "f16", "bf16"})),
       key("cache", words({"f32", "f16", "bf16", "int8"})),
       key("rules",
           list(object({needed("match", text()),
                        needed("weights", words({"bf16", "int8", "int4"}))}))),
       key("norm", words({"f32"})), key("softmax", words({"f32"}))});
}

TypeRef weights() {
  TypeRef names = oneOf({text(), list(text(), 1, 16)});
  TypeRef part =
      object({key("tensor", names), needed("rows", rows()),
              key("first_row", index()), key("stored_rows", rows())});
  TypeRef source = object(
      {key("parts", list(part, 1, 16)), key("stem", names),
       key("tensor", names), key("layout", words({"out_in", "in_out"})),
       key("pack", list(words({"q", "k", "v", "gate", "up"}), 1, 3)),
       key("groups", width()), key("stacked", flag()),
       key("first_row", index()), key("stored_rows", rows()),
       key("stored_cols", rows()),
       key("optional", words({"zeros"}, {"ones", "absent"})),
       unsupported("stack", text()), unsupported("axis", index()),
       unsupported("shape", list(rows())), unsupported("reshape", list(rows())),
       unsupported("transpose", list(index()))});
  return object({key("prefix", list(text(), 1, 16)),
                 key("aliases", list(list(text(), 2, 2), 0, 64)),
                 key("ignore", list(text(), 0, 1024)),
                 key("map", mapOf(oneOf({text(), source}), 1 << 17))});
}

TypeRef spec() {
  Type version = *integer(1, 1);
  version.code = 3;
  version.why = "the version of specs that this tfc reads";
  TypeRef shared = object(
      {key("token", object({key("rows", rows()), key("dim", width())}))});
  TypeRef head = object(
      {needed("from", text()), needed("steps", list(headStep(), 1, 64))});
  TypeRef dims = object({needed("hidden", width()), key("vocab", rows()),
                         key("max_positions", rows())});
  TypeRef oneStack = stack();
  return object(
      {needed("tfc", make(std::move(version))), key("name", text()),
       key("meta", any()), key("extends", text()), key("defs", any()),
       needed("kind", words({"encoder", "decoder", "encoder_decoder"})),
       needed("dims", dims), key("shared", shared), key("encoder", oneStack),
       key("decoder", oneStack), key("heads", mapOf(head, 64)),
       key("outputs", mapOf(text(), 64)), unsupported("inputs", any()),
       key("tokens", tokens()), key("generation", generation()),
       key("precision", precision()), unsupported("quant", any()),
       key("weights", weights())});
}

} // namespace

const Type &specType() {
  static const TypeRef type = spec();
  return *type;
}

const Type &blockType() { return *block(); }

} // namespace tfc::spec
