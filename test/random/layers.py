# The layers of a stack: which block each of them is, and its sublayers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy


def is_object(value):
    return isinstance(value, dict)


def merge(target, patch):
    """A merge patch (RFC 7386)."""
    if not is_object(patch):
        return copy.deepcopy(patch)
    result = dict(target) if is_object(target) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def selected(layers, count):
    if isinstance(layers, list):
        return [layer % count for layer in layers]
    if ":" not in layers:
        return [int(layers) % count]
    ends = [int(word) if word else None for word in layers.split(":")]
    return list(range(count))[slice(*ends)]


def has_targets(stack):
    streams = stack.get("streams")
    return is_object(streams) and streams["kind"] == "two_stream"


def list_layers(layers):
    """(block, number of its weights) of each layer."""
    result = []
    for run in [layers] if is_object(layers) else layers:
        count, block = run["repeat"], run["block"]
        groups = run.get("share", {}).get("groups")
        inner = run.get("share", {}).get("inner", 1)
        blocks = (block if isinstance(block, list) else [block]) * count
        for override in run.get("overrides", []):
            for layer in selected(override["layers"], count):
                blocks[layer] = merge(blocks[layer], override["set"])
        first = len(result)
        for i, each in enumerate(blocks):
            own = first + (i if groups is None else int(i / (count / groups)))
            # Of each layer of a group, where that has several.
            result += [(each, own if inner == 1 else f"{own}.{place}")
                       for place in range(inner)]
    return result


def list_sublayers(block):
    """(name, sublayer with the norms of its placement, parallel)."""
    if "sublayers" in block:
        return [(name, item, item.get("parallel", False))
                for one in block["sublayers"] for name, item in one.items()]
    placement = block.get("placement", "none")
    result = []
    for name in ("attn", "cross", "low_rank", "ffn", "ngram", "layer_input"):
        if name not in block:
            continue
        placed = {}
        is_first = not result
        if placement == "pre" or placement == "parallel" and is_first:
            placed["pre_norm"] = block["norm"]
        if placement == "post":
            placed["post_norm"] = block["norm"]
        parallel = placement == "parallel" and not is_first
        result.append((name, {**placed, **block[name]},
                       parallel or block[name].get("parallel", False)))
    return result
