// Three small specs that between them use most of what there is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_SPEC_GOODSPECS_H
#define TFC_TEST_UNIT_SPEC_GOODSPECS_H

inline const char *const encoderSpec = R"json({
  "tfc": 1,
  "kind": "encoder",
  "dims": {"hidden": 12, "vocab": 30, "max_positions": 16},
  "defs": {"norm": {"kind": "layernorm", "eps": 1e-12}},
  "encoder": {
    "embeddings": {
      "token": {"rows": 30},
      "position": {"kind": "learned", "rows": 18, "offset": 2},
      "segments": [
        {"name": "kind", "rows": 2, "input": "token_type_ids", "default": 0}
      ],
      "norm": {"$def": "norm"}
    },
    "layers": {
      "repeat": 4,
      "block": {
        "placement": "post",
        "norm": {"$def": "norm"},
        "attn": {"num_heads": 4, "bias": true},
        "ffn": {"width": 20, "act": "gelu", "bias": true}
      },
      "overrides": [{"layers": "2:", "set": {"ffn": {"act": "relu"}}}]
    }
  },
  "heads": {
    "pooler": {"from": "encoder", "steps": [
      {"op": "take", "at": "first"},
      {"op": "dense", "name": "dense", "out": 12, "act": "tanh"}]},
    "qa": {"from": "encoder", "steps": [
      {"op": "logits", "name": "both", "out": 2, "bias": true},
      {"op": "split", "names": ["start", "end"]}]}
  },
  "outputs": {"pooler_output": "pooler", "start_logits": "qa.start"},
  "tokens": {"pad": 0}
}
)json";

inline const char *const decoderSpec = R"json({
  "tfc": 1,
  "kind": "decoder",
  "dims": {"hidden": 12, "vocab": 30},
  "decoder": {
    "embeddings": {"token": {}},
    "layers": {
      "repeat": 2,
      "block": {
        "placement": "pre",
        "norm": {"kind": "layernorm", "eps": 1e-05},
        "attn": {"num_heads": 3, "causal": true},
        "ffn": {"width": 20, "act": "silu", "gated": true}
      }
    },
    "final_norm": {"kind": "layernorm", "eps": 1e-05}
  },
  "heads": {"lm": {"from": "decoder", "steps": [
    {"op": "logits", "name": "proj", "tied": "decoder.embeddings.token"}]}},
  "outputs": {"logits": "lm"},
  "tokens": {"bos": 1, "eos": [2, 3]},
  "generation": {"head": "lm", "max_length": 20},
  "weights": {
    "prefix": ["m."],
    "ignore": ["*.buffer"],
    "map": {
      "decoder.embeddings.token": "{p}emb",
      "decoder.layers.attn.pre_norm": "{p}{i}.n1",
      "decoder.layers.attn.qkv": {"stem": "{p}{i}.c", "pack": ["q", "k", "v"]},
      "decoder.layers.attn.o": "{p}{i}.o",
      "decoder.layers.ffn.pre_norm": "{p}{i}.n2",
      "decoder.layers.ffn.gate_up": {"stem": "{p}{i}.w", "pack": ["gate", "up"]},
      "decoder.layers.ffn.down": "{p}{i}.d",
      "decoder.final_norm": "{p}n",
      "heads.lm.proj": "lm_head"
    }
  }
}
)json";

inline const char *const encoderDecoderSpec = R"json({
  "tfc": 1,
  "kind": "encoder_decoder",
  "dims": {"hidden": 12, "vocab": 30},
  "defs": {
    "norm": {"kind": "rmsnorm", "eps": 1e-06},
    "attn": {"num_heads": 3, "scale": 1},
    "ffn": {"width": 20, "act": "gelu_new", "gated": true}
  },
  "shared": {"token": {"rows": 30}},
  "encoder": {
    "embeddings": {"token": {"use": "shared.token", "scale": "sqrt_hidden"}},
    "position_bias": {"kind": "bucket", "buckets": 8, "max_distance": 9, "bidirectional": true},
    "layers": {
      "repeat": 2,
      "block": {
        "placement": "pre",
        "norm": {"$def": "norm"},
        "attn": {"$def": "attn"},
        "ffn": {"$def": "ffn"}
      }
    },
    "final_norm": {"$def": "norm"}
  },
  "decoder": {
    "embeddings": {"token": {"use": "shared.token"}},
    "position_bias": {"kind": "bucket", "buckets": 8, "max_distance": 9, "bidirectional": false},
    "layers": {
      "repeat": 3,
      "block": {
        "placement": "pre",
        "norm": {"$def": "norm"},
        "attn": {"$def": "attn", "causal": true},
        "cross": {"$def": "attn", "num_kv_heads": 1},
        "ffn": {"$def": "ffn"}
      }
    },
    "final_norm": {"$def": "norm"}
  },
  "heads": {
    "cls": {"from": "decoder", "steps": [
      {"op": "take", "at": "last_eos"},
      {"op": "dense", "name": "dense", "out": 2}]},
    "lm": {"from": "decoder", "steps": [
      {"op": "scale", "by": "rsqrt_hidden"},
      {"op": "logits", "name": "proj", "tied": "shared.token", "bias": true}]}
  },
  "outputs": {
    "encoder_last_hidden_state": "encoder.hidden",
    "logits": "lm",
    "label": "cls"
  },
  "tokens": {"pad": 0, "eos": 1, "decoder_start": 2},
  "generation": {"head": "lm", "max_length": 20, "num_beams": 4}
}
)json";

#endif // TFC_TEST_UNIT_SPEC_GOODSPECS_H
