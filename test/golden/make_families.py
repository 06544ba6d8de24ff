# The golden models of families that are a table and nothing else: of each class
# of model a tiny one, whose widths are no multiples of anything.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from inputs import VOCAB
from make_bart import padded
from make_llama import left, write_beams
from reference import build
from writer import find_greedy, set_generation, write_forward, write_pairs

SOME = ("ragged", "left", "longest", "positions")
MOST = ("one",) + SOME + ("holes",)
PAIR = ("ragged", "left", "mixed", "longest")


def encoder(**changes):
    return dict(dict(vocab_size=VOCAB, hidden_size=26, num_hidden_layers=2,
                     num_attention_heads=2, intermediate_size=37,
                     max_position_embeddings=40), **changes)


def modern(**changes):
    """Windows of three to both sides."""
    return dict(dict(vocab_size=VOCAB, hidden_size=28, num_attention_heads=2,
                     intermediate_size=37, max_position_embeddings=40,
                     local_attention=6, pad_token_id=0, bos_token_id=1,
                     eos_token_id=2, cls_token_id=1, sep_token_id=2),
                **changes)


def relative(**changes):
    """DeBERTa: distances are told apart up to 7, or in 8 buckets to a side."""
    return encoder(**dict(dict(relative_attention=True,
                               pos_att_type=["c2p", "p2c"]), **changes))


def buckets(**changes):
    return relative(**dict(dict(position_buckets=8, share_att_key=True,
                                norm_rel_ebd="layer_norm",
                                position_biased_input=False), **changes))


def decoder(**changes):
    return dict(dict(vocab_size=VOCAB, hidden_size=30, num_hidden_layers=2,
                     num_attention_heads=3, num_key_value_heads=1,
                     intermediate_size=37, max_position_embeddings=60,
                     bos_token_id=1, eos_token_id=2, pad_token_id=0),
                **changes)


def moe(**changes):
    """Of a mixture of experts, each row of which takes three of them."""
    return decoder(**dict(dict(num_experts_per_tok=3), **changes))


def delta(**changes):
    """The gated delta rule in all layers but the third, and rows longer than
    the 64 tokens that transformers computes at once."""
    return decoder(**dict(dict(
        num_hidden_layers=4, head_dim=12, max_position_embeddings=71,
        linear_num_key_heads=2,
        linear_num_value_heads=6, linear_key_head_dim=7,
        linear_value_head_dim=5, linear_conv_kernel_dim=4,
        layer_types=["linear_attention"] * 2 + ["full_attention",
                                                "linear_attention"],
        rope_parameters=dict(rope_type="default", rope_theta=1e4,
                             partial_rotary_factor=0.5)), **changes))


def latent(**changes):
    """Of attention to latents, beside a mixture of experts."""
    keys = moe(**{**dict(q_lora_rank=10, kv_lora_rank=12, qk_nope_head_dim=6,
                         qk_rope_head_dim=4, v_head_dim=7, n_routed_experts=12,
                         moe_intermediate_size=14, n_shared_experts=1),
                  **changes})
    keys["num_key_value_heads"] = keys["num_attention_heads"]
    return keys


def yarn(**changes):
    return dict(dict(rope_type="yarn", rope_theta=10000.0, factor=4.0,
                     original_max_position_embeddings=16), **changes)


def alike(**changes):
    """Of a family whose keys have as many heads as its queries."""
    keys = decoder(**changes)
    del keys["num_key_value_heads"]
    return keys


def gpt(**changes):
    return dict(dict(vocab_size=VOCAB, n_embd=30, n_layer=2, n_head=3,
                     n_positions=60, bos_token_id=1, eos_token_id=2,
                     pad_token_id=0), **changes)


def pair(**changes):
    return dict(dict(vocab_size=VOCAB, d_model=26, encoder_layers=1,
                     decoder_layers=2, encoder_attention_heads=1,
                     decoder_attention_heads=2, encoder_ffn_dim=37,
                     decoder_ffn_dim=43, max_position_embeddings=60,
                     forced_eos_token_id=None), **changes)


# name, class, config, cases, what those of "types" draw from (0: no types).
ENCODERS = (
    ("distilbert-model", hf.DistilBertModel, hf.DistilBertConfig(
        vocab_size=VOCAB, dim=26, n_layers=2, n_heads=1, hidden_dim=37,
        max_position_embeddings=40), MOST, 0),
    ("distilbert-mlm", hf.DistilBertForMaskedLM, hf.DistilBertConfig(
        vocab_size=VOCAB, dim=30, n_layers=1, n_heads=3, hidden_dim=41,
        max_position_embeddings=40, activation="relu"), SOME, 0),
    ("distilbert-sequence", hf.DistilBertForSequenceClassification,
     hf.DistilBertConfig(vocab_size=VOCAB, dim=26, n_layers=1, n_heads=2,
                         hidden_dim=37, max_position_embeddings=40,
                         num_labels=3), SOME, 0),
    ("electra-pretraining", hf.ElectraForPreTraining, hf.ElectraConfig(
        **encoder(embedding_size=26, hidden_act="relu")), SOME, 2),
    ("electra-mlm", hf.ElectraForMaskedLM, hf.ElectraConfig(
        **encoder(embedding_size=30, hidden_size=30, num_attention_heads=3)),
     SOME, 2),
    ("electra-sequence", hf.ElectraForSequenceClassification,
     hf.ElectraConfig(**encoder(embedding_size=26, num_labels=3)),
     ("ragged", "left"), 2),
    ("roberta-model", hf.RobertaModel, hf.RobertaConfig(
        **encoder(type_vocab_size=1, max_position_embeddings=42)), MOST, 1),
    ("roberta-mlm", hf.RobertaForMaskedLM, hf.RobertaConfig(
        **encoder(hidden_size=30, num_attention_heads=3, hidden_act="silu",
                  max_position_embeddings=42, layer_norm_eps=1e-5)), SOME, 2),
    ("roberta-sequence", hf.RobertaForSequenceClassification,
     hf.RobertaConfig(**encoder(num_labels=3, pad_token_id=4)),
     ("ragged", "left", "holes"), 2),
    ("xlmroberta-token", hf.XLMRobertaForTokenClassification,
     hf.XLMRobertaConfig(**encoder(num_labels=5, type_vocab_size=1)),
     ("ragged", "left"), 1),
    ("xlmroberta-question", hf.XLMRobertaForQuestionAnswering,
     hf.XLMRobertaConfig(**encoder(num_hidden_layers=1, type_vocab_size=1)),
     ("ragged",), 1),
    ("camembert-mlm", hf.CamembertForMaskedLM, hf.CamembertConfig(
        **encoder(num_hidden_layers=1, type_vocab_size=1)),
     ("ragged", "left"), 1),
    ("data2vec-model", hf.Data2VecTextModel, hf.Data2VecTextConfig(
        **encoder(num_hidden_layers=1, type_vocab_size=1)),
     ("ragged", "left"), 1),
    ("mpnet-model", hf.MPNetModel, hf.MPNetConfig(
        **encoder(num_attention_heads=1)),
     # Its pooler takes a column that padding on the left would hide.
     ("one", "ragged", "longest"), 0),
    ("mpnet-mlm", hf.MPNetForMaskedLM, hf.MPNetConfig(
        **encoder(hidden_size=30, num_attention_heads=3)), SOME, 0),
    ("ernie-model", hf.ErnieModel, hf.ErnieConfig(
        **encoder(use_task_id=True, hidden_act="relu")), SOME, 2),
    ("megatron-mlm", hf.MegatronBertForMaskedLM, hf.MegatronBertConfig(
        **encoder()), SOME, 2),
    ("nomic-model", hf.NomicBertModel, hf.NomicBertConfig(
        **encoder(num_attention_heads=1)), MOST, 2),
    ("nomic-mlm", hf.NomicBertForMaskedLM, hf.NomicBertConfig(
        **encoder(hidden_size=36, num_attention_heads=3)), SOME, 2),
    ("xlm-lm", hf.XLMWithLMHeadModel, hf.XLMConfig(
        vocab_size=VOCAB, emb_dim=26, n_layers=2, n_heads=2, n_langs=1,
        max_position_embeddings=40), SOME, 0),
    ("bert-both", hf.BertForPreTraining, hf.BertConfig(
        **encoder()), ("ragged", "left"), 2),
    ("megatron-next", hf.MegatronBertForNextSentencePrediction,
     hf.MegatronBertConfig(**encoder()), ("ragged", "left"), 2),
    ("llama-question", hf.LlamaForQuestionAnswering, hf.LlamaConfig(
        **decoder(num_hidden_layers=1)), ("ragged", "left"), 0),
    ("llama-token", hf.LlamaForTokenClassification, hf.LlamaConfig(
        **decoder(num_hidden_layers=1, num_labels=3)), ("ragged", "left"), 0),
    ("gpt2-question", hf.GPT2ForQuestionAnswering, hf.GPT2Config(
        **gpt(n_layer=1)), ("ragged", "left"), 0),
    ("gpt2-token", hf.GPT2ForTokenClassification, hf.GPT2Config(
        **gpt(n_layer=1, num_labels=3)), ("ragged", "left"), 0),
    ("opt-sequence", hf.OPTForSequenceClassification, hf.OPTConfig(
        vocab_size=VOCAB, hidden_size=26, num_hidden_layers=1,
        num_attention_heads=1, ffn_dim=37, max_position_embeddings=40,
        pad_token_id=0, do_layer_norm_before=False, enable_bias=False,
        num_labels=3), ("ragged", "left"), 0),
    ("modernbert-mlm", hf.ModernBertForMaskedLM, hf.ModernBertConfig(
        **modern(num_hidden_layers=5)), ("one", "ragged", "left", "longest"),
     0),
    ("albert-model", hf.AlbertModel, hf.AlbertConfig(
        **encoder(embedding_size=14, num_hidden_layers=5,
                  num_hidden_groups=2)), SOME, 2),
    ("albert-mlm", hf.AlbertForMaskedLM, hf.AlbertConfig(
        **encoder(embedding_size=30)), ("ragged", "left"), 2),
    ("electra-small", hf.ElectraForMaskedLM, hf.ElectraConfig(
        **encoder(embedding_size=14)), ("ragged", "left"), 2),
    ("modernbert-sequence", hf.ModernBertForSequenceClassification,
     hf.ModernBertConfig(**modern(num_hidden_layers=2, num_labels=3)),
     ("ragged",), 0),
    # Nobody tells it where a token is.
    ("roformer-model", hf.RoFormerModel, hf.RoFormerConfig(
        **encoder(hidden_size=28)), ("one", "ragged", "left", "longest",
                                     "holes"), 2),
    ("roformer-mlm", hf.RoFormerForMaskedLM, hf.RoFormerConfig(
        **encoder(hidden_size=36, num_attention_heads=3, embedding_size=14,
                  hidden_act="relu")), ("ragged", "left"), 2),
    ("roformer-sequence", hf.RoFormerForSequenceClassification,
     hf.RoFormerConfig(**encoder(hidden_size=28, num_labels=3)),
     ("ragged",), 2),
    ("eurobert-mlm", hf.EuroBertForMaskedLM, hf.EuroBertConfig(
        **decoder(mask_token_id=3)), MOST, 0),
    ("eurobert-late", hf.EuroBertForSequenceClassification,
     hf.EuroBertConfig(**decoder(mask_token_id=3, head_dim=14, num_labels=3)),
     ("ragged", "left", "holes"), 0),
    ("eurobert-bos", hf.EuroBertForSequenceClassification,
     hf.EuroBertConfig(**decoder(mask_token_id=3, num_hidden_layers=1,
                                 classifier_pooling="bos", mlp_bias=True,
                                 attention_bias=True)), ("ragged",), 0),
    ("bigbird-model", hf.BigBirdModel, hf.BigBirdConfig(**encoder()), MOST,
     2),
    ("bigbird-mlm", hf.BigBirdForMaskedLM, hf.BigBirdConfig(
        **encoder(hidden_size=30, num_attention_heads=3, use_bias=False,
                  rescale_embeddings=True, attention_type="original_full")),
     ("ragged", "left"), 2),
    ("bigbird-sequence", hf.BigBirdForSequenceClassification,
     hf.BigBirdConfig(**encoder(num_labels=3)), ("ragged",), 2),
    ("prelayernorm-mlm", hf.RobertaPreLayerNormForMaskedLM,
     hf.RobertaPreLayerNormConfig(**encoder()), SOME, 2),
    ("prelayernorm-model", hf.RobertaPreLayerNormModel,
     hf.RobertaPreLayerNormConfig(**encoder(num_attention_heads=1)),
     ("ragged", "left"), 2),
    ("xlmrobertaxl-mlm", hf.XLMRobertaXLForMaskedLM, hf.XLMRobertaXLConfig(
        **encoder()), SOME, 1),
    ("xlmrobertaxl-sequence", hf.XLMRobertaXLForSequenceClassification,
     hf.XLMRobertaXLConfig(**encoder(num_labels=3, type_vocab_size=2)),
     ("ragged",), 2),
    ("rembert-mlm", hf.RemBertForMaskedLM, hf.RemBertConfig(
        **encoder(input_embedding_size=14, output_embedding_size=33,
                  bos_token_id=1, eos_token_id=2)), SOME, 2),
    ("rembert-sequence", hf.RemBertForSequenceClassification,
     hf.RemBertConfig(**encoder(input_embedding_size=26, num_labels=3,
                                bos_token_id=1, eos_token_id=2)),
     ("ragged",), 2),
    ("flaubert-lm", hf.FlaubertWithLMHeadModel, hf.FlaubertConfig(
        vocab_size=VOCAB, emb_dim=26, n_layers=2, n_heads=2,
        max_position_embeddings=40), SOME, 0),
    ("flaubert-question", hf.FlaubertForQuestionAnsweringSimple,
     hf.FlaubertConfig(vocab_size=VOCAB, emb_dim=30, n_layers=1, n_heads=3,
                       gelu_activation=False, max_position_embeddings=40),
     ("ragged", "left"), 0),
    ("gte-mlm", hf.GteForMaskedLM, hf.GteConfig(
        **encoder(hidden_size=28, type_vocab_size=2)), MOST, 2),
    ("gte-model", hf.GteModel, hf.GteConfig(
        **encoder(hidden_size=36, num_attention_heads=3, type_vocab_size=0,
                  hidden_act="silu")), SOME, 0),
    ("bert-choice", hf.BertForMultipleChoice, hf.BertConfig(
        **encoder()), ("ragged", "left"), 2),
    ("modernbert-choice", hf.ModernBertForMultipleChoice,
     hf.ModernBertConfig(**modern(num_hidden_layers=2)), ("ragged", "left"),
     0),
    ("debertav2-model", hf.DebertaV2Model, hf.DebertaV2Config(
        **buckets(pos_att_type="p2c|c2p")),
     ("one", "ragged", "left", "longest"), 0),
    # What it asks of the first column padding on the left would hide.
    ("debertav2-sequence", hf.DebertaV2ForSequenceClassification,
     hf.DebertaV2Config(**relative(max_relative_positions=7, num_labels=3,
                                   type_vocab_size=2)),
     ("ragged", "longest"), 2),
    ("debertav2-mlm", hf.DebertaV2ForMaskedLM, hf.DebertaV2Config(
        **buckets(position_buckets=6, max_relative_positions=20,
                  norm_rel_ebd="none", pos_att_type=["c2p"],
                  embedding_size=14, position_biased_input=True)), SOME, 0),
    ("debertav2-new", hf.DebertaV2ForMaskedLM, hf.DebertaV2Config(
        **buckets(hidden_size=30, num_attention_heads=3, legacy=False,
                  pos_att_type=["p2c"])), ("ragged", "left"), 0),
    ("debertav2-question", hf.DebertaV2ForQuestionAnswering,
     hf.DebertaV2Config(**buckets(num_hidden_layers=1)), ("ragged", "left"),
     0),
    ("deberta-model", hf.DebertaModel, hf.DebertaConfig(
        **relative(position_biased_input=False)),
     ("one", "ragged", "left", "longest"), 0),
    ("deberta-token", hf.DebertaForTokenClassification, hf.DebertaConfig(
        **relative(max_relative_positions=7, pos_att_type=["c2p"],
                   hidden_size=30, num_attention_heads=3, num_labels=3,
                   type_vocab_size=2)), SOME, 2),
    ("deberta-mlm", hf.DebertaForMaskedLM, hf.DebertaConfig(
        **relative(max_relative_positions=9, pos_att_type=["p2c"])),
     ("ragged", "left"), 0),
)

ROPE = {"rope_type": "default", "rope_theta": 500.0}
DECODERS = (
    ("phi3-lm", hf.Phi3ForCausalLM, hf.Phi3Config(
        **decoder(hidden_size=36, sliding_window=5))),
    ("phi3-partial", hf.Phi3ForCausalLM, hf.Phi3Config(
        **decoder(hidden_size=48, num_key_value_heads=3,
                  tie_word_embeddings=True, rope_parameters={
                      **ROPE, "partial_rotary_factor": 0.5}))),
    ("smollm3-lm", hf.SmolLM3ForCausalLM, hf.SmolLM3Config(
        **decoder(num_hidden_layers=5, no_rope_layer_interval=2))),
    ("smollm3-untied", hf.SmolLM3ForCausalLM, hf.SmolLM3Config(
        **decoder(num_hidden_layers=3, no_rope_layers=[0, 1, 1],
                  attention_bias=True, tie_word_embeddings=False))),
    ("starcoder2-lm", hf.Starcoder2ForCausalLM, hf.Starcoder2Config(
        **decoder(sliding_window=6))),
    ("starcoder2-plain", hf.Starcoder2ForCausalLM, hf.Starcoder2Config(
        **decoder(hidden_size=36, use_bias=False,
                  tie_word_embeddings=False))),
    ("stablelm-lm", hf.StableLmForCausalLM, hf.StableLmConfig(
        **decoder(hidden_size=48))),
    ("stablelm-bias", hf.StableLmForCausalLM, hf.StableLmConfig(
        **decoder(hidden_size=48, num_key_value_heads=3, use_qkv_bias=True,
                  rope_parameters={**ROPE, "partial_rotary_factor": 0.5}))),
    ("gptneo-lm", hf.GPTNeoForCausalLM, hf.GPTNeoConfig(
        vocab_size=VOCAB, hidden_size=30, num_layers=3, num_heads=3,
        attention_types=[[["global", "local"], 1], [["local"], 1]],
        window_size=4, max_position_embeddings=60, bos_token_id=1,
        eos_token_id=2, pad_token_id=0)),
    ("opt-lm", hf.OPTForCausalLM, hf.OPTConfig(
        vocab_size=VOCAB, hidden_size=30, num_hidden_layers=2,
        num_attention_heads=3, ffn_dim=37, max_position_embeddings=60,
        bos_token_id=1, eos_token_id=2, pad_token_id=0)),
    ("granite-lm", hf.GraniteForCausalLM, hf.GraniteConfig(
        **decoder(embedding_multiplier=3.0, attention_multiplier=0.3,
                  logits_scaling=2.0))),
    ("helium-lm", hf.HeliumForCausalLM, hf.HeliumConfig(
        **decoder(head_dim=10))),
    ("ernie45-lm", hf.Ernie4_5ForCausalLM, hf.Ernie4_5Config(
        **decoder(head_dim=14, use_bias=True))),
    ("seedoss-lm", hf.SeedOssForCausalLM, hf.SeedOssConfig(
        **decoder(head_dim=14))),
    ("ministral-lm", hf.MinistralForCausalLM, hf.MinistralConfig(
        **decoder(head_dim=14, num_hidden_layers=3, sliding_window=4,
                  layer_types=["sliding_attention", "full_attention",
                               "sliding_attention"]))),
    ("glm-lm", hf.GlmForCausalLM, hf.GlmConfig(
        **decoder(head_dim=12, num_key_value_heads=3))),
    ("openai-lm", hf.OpenAIGPTLMHeadModel, hf.OpenAIGPTConfig(**gpt())),
    ("bigcode-lm", hf.GPTBigCodeForCausalLM, hf.GPTBigCodeConfig(**gpt())),
    ("qwen3-lm", hf.Qwen3ForCausalLM, hf.Qwen3Config(
        **decoder(head_dim=14))),
    ("olmo-lm", hf.OlmoForCausalLM, hf.OlmoConfig(
        **decoder(num_hidden_layers=1))),
    ("olmo2-lm", hf.Olmo2ForCausalLM, hf.Olmo2Config(
        **decoder(num_attention_heads=5, num_key_value_heads=5))),
    ("gemma2-lm", hf.Gemma2ForCausalLM, hf.Gemma2Config(
        **decoder(head_dim=14, num_hidden_layers=3, sliding_window=4,
                  query_pre_attn_scalar=11, attn_logit_softcapping=5.0,
                  final_logit_softcapping=20.0))),
    ("gemma3-lm", hf.Gemma3ForCausalLM, hf.Gemma3TextConfig(
        **decoder(head_dim=14, num_hidden_layers=3, sliding_window=4,
                  query_pre_attn_scalar=11, layer_types=[
                      "sliding_attention", "full_attention",
                      "sliding_attention"], rope_parameters={
                          "sliding_attention": {"rope_type": "default",
                                                "rope_theta": 50.0},
                          "full_attention": {"rope_type": "linear",
                                             "rope_theta": 900.0,
                                             "factor": 2.0}}))),
    ("neox-lm", hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig(
        **alike(hidden_size=48))),
    ("falcon-lm", hf.FalconForCausalLM, hf.FalconConfig(
        vocab_size=VOCAB, hidden_size=40, num_hidden_layers=2,
        num_attention_heads=4, num_kv_heads=2, ffn_hidden_size=37,
        new_decoder_architecture=True, bos_token_id=1, eos_token_id=2,
        pad_token_id=0)),
    ("phi-lm", hf.PhiForCausalLM, hf.PhiConfig(
        **decoder(hidden_size=36, num_hidden_layers=1, qk_layernorm=True))),
    ("nemotron-lm", hf.NemotronForCausalLM, hf.NemotronConfig(
        **decoder(hidden_size=36))),
    ("glm4-lm", hf.Glm4ForCausalLM, hf.Glm4Config(
        **decoder(head_dim=12, num_key_value_heads=3))),
    ("granite-scaled", hf.GraniteForCausalLM, hf.GraniteConfig(
        **decoder(residual_multiplier=0.3, num_hidden_layers=1))),
    ("ctrl-lm", hf.CTRLLMHeadModel, hf.CTRLConfig(**gpt(dff=37))),
    ("xglm-lm", hf.XGLMForCausalLM, hf.XGLMConfig(
        vocab_size=VOCAB, d_model=30, num_layers=2, attention_heads=3,
        ffn_dim=37, max_position_embeddings=60, bos_token_id=1,
        eos_token_id=2, pad_token_id=0)),
    ("bloom-lm", hf.BloomForCausalLM, hf.BloomConfig(
        vocab_size=VOCAB, hidden_size=42, n_layer=2, n_head=3,
        bos_token_id=1, eos_token_id=2, pad_token_id=0)),
    ("mpt-lm", hf.MptForCausalLM, hf.MptConfig(
        vocab_size=VOCAB, d_model=42, n_layers=2, n_heads=3, max_seq_len=60,
        attn_config={"softmax_scale": 0.4}, bos_token_id=1, eos_token_id=2,
        pad_token_id=0)),
    ("stablelm-heads", hf.StableLmForCausalLM, hf.StableLmConfig(
        **decoder(hidden_size=48, qk_layernorm=True,
                  use_parallel_residual=True))),
    ("cohere-heads", hf.CohereForCausalLM, hf.CohereConfig(
        **decoder(hidden_size=36, use_qk_norm=True))),
    ("opt-projected", hf.OPTForCausalLM, hf.OPTConfig(
        vocab_size=VOCAB, hidden_size=30, word_embed_proj_dim=14,
        num_hidden_layers=2, num_attention_heads=3, ffn_dim=37,
        max_position_embeddings=60, do_layer_norm_before=False,
        bos_token_id=1, eos_token_id=2, pad_token_id=0)),
    ("gptj-lm", hf.GPTJForCausalLM, hf.GPTJConfig(
        **gpt(rotary_dim=6, n_inner=37))),
    ("gptj-narrow", hf.GPTJForCausalLM, hf.GPTJConfig(
        **gpt(n_layer=1, n_head=1, n_embd=26, rotary_dim=26))),
    ("codegen-lm", hf.CodeGenForCausalLM, hf.CodeGenConfig(
        **gpt(n_embd=40, n_head=4, rotary_dim=6, n_inner=37))),
    ("codegen-wide", hf.CodeGenForCausalLM, hf.CodeGenConfig(
        **gpt(n_layer=1, n_embd=48, n_head=8, rotary_dim=2,
              activation_function="relu"))),
    ("cohere-lm", hf.CohereForCausalLM, hf.CohereConfig(
        **decoder(hidden_size=36, logit_scale=0.25, attention_bias=True))),
    ("cohere2-lm", hf.Cohere2ForCausalLM, hf.Cohere2Config(
        **decoder(hidden_size=36, head_dim=12, num_hidden_layers=3,
                  sliding_window=4, logit_scale=0.5, layer_types=[
                      "sliding_attention", "full_attention",
                      "sliding_attention"]))),
    ("cohere2-full", hf.Cohere2ForCausalLM, hf.Cohere2Config(
        **decoder(hidden_size=48, head_dim=16, num_key_value_heads=3,
                  sliding_window=5, layer_types=[
                      "full_attention", "sliding_attention"]))),
    ("exaone4-lm", hf.Exaone4ForCausalLM, hf.Exaone4Config(
        **decoder(hidden_size=36, num_hidden_layers=3, sliding_window=4,
                  layer_types=["sliding_attention", "full_attention",
                               "sliding_attention"]))),
    ("exaone4-full", hf.Exaone4ForCausalLM, hf.Exaone4Config(
        **decoder(hidden_size=48, num_key_value_heads=3, sliding_window=None,
                  layer_types=["full_attention"] * 2))),
    ("persimmon-lm", hf.PersimmonForCausalLM, hf.PersimmonConfig(
        **alike(hidden_size=48, rope_parameters={
            **ROPE, "partial_rotary_factor": 0.5}))),
    ("persimmon-plain", hf.PersimmonForCausalLM, hf.PersimmonConfig(
        **alike(hidden_size=36, num_hidden_layers=1, qk_layernorm=False,
                rope_parameters={**ROPE, "partial_rotary_factor": 0.5}))),
    ("olmo3-lm", hf.Olmo3ForCausalLM, hf.Olmo3Config(
        **decoder(hidden_size=36, num_hidden_layers=3, sliding_window=4,
                  layer_types=["sliding_attention", "full_attention",
                               "sliding_attention"]))),
    ("gemma-lm", hf.GemmaForCausalLM, hf.GemmaConfig(
        **decoder(head_dim=14))),
    ("gemma-wide", hf.GemmaForCausalLM, hf.GemmaConfig(
        **decoder(head_dim=26, hidden_size=26, num_attention_heads=1,
                  num_hidden_layers=1, attention_bias=True))),
    ("arcee-lm", hf.ArceeForCausalLM, hf.ArceeConfig(
        **decoder(head_dim=14))),
    ("biogpt-lm", hf.BioGptForCausalLM, hf.BioGptConfig(
        **alike())),
    ("jais2-lm", hf.Jais2ForCausalLM, hf.Jais2Config(
        **decoder(head_dim=14))),
    ("jais2-plain", hf.Jais2ForCausalLM, hf.Jais2Config(
        **decoder(num_hidden_layers=1, num_key_value_heads=3, mlp_bias=False,
                  attention_bias=False, tie_word_embeddings=True))),
    ("cwm-lm", hf.CwmForCausalLM, hf.CwmConfig(
        **decoder(head_dim=14, num_hidden_layers=5, sliding_window=4,
                  rope_parameters={"rope_type": "llama3", "rope_theta": 900.0,
                                   "factor": 4.0, "low_freq_factor": 1.0,
                                   "high_freq_factor": 4.0,
                                   "original_max_position_embeddings": 20}))),
    ("cwm-full", hf.CwmForCausalLM, hf.CwmConfig(
        **decoder(head_dim=10, num_key_value_heads=3, mlp_bias=True,
                  sliding_window=5, layer_types=["full_attention"] * 2))),
    ("vaultgemma-lm", hf.VaultGemmaForCausalLM, hf.VaultGemmaConfig(
        **decoder(head_dim=14, num_hidden_layers=3, sliding_window=4,
                  query_pre_attn_scalar=11, attn_logit_softcapping=5.0,
                  final_logit_softcapping=20.0))),
    ("vaultgemma-plain", hf.VaultGemmaForCausalLM, hf.VaultGemmaConfig(
        **decoder(head_dim=26, num_attention_heads=1, attention_bias=True,
                  num_hidden_layers=2, attn_logit_softcapping=None,
                  sliding_window=6, final_logit_softcapping=None))),
    ("hyperclovax-lm", hf.HyperCLOVAXForCausalLM, hf.HyperCLOVAXConfig(
        **decoder(embedding_multiplier=3.0, attention_multiplier=0.3,
                  logits_scaling=0.5, residual_multiplier=0.7))),
    ("hyperclovax-plain", hf.HyperCLOVAXForCausalLM, hf.HyperCLOVAXConfig(
        **decoder(num_key_value_heads=3, use_post_norm=False, mlp_bias=True,
                  attention_bias=True, tie_word_embeddings=True))),
    ("nanochat-lm", hf.NanoChatForCausalLM, hf.NanoChatConfig(
        **decoder(hidden_size=36))),
    ("nanochat-bias", hf.NanoChatForCausalLM, hf.NanoChatConfig(
        **decoder(hidden_size=26, num_attention_heads=1, attention_bias=True,
                  final_logit_softcapping=None, rope_parameters={
                      "rope_type": "linear", "rope_theta": 500.0,
                      "factor": 2.0}))),
    ("hunyuan-lm", hf.HunYuanDenseV1ForCausalLM, hf.HunYuanDenseV1Config(
        **decoder(head_dim=14))),
    ("hunyuan-alpha", hf.HunYuanDenseV1ForCausalLM, hf.HunYuanDenseV1Config(
        **decoder(head_dim=10, num_key_value_heads=3, attention_bias=True,
                  tie_word_embeddings=True, rope_parameters={
                      "rope_type": "dynamic", "rope_theta": 10000.0,
                      "alpha": 30.0, "factor": 1.0, "beta_fast": 32,
                      "beta_slow": 1, "mscale": 1.0}))),
    ("mixtral-lm", hf.MixtralForCausalLM, hf.MixtralConfig(
        **moe(num_local_experts=5, num_experts_per_tok=2,
              intermediate_size=14))),
    ("qwen3moe-lm", hf.Qwen3MoeForCausalLM, hf.Qwen3MoeConfig(
        **moe(num_experts=12, head_dim=14, moe_intermediate_size=14,
              norm_topk_prob=True))),
    ("olmoe-lm", hf.OlmoeForCausalLM, hf.OlmoeConfig(
        **moe(num_experts=12, num_key_value_heads=3, intermediate_size=14))),
    ("qwen2moe-lm", hf.Qwen2MoeForCausalLM, hf.Qwen2MoeConfig(
        **moe(num_experts=12, num_hidden_layers=3, decoder_sparse_step=2,
              moe_intermediate_size=14, shared_expert_intermediate_size=22))),
    ("granitemoe-lm", hf.GraniteMoeForCausalLM, hf.GraniteMoeConfig(
        **moe(num_local_experts=12, intermediate_size=14,
              attention_multiplier=0.4, embedding_multiplier=1.5,
              residual_multiplier=0.7, logits_scaling=1.3))),
    ("glm4moe-lm", hf.Glm4MoeForCausalLM, hf.Glm4MoeConfig(
        **moe(n_routed_experts=12, head_dim=12, moe_intermediate_size=14,
              n_group=4, topk_group=2, n_shared_experts=2, use_qk_norm=True,
              first_k_dense_replace=1, routed_scaling_factor=1.7))),
    ("ernie45moe-lm", hf.Ernie4_5_MoeForCausalLM, hf.Ernie4_5_MoeConfig(
        **moe(moe_num_experts=12, moe_k=3, moe_intermediate_size=14,
              num_experts_per_tok=3, moe_num_shared_experts=1))),
    ("lfm2-lm", hf.Lfm2ForCausalLM, hf.Lfm2Config(
        **decoder(num_hidden_layers=4, block_auto_adjust_ff_dim=False,
                  layer_types=["conv", "full_attention", "conv", "conv"]))),
    ("lfm2-wide", hf.Lfm2ForCausalLM, hf.Lfm2Config(
        **decoder(hidden_size=26, num_hidden_layers=5, num_attention_heads=1,
                  conv_L_cache=5, full_attn_idxs=[1, 3], block_multiple_of=7,
                  block_ffn_dim_multiplier=1.3, tie_word_embeddings=False))),
    ("qwen35-lm", hf.Qwen3_5ForCausalLM, hf.Qwen3_5TextConfig(
        **delta(linear_value_head_dim=9, rms_norm_eps=1e-3))),
    ("qwen35-wide", hf.Qwen3_5ForCausalLM, hf.Qwen3_5TextConfig(
        **delta(hidden_size=26, num_attention_heads=2, head_dim=8,
                linear_num_key_heads=3, linear_num_value_heads=3,
                linear_key_head_dim=5, linear_value_head_dim=21,
                attention_bias=True, tie_word_embeddings=True))),
    ("qwen3next-lm", hf.Qwen3NextForCausalLM, hf.Qwen3NextConfig(
        **moe(**delta(num_experts=12, moe_intermediate_size=14,
                      mlp_only_layers=[1],
                      shared_expert_intermediate_size=22)))),
    ("lfm2moe-lm", hf.Lfm2MoeForCausalLM, hf.Lfm2MoeConfig(
        **moe(num_hidden_layers=4, num_experts=7, num_dense_layers=2,
              num_experts_per_tok=2,
              moe_intermediate_size=14, routed_scaling_factor=1.1,
              layer_types=["conv", "full_attention", "conv", "conv"]))),
    ("gptoss-lm", hf.GptOssForCausalLM, hf.GptOssConfig(
        **moe(num_local_experts=12, head_dim=14, intermediate_size=14,
              num_hidden_layers=3, sliding_window=5, swiglu_limit=1.5))),
    ("phimoe-lm", hf.PhimoeForCausalLM, hf.PhimoeConfig(
        **moe(num_local_experts=5, num_experts_per_tok=2,
              intermediate_size=14, attention_bias=True, lm_head_bias=True,
              router_jitter_noise=0.4))),
    ("deepseekv2-lm", hf.DeepseekV2ForCausalLM, hf.DeepseekV2Config(
        **latent(q_lora_rank=None, n_shared_experts=2))),
    ("deepseekv2-groups", hf.DeepseekV2ForCausalLM, hf.DeepseekV2Config(
        **latent(topk_method="group_limited_greedy", n_group=4, topk_group=2,
                 routed_scaling_factor=1.5, first_k_dense_replace=1,
                 rope_parameters=yarn(mscale=0.707, mscale_all_dim=1.0)))),
    ("deepseekv3-lm", hf.DeepseekV3ForCausalLM, hf.DeepseekV3Config(
        **latent(n_group=4, topk_group=2, first_k_dense_replace=1,
                 rope_parameters=yarn(mscale=1.0, mscale_all_dim=1.0)))),
    ("deepseekv3-half", hf.DeepseekV3ForCausalLM, hf.DeepseekV3Config(
        **latent(num_attention_heads=17, hidden_size=34, q_lora_rank=None,
                 kv_lora_rank=11, n_group=1, topk_group=1,
                 first_k_dense_replace=0, rope_interleave=False,
                 norm_topk_prob=False))),
    ("deepseekv3-bias", hf.DeepseekV3ForCausalLM, hf.DeepseekV3Config(
        **latent(n_group=1, topk_group=1, first_k_dense_replace=1,
                 attention_bias=True))),
    ("glm4moelite-lm", hf.Glm4MoeLiteForCausalLM, hf.Glm4MoeLiteConfig(
        **latent(n_group=4, topk_group=2, num_hidden_layers=3,
                 mlp_layer_types=["sparse", "dense", "sparse"]))),
    ("dots1-lm", hf.Dots1ForCausalLM, hf.Dots1Config(
        **moe(n_routed_experts=11, head_dim=14, moe_intermediate_size=14,
              n_shared_experts=2, first_k_dense_replace=1, sliding_window=5,
              num_hidden_layers=3, max_window_layers=2, attention_bias=True,
              norm_topk_prob=True, routed_scaling_factor=1.7))),
    ("flexolmo-lm", hf.FlexOlmoForCausalLM, hf.FlexOlmoConfig(
        **moe(num_experts=12, num_key_value_heads=3, intermediate_size=14,
              norm_topk_prob=True))),
    ("minimaxm2-lm", hf.MiniMaxM2ForCausalLM, hf.MiniMaxM2Config(
        **moe(num_local_experts=10, head_dim=14, intermediate_size=14,
              rotary_dim=6))),
    ("granitemoeshared-lm", hf.GraniteMoeSharedForCausalLM,
     hf.GraniteMoeSharedConfig(
         **moe(num_local_experts=12, intermediate_size=14,
               shared_intermediate_size=9, attention_multiplier=0.4,
               embedding_multiplier=1.5, residual_multiplier=0.7,
               logits_scaling=1.3))),
    ("solaropen-lm", hf.SolarOpenForCausalLM, hf.SolarOpenConfig(
        **moe(n_routed_experts=12, head_dim=12, moe_intermediate_size=14,
              n_group=4, topk_group=2, n_shared_experts=2,
              attention_bias=True, routed_scaling_factor=1.7))),
    ("hunyuanmoe-lm", hf.HunYuanMoEV1ForCausalLM, hf.HunYuanMoEV1Config(
        **moe(num_experts=12, head_dim=14, intermediate_size=14, moe_topk=3,
              attention_bias=True))),
    # Loading it zeroes the row of a pad token.
    ("youtu-lm", hf.YoutuForCausalLM, hf.YoutuConfig(
        **latent(pad_token_id=None,
                 rope_parameters=yarn(mscale=1.0, mscale_all_dim=1.0)))),
    ("exaonemoe-lm", hf.ExaoneMoeForCausalLM, hf.ExaoneMoeConfig(**moe(
        head_dim=14, num_hidden_layers=3, num_experts=10,
        moe_intermediate_size=14, num_shared_experts=2, n_group=1,
        topk_group=1, routed_scaling_factor=1.7, sliding_window=4,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"]))),
    ("mellum-lm", hf.MellumForCausalLM, hf.MellumConfig(**moe(
        head_dim=14, num_hidden_layers=3, num_local_experts=9,
        moe_intermediate_size=14, sliding_window=4,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"],
        mlp_layer_types=["sparse", "dense", "sparse"],
        rope_parameters={
            "full_attention": yarn(),
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": 50.0}}))),
    ("qwen35moe-lm", hf.Qwen3_5MoeForCausalLM, hf.Qwen3_5MoeTextConfig(
        **{key: value for key, value in delta(
            num_experts=12, num_experts_per_tok=3, moe_intermediate_size=14,
            linear_value_head_dim=9, rms_norm_eps=1e-3,
            shared_expert_intermediate_size=22).items()
           if key != "intermediate_size"})),
)
# Windows count columns.
DISTANCES = ("phi3-lm", "starcoder2-lm", "gptneo-lm", "ministral-lm",
             "gemma2-lm", "gemma3-lm", "bloom-lm", "mpt-lm", "cohere2-lm",
             "cohere2-full", "exaone4-lm", "olmo3-lm", "cwm-lm",
             "vaultgemma-lm", "vaultgemma-plain", "gptoss-lm", "dots1-lm",
             "exaonemoe-lm", "mellum-lm",
             # A state is of all tokens.
             "lfm2-lm", "lfm2-wide", "lfm2moe-lm", "qwen35-lm", "qwen35-wide",
             "qwen3next-lm", "qwen35moe-lm")
# Beams share the states that they go on from.
SEARCHED = ("lfm2-lm", "qwen35-wide")
# There is nobody to say which position a token has.
RELATIVE = ("bloom-lm", "mpt-lm")

PAIRS = (
    ("mbart-lm", hf.MBartForConditionalGeneration, hf.MBartConfig(
        **pair(decoder_start_token_id=2))),
    ("plbart-lm", hf.PLBartForConditionalGeneration, hf.PLBartConfig(
        **pair(decoder_start_token_id=2, activation_function="relu"))),
    ("blenderbot-lm", hf.BlenderbotForConditionalGeneration,
     hf.BlenderbotConfig(**pair(pad_token_id=0,
                                encoder_no_repeat_ngram_size=0))),
    ("pegasus-lm", hf.PegasusForConditionalGeneration, hf.PegasusConfig(
        **pair(scale_embedding=True))),
    ("m2m-lm", hf.M2M100ForConditionalGeneration, hf.M2M100Config(
        **pair(decoder_start_token_id=2))),
    ("marian-lm", hf.MarianMTModel, hf.MarianConfig(
        **pair(pad_token_id=0, eos_token_id=2, decoder_start_token_id=0,
               scale_embedding=True, activation_function="silu"))),
    ("mvp-lm", hf.MvpForConditionalGeneration, hf.MvpConfig(
        **pair(decoder_start_token_id=2))),
)
# Tokens so large that they repeat themselves, by margins too small to compare.
REPEATING = ("plbart-lm", "pegasus-lm")
# Deviations of weights with which others do not: those of a product for which
# attention decides what comes next, those of scores that are made small.
SCALES = {"bloom-lm": dict(layer=4.0, bias=0.05),
          "xglm-lm": dict(token=0.1, layer=3.0),
          **dict.fromkeys(("ctrl-lm", "gptj-lm", "persimmon-lm"),
                          dict(token=0.05, layer=4.0, bias=0.02)),
          **dict.fromkeys(("cohere-heads", "cohere2-full"), dict(token=1.0)),
          "cohere-lm": dict(token=1.5), "m2m-lm": dict(token=0.1, layer=2.0, bias=0.3)}
# Those whose positions count columns, pad tokens or not.
COUNTING = ("mbart-lm", "blenderbot-lm", "mvp-lm")


def positions_of(config):
    """The longest row that a model takes."""
    first = 0
    if config.model_type in ("roberta", "xlm-roberta", "camembert",
                             "data2vec-text", "mpnet", "roberta-prelayernorm",
                             "xlm-roberta-xl", "esm", "longformer"):
        first = config.pad_token_id + 1
    return config.max_position_embeddings - first


def some_tokens(sequences, steps):
    """Whether rows do not repeat one or two tokens."""
    return all(len(set(row[-steps:].tolist())) > 3 for row in sequences)


def write_encoders(out, models=ENCODERS, first=401):
    for index, (name, cls, config, cases, types) in enumerate(models):
        if not out.wants(name):
            continue
        out.save(name, build(cls, config, first + index))
        model = out.load(cls, name)
        margins = Margins(model)
        if types:
            cases += ("types",)
        write_forward(out.folder(name), model, cases, first + index,
                      pad=config.pad_token_id, types=types,
                      longest=positions_of(config))
        out.add(name, cases)
        margins.check(name)


class Margins:
    """The least distance, over all that a model has computed, of an expert
    (or a group of them) that is chosen from one that is not: of near ones
    nobody chooses as somebody else does."""

    def __init__(self, model):
        self.least = 1.0
        self.config = getattr(model.config, "text_config", model.config)
        for module in model.modules():
            if "Router" in type(module).__name__:
                module.register_forward_hook(self.look)

    def look(self, router, inputs, result):
        read = inputs[0]
        if hasattr(router, "per_expert_scale"):  # Gemma 4's
            read = (router.norm(read) * router.scale * router.scalar_root_size)
        product = next((getattr(router, part) for part in
                        ("gate", "proj", "layer") if hasattr(router, part)),
                       router)
        scores = read.reshape(-1, read.shape[-1]) @ product.weight.T
        if getattr(router, "bias", None) is not None:
            scores = scores + router.bias
        statics = getattr(router, "moe_statics", router)
        bias = getattr(statics, "e_score_correction_bias", None)
        if len(inputs) > 1:
            bias = inputs[1]
        groups = getattr(self.config, "n_group", None) or 1
        best = 1 if self.config.model_type == "deepseek_v2" else 2
        if bias is not None:
            scores = (scores.softmax(-1) if statics is not router else
                      scores if self.config.model_type == "kolibri1" else
                      scores.sigmoid()) + bias.view(-1)
        if groups > 1:
            ranks = scores.view(len(scores), groups, -1).topk(best)[0].sum(-1)
            self.compare(ranks, self.config.topk_group)
            used = ranks.topk(self.config.topk_group)[1]
            left = torch.zeros_like(ranks).scatter_(1, used, 1)
            scores = scores.masked_fill(left.repeat_interleave(
                scores.shape[1] // groups, 1) == 0, -1e9)
        keys = vars(self.config)
        # Kimi Linear's key has another name.
        self.compare(scores, getattr(self.config, "num_experts_per_tok", 0) or
                     keys.get("top_k_experts") or
                     keys["ffn_config"].moe_top_k)

    def compare(self, scores, count):
        ordered = scores.sort(-1, descending=True)[0]
        gaps = ordered[:, count - 1] - ordered[:, count]
        self.least = min(self.least, gaps.min().item())

    def check(self, name):
        if self.least < 1e-4:
            raise ValueError(f"{name}: expected experts' scores that differ, "
                             f"got {self.least}: draw another")


def mark_experts(model):
    """By the bias of the choice, where there is one: all rows take expert 5,
    and none takes expert 2."""
    for name, value in model.state_dict().items():
        if "e_score_correction_bias" in name or "expert_bias" in name:
            value.copy_(0.05 * torch.arange(value.numel()).view_as(value).sin())
            value.view(-1)[5] += 3
            value.view(-1)[2] -= 3


def write_decoders(out, models=DECODERS, first=501, distances=DISTANCES,
                   scales=SCALES, longest={}, relative=RELATIVE,
                   whole=REPEATING):
    """`longest`: the longest rows of those that tfc runs up to there;
    `relative`: those without positions; `whole`: those of which no
    generation is written."""
    for index, (name, cls, config) in enumerate(models):
        if not out.wants(name):
            continue
        seed = first + index
        built = build(cls, config, seed, **{
            **dict(token=0.3, position=1.5, layer=2.0),
            **scales.get(name, {})})
        mark_experts(built)
        out.save(name, built)
        model = out.load(cls, name)
        margins = Margins(model)
        cases = SOME + (() if name in distances else ("holes",))
        if name in relative:
            cases = tuple(case for case in cases if case != "positions")
        write_forward(out.folder(name), model, cases, seed,
                      longest=longest.get(name) or (
                          60 if name in relative else None))
        if name in whole:
            out.add(name, cases)
            continue
        set_generation(model, pad_token_id=0)
        inputs, _ = find_greedy(model, left, 100 * seed)
        steps = [out.write_step(name, model, "generate-left", inputs, "none")]
        if name in SEARCHED:
            steps += write_beams(out, name, model, left, 200 * seed, "none")
        out.add(name, cases, steps)
        margins.check(name)


def write_pairs_of(out, models=PAIRS, first=601, counting=COUNTING,
                   scales=SCALES, cases=PAIR):
    for index, (name, cls, config) in enumerate(models):
        if not out.wants(name):
            continue
        seed = first + index
        out.save(name, build(cls, config, seed, **{
            **dict(token=0.3, position=1.5, bias=0.06, cross=0.3),
            **scales.get(name, {})}))
        model = out.load(cls, name)
        write_pairs(out.folder(name), model, cases, seed)
        if name in REPEATING or not model.can_generate():
            out.add(name, cases)
            continue
        set_generation(model, pad_token_id=config.pad_token_id,
                       decoder_start_token_id=config.decoder_start_token_id)

        def draw(generator):
            inputs = padded(left)(generator)
            inputs["input_ids"][inputs["attention_mask"] == 0] = \
                config.pad_token_id
            return inputs

        def accept(sequences, steps):
            # A pad token has no position in some of them.
            return (some_tokens(sequences, steps) and
                    (name in counting or not bool(
                        (sequences[:, 1:] == config.pad_token_id).any())))

        inputs, _ = find_greedy(model, draw, 100 * seed, accept=accept)
        out.add(name, cases, [
            out.write_step(name, model, "generate-left", inputs, "none")])


def write(out):
    write_encoders(out)
    write_decoders(out)
    write_pairs_of(out)
