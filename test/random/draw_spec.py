# Draws specs over all that docs/spec-format.md allows together, whether a family
# has it or not. What is drawn is valid.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import math
import random

from layers import is_object, list_layers, list_sublayers

MAX_POSITIONS = 48


class Drawing:
    """One spec. `chance` and `pick` are all that it knows of randomness."""

    def __init__(self, seed, experts=False):
        self.random = random.Random(seed)
        self.has_experts = experts and self.chance(0.2)
        self.hidden = self.pick(1, 2, 6, 8, 13, 24, 48, 50, 64, 130, 131, 256)
        self.vocab = self.pick(3, 5, 11, 97)
        self.kind = self.pick("encoder", "decoder", "decoder",
                              "encoder_decoder")
        # Tokens behind those of the table are rows of floats.
        self.has_patches = self.kind != "decoder" and self.chance(0.25)
        if self.has_patches and self.kind == "encoder":
            self.vocab = self.pick(1, 2, 3)
        self.tokens = {}
        self.shared = None

    def pick(self, *values):
        return self.random.choice(values)

    def chance(self, probability):
        return self.random.random() < probability

    def maybe(self, target, key, probability, draw):
        if self.chance(probability):
            target[key] = draw()

    # -- norms --

    def norm(self, width, none=0.0):
        if self.chance(none):
            return self.pick("none", {"kind": "none"})
        norm = {"kind": self.pick("layernorm", "rmsnorm"),
                "eps": self.pick(1e-5, 1e-6, 1e-3)}
        is_layernorm = norm["kind"] == "layernorm"
        if is_layernorm:
            self.maybe(norm, "bias", 0.3, lambda: self.chance(0.3))
            if width > 1:
                self.maybe(norm, "form", 0.25, lambda: self.pick(
                    "var_eps", "std_eps_unbiased"))
        if self.chance(0.2):
            norm["affine"] = False
            norm.pop("bias", None)
        else:
            self.maybe(norm, "offset", 0.2, lambda: self.pick(1, 0.5, 0))
        return norm

    def activation(self):
        return self.pick("gelu", "gelu_new", "quick_gelu", "relu", "relu2",
                         "silu", "tanh", "sigmoid", "identity")

    # -- attention --

    def scaling(self, dim):
        kind = self.pick("linear", "dynamic", "llama3", "yarn", "yarn",
                         "longrope")
        scaling = {"kind": kind, "factor": self.pick(1.0, 2.0, 4.5)}
        if kind == "longrope":
            scaling["short_factor"] = [
                round(self.random.uniform(0.8, 3), 2) for _ in range(dim // 2)]
            self.maybe(scaling, "original_max", 0.5,
                       lambda: self.pick(1000, 4096))
            self.maybe(scaling, "attention_factor", 0.3,
                       lambda: self.pick(1.0, 1.25))
        if kind == "dynamic" and dim == 2:
            return "none"
        if kind == "llama3":
            scaling["low_freq_factor"] = self.pick(1.0, 1.5)
            scaling["high_freq_factor"] = self.pick(4.0, 3.0)
        if kind in ("llama3", "yarn"):
            self.maybe(scaling, "original_max", 0.5,
                       lambda: self.pick(16, 64))
        if kind == "yarn":
            self.maybe(scaling, "attention_factor", 0.3,
                       lambda: self.pick(1.0, 1.25))
            self.maybe(scaling, "mscale", 0.4, lambda: self.pick(0.7, 1.0))
            self.maybe(scaling, "mscale_all_dim", 0.4,
                       lambda: self.pick(0.9, 0.5))
            self.maybe(scaling, "beta_fast", 0.3, lambda: self.pick(8, 16))
            self.maybe(scaling, "beta_slow", 0.3, lambda: self.pick(0.5, 2))
            self.maybe(scaling, "truncate", 0.3, lambda: self.chance(0.5))
        return scaling

    def grid(self):
        """With at least as many places as there are positions."""
        front = self.pick(0, 1, 5)
        columns, rows = self.pick((1, 48), (7, 7), (16, 3), (5, 11))
        grid = {"columns": columns, "rows": rows}
        if front:
            grid["front"] = front
        assert columns * rows + front >= MAX_POSITIONS
        return grid

    def rotary(self, head_dim, causal):
        rotary = {"style": self.pick("half", "interleaved"),
                  "theta": self.pick(10000, 100.0, 500000)}
        if not causal and head_dim >= 4 and self.chance(0.3):
            rotary["grid"] = self.grid()
            if head_dim % 4 or self.chance(0.3):
                rotary["dim"] = 4 * self.random.randint(1, head_dim // 4)
            self.maybe(rotary, "reverse", 0.2, lambda: self.chance(0.7))
            self.maybe(rotary, "scaling", 0.2, lambda: "none")
            return rotary
        dim = head_dim
        if head_dim % 2 or self.chance(0.5):
            dim = rotary["dim"] = 2 * self.random.randint(1, head_dim // 2)
        self.maybe(rotary, "turned", 0.2,
                   lambda: 2 * self.random.randint(1, dim // 2))
        self.maybe(rotary, "reverse", 0.2, lambda: self.chance(0.7))
        self.maybe(rotary, "scaling", 0.5, lambda: self.scaling(dim))
        return rotary

    def bias(self):
        parts = {part: self.chance(0.5) for part in "qkvo"
                 if self.chance(0.7)}
        return self.pick(True, False, parts)

    def heads(self, sizes):
        kv_heads, head_dim, heads = sizes
        attention = {"num_heads": heads}
        if kv_heads != heads or self.chance(0.3):
            attention["num_kv_heads"] = kv_heads
        if head_dim * heads != self.hidden or self.chance(0.5):
            attention["head_dim"] = head_dim
        self.maybe(attention, "bias", 0.8, self.bias)
        self.maybe(attention, "scale", 0.3, lambda: self.pick(
            "rsqrt_head_dim", round(self.random.uniform(0.05, 0.8), 3)))
        self.maybe(attention, "scale_by_inverse_layer", 0.25,
                   lambda: self.chance(0.8))
        return attention

    def window(self, causal):
        return {"left": self.random.randint(0, 9),
                "right": 0 if causal else self.random.randint(0, 5)}

    def neutral_of_cross(self):
        """What self-attention has and cross-attention may only do without."""
        return {key: value for key, value in {
            "causal": False, "window": "none", "rotary": "none",
            "use_position_bias": False, "qk_norm": "none",
            "slopes": "none", "log_scale_base": "none",
            "sinks": False, "relative": "none", "sparse": "none",
            "rounded_slopes": False, "gate": "none",
            "gate_per": "column", "v_norm": "none", "values_are_keys": False,
            "shared_kv": False, "clip": "none",
            "inner_norm": "none"}.items() if self.chance(0.1)}

    def qk_norm(self, has_rotary):
        over = self.pick("head", "each_head", "row")
        norm = {"kind": self.pick("layernorm", "rmsnorm"),
                "eps": self.pick(1e-5, 1e-3)}
        if over != "head" or self.chance(0.5):
            norm["over"] = over
        if over == "each_head" and norm["kind"] == "layernorm":
            norm["bias"] = False
        elif norm["kind"] == "layernorm":
            self.maybe(norm, "bias", 0.5, lambda: self.chance(0.5))
        if over != "each_head" and self.chance(0.2):
            norm["affine"] = False
            norm.pop("bias", None)
        else:
            self.maybe(norm, "offset", 0.2, lambda: self.pick(1, 0.5))
        if has_rotary:
            self.maybe(norm, "after_rotary", 0.5, lambda: self.chance(0.7))
        return norm

    def table_of_heads(self, head_dim):
        """A table as wide as a head, computed or one of each layer."""
        table = {"kind": "table", "span": self.pick(1, 2, 4, 16),
                 "per_layer": True}
        if head_dim % 2 == 0 and self.chance(0.5):
            table["kind"] = "sinusoid"
            table.pop("per_layer")
            self.maybe(table, "width", 0.3, lambda: "head")
            self.maybe(table, "per_layer", 0.3, lambda: False)
        return table

    def relative_table(self, causal):
        if self.hidden % 2 == 0 and (causal or self.chance(0.4)):
            return {"kind": "sinusoid", "width": "hidden",
                    "span": self.pick(1, 2, 4, 16, 40)}
        table = {"kind": "table", "span": self.pick(1, 2, 4, 6, 16)}
        self.maybe(table, "per_layer", 0.2, lambda: False)
        if table["span"] >= 4:
            self.maybe(table, "max_distance", 0.6,
                       lambda: table["span"] // 2 + self.pick(2, 3, 30))
        self.maybe(table, "norm", 0.5, lambda: self.norm(self.hidden, 0.3))
        return table

    def terms_of_heads(self):
        terms = {}
        for part in ("keys", "queries"):
            self.maybe(terms, part, 0.7,
                       lambda: self.pick("identity", "none"))
        self.maybe(terms, "values", 0.7, lambda: self.chance(0.7))
        if "identity" not in terms.values() and not terms.get("values"):
            terms["keys"] = "identity"
        return terms

    def relative_terms(self, is_needed, causal):
        """Of an attention whose stack has a table, which one needs."""
        terms = {}
        self.maybe(terms, "values", 0.2, lambda: False)
        for part in ("keys", "queries"):
            self.maybe(terms, part, 0.8,
                       lambda: self.pick("own", "shared", "none"))
        used = [part for part in terms if terms[part] in ("own", "shared")]
        if not used:
            if not is_needed:
                return "none"
            terms["keys"] = "own"
        own = {part: self.chance(0.5) for part in terms
               if terms[part] == "own"}
        self.maybe(terms, "bias", 0.6, lambda: self.pick(own, True, False))
        if terms.get("keys", "none") != "none":
            self.maybe(terms, "query_bias", 0.6, lambda: self.chance(0.8))
        if not causal:
            self.maybe(terms, "segments", 0.6, lambda: self.chance(0.8))
        return terms

    def attention(self, sizes, causal, has_bias_table, table):
        attention = self.heads(sizes)
        heads, head_dim = sizes[2], sizes[1]
        if causal or self.chance(0.2):
            attention["causal"] = causal
        if head_dim >= 2:
            self.maybe(attention, "rotary", 0.45,
                       lambda: self.rotary(head_dim, causal))
        self.maybe(attention, "qk_norm", 0.35, lambda: self.pick(
            "none", *[self.qk_norm(is_object(attention.get("rotary")))] * 6))
        self.maybe(attention, "v_norm", 0.15, lambda: self.norm(head_dim, 0.2))
        self.maybe(attention, "clip", 0.15,
                   lambda: self.pick(0.25, 1, 8, "none"))
        self.maybe(attention, "inner_norm", 0.15,
                   lambda: self.norm(heads * head_dim, 0.2))
        self.maybe(attention, "values_are_keys", 0.15,
                   lambda: self.chance(0.8))
        self.maybe(attention, "shared_kv", 0.05, lambda: False)
        self.maybe(attention, "softcap", 0.25,
                   lambda: self.pick(1.5, 5, 30, "none"))
        self.maybe(attention, "window", 0.4, lambda: self.window(causal))
        self.maybe(attention, "slopes", 0.25, lambda: self.pick(
            "alibi", "none", [round(self.random.uniform(-0.3, 0.6), 3)
                              for _ in range(heads)]))
        self.maybe(attention, "log_scale_base", 0.25,
                   lambda: self.pick(4, 10.5, 512, "none"))
        self.maybe(attention, "sinks", 0.3, lambda: self.chance(0.8))
        self.maybe(attention, "gate", 0.3,
                   lambda: self.pick("none", "sigmoid", "softplus"))
        if attention.get("gate", "none") != "none":
            self.maybe(attention, "gate_per", 0.5,
                       lambda: self.pick("head", "column"))
        if attention.get("slopes", "none") != "none":
            self.maybe(attention, "rounded_slopes", 0.5,
                       lambda: self.chance(0.8))
        if not is_object(attention.get("window")) and \
                attention.get("softcap", "none") == "none":
            self.maybe(attention, "sparse", 0.3, lambda: self.sparse(causal))
        if table:
            attention["relative"] = (
                self.terms_of_heads() if table["is_of_heads"] else
                self.relative_terms(not table["is_read"], causal))
            table["is_read"] = True
            relative = attention["relative"]
            if causal and is_object(relative) and \
                    relative.get("keys") == "own":
                self.maybe(relative, "zero_memory", 0.5,
                           lambda: self.chance(0.8))
                if relative.get("zero_memory"):
                    attention.pop("sparse", None)
                    self.begin_with_zeros(attention, has_bias_table)
        if not has_bias_table:
            self.maybe(attention, "use_position_bias", 0.1,
                       lambda: self.chance(0.5))
        return attention

    def begin_with_zeros(self, attention, has_bias_table):
        """Leaves the attention what keys and values of zeros may have."""
        for key in ("softcap", "log_scale_base", "sinks", "slopes", "scale",
                    "rounded_slopes", "rotary", "qk_norm", "bias",
                    "scale_by_inverse_layer", "v_norm"):
            attention.pop(key, None)
        attention["relative"].pop("bias", None)
        attention["window"] = {"left": self.random.randint(0, 12), "right": 0}
        if has_bias_table:
            attention["use_position_bias"] = False

    # -- layers --

    def feed_forward(self):
        ffn = {"width": self.pick(1, 7, 33, 48, 100),
               "act": self.activation()}
        if self.chance(0.15):
            ffn.update(act="xielu", gated=False)
        else:
            self.maybe(ffn, "gated", 0.6, lambda: self.chance(0.7))
        self.maybe(ffn, "bias", 0.6, lambda: self.chance(0.7))
        if ffn.get("gated", False):
            self.maybe(ffn, "gate_scale", 0.2, lambda: self.pick(0.5, 1, 1.75))
            self.maybe(ffn, "sparsity", 0.2,
                       lambda: self.pick(0.3, 0.5, 0.875, 0.95))
        self.maybe(ffn, "inner_norm", 0.15,
                   lambda: self.norm(ffn["width"], 0.2))
        return ffn

    def mixture(self):
        groups = self.pick(1, 1, 2, 4)
        experts = groups * self.pick(2, 3, 8)
        router = {"score": self.pick("softmax", "sigmoid", "logits")}
        for key in ("bias", "choice_bias"):
            self.maybe(router, key, 0.3, lambda: self.chance(0.7))
        used = groups
        if groups > 1:
            used = router["groups_used"] = self.random.randint(1, groups)
            router["groups"] = groups
            router["group_by"] = self.pick("max", "top2")
        self.maybe(router, "renormalize", 0.5,
                   lambda: self.pick("sum", "softmax"))
        self.maybe(router, "factor", 0.3, lambda: self.pick(0.5, 2.0))
        most = used * (experts // groups)
        moe = {"experts": experts, "per_token": self.random.randint(
                   1, min(most, 6)),
               "width": self.pick(1, 7, 33, 48), "act": self.activation(),
               "router": router}
        if not router.keys() & {"choice_bias", "groups", "renormalize"} and \
                self.chance(0.3):
            router["on_input"] = True
            moe["per_token"] = 1
        self.maybe(moe, "gated", 0.5, lambda: self.chance(0.7))
        self.maybe(moe, "bias", 0.4, lambda: self.chance(0.7))
        self.maybe(moe, "latent", 0.2, lambda: self.pick(1, 9, 40))
        self.maybe(moe, "shared", 0.4, lambda: {
            "width": self.pick(3, 22), "gate": self.chance(0.5)})
        self.maybe(router, "pre_norm", 0.15,
                   lambda: self.norm(self.hidden, 0.2))
        self.maybe(router, "scale", 0.15, lambda: self.pick(0.25, 1.5))
        self.maybe(router, "expert_scale", 0.2, lambda: self.chance(0.7))
        for key in ("experts_pre_norm", "experts_out_norm"):
            self.maybe(moe, key, 0.15, lambda: self.norm(self.hidden, 0.2))
        for key in ("pre_norm", "out_norm"):
            self.maybe(moe.get("shared", {}), key, 0.15,
                       lambda: self.norm(self.hidden, 0.2))
        return moe

    def around(self, sublayer):
        self.maybe(sublayer, "out_norm", 0.15,
                   lambda: self.norm(self.hidden, 0.1))
        self.maybe(sublayer, "out_scale", 0.2, lambda: self.pick(0.5, 1.25, "learned"))
        self.maybe(sublayer, "out_act", 0.15, self.activation)
        self.maybe(sublayer, "residual", 0.15,
                   lambda: self.pick("add", "gru_gate", "gru_gate"))
        self.maybe(sublayer, "post_scale", 0.15,
                   lambda: self.pick(True, True, False, 0.75))
        return sublayer

    def low_rank(self):
        own = {"rank": self.pick(1, 3, 9)}
        self.maybe(own, "norm", 0.6, lambda: self.norm(self.hidden, 0.2))
        return own

    def sparse(self, causal):
        near = {"kind": "chunk_local", "block": self.pick(1, 2, 3, 5),
                "before": self.pick(0, 1),
                "after": 0 if causal else self.pick(0, 1)}
        if causal:
            return self.pick("none", near)
        return self.pick("none", near, {
            "kind": "block", "block": self.pick(1, 2, 3),
            "random": self.pick(0, 1)})

    def streams(self, is_reversible):
        if is_reversible:
            return {"kind": "reversible"}
        count = self.pick(2, 3, 4)
        streams = {"kind": "altup", "count": count,
                   "norm": self.norm(self.hidden), "floor": 1e-5}
        self.maybe(streams, "active", 0.5,
                   lambda: self.random.randint(0, count - 1))
        self.maybe(streams, "router_scale", 0.5, lambda: self.pick(0.25, 1.5))
        return streams

    def layer_input(self):
        own = {"act": self.activation()}
        self.maybe(own, "scaled", 0.4, lambda: self.chance(0.8))
        return own

    def ngram(self):
        return {"kernel": self.pick(1, 3, 5, 9), "act": self.activation()}

    def layer_inputs(self):
        inputs = {"width": self.pick(1, 3, 8, 20), "norm": None}
        inputs["norm"] = self.norm(inputs["width"])
        self.maybe(inputs, "rows", 0.3, lambda: self.pick(100, 3))
        if "rows" in inputs:
            inputs["beyond"] = self.random.randint(0, 2)
        for key in ("scale", "projection_scale", "out_scale"):
            self.maybe(inputs, key, 0.6, lambda: self.pick(0.5, 1.25))
        return inputs

    def block(self, stack):
        parts = {"attn": self.attention(stack["sizes"], stack["causal"],
                                        stack["bias"], stack["table"])}
        if not stack["by_layer"]:
            parts["attn"].pop("scale_by_inverse_layer", None)
        if stack["cross"]:
            parts["cross"] = {**self.heads(stack["cross"]),
                              **self.neutral_of_cross()}
            self.maybe(parts["cross"], "softcap", 0.25,
                       lambda: self.pick(1.5, 5, 30, "none"))
        if self.chance(0.2):
            parts["low_rank"] = self.low_rank()
        if self.has_experts and self.chance(0.7):
            parts["moe"] = self.mixture()
        elif self.chance(0.9):
            parts["ffn"] = self.feed_forward()
        if not stack["causal"] and self.chance(0.25):
            parts["ngram"] = self.ngram()
        if stack["inputs"]:
            parts["layer_input"] = self.layer_input()
        for sublayer in parts.values():
            self.around(sublayer)
        if stack["reversible"]:
            return self.in_turns(parts)
        if stack["streams"] and stack["inputs"]:
            return self.before_input(parts, stack)
        if self.chance(0.5):
            return self.sugar(parts)
        return self.listed(parts)

    def in_turns(self, parts):
        """Each reads what the one before is added to: none is parallel."""
        block = self.listed(parts)
        for item in block["sublayers"]:
            for sublayer in item.values():
                sublayer.pop("parallel", None)
        return block

    def before_input(self, parts, stack):
        """Beside streams a layer_input is last, and nothing but added."""
        last = parts.pop("layer_input")
        last.pop("residual", None)
        last.pop("post_scale", None)
        self.maybe(last, "pre_norm", 0.5, lambda: self.norm(self.hidden, 0.1))
        block = self.listed(parts)
        return {"sublayers": block["sublayers"] + [{"layer_input": last}]}

    def listed(self, parts):
        items = list(parts.items())
        self.random.shuffle(items)
        for i, (_, sublayer) in enumerate(items):
            # An ngram reads what nobody norms.
            is_ngram = parts.get("ngram") is sublayer
            if not is_ngram:
                self.maybe(sublayer, "pre_norm", 0.5,
                           lambda: self.norm(self.hidden, 0.1))
            if (i > 0 and not is_ngram and "post_norm" not in items[i - 1][1] and
                    sublayer.get("residual") != "gru_gate"):
                self.maybe(sublayer, "parallel", 0.3,
                           lambda: self.chance(0.8))
            if i + 1 == len(items) or self.chance(0.5):
                # "none" is no norm in front of what is parallel.
                is_last = i + 1 == len(items)
                self.maybe(sublayer, "post_norm", 0.3, lambda: self.norm(
                    self.hidden, 0.15 if is_last else 0))
        return {"sublayers": [{name: item} for name, item in items]}

    def sugar(self, parts):
        placement = self.pick("pre", "post", "parallel", "none")
        if "ngram" in parts:
            placement = self.pick("pre", "post", "none")
            if placement == "pre":
                parts["ngram"]["pre_norm"] = "none"
        block = {"placement": placement}
        if placement != "none":
            block["norm"] = self.norm(self.hidden, 0.05)
        elif self.chance(0.5):
            del block["placement"]
        if placement in ("pre", "none") and len(parts) > 1:
            # What reads what the one before reads.
            name, own = list(parts.items())[-1]
            if own.get("residual") != "gru_gate" and name != "ngram":
                self.maybe(own, "parallel", 0.2, lambda: self.chance(0.8))
        if placement == "parallel":
            for other in list(parts.values())[1:]:
                other.pop("residual", None)
        if placement == "parallel" and len(parts) > 1:
            # A norm of the second's own, of where the first begins.
            own = list(parts.values())[1]
            self.maybe(own, "pre_norm", 0.4, lambda: self.norm(self.hidden))
        elif placement in ("pre", "post"):
            own = self.pick(*(part for name, part in parts.items()
                              if name != "ngram"))
            self.maybe(own, placement + "_norm", 0.2,
                       lambda: self.norm(self.hidden, 0.3))
        return {**block, **parts}

    def vary(self, block, stack):
        """The same structure, other numbers: one loop."""
        block = copy.deepcopy(block)
        attention = find_attention(block)
        if attention is None:
            return block
        if has_zero_memory(attention):
            attention["window"] = self.window(stack["causal"])
            return block
        # Beside blocks there is no window.
        if not is_object(attention.get("sparse")):
            attention["window"] = self.pick("none",
                                            self.window(stack["causal"]))
        self.maybe(attention, "scale", 0.3,
                   lambda: round(self.random.uniform(0.05, 0.8), 3))
        rotary = attention.get("rotary")
        if is_object(rotary) and not is_object(attention.get("qk_norm")):
            if self.chance(0.3):
                attention["rotary"] = "none"
            else:
                rotary["theta"] = self.pick(50.0, 10000)
                if "grid" in rotary and self.chance(0.5):
                    rotary.pop("grid")
                    self.maybe(rotary, "grid", 0.5, self.grid)
        return block

    def overridden(self, block, stack):
        repeat = self.random.randint(2, 5)
        patches = [{"attn": {"window": self.window(stack["causal"]),
                             "sparse": "none"}},
                   {"attn": {"scale": 0.25}},
                   {"ffn": {"gated": False, "gate_scale": None,
                            "sparsity": None, **self.feed_forward(),
                            "inner_norm": "none"}}]
        if stack["cross"]:
            patches.append({"cross": {"scale": 0.3}})
        usable = [patch for patch in patches if list(patch)[0] in block and
                  not (has_zero_memory(block.get("attn", {})) and
                       "scale" in patch.get("attn", {}))]
        overrides = []
        for _ in range(self.random.randint(0, 2)):
            layers = self.pick(str(self.random.randint(-repeat, repeat - 1)),
                               "1:", ":2", "::2",
                               [self.random.randint(-repeat, repeat - 1)])
            if usable:
                overrides.append({"layers": layers, "set":
                                  copy.deepcopy(self.pick(*usable))})
        return {"repeat": repeat, "block": block, "overrides": overrides}

    def other_heads(self, block, stack):
        """Perhaps with other heads than those of the block."""
        if (not stack["causal"] or stack["bias"] or stack["table"] or
                self.chance(0.5)):
            return stack
        kv_heads, head_dim = self.pick(1, 2), self.pick(3, 8, 26)
        for attention in filter(None, [find_attention(block)]):
            attention.pop("scale_by_inverse_layer", None)
        return {**stack, "by_layer": False, "sizes": (
            kv_heads, head_dim, kv_heads * self.pick(1, 2, 3))}

    def sharers(self, block, stack):
        """Layers that read the keys of those before them."""
        attention = find_attention(block)
        attention.pop("scale_by_inverse_layer", None)
        other = copy.deepcopy(block)
        find_attention(other)["shared_kv"] = True
        runs = [{"repeat": self.random.randint(1, 2), "block": block},
                {"repeat": self.random.randint(1, 3), "block": other}]
        return runs + self.pick([], [copy.deepcopy(runs[0])])

    def layers(self, stack):
        block = self.block(stack)
        ways = ["same", "overrides", "turns", "runs", "shared", "structures",
                "none"]
        if stack["causal"] and find_attention(block) and not stack["table"]:
            ways.append("sharers")
        way = self.pick(*ways)
        if way == "none" and not (stack["cross"] or stack["bias"]):
            return self.pick([], {"repeat": 0, "block": block})
        if way == "overrides":
            return self.overridden(block, stack)
        if way == "turns":
            return [{"repeat": self.random.randint(1, 3), "block":
                     [self.vary(block, stack)
                      for _ in range(self.random.randint(1, 3))]}]
        if way == "runs":
            return [{"repeat": self.random.randint(1, 2),
                     "block": self.vary(block, stack)}
                    for _ in range(self.random.randint(1, 4))]
        if way == "shared":
            repeat = self.random.randint(2, 5)
            run = {"repeat": repeat, "block": block,
                   "share": {"groups": self.random.randint(1, repeat)}}
            self.maybe(run["share"], "inner", 0.4, lambda: self.pick(1, 2, 3))
            return self.pick(run, [run])
        if way == "sharers":
            return self.sharers(block, stack)
        if way == "structures":
            other = self.block(self.other_heads(block, stack))
            turns = [block, other]
            if self.chance(0.5):
                turns.append(self.vary(block, stack))
            runs = [{"repeat": self.random.randint(1, 2), "block": turns}]
            if self.chance(0.5):
                runs.append({"repeat": 1, "block": other})
            return runs
        return {"repeat": self.random.randint(1, 3), "block": block}

    # -- stacks --

    def position(self, name, width):
        kinds = ["learned", "none", "learned"]
        if width % 2 == 0:
            kinds.append("sinusoid")
        if width > 1:
            kinds.append("axial")
        position = {"kind": self.pick(*kinds)}
        if position["kind"] == "none":
            return position
        if position["kind"] == "axial":
            return {**position, **self.axes(width)}
        is_given = self.has_patches and name == "encoder"
        ids = ["arange"] if is_given else ["arange", "from_mask"]
        if self.kind != "decoder" and not is_given:
            ids.append("from_pad")
        self.maybe(position, "ids", 0.5, lambda: self.pick(*ids))
        more = 0
        if position.get("ids") == "from_pad":
            self.tokens.setdefault("pad", self.random.randint(0, 2))
            more = self.tokens["pad"] + 1
        elif position.get("ids") == "from_mask":
            position["offset"] = more = self.pick(1, 2)
        elif self.chance(0.3):
            position["offset"] = more = self.pick(0, 2)
        self.maybe(position, "rows", 0.3,
                   lambda: MAX_POSITIONS + more + self.pick(0, 3))
        if position["kind"] == "sinusoid":
            position["layout"] = self.pick("interleaved", "concat")
            position["denominator"] = self.pick("dim", "half_minus_1")
            self.maybe(position, "base", 0.3, lambda: self.pick(100, 5000.0))
            self.maybe(position, "zero_row", 0.3,
                       lambda: self.random.randint(0, 4))
        return position

    def axes(self, width):
        """Of a grid with at least as many places as there are positions."""
        shape = self.pick([5, 13], [64, 1], [1, 67], [9, 8], [2, 7, 6])
        if width < len(shape):
            shape = [8, 8]
        cuts = sorted(self.random.sample(range(1, width), len(shape) - 1))
        ends = [0, *cuts, width]
        assert math.prod(shape) >= MAX_POSITIONS
        return {"shape": shape, "dims": [end - begin for begin, end
                                         in zip(ends, ends[1:])]}

    def segments(self, name, can_use_token):
        segments = []
        for i in range(self.pick(0, 1, 2)):
            segment = {"name": f"s{i}", "input": f"ids_{name[0]}{i}"}
            rows = self.pick(1, 2, 5)
            if can_use_token and self.chance(0.3):
                segment["use"], rows = "token", self.vocab
            else:
                segment["rows"] = rows
            self.maybe(segment, "default", 0.5, lambda: 0)
            segments.append(segment)
        return segments

    def convs(self):
        """Convolutions in place of a product, and how many frames a row has."""
        frames, convs = 1, []
        for _ in range(self.pick(1, 2, 2, 3)):
            conv = {"kernel": self.pick(1, 3, 3, 5)}
            self.maybe(conv, "stride", 0.6, lambda: self.pick(1, 2, 3))
            self.maybe(conv, "bias", 0.3, lambda: self.chance(0.5))
            self.maybe(conv, "act", 0.7, self.activation)
            frames *= conv.get("stride", 1)
            convs.append(conv)
        return convs, frames

    def patches(self):
        patches = {"width": self.pick(1, 12, 27, 130)}
        if self.chance(0.5):
            self.maybe(patches, "bias", 0.5, lambda: self.chance(0.5))
            return patches
        patches["convs"], frames = self.convs()
        patches["width"] = frames * self.pick(1, 5, 17, 80)
        return patches

    def embeddings(self, name):
        token, embeddings = {}, {}
        width = normed = self.hidden
        is_given = self.has_patches and name == "encoder"
        if is_given:
            embeddings["patches"] = self.patches()
            self.maybe(token, "rows", 0.7, lambda: self.vocab)
        elif self.shared and self.chance(0.7):
            token["use"] = "shared.token"
        else:
            self.maybe(token, "rows", 0.7,
                       lambda: self.vocab + self.pick(0, 0, 3))
            if self.chance(0.15):
                token["adaptive"] = self.pieces(token.get("rows", self.vocab))
                if token["adaptive"]["div"] > 1:
                    self.maybe(token, "dim", 0.6, lambda: self.pick(27, 40))
                if token.get("dim", self.hidden) < 27:
                    token["adaptive"]["div"] = 1
                    token.pop("dim", None)
            elif self.chance(0.25):
                token["dim"] = self.pick(6, 10, 20)
                at = self.pick("after_norm", "token", "sum")
                embeddings["projection"] = {"at": at,
                                            "bias": self.chance(0.5)}
                width = token["dim"] if at != "token" else width
                normed = width if at == "after_norm" else self.hidden
            elif self.chance(0.2):
                token["dim"] = self.hidden
        self.maybe(token, "scale", 0 if is_given else 0.25,
                   lambda: self.pick("sqrt_hidden", 3.0))
        embeddings["token"] = token
        self.maybe(embeddings, "position", 0.8,
                   lambda: self.position(name, width))
        is_projected_alone = (token.get("dim", width) != width or
                              "adaptive" in token)
        self.maybe(embeddings, "segments", 0 if is_given else 0.3,
                   lambda: self.segments(name, not is_projected_alone))
        self.maybe(embeddings, "norm", 0.3, lambda: self.norm(normed, 0.1))
        if "norm" in embeddings:
            self.maybe(embeddings, "norm_of", 0.4,
                       lambda: self.pick("sum", "token")
                       if normed == width else "sum")
        # Of a pair it would be as long as the decoder's.
        if is_given and ("convs" in embeddings["patches"] or
                         self.kind != "encoder" or self.chance(0.3)):
            embeddings["token"] = "none"
        return embeddings

    def pieces(self, rows):
        cutoffs = self.random.sample(range(1, rows),
                                     min(self.pick(0, 1, 3), rows - 1))
        return {"cutoffs": sorted(cutoffs), "div": self.pick(1, 2, 3)}

    def stack(self, name, cross):
        causal = name == "decoder"
        has_bias = self.chance(0.25)
        kv_heads = self.pick(1, 1, 2, 3)
        head_dim = self.pick(1, 2, 5, 8, 16, 26, 33)
        shape = {"sizes": (kv_heads, head_dim, kv_heads * self.pick(1, 2, 3)),
                 "cross": cross, "causal": causal, "bias": has_bias,
                 "by_layer": True,
                 "inputs": self.chance(0.12) and not (
                     self.has_patches and name == "encoder"),
                 "streams": self.chance(0.15)}
        shape["reversible"] = (shape["streams"] and self.chance(0.5) and
                               self.kind != "encoder_decoder")
        # Heads that share keys have no relative terms.
        is_alike = shape["sizes"][0] == shape["sizes"][2]
        has_table = (is_alike and self.chance(0.4) and
                     (not causal or self.hidden % 2 == 0))
        shape["table"] = {"is_read": False, "is_of_heads": not causal and
                          self.chance(0.5)} if has_table else None
        stack = {"embeddings": self.embeddings(name),
                 "layers": self.layers(shape)}
        if has_bias:
            stack["position_bias"] = {
                "kind": "bucket", "buckets": self.pick(4, 8, 32),
                "max_distance": self.pick(17, 40, 128),
                "bidirectional": not causal}
            self.maybe(stack["position_bias"], "per_layer", 0.5,
                       lambda: self.chance(0.8))
            if not reads_position_bias(stack):
                stack["position_bias"] = "none"
        elif self.chance(0.1):
            stack["position_bias"] = "none"
        if has_table:
            stack["relative"] = (
                self.table_of_heads(head_dim) if shape["table"]["is_of_heads"]
                else self.relative_table(causal))
        elif self.chance(0.1):
            stack["relative"] = "none"
        if shape["inputs"]:
            stack["layer_inputs"] = self.layer_inputs()
        elif self.chance(0.1):
            stack["layer_inputs"] = "none"
        if shape["streams"]:
            stack["streams"] = self.streams(shape["reversible"])
        elif self.kind == "encoder" and self.chance(0.4) and (
                may_have_targets(stack)):
            stack["streams"] = {"kind": "two_stream"}
        elif self.chance(0.1):
            stack["streams"] = "none"
        self.maybe(stack, "final_norm", 0.8,
                   lambda: self.norm(self.result_width(stack), 0.2))
        return stack

    def result_width(self, stack):
        return 2 * self.hidden if is_reversible(stack) else self.hidden

    # -- heads --

    def take(self):
        ways = ["first", "first_visible", "last_visible"]
        if self.has_patches:
            return {"op": "take", "at": self.pick(*ways)}
        if "pad" in self.tokens:
            ways.append("last_nonpad")
        # Of a pair it is a column of the encoder's tokens.
        is_pair = self.kind == "encoder_decoder"
        if isinstance(self.tokens.get("eos"), int) and not is_pair:
            ways += ["last_eos", "first_eos"]
        return {"op": "take", "at": self.pick(*ways)}

    def step(self, number, width):
        """A step, and the width after it."""
        op = self.pick("dense", "norm", "scale", "act", "truncate",
                       "l2_normalize")
        if op == "dense":
            step = {"op": op, "name": f"d{number}",
                    "out": self.pick(1, 4, 9, 20)}
            self.maybe(step, "act", 0.5, self.activation)
            self.maybe(step, "bias", 0.5, lambda: self.chance(0.5))
            return step, step["out"]
        if op == "norm":
            norm = self.norm(width)
            norm.pop("form", None)
            if norm.get("affine", True) or self.chance(0.5):
                norm["name"] = f"n{number}"
            return {"op": op, **norm}, width
        if op == "scale":
            return {"op": op, "by": self.pick(0.5, "rsqrt_hidden")}, width
        if op == "act":
            return {"op": op, "kind": self.activation()}, width
        if op == "truncate":
            width = self.random.randint(1, width)
            return {"op": op, "dims": width}, width
        step = {"op": op}
        self.maybe(step, "eps", 0.5, lambda: self.pick(1e-6, 0.1))
        return step, width

    def pool(self, beside):
        step = {"op": "pool",
                "how": self.pick("mean", "max", "mean_sqrt_len")}
        self.maybe(step, "skip", 0.3, lambda: self.pick(0, 1, 2))
        if beside:
            step["beside"] = "first_visible"
        else:
            self.maybe(step, "beside", 0.2, lambda: "none")
        return step

    def head(self, origin, width, is_one, taken):
        """A head, its width, and whether it gives one row a sequence."""
        steps = []
        if not is_one and taken:
            how = taken
            beside = how == "pool_beside"
            if how == "pool" and self.chance(0.3):
                how = {"op": "activation_unit", "name": "unit",
                       "query": self.pick("first", "last"),
                       "hidden": self.pick([], [5], [7, 3]),
                       "act": self.activation()}
                width *= 2
            if how in ("pool", "pool_beside"):
                how = self.pool(beside)
                width *= 2 if beside else 1
            steps.append(how)
            is_one = True
        for number in range(self.random.randint(0 if steps else 1, 3)):
            step, width = self.step(number, width)
            steps.append(step)
        return {"from": origin, "steps": steps}, width, is_one

    def all_heads(self, spec):
        """Of one stack; of a pair, its decoder."""
        stack = "decoder" if "decoder" in spec else "encoder"
        heads, outputs = {}, {}
        # Heads of a stack take the same rows, or all of them.
        beside = ["pool_beside"] if stack == "encoder" else []
        taken = self.pick(None, self.take(), self.take(), "pool", *beside)
        known = {stack: (self.result_width(spec[stack]), False)}
        for number in range(self.random.randint(1, 3)):
            origin = self.pick(*known)
            name = f"h{number}"
            width, is_one = known[origin]
            heads[name], width, is_one = self.head(origin, width, is_one,
                                                   taken)
            known[name] = width, is_one
        for name in list(heads):
            width = known[name][0]
            if width <= 4 and self.chance(0.5):
                parts = [f"p{i}" for i in range(width)]
                heads[name + "s"] = {"from": name, "steps": [
                    {"op": "split", "names": parts}]}
                outputs["out_" + name] = f"{name}s.{self.pick(*parts)}"
            else:
                outputs["out_" + name] = name
            if heads.get(name + "s") is None and self.chance(0.3):
                heads[name + "l"] = {"from": name, "steps": [
                    self.logits(spec, f"l{name}", stack, width)]}
                outputs["logits_" + name] = name + "l"
        spec["heads"], spec["outputs"] = heads, outputs
        if self.chance(0.3) and not taken:
            outputs["rows"] = stack + ".hidden"
        if self.kind == "encoder_decoder":
            outputs["source"] = "encoder.hidden"

    def logits(self, spec, name, stack, width):
        step = {"op": "logits", "name": name}
        token = spec[stack]["embeddings"]["token"]
        if token == "none":
            step["out"] = self.vocab
            return step
        if "adaptive" in token:
            step["op"] = "adaptive_logits"
            if token["adaptive"]["div"] > 1 or width == self.hidden:
                step["tied"] = stack + ".embeddings.token"
            else:
                step.update(out=30, **self.pieces(30))
                step["div"] = 1
            self.maybe(step, "bias", 0.5, lambda: self.chance(0.6))
            return step
        if self.chance(0.1):
            step.update(op="adaptive_logits", out=30, dim=27,
                        **self.pieces(30))
            if step["div"] == 1:
                step["div"] = 2
        elif token.get("dim", self.hidden) == width and self.chance(0.6):
            step["tied"] = ("shared.token" if "use" in token
                            else stack + ".embeddings.token")
        else:
            step["out"] = self.pick(1, 7, 30)
        self.maybe(step, "bias", 0.5, lambda: self.chance(0.6))
        return step

    def add_generation(self, spec):
        """A head over the decoder's table; its numbers change no row."""
        token = spec["decoder"]["embeddings"]["token"]
        in_pieces = "adaptive" in token
        if token.get("dim", self.hidden) != self.hidden and not in_pieces:
            return
        if is_reversible(spec["decoder"]):
            return
        tied = "shared.token" if "use" in token else "decoder.embeddings.token"
        spec.setdefault("heads", {})["lm"] = {"from": "decoder", "steps": [
            {"op": "adaptive_logits" if in_pieces else "logits", "name": "lm",
             "tied": tied}]}
        takes = any(step["op"] in ("take", "pool", "activation_unit")
                    for head in spec["heads"].values()
                    for step in head["steps"])
        if "outputs" in spec and not takes:
            spec["outputs"]["logits"] = "lm"
        generation = {"head": "lm", "max_length": 20}
        for key, values in {
                "max_new_tokens": (3,), "min_length": (0, 2),
                "temperature": (0.7,), "top_k": (0, 5), "top_p": (0.9,),
                "min_p": (0.05,), "length_penalty": (0.5,),
                "early_stopping": (True, False, "never"),
                "no_repeat_ngram_size": (0, 2), "repetition_penalty": (1.2,),
                "forced_bos": (0, 1), "forced_eos": (0, [1]),
                "suppress_tokens": ([], [2]),
                "begin_suppress_tokens": ([], [1, 0])}.items():
            self.maybe(generation, key, 0.3, lambda: self.pick(*values))
        self.maybe(generation, self.pick("num_beams", "do_sample"), 0.5,
                   lambda: True)
        if "num_beams" in generation:
            generation["num_beams"] = self.pick(1, 3)
        self.tokens.setdefault("decoder_start", 0)
        spec["generation"] = generation

    # -- the whole --

    def draw_tokens(self):
        for key in ("pad", "bos", "unk", "cls", "sep", "mask",
                    "decoder_start"):
            self.maybe(self.tokens, key, 0.15,
                       lambda: self.random.randrange(self.vocab))
        if self.vocab < 3:
            return
        self.maybe(self.tokens, "eos", 0.3,
                   lambda: self.pick(self.random.randrange(self.vocab), [1, 2]))
        self.maybe(self.tokens, "lang", 0.1, lambda: {"en": 1, "de": 2})

    def precision(self):
        precision = {}
        self.maybe(precision, "weights", 0.5,
                   lambda: self.pick("f32", "f16", "bf16"))
        self.maybe(precision, "cache", 0.5,
                   lambda: self.pick("f32", "f16", "bf16", "int8"))
        for key in ("compute", "norm", "softmax"):
            self.maybe(precision, key, 0.3, lambda: "f32")
        return precision

    def spec(self):
        spec = {"tfc": 1, "kind": self.kind,
                "dims": {"hidden": self.hidden, "vocab": self.vocab,
                         "max_positions": MAX_POSITIONS}}
        self.maybe(spec, "name", 0.5, lambda: "drawn")
        self.maybe(spec, "meta", 0.1, lambda: {"any": [1, "thing"]})
        self.draw_tokens()
        if not self.has_patches and self.chance(
                0.4 if self.kind == "encoder_decoder" else 0.1):
            self.shared = {"token": {}}
            self.maybe(self.shared["token"], "rows", 0.6, lambda: self.vocab)
            self.maybe(self.shared["token"], "dim", 0.3, lambda: self.hidden)
            spec["shared"] = self.shared
        is_pair = self.kind == "encoder_decoder"
        if self.kind != "decoder":
            spec["encoder"] = self.stack("encoder", None)
        if self.kind != "encoder":
            kv_heads = self.pick(1, 2)
            cross = (kv_heads, self.pick(1, 4, 9, 16),
                     kv_heads * self.pick(1, 2)) if is_pair else None
            spec["decoder"] = self.stack("decoder", cross)
        if self.shared and not any(
                "use" in spec[name]["embeddings"]["token"]
                for name in ("encoder", "decoder") if name in spec):
            del spec["shared"]
        if self.chance(0.5):
            self.all_heads(spec)
        if "decoder" in spec and self.chance(0.25):
            self.add_generation(spec)
        if self.tokens:
            spec["tokens"] = self.tokens
        self.maybe(spec, "precision", 0.3, self.precision)
        return spec


def is_reversible(stack):
    streams = stack.get("streams")
    return is_object(streams) and streams["kind"] == "reversible"


def may_have_targets(stack):
    embeddings = stack["embeddings"]
    return not (
        "patches" in embeddings or "adaptive" in embeddings["token"] or
        is_object(stack.get("layer_inputs")) or any(
            part.get(key, "none") != "none"
            for block, _ in list_layers(stack["layers"])
            for name, part, _ in list_sublayers(block) if name == "attn"
            for key in ("window", "softcap", "log_scale_base", "sparse")))


def has_zero_memory(attention):
    relative = attention.get("relative")
    return is_object(relative) and relative.get("zero_memory", False)


def reads_position_bias(stack):
    return any(name == "attn" and part.get("use_position_bias", True)
               for block, _ in list_layers(stack["layers"])
               for name, part, _ in list_sublayers(block))


def find_attention(block):
    if "attn" in block:
        return block["attn"]
    return next((item["attn"] for item in block.get("sublayers", [])
                 if "attn" in item), None)


def draw(seed, experts=False):
    """The spec of a seed; with mixtures of experts among those of the others,
    which the formulas do not have."""
    return Drawing(seed, experts).spec()
