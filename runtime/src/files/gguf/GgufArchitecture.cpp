// llama.cpp's architectures in Hugging Face's words: a row each. What its
// converter does is in conversion/ of its repository.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufArchitecture.h"

#include <algorithm>
#include <set>

namespace tfc::rt {

GgufNames operator+(GgufNames all, const GgufNames &more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool isInSomeLayer(const GgufFile &file, std::string_view part) {
  const auto &all = file.tensors();
  return std::any_of(all.begin(), all.end(), [&](const GgufTensor &tensor) {
    std::string_view full = tensor.name;
    size_t end = full.substr(0, 4) == "blk." ? full.find('.', 4) : full.npos;
    return end != full.npos && full.substr(end + 1) == part;
  });
}

namespace {

using Names = GgufNames;

const Names qkvBias = {{"attn_q.bias", "attention_bias"}};
const Names bothBiases = {{"attn_q.bias", "attention_bias"},
                          {"ffn_up.bias", "mlp_bias"}};
const Names window = {{"attention.sliding_window", "sliding_window"}};
const Names scales = {{"attention.scale", "attention_multiplier"},
                      {"embedding_scale", "embedding_multiplier"},
                      {"residual_scale", "residual_multiplier"},
                      {"logit_scale", "logits_scaling"}};
const Names caps = {{"final_logit_softcapping", "final_logit_softcapping"}};
const Names perToken = {{"expert_used_count", "num_experts_per_tok"}};
const Names experts = Names{{"expert_count", "num_local_experts"}} + perToken;
const Names routed =
    Names{{"expert_count", "n_routed_experts"},
          {"expert_shared_count", "n_shared_experts"},
          {"expert_group_count", "n_group"},
          {"expert_group_used_count", "topk_group"},
          {"expert_weights_scale", "routed_scaling_factor"},
          {"expert_weights_norm", "norm_topk_prob"},
          {"leading_dense_block_count", "first_k_dense_replace"},
          {"expert_feed_forward_length", "moe_intermediate_size"}} +
    perToken;

const Names mlpExperts = {{"ffn_gate_inp.", "mlp.gate."},
                          {"ffn_gate_exps.", "mlp.experts.{e}.gate_proj."},
                          {"ffn_up_exps.", "mlp.experts.{e}.up_proj."},
                          {"ffn_down_exps.", "mlp.experts.{e}.down_proj."}};
const Names sharedExperts = {
    {"ffn_gate_shexp.", "mlp.shared_experts.gate_proj."},
    {"ffn_up_shexp.", "mlp.shared_experts.up_proj."},
    {"ffn_down_shexp.", "mlp.shared_experts.down_proj."},
    {"exp_probs_b.bias", "mlp.gate.e_score_correction_bias"}};
/// Qwen's, one with a gate.
const Names sharedExpert = {
    {"ffn_gate_inp_shexp.", "mlp.shared_expert_gate."},
    {"ffn_gate_shexp.", "mlp.shared_expert.gate_proj."},
    {"ffn_up_shexp.", "mlp.shared_expert.up_proj."},
    {"ffn_down_shexp.", "mlp.shared_expert.down_proj."}};
const Names sharedExpertKeys =
    Names{{"expert_count", "num_experts"},
          {"expert_feed_forward_length", "moe_intermediate_size"},
          {"expert_shared_feed_forward_length",
           "shared_expert_intermediate_size"}} +
    perToken;
const Names sparseExperts = {
    {"ffn_gate_inp.", "block_sparse_moe.gate."},
    {"ffn_gate_exps.", "block_sparse_moe.experts.{e}.w1."},
    {"ffn_up_exps.", "block_sparse_moe.experts.{e}.w3."},
    {"ffn_down_exps.", "block_sparse_moe.experts.{e}.w2."},
    {"exp_probs_b.bias", "block_sparse_moe.e_score_correction_bias"}};
/// Norms behind attention and feed-forward block, and one in front of the
/// latter.
const Names normsAround = {
    {"post_attention_norm.", "post_attention_layernorm."},
    {"ffn_norm.", "pre_feedforward_layernorm."},
    {"post_ffw_norm.", "post_feedforward_layernorm."}};
const Names normAfter = {{"post_attention_norm.", "post_attention_layernorm."}};
/// LFM2's names of what is not its feed-forward block.
const Names convolutions = {{"attn_norm.", "operator_norm."},
                            {"ffn_norm.", "ffn_norm."},
                            {"attn_output.", "self_attn.out_proj."},
                            {"attn_q_norm.", "self_attn.q_layernorm."},
                            {"attn_k_norm.", "self_attn.k_layernorm."},
                            {"shortconv.conv.", "conv.conv."},
                            {"shortconv.in_proj.", "conv.in_proj."},
                            {"shortconv.out_proj.", "conv.out_proj."}};

/// Of Mamba-2's mixers, behind what the folder calls them.
Names mambaParts(const std::string &mixer) {
  static std::set<std::string> kept; // names stay where they are
  Names parts;
  for (auto [from, to] : {std::pair("ssm_in.", "in_proj."),
                          {"ssm_conv1d.", "conv1d."},
                          {"ssm_dt.bias", "dt_bias"},
                          {"ssm_a", "A_log"},
                          {"ssm_d", "D"},
                          {"ssm_norm.", "norm."},
                          {"ssm_out.", "out_proj."}}) {
    parts.push_back({from, kept.insert(mixer + to).first->c_str()});
  }
  return parts;
}
/// Nemotron-H's, of layers that are one sublayer each.
const Names mixers =
    Names{{"attn_norm.", "norm."},
          {"attn_q.", "mixer.q_proj."},
          {"attn_k.", "mixer.k_proj."},
          {"attn_v.", "mixer.v_proj."},
          {"attn_output.", "mixer.o_proj."},
          {"ffn_up.", "mixer.up_proj."},
          {"ffn_down.", "mixer.down_proj."},
          {"ffn_gate_inp.", "mixer.gate."},
          {"exp_probs_b.bias", "mixer.gate.e_score_correction_bias"},
          {"ffn_up_exps.", "mixer.experts.{e}.up_proj."},
          {"ffn_down_exps.", "mixer.experts.{e}.down_proj."},
          {"ffn_up_shexp.", "mixer.shared_experts.up_proj."},
          {"ffn_down_shexp.", "mixer.shared_experts.down_proj."},
          {"ffn_latent_down.", "mixer.fc1_latent_proj."},
          {"ffn_latent_up.", "mixer.fc2_latent_proj."}};
const Names mambaWhole = {{"token_embd.", "model.embeddings."},
                          {"output_norm.", "model.norm_f."}};
const Names mambaKeys = {{"ssm.conv_kernel", "mamba_d_conv"},
                         {"ssm.state_size", "mamba_d_state"},
                         {"ssm.group_count", "mamba_n_groups"},
                         {"ssm.time_step_rank", "mamba_n_heads"}};

/// Of the gated delta rule. ssm_a is the last, since ssm_alpha begins with it.
const Names deltaKeys = {{"ssm.conv_kernel", "linear_conv_kernel_dim"},
                         {"ssm.group_count", "linear_num_key_heads"},
                         {"ssm.time_step_rank", "linear_num_value_heads"},
                         {"ssm.state_size", "linear_key_head_dim"}};
const Names deltaParts = {{"ssm_conv1d.", "linear_attn.conv1d."},
                          {"ssm_dt.bias", "linear_attn.dt_bias"},
                          {"ssm_norm.", "linear_attn.norm."},
                          {"ssm_out.", "linear_attn.out_proj."},
                          {"ssm_a", "linear_attn.A_log"}};

constexpr const char *silu = R"({"hidden_act": "silu"})";
constexpr const char *gelu =
    R"({"hidden_act": "gelu_pytorch_tanh",
        "hidden_activation": "gelu_pytorch_tanh"})";

const std::vector<GgufArchitecture> &architectures() {
  static const std::vector<GgufArchitecture> all = [] {
    std::vector<GgufArchitecture> rows;
    auto add = [&](const char *name, const char *type,
                   const char *className) -> GgufArchitecture & {
      rows.push_back({name, type, className});
      rows.back().constants = silu;
      return rows.back();
    };
    {
      GgufArchitecture &row = add("llama", "mixtral", "MixtralForCausalLM");
      row.ifThere = "expert_count";
      row.turnsNeighbours = true;
      row.keys = experts;
      row.layers = sparseExperts;
    }
    {
      GgufArchitecture &row = add("llama", "llama", "LlamaForCausalLM");
      row.turnsNeighbours = true;
      row.flags = bothBiases;
    }
    {
      GgufArchitecture &row = add("arcee", "arcee", "ArceeForCausalLM");
      row.turnsNeighbours = true;
      row.constants = R"({"hidden_act": "relu2"})";
      row.flags = bothBiases;
    }
    for (bool isThird : {true, false}) {
      // V3 and what came of it have a bias of their experts, and sigmoids.
      GgufArchitecture &row =
          isThird ? add("deepseek2", "deepseek_v3", "DeepseekV3ForCausalLM")
                  : add("deepseek2", "deepseek_v2", "DeepseekV2ForCausalLM");
      if (isThird) {
        row.ifTensor = "exp_probs_b.bias";
      }
      row.constants = R"({"hidden_act": "silu", "q_lora_rank": null,
                          "n_group": 1, "topk_group": 1,
                          "norm_topk_prob": false,
                          "routed_scaling_factor": 1.0})";
      row.flags = {{"attn_kv_a_mqa.bias", "attention_bias"}};
      row.keys = routed + Names{{"attention.kv_lora_rank", "kv_lora_rank"},
                                {"attention.q_lora_rank", "q_lora_rank"}};
      row.layers = Names{{"attn_kv_a_mqa.", "self_attn.kv_a_proj_with_mqa."},
                         {"attn_kv_a_norm.", "self_attn.kv_a_layernorm."},
                         {"attn_kv_b.", "self_attn.kv_b_proj."},
                         {"attn_q_a.", "self_attn.q_a_proj."},
                         {"attn_q_a_norm.", "self_attn.q_a_layernorm."},
                         {"attn_q_b.", "self_attn.q_b_proj."}} +
                   mlpExperts + sharedExperts;
      row.splitsLatents = true;
    }
    {
      GgufArchitecture &row = add("dots1", "dots1", "Dots1ForCausalLM");
      row.flags = qkvBias;
      row.keys = routed;
      row.layers = mlpExperts + sharedExperts;
    }
    {
      GgufArchitecture &row =
          add("ernie4_5", "ernie4_5", "Ernie4_5ForCausalLM");
      row.flags = {{"attn_q.bias", "use_bias"}};
    }
    {
      GgufArchitecture &row =
          add("ernie4_5-moe", "ernie4_5_moe", "Ernie4_5_MoeForCausalLM");
      row.flags = {{"attn_q.bias", "use_bias"}};
      row.keys = {{"expert_count", "moe_num_experts"},
                  {"expert_used_count", "moe_k"},
                  {"expert_shared_count", "moe_num_shared_experts"},
                  {"expert_feed_forward_length", "moe_intermediate_size"},
                  {"interleave_moe_layer_step", "moe_layer_interval"},
                  {"leading_dense_block_count", "moe_layer_start_index"}};
      row.layers = Names{{"exp_probs_b.bias",
                          "mlp.moe_statics.e_score_correction_bias"}} +
                   mlpExperts + sharedExperts;
    }
    {
      GgufArchitecture &row = add("exaone4", "exaone4", "Exaone4ForCausalLM");
      row.keys = window;
      row.windows = GgufWindows::ByPattern;
      row.layers = normsAround;
    }
    {
      // What products are times is in their matrices.
      GgufArchitecture &row =
          add("falcon-h1", "falcon_h1", "FalconH1ForCausalLM");
      row.constants =
          R"({"hidden_act": "silu", "mamba_norm_before_gate": false})";
      row.flags = {{"ssm_norm.weight", "mamba_rms_norm"},
                   {"ssm_conv1d.bias", "mamba_conv_bias"}};
      row.states = GgufStates::Mamba;
      row.valueWidth = "mamba_d_head";
      row.keys = mambaKeys + Names{{"ssm.inner_size", "mamba_d_ssm"}};
      row.whole = {{"output_norm.", "model.final_layernorm."}};
      row.layers = mambaParts("mamba.") +
                   Names{{"ffn_norm.", "pre_ff_layernorm."},
                         {"ffn_norm", "pre_ff_layernorm.weight"},
                         {"ffn_gate.", "feed_forward.gate_proj."},
                         {"ffn_up.", "feed_forward.up_proj."},
                         {"ffn_down.", "feed_forward.down_proj."}};
    }
    {
      GgufArchitecture &row = add("gemma", "gemma", "GemmaForCausalLM");
      row.constants = gelu;
      row.addsOneToNorms = true;
    }
    {
      GgufArchitecture &row = add("gemma2", "gemma2", "Gemma2ForCausalLM");
      row.constants = gelu;
      row.addsOneToNorms = true;
      row.keys = window + caps +
                 Names{{"attn_logit_softcapping", "attn_logit_softcapping"}};
      row.windows = GgufWindows::EverySecond;
      row.layers = normsAround;
      row.scaledByShare = 46;
    }
    {
      GgufArchitecture &row = add("gemma3", "gemma3_text", "Gemma3ForCausalLM");
      row.constants = gelu;
      row.addsOneToNorms = true;
      row.keys =
          window + caps + Names{{"rope.freq_base_swa", "rope_local_base_freq"}};
      row.windows = GgufWindows::EverySixth;
      row.layers = normsAround;
      row.scaledByShare = 62;
    }
    {
      GgufArchitecture &row = add("gemma4", "gemma4_text", "Gemma4ForCausalLM");
      row.constants = R"({"hidden_activation": "gelu_pytorch_tanh"})";
      row.keys = window + caps;
      row.rows = {
          {"per_layer_token_embd.weight", "vocab_size_per_layer_input"}};
      row.windows = GgufWindows::ByPattern;
      row.hasTwoHeads = true;
      row.whole = {
          {"per_layer_token_embd.", "model.embed_tokens_per_layer."},
          {"per_layer_model_proj.", "model.per_layer_model_projection."},
          {"per_layer_proj_norm.", "model.per_layer_projection_norm."}};
      row.layers =
          normsAround + Names{{"inp_gate.", "per_layer_input_gate."},
                              {"proj.", "per_layer_projection."},
                              {"post_norm.", "post_per_layer_input_norm."},
                              {"layer_output_scale.weight", "layer_scalar"}};
    }
    {
      GgufArchitecture &row = add("glm4", "glm4", "Glm4ForCausalLM");
      row.flags = qkvBias;
      row.layers = {{"post_attention_norm.", "post_self_attn_layernorm."},
                    {"post_ffw_norm.", "post_mlp_layernorm."},
                    {"ffn_up.", "mlp.gate_up_proj."}};
    }
    {
      GgufArchitecture &row = add("glm4moe", "glm4_moe", "Glm4MoeForCausalLM");
      row.flags = {{"attn_q.bias", "attention_bias"},
                   {"attn_q_norm.weight", "use_qk_norm"}};
      row.keys = routed;
      row.layers = mlpExperts + sharedExperts + normAfter;
    }
    {
      GgufArchitecture &row = add("gpt-oss", "gpt_oss", "GptOssForCausalLM");
      row.flags = qkvBias;
      row.keys = experts + window +
                 Names{{"expert_feed_forward_length", "intermediate_size"}};
      row.windows = GgufWindows::EverySecond;
      row.layers = normAfter +
                   Names{{"attn_sinks.weight", "self_attn.sinks"},
                         {"ffn_gate_inp.", "mlp.router."},
                         {"ffn_down_exps.bias", "mlp.experts.down_proj_bias"}};
      row.joins = {
          {"ffn_gate_exps.weight", "ffn_up_exps.weight",
           "mlp.experts.gate_up_proj", true},
          {"ffn_gate_exps.bias", "ffn_up_exps.bias",
           "mlp.experts.gate_up_proj_bias", true},
          {"ffn_down_exps.weight", nullptr, "mlp.experts.down_proj", false}};
    }
    {
      GgufArchitecture &row = add("granite", "granite", "GraniteForCausalLM");
      row.turnsNeighbours = true;
      row.flags = bothBiases;
      row.keys = scales;
    }
    {
      GgufArchitecture &row = add("granitehybrid", "granitemoehybrid",
                                  "GraniteMoeHybridForCausalLM");
      row.turnsNeighbours = true;
      row.flags = qkvBias + Names{{"ssm_conv1d.bias", "mamba_conv_bias"}};
      row.states = GgufStates::Mamba;
      row.valueWidth = "mamba_d_head";
      row.stateKind = "linear_attention";
      row.keys = scales + experts + mambaKeys +
                 Names{{"expert_shared_feed_forward_length",
                        "shared_intermediate_size"}};
      row.layers = mambaParts("mamba.") +
                   Names{{"ffn_gate_inp.", "block_sparse_moe.router.layer."},
                         {"ffn_down_exps.", "block_sparse_moe.output_linear."},
                         {"ffn_down_shexp.", "shared_mlp.output_linear."},
                         {"ffn_down.", "shared_mlp.output_linear."}};
      row.joins = {{"ffn_gate_exps.weight", "ffn_up_exps.weight",
                    "block_sparse_moe.input_linear.weight", false},
                   {"ffn_gate_shexp.weight", "ffn_up_shexp.weight",
                    "shared_mlp.input_linear.weight", false, true},
                   {"ffn_gate.weight", "ffn_up.weight",
                    "shared_mlp.input_linear.weight", false, true}};
      row.positions = GgufArchitecture::TurnedIfSaid;
    }
    {
      GgufArchitecture &row =
          add("granitemoe", "granitemoe", "GraniteMoeForCausalLM");
      row.turnsNeighbours = true;
      row.flags = qkvBias;
      row.keys = scales + experts;
      row.layers = {{"ffn_gate_inp.", "block_sparse_moe.router.layer."},
                    {"ffn_down_exps.", "block_sparse_moe.output_linear."}};
      row.joins = {{"ffn_gate_exps.weight", "ffn_up_exps.weight",
                    "block_sparse_moe.input_linear.weight", false}};
    }
    {
      GgufArchitecture &row =
          add("hunyuan-dense", "hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM");
      row.flags = qkvBias;
      row.layers = {{"attn_q_norm.", "self_attn.query_layernorm."},
                    {"attn_k_norm.", "self_attn.key_layernorm."}};
    }
    {
      GgufArchitecture &row = add("lfm2", "lfm2", "Lfm2ForCausalLM");
      row.constants = R"({"block_auto_adjust_ff_dim": false})";
      row.keys = {{"shortconv.l_cache", "conv_L_cache"}};
      row.layers = Names{{"ffn_gate.", "feed_forward.w1."},
                         {"ffn_up.", "feed_forward.w3."},
                         {"ffn_down.", "feed_forward.w2."}} +
                   convolutions;
      row.epsilon = "norm_eps";
    }
    {
      GgufArchitecture &row = add("lfm2moe", "lfm2_moe", "Lfm2MoeForCausalLM");
      row.constants = R"({"norm_topk_prob": true, "use_expert_bias": true})";
      row.keys = {{"shortconv.l_cache", "conv_L_cache"},
                  {"expert_count", "num_experts"},
                  {"expert_used_count", "num_experts_per_tok"},
                  {"expert_feed_forward_length", "moe_intermediate_size"},
                  {"leading_dense_block_count", "num_dense_layers"}};
      row.layers = Names{{"ffn_gate.", "feed_forward.w1."},
                         {"ffn_up.", "feed_forward.w3."},
                         {"ffn_down.", "feed_forward.w2."},
                         {"ffn_gate_inp.", "feed_forward.gate."},
                         {"ffn_gate_exps.", "feed_forward.experts.{e}.w1."},
                         {"ffn_up_exps.", "feed_forward.experts.{e}.w3."},
                         {"ffn_down_exps.", "feed_forward.experts.{e}.w2."},
                         {"exp_probs_b.bias", "feed_forward.expert_bias"}} +
                   convolutions;
      row.epsilon = "norm_eps";
    }
    for (bool isLarge : {true, false}) {
      // The one with 128 experts has no norms of queries and keys, which no
      // file says.
      GgufArchitecture &row = add("llama4", "llama4_text", "Llama4ForCausalLM");
      if (isLarge) {
        row.ifThere = "expert_count";
        row.ifMore = 127;
        row.constants = R"({"hidden_act": "silu", "use_qk_norm": false})";
      }
      row.flags = qkvBias;
      row.keys = {{"expert_count", "num_local_experts"},
                  {"expert_used_count", "num_experts_per_tok"},
                  {"expert_feed_forward_length", "intermediate_size"},
                  {"feed_forward_length", "intermediate_size_mlp"},
                  {"interleave_moe_layer_step", "interleave_moe_layer_step"}};
      row.layers = {
          {"ffn_gate_inp.", "feed_forward.router."},
          {"ffn_gate_shexp.", "feed_forward.shared_expert.gate_proj."},
          {"ffn_up_shexp.", "feed_forward.shared_expert.up_proj."},
          {"ffn_down_shexp.", "feed_forward.shared_expert.down_proj."},
          {"ffn_gate.", "feed_forward.gate_proj."},
          {"ffn_up.", "feed_forward.up_proj."},
          {"ffn_down.", "feed_forward.down_proj."}};
      row.joins = {{"ffn_gate_exps.weight", "ffn_up_exps.weight",
                    "feed_forward.experts.gate_up_proj", false},
                   {"ffn_down_exps.weight", nullptr,
                    "feed_forward.experts.down_proj", false}};
    }
    {
      GgufArchitecture &row = add("mamba2", "mamba2", "Mamba2ForCausalLM");
      row.flags = {{"ssm_conv1d.bias", "use_conv_bias"}};
      row.states = GgufStates::Mamba;
      row.valueWidth = "head_dim";
      row.keys = {{"ssm.conv_kernel", "conv_kernel"},
                  {"ssm.state_size", "state_size"},
                  {"ssm.group_count", "n_groups"},
                  {"ssm.time_step_rank", "num_heads"}};
      row.whole = mambaWhole;
      row.layers = Names{{"attn_norm.", "norm."}} + mambaParts("mixer.");
      row.positions = GgufArchitecture::NotTurned;
      row.epsilon = "layer_norm_epsilon";
    }
    {
      GgufArchitecture &row =
          add("minimax-m2", "minimax_m2", "MiniMaxM2ForCausalLM");
      row.keys =
          experts + Names{{"expert_feed_forward_length", "intermediate_size"}};
      row.layers = sparseExperts;
    }
    {
      // Queries grow from the length of the training on.
      GgufArchitecture &row =
          add("mistral3", "ministral3", "Ministral3ForCausalLM");
      row.ifThere = "attention.temperature_scale";
      row.turnsNeighbours = true;
      row.keys = {{"attention.temperature_scale", "temperature_scale"}};
      row.renames = {
          {"temperature_scale", "rope_scaling/llama_4_scaling_beta"}};
    }
    {
      GgufArchitecture &row = add("mistral3", "llama", "LlamaForCausalLM");
      row.turnsNeighbours = true;
      row.flags = bothBiases;
    }
    {
      GgufArchitecture &row =
          add("nemotron", "nemotron", "NemotronForCausalLM");
      row.constants = R"({"hidden_act": "relu2"})";
      row.flags = bothBiases;
      row.addsOneToNorms = true;
      row.epsilon = "norm_eps";
    }
    for (bool hasExperts : {false, true}) {
      GgufArchitecture &row = add(hasExperts ? "nemotron_h_moe" : "nemotron_h",
                                  "nemotron_h", "NemotronHForCausalLM");
      // llama.cpp limits no token's time. Its converter turns queries and keys
      // as those of Granite, though none are turned by positions.
      row.turnsNeighbours = true;
      row.constants = R"({"mlp_hidden_act": "relu2", "time_step_min": 0})";
      row.flags = {{"ssm_conv1d.bias", "use_conv_bias"}};
      row.states = GgufStates::Mamba;
      row.valueWidth = "mamba_head_dim";
      row.kinds = "layers_block_type";
      row.stateKind = "linear_attention";
      row.aloneKind = hasExperts ? "moe" : "mlp";
      row.keys = {{"ssm.conv_kernel", "conv_kernel"},
                  {"ssm.state_size", "ssm_state_size"},
                  {"ssm.group_count", "n_groups"},
                  {"ssm.time_step_rank", "mamba_num_heads"}};
      if (hasExperts) {
        row.keys = row.keys + routed +
                   Names{{"expert_shared_feed_forward_length",
                          "moe_shared_expert_intermediate_size"},
                         {"moe_latent_size", "moe_latent_size"}};
      }
      row.whole = mambaWhole;
      row.layers = mixers + mambaParts("mixer.");
      row.positions = GgufArchitecture::NotTurned;
      row.epsilon = "layer_norm_epsilon";
    }
    {
      GgufArchitecture &row = add("olmo2", "olmo3", "Olmo3ForCausalLM");
      row.ifThere = "attention.sliding_window";
      row.keys = window;
      row.windows = GgufWindows::ByPattern;
      row.layers = normsAround;
    }
    {
      GgufArchitecture &row = add("olmo2", "olmo2", "Olmo2ForCausalLM");
      row.layers = normsAround;
    }
    {
      GgufArchitecture &row = add("olmoe", "olmoe", "OlmoeForCausalLM");
      row.constants = R"({"hidden_act": "silu", "norm_topk_prob": false})";
      row.keys = Names{{"expert_count", "num_experts"}} + perToken;
      row.layers = mlpExperts;
    }
    {
      GgufArchitecture &row = add("phi3", "phi3", "Phi3ForCausalLM");
      row.keys = window + Names{{"rope.scaling.original_context_length",
                                 "original_max_position_embeddings"}};
      row.layers = {{"attn_qkv.", "self_attn.qkv_proj."},
                    {"ffn_up.", "mlp.gate_up_proj."}};
    }
    for (const char *name : {"qwen2", "qwen2vl"}) {
      // A text's tokens have one number in each of their positions.
      add(name, "qwen2", "Qwen2ForCausalLM");
    }
    {
      GgufArchitecture &row =
          add("qwen2moe", "qwen2_moe", "Qwen2MoeForCausalLM");
      row.constants = R"({"hidden_act": "silu", "norm_topk_prob": false})";
      row.keys = sharedExpertKeys;
      row.layers = mlpExperts + sharedExpert;
    }
    for (const char *name : {"qwen3", "qwen3vl"}) {
      GgufArchitecture &row = add(name, "qwen3", "Qwen3ForCausalLM");
      row.flags = qkvBias;
    }
    for (const char *name : {"qwen3moe", "qwen3vlmoe"}) {
      GgufArchitecture &row = add(name, "qwen3_moe", "Qwen3MoeForCausalLM");
      row.constants = R"({"hidden_act": "silu", "norm_topk_prob": true})";
      row.flags = qkvBias;
      row.keys =
          Names{{"expert_count", "num_experts"},
                {"expert_feed_forward_length", "moe_intermediate_size"}} +
          perToken;
      row.layers = mlpExperts;
    }
    {
      GgufArchitecture &row =
          add("qwen3next", "qwen3_next", "Qwen3NextForCausalLM");
      row.constants = R"({"hidden_act": "silu", "norm_topk_prob": true})";
      row.flags = qkvBias;
      row.addsOneToNorms = true;
      row.states = GgufStates::Grouped;
      row.valueWidth = "linear_value_head_dim";
      row.keys = deltaKeys + sharedExpertKeys;
      row.layers = normAfter + deltaParts +
                   Names{{"ssm_ba.", "linear_attn.in_proj_ba."}} + mlpExperts +
                   sharedExpert;
      row.joins = {{"attn_qkv.weight", "attn_gate.weight",
                    "linear_attn.in_proj_qkvz.weight", false, false, true}};
    }
    for (bool hasExperts : {false, true}) {
      GgufArchitecture &row =
          hasExperts
              ? add("qwen35moe", "qwen3_5_moe_text", "Qwen3_5MoeForCausalLM")
              : add("qwen35", "qwen3_5_text", "Qwen3_5ForCausalLM");
      row.flags = qkvBias;
      row.addsOneToNorms = true;
      row.states = GgufStates::Delta;
      row.valueWidth = "linear_value_head_dim";
      row.keys = deltaKeys;
      row.layers = normAfter +
                   Names{{"attn_qkv.", "linear_attn.in_proj_qkv."},
                         {"attn_gate.", "linear_attn.in_proj_z."},
                         {"ssm_alpha.", "linear_attn.in_proj_a."},
                         {"ssm_beta.", "linear_attn.in_proj_b."}} +
                   deltaParts;
      if (hasExperts) {
        row.keys = row.keys + sharedExpertKeys;
        row.layers = row.layers + mlpExperts + sharedExpert;
      }
    }
    {
      GgufArchitecture &row = add("seed_oss", "seed_oss", "SeedOssForCausalLM");
      row.flags = {{"attn_q.bias", "attention_bias"},
                   {"attn_output.bias", "attention_out_bias"},
                   {"ffn_up.bias", "mlp_bias"}};
      row.layers = normAfter;
    }
    {
      GgufArchitecture &row = add("smollm3", "smollm3", "SmolLM3ForCausalLM");
      row.turnsNeighbours = true;
      row.flags = bothBiases;
      row.constants = R"({"hidden_act": "silu", "no_rope_layer_interval": 4})";
    }
    {
      GgufArchitecture &row =
          add("starcoder2", "starcoder2", "Starcoder2ForCausalLM");
      row.constants =
          R"({"hidden_act": "gelu_pytorch_tanh", "sliding_window": null})";
      row.flags = {{"attn_q.bias", "use_bias"}};
      row.layers = {{"ffn_up.", "mlp.c_fc."}, {"ffn_down.", "mlp.c_proj."}};
      row.epsilon = "norm_epsilon";
    }
    addEncoders(rows);
    addOtherDecoders(rows);
    return rows;
  }();
  return all;
}

} // namespace

Result<const GgufArchitecture *> findArchitecture(const GgufFile &file) {
  std::string name = file.text("general.architecture").value_or("");
  std::set<std::string> known;
  for (const GgufArchitecture &row : architectures()) {
    bool isThere =
        !row.ifThere ||
        file.number(concat(name, ".", row.ifThere)).value_or(0) > row.ifMore;
    bool hasTensor = !row.ifTensor || file.find(row.ifTensor) ||
                     isInSomeLayer(file, row.ifTensor);
    if (name == row.name && isThere && hasTensor) {
      return &row;
    }
    known.insert(row.name);
  }
  std::string list;
  for (const std::string &each : known) {
    list += (list.empty() ? "" : ", ") + each;
  }
  return makeError(Code::Unsupported, file.path(),
                   ": expected general.architecture to be one of ", list,
                   " (others of GGUF are not read), got ", quoteName(name),
                   "; import the model's Hugging Face folder");
}

} // namespace tfc::rt
