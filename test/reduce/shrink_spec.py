# Smaller specs: fewer layers, narrower ones, without a feature. What is smaller
# need not be a spec: who asks tries it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import json

# Numbers that are sizes, and what they are tried as.
SIZES = {"hidden": (4, 8, 16, 32), "vocab": (3, 11), "max_positions": (16, 32),
         "width": (1, 4, 16), "head_dim": (1, 2, 8), "num_heads": (1, 2),
         "num_kv_heads": (1, 2), "repeat": (1, 2), "out": (1, 4),
         "dim": (2, 4), "rows": (3, 16), "buckets": (4,), "span": (2,),
         "dims": (1, 2)}


def list_places(value, path=()):
    """Paths of all members, the outer ones first."""
    items = (list(value.items()) if isinstance(value, dict) else
             list(enumerate(value)) if isinstance(value, list) else [])
    places = [path + (key,) for key, _ in items]
    for key, member in items:
        places += list_places(member, path + (key,))
    return places


def member(spec, path):
    for key in path:
        spec = spec[key]
    return spec


def without(spec, path):
    """A copy without a member."""
    spec = copy.deepcopy(spec)
    del member(spec, path[:-1])[path[-1]]
    return spec


def with_value(spec, path, value):
    """A copy in which a member is another."""
    spec = copy.deepcopy(spec)
    member(spec, path[:-1])[path[-1]] = value
    return spec


def explicit_heads(spec):
    """A copy whose heads have a width of their own: the stack's may change."""
    spec = copy.deepcopy(spec)
    hidden = spec.get("dims", {}).get("hidden")
    for path in list_places(spec):
        value = member(spec, path)
        if isinstance(value, dict) and "num_heads" in value and hidden:
            value.setdefault("head_dim", max(1, hidden // value["num_heads"]))
    return spec


def all_sizes(spec, rank):
    """A copy whose sizes all are the least, or the next."""
    spec = explicit_heads(spec)
    for path in list_places(spec):
        value, choices = member(spec, path), SIZES.get(path[-1])
        if choices and isinstance(value, int) and not isinstance(value, bool):
            choice = choices[min(rank, len(choices) - 1)]
            member(spec, path[:-1])[path[-1]] = min(value, choice)
    return spec


def list_smaller(spec):
    """Smaller specs, those that lose most first."""
    for key in ("weights", "generation", "meta", "tokens", "name", "precision",
                "defs"):
        if key in spec:
            yield without(spec, (key,))
    for rank in range(3):
        yield all_sizes(spec, rank)
    yield explicit_heads(spec)
    places = list_places(spec)
    for path in places:
        value = member(spec, path)
        if isinstance(value, list) and value:
            # One run of layers for several, one block for several in turn.
            yield from (with_value(spec, path, each) for each in value)
        if path[-1] in SIZES and isinstance(value, int):
            for size in SIZES[path[-1]]:
                if size < value:
                    yield with_value(spec, path, size)
    for path in places:
        yield without(spec, path)
    for path in places:
        value = member(spec, path)
        if isinstance(value, dict):
            yield with_value(spec, path, "none")
        if path[-1] == "act" and value != "identity":
            yield with_value(spec, path, "identity")


def size_of(spec):
    """What gets less: text first, then the sum of all numbers."""
    total = sum(member(spec, path) for path in list_places(spec)
                if isinstance(member(spec, path), int))
    return len(list_places(spec)), total, len(json.dumps(spec))


def shrink(spec, fails, tries):
    """The smallest spec found for which fails(spec) still says so."""
    progress = True
    while progress and tries > 0:
        progress = False
        seen = set()
        for other in list_smaller(spec):
            text = json.dumps(other)
            # Numbers of their own for heads are text that sizes are worth.
            gain = size_of(other)[1] < size_of(spec)[1] or \
                size_of(other) < size_of(spec)
            if text in seen or not gain:
                continue
            seen.add(text)
            tries -= 1
            if fails(other):
                spec, progress = other, True
                break
            if tries <= 0:
                break
    return spec


def to_text(value, indent=0, room=78):
    """JSON, a member a line where it does not fit into one."""
    line = json.dumps(value)
    if indent + len(line) <= room or not isinstance(value, (dict, list)):
        return line
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: " +
                 to_text(each, indent + len(key) + 5, room)
                 for key, each in value.items()]
        opening, closing = "{}"
    else:
        parts = [to_text(each, indent + 1, room) for each in value]
        opening, closing = "[]"
    return opening + f",\n{inner}".join(parts) + closing
