// The closed list of what a table cannot say with holes alone: each rule reads
// config.json and has messages of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_FAMILY_RULES_H
#define TFC_COMPILER_SPEC_FAMILY_RULES_H

#include "compiler/spec/family/Instantiate.h"

namespace tfc::family {

/// Makes the value of a hole {"$rule": NAME, ...}.
using RuleFunction = std::optional<spec::Json> (*)(Instantiator &,
                                                   const spec::Json &hole);

/// Null when there is no such rule.
RuleFunction findRule(std::string_view name);

/// The keys of config.json that a rule reads beside its own "key".
std::vector<std::string_view> keysOfRule(std::string_view name);

// ---- The rules -----------------------------------------------------------

/// {"key", "default", "as": {theirs: ours}}: the spec's word for an activation
/// of transformers.
std::optional<spec::Json> activationRule(Instantiator &, const spec::Json &);

/// {"default": 2, "expect": n, "why"}: how many labels a classifier has.
std::optional<spec::Json> labelsRule(Instantiator &, const spec::Json &);

/// {"default", "part": "act" | "gated"}: T5's feed_forward_proj.
std::optional<spec::Json> feedForwardRule(Instantiator &, const spec::Json &);

/// {"style", "theta", "theta_key", "partial", "partial_key", "head_dim"}: the
/// spec's "rotary", from rope_parameters (transformers 5), or rope_scaling,
/// rope_theta and original_max_position_embeddings (4). `partial` is the part
/// of `head_dim` that is rotated where no key says it; without one, whole heads
/// are. "only_default": no scaling is known. "longrope": it is, and this is the
/// longest sequence of the training where no key says it; "positions" is the
/// longest one at all; "mscales": cosine and sine are times short_mscale.
/// "proportional": this type is one, whose part of the columns turns by
/// frequencies of the whole head.
/// "parameters": rope_parameters where there are none. "may_be_none": there is
/// no rotation where theta is null.
std::optional<spec::Json> rotaryRule(Instantiator &, const spec::Json &);

/// {"widths": [n, ...]}: what scores are times where heads have so many columns
/// in all: their inverse square root, and of a stretched rotation the square of
/// what mscale_all_dim makes of its factor. "parameters": as of rotary.
std::optional<spec::Json> scoreScaleRule(Instantiator &, const spec::Json &);

/// {"key", "default", "longrope", "query_growth"}: the longest sequence: that
/// of the training, where the hole says what else would have to be done beyond
/// it and rope_parameters asks for it.
std::optional<spec::Json> positionsRule(Instantiator &, const spec::Json &);

/// {"key", "default"}: {"left", "right"} of a window of so many positions, the
/// token's own included; "none" for null, and for 0 if "zero" is "none".
std::optional<spec::Json> windowRule(Instantiator &, const spec::Json &);

/// {"layers", "window", "default", "fixed"}: overrides for the layers whose
/// type in layer_types is sliding_attention. Without layer_types the default
/// decides: a type for all layers, {"from": n} or {"every": n} (of each n
/// layers the last is full, or number `at`, and all before `first`, and with
/// `last` the last one). `fixed`: layer_types must be the default.
std::optional<spec::Json> layerTypesRule(Instantiator &, const spec::Json &);

/// {"key", "every", "layers", "set"}: overrides with `set` for the layers whose
/// entry in the list is 0; without the list, the last of each `every`.
std::optional<spec::Json> layerPatternRule(Instantiator &, const spec::Json &);

/// {"layers", "first", "last", "every", "list", "ffn"}: overrides with `ffn` in
/// place of a mixture for the layers before `first`, behind `last` (-1: none),
/// that are not the last (or number `at`) of each `every`, or that the key
/// `list` names, `listed` where it is missing; `attn`: what their attention
/// has; the key `key` is to blame where these are all. With `then` that value
/// instead, if there is such a layer.
std::optional<spec::Json> denseLayersRule(Instantiator &, const spec::Json &);

/// {"layers", "kind", "other", "set"}: overrides with `set` for the layers
/// whose type in layer_types is `kind` and not `other`; without layer_types for
/// those that `default` lists (or an object of it: the types of its `first`
/// layers, and those of others in `turns`), all but the last of each `every`,
/// or those that the key `list` does not name. `alias`: other names of
/// layer_types, the first that is there; a text has a letter for each layer.
/// `more`: other overrides behind them. With `then` that value instead, if
/// there is such a layer; `of`: the type that is asked about.
std::optional<spec::Json> layerKindsRule(Instantiator &, const spec::Json &);

/// {"layers", "key"}: overrides with the theta that the key lists for each
/// layer, and without a rotation where it is 0; none without the key.
std::optional<spec::Json> layerThetasRule(Instantiator &, const spec::Json &);

/// {"layers", "key", "heads"}: overrides with the number of heads that the key
/// lists for each layer, where it is not `heads`; none without the key. `more`:
/// other overrides behind them.
std::optional<spec::Json> layerHeadsRule(Instantiator &, const spec::Json &);

/// {"layers", "key", "default", "part", "as", "usual"}: overrides with the
/// number that the key lists for each layer, as `as` of the sublayer `part`,
/// where it is not `usual`. `or_one`: the key may have one number for all.
/// Without the key layers have `default`, and with "begins": {"count",
/// "number"} the first ones of more than so many that number. `more`: other
/// overrides behind them. With `first` the first layer's number instead.
std::optional<spec::Json> layerNumbersRule(Instantiator &, const spec::Json &);

/// {"layers", "key", "default"}: overrides with a window of so many positions
/// to both sides together, half to each: one number, or a list of one for each
/// layer.
std::optional<spec::Json> layerWindowsRule(Instantiator &, const spec::Json &);

/// {"layers", "of", "every", "key", "known", "usual", "else"}: the number that
/// transformers' per_layer_config has under `key` for the layers of type `of`
/// (by layer_types, or the last of each `every`), the same for all of them;
/// others have `usual`. An entry has no keys but `known` ones. Without
/// per_layer_config `else`.
std::optional<spec::Json> layerConfigRule(Instantiator &, const spec::Json &);

/// {"layers", "count", "set"}: overrides with `set` of the last `count` layers;
/// none of 0.
std::optional<spec::Json> lastLayersRule(Instantiator &, const spec::Json &);

/// {"alias", "default"}: how many layers there are by the types of layer_kinds.
std::optional<spec::Json> layerCountRule(Instantiator &, const spec::Json &);

/// {"near": anything where layers see near blocks, too}: the "sparse" of
/// Reformer's layers of hashes.
std::optional<spec::Json> hashesRule(Instantiator &, const spec::Json &);

/// {"default"}: how wide LFM2's feed-forward parts are.
std::optional<spec::Json> adjustedWidthRule(Instantiator &, const spec::Json &);

/// {"layers", "window"}: GPT-Neo's attention_types, or attention_layers, which
/// is made of them and stronger, as overrides with `window` for local layers.
std::optional<spec::Json> attentionTypesRule(Instantiator &,
                                             const spec::Json &);

/// {"part": "scale" | "clip" | "slopes", "heads"}: MPT's attn_config, as the
/// scale of scores, a bound of rows or the slopes of scores.
std::optional<spec::Json> attnConfigRule(Instantiator &, const spec::Json &);

/// {"tensor", "axis", "size", "then", "else"}: `then` where a tensor of one of
/// these names is stored, with an axis of that size if one is named, which the
/// importer knows; without files `else`.
std::optional<spec::Json> storedRule(Instantiator &, const spec::Json &);

/// {"key", "has": word} whether a key's words are among them, which it lists or
/// joins with |; {"key", "count": [words]} how many of these are, or, without
/// "count", how many there are.
std::optional<spec::Json> wordsRule(Instantiator &, const spec::Json &);

} // namespace tfc::family

#endif // TFC_COMPILER_SPEC_FAMILY_RULES_H
