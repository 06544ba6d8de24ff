// Decoders of llama.cpp that are older than LLaMA or not like it, in Hugging
// Face's words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufArchitecture.h"

namespace tfc::rt {

namespace {

/// BLOOM's, Falcon's and GPT-NeoX's names of their products.
const GgufNames megatron = {{"ffn_up.", "mlp.dense_h_to_4h."},
                            {"ffn_down.", "mlp.dense_4h_to_h."}};
const GgufNames oneQkv = {{"attn_qkv.", "self_attention.query_key_value."},
                          {"attn_output.", "self_attention.dense."}};

void addFalcon(std::vector<GgufArchitecture> &rows) {
  // Falcon 40B has a norm for attention and one for its feed-forward part,
  // which are beside each other; Falcon 2 has one, as the first Falcon, whose
  // heads share one of keys.
  for (const char *constants :
       {R"({"new_decoder_architecture": true, "num_ln_in_parallel_attn": 2})",
        R"({"new_decoder_architecture": true, "num_ln_in_parallel_attn": 1})",
        R"({"new_decoder_architecture": false, "multi_query": true})"}) {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"falcon", "falcon", "FalconForCausalLM"});
    row.constants = constants;
    row.flags = {{"attn_qkv.bias", "bias"}};
    row.renames = {{"num_key_value_heads", "num_kv_heads"},
                   {"intermediate_size", "ffn_hidden_size"}};
    row.whole = {{"token_embd.", "transformer.word_embeddings."},
                 {"output_norm.", "transformer.ln_f."}};
    row.layers = GgufNames{{"attn_norm_2.", "ln_attn."},
                           {"attn_norm.", "input_layernorm."}} +
                 oneQkv + megatron;
    row.layersAre = "transformer.h.";
    row.joinsHeads = true;
    row.epsilon = "layer_norm_epsilon";
  }
  GgufArchitecture *first = &rows.back() - 2;
  first[0].ifTensor = "attn_norm_2.weight";
  first[0].layers[1].to = "ln_mlp.";
  first[1].ifThere = "attention.head_count_kv";
  first[1].ifMore = 1;
}

void addCohere(std::vector<GgufArchitecture> &rows) {
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"command-r", "cohere", "CohereForCausalLM"});
    row.keys = {{"logit_scale", "logit_scale"}};
    row.flags = {{"attn_q_norm.weight", "use_qk_norm"}};
    row.epsilon = "layer_norm_eps";
  }
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"cohere2", "cohere2", "Cohere2ForCausalLM"});
    row.keys = {{"logit_scale", "logit_scale"},
                {"attention.sliding_window", "sliding_window"}};
    row.windows = GgufWindows::EveryFourth;
    row.epsilon = "layer_norm_eps";
  }
}

} // namespace

void addOtherDecoders(std::vector<GgufArchitecture> &rows) {
  addCohere(rows);
  addFalcon(rows);
  {
    // The file has none of the first factors that BLOOM's slopes need.
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"bloom", "bloom", "BloomForCausalLM"});
    row.renames = {{"num_key_value_heads", nullptr},
                   {"intermediate_size", nullptr},
                   {"max_position_embeddings", nullptr}};
    row.whole = {{"token_embd.", "transformer.word_embeddings."},
                 {"token_embd_norm.", "transformer.word_embeddings_layernorm."},
                 {"output_norm.", "transformer.ln_f."}};
    row.layers = GgufNames{{"ffn_norm.", "post_attention_layernorm."}} +
                 oneQkv + megatron;
    row.layersAre = "transformer.h.";
    row.joinsHeads = true;
    row.positions = GgufArchitecture::NotTurned;
    row.epsilon = "layer_norm_epsilon";
  }
  {
    GgufArchitecture &row =
        rows.emplace_back(GgufArchitecture{"gpt2", "gpt2", "GPT2LMHeadModel"});
    row.renames = {{"intermediate_size", "n_inner"},
                   {"num_key_value_heads", nullptr}};
    row.whole = {{"token_embd.", "transformer.wte."},
                 {"position_embd.", "transformer.wpe."},
                 {"output_norm.", "transformer.ln_f."}};
    row.layers = {
        {"attn_norm.", "ln_1."},          {"attn_qkv.", "attn.c_attn."},
        {"attn_output.", "attn.c_proj."}, {"ffn_norm.", "ln_2."},
        {"ffn_up.", "mlp.c_fc."},         {"ffn_down.", "mlp.c_proj."}};
    row.layersAre = "transformer.h.";
    for (auto [from, to] : {std::pair("attn_qkv.weight", "attn.c_attn.weight"),
                            {"attn_output.weight", "attn.c_proj.weight"},
                            {"ffn_up.weight", "mlp.c_fc.weight"},
                            {"ffn_down.weight", "mlp.c_proj.weight"}}) {
      row.joins.push_back({from, nullptr, to, false, true});
    }
    row.positions = GgufArchitecture::NotTurned;
    row.epsilon = "layer_norm_epsilon";
  }
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"gptneox", "gpt_neox", "GPTNeoXForCausalLM"});
    row.keys = {{"use_parallel_residual", "use_parallel_residual"}};
    row.flags = {{"attn_qkv.bias", "attention_bias"}};
    row.renames = {{"num_key_value_heads", nullptr},
                   {"rope_theta", "rotary_emb_base"},
                   {"partial_rotary_factor", "rotary_pct"}};
    row.whole = {{"token_embd.", "gpt_neox.embed_in."},
                 {"output_norm.", "gpt_neox.final_layer_norm."},
                 {"output.", "embed_out."}};
    row.layers = GgufNames{{"attn_qkv.", "attention.query_key_value."},
                           {"attn_output.", "attention.dense."}} +
                 megatron;
    row.layersAre = "gpt_neox.layers.";
    row.joinsHeads = true;
    row.epsilon = "layer_norm_eps";
  }
  {
    // InternLM 2 is LLaMA with other names of its tensors.
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"internlm2", "llama", "LlamaForCausalLM"});
    row.constants = R"({"hidden_act": "silu"})";
    row.turnsNeighbours = true;
  }
  {
    GgufArchitecture &row =
        rows.emplace_back(GgufArchitecture{"mpt", "mpt", "MptForCausalLM"});
    row.keys = {{"attention.max_alibi_bias", "attn_config/alibi_bias_max"}};
    row.renames = {{"num_key_value_heads", nullptr},
                   {"intermediate_size", nullptr},
                   {"max_position_embeddings", "max_seq_len"}};
    row.whole = {{"token_embd.", "transformer.wte."},
                 {"output_norm.", "transformer.norm_f."}};
    row.layers = {
        {"attn_norm.", "norm_1."},          {"attn_qkv.", "attn.Wqkv."},
        {"attn_output.", "attn.out_proj."}, {"ffn_norm.", "norm_2."},
        {"ffn_up.", "ffn.up_proj."},        {"ffn_down.", "ffn.down_proj."}};
    row.layersAre = "transformer.blocks.";
    row.positions = GgufArchitecture::NotTurned;
    row.epsilon = "layer_norm_epsilon";
  }
  {
    GgufArchitecture &row =
        rows.emplace_back(GgufArchitecture{"olmo", "olmo", "OlmoForCausalLM"});
    row.constants = R"({"hidden_act": "silu"})";
    row.renames = {{"rms_norm_eps", nullptr}};
    row.turnsNeighbours = true;
  }
  {
    GgufArchitecture &row =
        rows.emplace_back(GgufArchitecture{"phi2", "phi", "PhiForCausalLM"});
    row.whole = {{"output_norm.", "model.final_layernorm."}};
    row.layers = {{"attn_output.", "self_attn.dense."},
                  {"ffn_up.", "mlp.fc1."},
                  {"ffn_down.", "mlp.fc2."}};
    row.epsilon = "layer_norm_eps";
  }
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"stablelm", "stablelm", "StableLmForCausalLM"});
    row.constants = R"({"hidden_act": "silu"})";
    row.keys = {{"use_parallel_residual", "use_parallel_residual"}};
    row.flags = {{"attn_q.bias", "use_qkv_bias"},
                 {"attn_q_norm.weight", "qk_layernorm"}};
    row.layers = {{"attn_q_norm.", "self_attn.q_layernorm.norms.{h}."},
                  {"attn_k_norm.", "self_attn.k_layernorm.norms.{h}."}};
    row.epsilon = "layer_norm_eps";
  }
}

} // namespace tfc::rt
