// Encoders of llama.cpp in Hugging Face's words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufArchitecture.h"

namespace tfc::rt {

namespace {

/// Positions begin at 0 in all files, of RoBERTa's kin too, whose first rows
/// are left out.
const GgufNames bertWhole = {
    {"token_embd.", "embeddings.word_embeddings."},
    {"token_types.", "embeddings.token_type_embeddings."},
    {"position_embd.", "embeddings.position_embeddings."},
    {"token_embd_norm.", "embeddings.LayerNorm."},
    // Of classifiers, whose first token goes through a product and tanh.
    {"cls.output.", "classifier."},
    {"cls.", "pooler.dense."}};
const GgufNames bertLayers = {
    {"attn_q.", "attention.self.query."},
    {"attn_k.", "attention.self.key."},
    {"attn_v.", "attention.self.value."},
    {"attn_output.", "attention.output.dense."},
    {"attn_output_norm.", "attention.output.LayerNorm."},
    {"ffn_up.", "intermediate.dense."},
    {"ffn_down.", "output.dense."},
    {"layer_output_norm.", "output.LayerNorm."}};
const GgufNames noDecoder = {{"num_key_value_heads", nullptr},
                             {"tie_word_embeddings", nullptr}};

void fillBert(GgufArchitecture &row) {
  row.constants = R"({"hidden_act": "gelu"})";
  row.rows = {{"token_types.weight", "type_vocab_size"}};
  row.renames = noDecoder;
  row.whole = bertWhole;
  row.layers = bertLayers;
  row.layersAre = "encoder.layer.";
  row.positions = GgufArchitecture::NotTurned;
  row.epsilon = "layer_norm_eps";
}

} // namespace

void addEncoders(std::vector<GgufArchitecture> &rows) {
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"bert", "bert", "BertForSequenceClassification"});
    fillBert(row);
    row.ifTensor = "cls.output.weight";
    row.rows.push_back({"cls.output.weight", "num_labels"});
  }
  fillBert(rows.emplace_back(GgufArchitecture{"bert", "bert", "BertModel"}));
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"modern-bert", "modernbert", "ModernBertModel"});
    row.constants = R"({"hidden_activation": "gelu"})";
    row.keys = {
        {"hidden_activation", "hidden_activation"},
        {"attention.sliding_window", "local_attention"},
        {"attention.sliding_window_pattern", "global_attn_every_n_layers"},
        {"rope.freq_base", "global_rope_theta"},
        {"rope.freq_base_swa", "local_rope_theta"}};
    row.renames = noDecoder + GgufNames{{"rope_theta", nullptr}};
    row.whole = {{"token_embd.", "embeddings.tok_embeddings."},
                 {"token_embd_norm.", "embeddings.norm."},
                 {"output_norm.", "final_norm."}};
    row.layers = {{"attn_norm.", "attn_norm."}, {"attn_qkv.", "attn.Wqkv."},
                  {"attn_output.", "attn.Wo."}, {"ffn_norm.", "mlp_norm."},
                  {"ffn_up.", "mlp.Wi."},       {"ffn_down.", "mlp.Wo."}};
    row.layersAre = "layers.";
    row.epsilon = "norm_eps";
  }
  {
    GgufArchitecture &row = rows.emplace_back(
        GgufArchitecture{"nomic-bert", "nomic_bert", "NomicBertModel"});
    row.constants = R"({"hidden_act": "silu"})";
    row.rows = {{"token_types.weight", "type_vocab_size"}};
    row.renames = noDecoder;
    row.whole = GgufNames{{"token_embd_norm.", "emb_ln."}} + bertWhole;
    row.layers = {
        {"attn_qkv.", "attn.Wqkv."},     {"attn_output.", "attn.out_proj."},
        {"attn_output_norm.", "norm1."}, {"ffn_up.", "mlp.fc11."},
        {"ffn_gate.", "mlp.fc12."},      {"ffn_down.", "mlp.fc2."},
        {"layer_output_norm.", "norm2."}};
    row.layersAre = "encoder.layers.";
    row.epsilon = "layer_norm_eps";
  }
}

} // namespace tfc::rt
