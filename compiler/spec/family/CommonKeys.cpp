// Keys of config.json that mean the same in every family, and what is assumed
// of one whose table says nothing of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/Config.h"

#include <algorithm>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

void family::expectLayerTypes(Config &config, std::string_view type,
                              std::string_view key, const std::string &why) {
  const Json *types = config.value(key);
  if (!types) {
    return;
  }
  if (!types->isArray()) {
    config.fault(key, "expected a list with a type for each of the layers, "
                      "got " +
                          spec::describe(*types));
  }
  for (const Json &each : types->items) {
    if (!each.isString(type)) {
      config.faultAt(each, "expected " + spec::inQuotes(type) +
                               (why.empty() ? "" : " (" + why + ")") +
                               ", got " + spec::describe(each));
    }
  }
}

/// What layers of a kind of model see.
static void readSight(Config &config, std::string_view kind,
                      const std::set<std::string> &decided) {
  if (!decided.count("is_decoder")) {
    if (kind == "encoder") {
      config.refuseTrue("is_decoder", "tfc runs this model type as an encoder");
    } else if (kind == "encoder_decoder") {
      config.refuseTrue("is_decoder",
                        "tfc runs this model type with an encoder");
    }
  }
  if (!decided.count("is_causal")) {
    if (kind == "encoder_decoder") {
      config.refuseKey("is_causal", "tfc runs an encoder that sees all tokens "
                                    "and a decoder that sees those before");
    } else {
      // transformers would see what is before only where no mask is given.
      config.expectBoolean("is_causal", kind == "decoder",
                           kind == "decoder"
                               ? "tfc runs this model type causally"
                               : "tfc runs this model type as an encoder");
    }
  }
  // The cache that transformers makes by these keys would forget positions,
  // whatever the masks of a model let a layer see.
  if (!decided.count("sliding_window")) {
    config.refuseContent("sliding_window",
                         "the layers of this model type see all positions");
  }
  if (!decided.count("layer_types")) {
    expectLayerTypes(config, "full_attention");
  }
}

/// Keys that change no number of any model type.
static const std::vector<std::string_view> &keysOfAll() {
  static const std::vector<std::string_view> keys = {
      // How the model was made, saved or trained.
      "architectures", "model_type", "transformers_version", "torch_dtype",
      "dtype", "initializer_range", "gradient_checkpointing", "problem_type",
      "finetuning_task", "label2id", "id2label", "num_labels", "use_bfloat16",
      "tokenizer_class", "prefix", "xla_device", "torchscript",
      "tie_encoder_decoder", "tie_word_embeddings", "sentence_transformers",
      "sbert_ce_default_activation_function", "custom_pipelines", "output_past",
      "_name_or_path", "_commit_hash", "_auto_class", "_num_labels",
      "_flash_attn_2_enabled", "_attn_implementation",
      "_attn_implementation_autoset", "_experts_implementation",
      // What a call returns, and how it computes it.
      "use_cache", "output_attentions", "output_hidden_states", "return_dict",
      "chunk_size_feed_forward", "attn_implementation",
      "cross_attention_hidden_size",
      // Token ids: read elsewhere, or the tokenizer's business.
      "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id",
      "eos_token_ids", "cls_token_id", "mask_token_id", "unk_token_id",
      "decoder_start_token_id",
      // Generation settings that transformers 4 kept here; read elsewhere.
      "task_specific_params", "max_length", "min_length", "do_sample",
      "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
      "temperature", "top_k", "top_p", "typical_p", "repetition_penalty",
      "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
      "bad_words_ids", "num_return_sequences", "output_scores",
      "return_dict_in_generate", "forced_bos_token_id", "forced_eos_token_id",
      "remove_invalid_values", "exponential_decay_length_penalty",
      "suppress_tokens", "begin_suppress_tokens"};
  return keys;
}

bool family::isOfAll(std::string_view key) {
  const std::vector<std::string_view> &keys = keysOfAll();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void family::readCommonKeys(Config &config, std::string_view kind,
                            const std::set<std::string> &decided) {
  readSight(config, kind, decided);
  // The reader of tensors decides what it can read.
  config.ignore({"quantization_config", "compression_config"});
  if (kind == "encoder_decoder") {
    config.ignore({"add_cross_attention", "is_encoder_decoder"});
  } else if (!decided.count("is_encoder_decoder")) {
    config.refuseTrue("add_cross_attention",
                      "tfc runs this model type without an encoder");
    config.refuseTrue("is_encoder_decoder", "this model type has one stack");
  }
  if (!decided.count("per_layer_config")) {
    config.refuseContent("per_layer_config",
                         "tfc reads one configuration for all layers");
  }
  for (std::string_view key :
       {"text_config", "decoder", "generator", "text_encoder"}) {
    if (!decided.count(std::string(key))) {
      config.refuseContent(key, "the configuration of this model type has no "
                                "other one inside");
    }
  }
  if (!decided.count("attention_chunk_size")) {
    config.refuseContent("attention_chunk_size",
                         "this model type attends in no chunks");
  }
  config.refuseContent("kv_sharing_modes",
                       "every layer has keys and values of its own");
  config.refuseContent("transformers_weights",
                       "tfc reads model.safetensors or its shards");
  config.refuseContent("pruned_heads", "pruned heads are not supported");
  config.ignore(keysOfAll());
}
