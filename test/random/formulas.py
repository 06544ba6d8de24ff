# What a spec means, from docs/spec-format.md alone: its formulas in NumPy, in
# double precision. It shares nothing with the compiler, and is no faster than it
# has to be.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import statistics

import numpy as np

from layers import has_targets, is_object, list_layers, list_sublayers


class Weights:
    """Tensors by name, drawn when they are first asked for."""

    def __init__(self, seed, tensors=None):
        self.random = np.random.default_rng(seed)
        self.tensors = {} if tensors is None else tensors
        self.noise = None

    def get(self, name, *shape, around=0.0, spread=None):
        if name not in self.tensors:
            if spread is None:
                spread = 1.5 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.3
            drawn = around + spread * self.random.uniform(-1, 1, shape)
            self.tensors[name] = drawn.astype(np.float32)
        tensor = self.tensors[name].astype(np.float64)
        assert tensor.shape == shape, (name, tensor.shape, shape)
        return self.rounded(tensor, tensor)

    def rounded(self, rows, sizes):
        """Rows moved by a rounding of what of these sizes they are sums of."""
        if self.noise is None:
            return rows
        return rows + 1e-7 * sizes * self.noise.standard_normal(rows.shape)


def number_or(value, default):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else default


# ---- Rows ------------------------------------------------------------------


def held(x):
    """x; NaN, with which nothing is compared, where f32 does not hold it."""
    return np.where(np.abs(x) > np.finfo(np.float32).max, np.nan, x)


def activate(kind, x):
    if kind == "gelu":
        erf = np.vectorize(math.erf, otypes=[float])
        return x * (1 + erf(x / math.sqrt(2))) / 2 if x.size else x
    if kind == "gelu_new":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)
        return x * (1 + np.tanh(inner)) / 2
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "relu2":
        return np.maximum(x, 0) ** 2
    if kind == "silu":
        return x / (1 + np.exp(-x))
    if kind == "quick_gelu":
        return x / (1 + np.exp(-1.702 * x))
    if kind == "sigmoid":
        return 1 / (1 + np.exp(-x))
    return np.tanh(x) if kind == "tanh" else x


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def xielu(weights, x, path):
    """With the numbers that all models have."""
    positive, negative = (weights.get(f"{path}.{part}.weight", 1)
                          for part in ("positive", "negative"))
    low = np.minimum(x, -1e-6)
    return x / 2 + np.where(
        x > 0, softplus(positive) * x * x,
        (0.5 + softplus(negative)) * (np.expm1(low) - x))


def normalize(weights, norm, x, path, shape=None):
    """The norm of the last axis; its weight has that axis's shape, or `shape`."""
    if not is_object(norm) or norm["kind"] == "none":
        return x
    shape = shape or x.shape[-1:]
    eps = norm["eps"]
    x = weights.rounded(x, x)
    if norm["kind"] == "rmsnorm":
        y = x / np.sqrt(np.mean(held(x * x), -1, keepdims=True) + eps)
    else:
        y = x - np.mean(x, -1, keepdims=True)
        if norm.get("form", "var_eps") == "var_eps":
            y = y / np.sqrt(np.mean(held(y * y), -1, keepdims=True) + eps)
        else:
            of_sample = (np.sum(held(y * y), -1, keepdims=True) /
                         (x.shape[-1] - 1))
            y = y / (np.sqrt(of_sample) + eps)
    if not norm.get("affine", True):
        return y
    offset = norm.get("offset", 0)
    y = y * (offset + weights.get(path + ".weight", *shape,
                                  around=1.0 - offset))
    if norm["kind"] == "layernorm" and norm.get("bias", True):
        y = y + weights.get(path + ".bias", *shape)
    return y


def linear(weights, x, path, out, bias):
    weight = weights.get(path + ".weight", out, x.shape[-1]).T
    y = weights.rounded(held(x @ weight), np.abs(x) @ np.abs(weight))
    return y + weights.get(path + ".bias", out) if bias else y


# ---- Positions -------------------------------------------------------------


def rotary_frequencies(rotary, head_dim, max_positions):
    """Radians a position of each pair of columns, and a factor of cosine and
    sine."""
    dim = rotary.get("dim", head_dim)
    single = np.float32
    exponents = np.arange(0, dim, 2).astype(single) / single(dim)
    waves = single(rotary["theta"]) ** exponents
    frequencies = (single(1) / waves).astype(np.float64)
    factor = 1.0
    scaling = rotary.get("scaling")
    if is_object(scaling):
        stretch = scaling["factor"]
        original = scaling.get("original_max", max_positions)
        kind = scaling["kind"]
        if kind == "linear":
            frequencies = frequencies / stretch
        elif kind == "llama3":
            # How often a pair turns in the original context; few turns: all of
            # the stretch, many: none.
            turns = original * frequencies / (2 * math.pi)
            low, high = (scaling["low_freq_factor"],
                         scaling["high_freq_factor"])
            kept = np.clip((turns - low) / (high - low), 0, 1)
            frequencies = frequencies * (kept + (1 - kept) / stretch)
        elif kind == "longrope":
            frequencies = frequencies / np.array(scaling["short_factor"])
            factor = scaling.get("attention_factor", math.sqrt(
                1 + math.log(stretch) / math.log(original)))
        elif kind == "yarn":
            frequencies, factor = stretch_yarn(scaling, rotary, dim, original,
                                               frequencies)
    frequencies[rotary.get("turned", dim) // 2:] = 0
    sign = -1 if rotary.get("reverse") else 1
    return sign * frequencies, factor


def stretch_yarn(scaling, rotary, dim, original, frequencies):
    """Peng et al. 2023 (arXiv:2309.00071)."""
    stretch = scaling["factor"]

    def pair_of(turns):
        return (dim * math.log(original / (turns * 2 * math.pi)) /
                (2 * math.log(rotary["theta"])))

    first = pair_of(scaling.get("beta_fast", 32))
    last = pair_of(scaling.get("beta_slow", 1))
    if scaling.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, dim - 1)
    if first == last:
        last += 0.001
    ramp = np.clip((np.arange(dim // 2) - first) / (last - first), 0, 1)

    def scale_of(mscale):
        return 0.1 * mscale * math.log(stretch) + 1 if stretch > 1 else 1.0

    some, every = scaling.get("mscale", 0), scaling.get("mscale_all_dim", 0)
    factor = scale_of(1)
    if some > 0 and every > 0:
        factor = scale_of(some) / scale_of(every)
    return (frequencies * (1 - ramp) + frequencies / stretch * ramp,
            scaling.get("attention_factor", factor))


def grid_angles(rotary, head_dim, positions):
    """[tokens, pairs of columns]: y's, then x's; y and x are from -1 to 1
    (Simeoni et al. 2025, arXiv:2508.10104)."""
    grid, count = rotary["grid"], rotary.get("dim", head_dim) // 4
    place = positions - grid.get("front", 0)
    sides = [(place // grid["columns"], grid["rows"]),
             (place % grid["columns"], grid["columns"])]
    turns = 1 / float(rotary["theta"]) ** (np.arange(count) / count)
    angles = np.concatenate([
        np.outer((2 * at + 1) / side - 1, 2 * math.pi * turns)
        for at, side in sides], -1)
    sign = -1 if rotary.get("reverse") else 1
    return np.where(place[:, None] < 0, 0, sign * angles)


def turn(rotary, heads, positions, max_positions):
    """`heads` are [tokens, heads, head_dim]."""
    if "grid" in rotary:
        angles, factor = grid_angles(rotary, heads.shape[-1], positions), 1.0
    else:
        frequencies, factor = rotary_frequencies(rotary, heads.shape[-1],
                                                 max_positions)
        angles = positions[:, None] * frequencies
    angles = angles[:, None, :]
    cosine, sine = factor * np.cos(angles), factor * np.sin(angles)
    count = angles.shape[-1]
    if rotary["style"] == "half":
        left, right = slice(0, count), slice(count, 2 * count)
    else:
        left, right = slice(0, 2 * count, 2), slice(1, 2 * count, 2)
    x, y = heads[..., left], heads[..., right]
    result = heads.copy()
    result[..., left] = x * cosine - y * sine
    result[..., right] = y * cosine + x * sine
    return result


def sinusoid(position, positions, width):
    count = width // 2
    last = count if position["denominator"] == "dim" else count - 1
    base = position.get("base", 10000)
    frequencies = [base ** (-k / last) if k else 1.0 for k in range(count)]
    angles = positions[:, None] * np.array(frequencies)
    table = np.zeros((len(positions), width))
    if position["layout"] == "interleaved":
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    else:
        table[:, :count], table[:, count:] = np.sin(angles), np.cos(angles)
    table[positions == position.get("zero_row")] = 0
    return table


def alibi(heads):
    """Press et al. 2021: 2^(-8 i / n); between powers of two every second one
    of twice as many."""
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * (i + 1) / power) for i in range(power)]
    between = [2.0 ** (-4 * (i + 1) / power) for i in range(2 * power)]
    return slopes + between[0::2][:heads - power]


def bucket(distance, bias):
    """Raffel et al. 2019: half of the buckets for a distance each, the others
    in a logarithmic scale up to max_distance."""
    buckets, first = bias["buckets"], 0
    if bias["bidirectional"]:
        buckets //= 2
        first = buckets if distance > 0 else 0
        length = abs(distance)
    else:
        length = max(-distance, 0)
    exact = buckets // 2
    if length < exact:
        return first + length
    single = np.float32
    place = (np.log(single(length) / single(exact)) /
             single(math.log(bias["max_distance"] / exact)) *
             single(buckets - exact))
    return first + min(exact + int(single(place)), buckets - 1)


def relative_row(distance, table):
    """Of a query `distance` behind its key: a row each as far as half of the
    span, then in a logarithmic scale up to max_distance; without that, a row
    each."""
    span, far = table["span"], table.get("max_distance")
    half, length = span // 2, abs(distance)
    if far is not None and length > half:
        single = np.float32
        place = (np.log(single(length) / single(half)) /
                 np.log(single((far - 1) / half)) * single(half - 1))
        length = half + math.ceil(place)
    return min(max(span + (length if distance > 0 else -length), 0),
               2 * span - 1)


def is_of_hidden(table):
    """Whether it is computed and as wide as hidden."""
    return table.get("width") == "hidden"


def is_of_heads(table):
    return not is_of_hidden(table) and (
        table["kind"] == "sinusoid" or table.get("per_layer", False))


def distance_rows(table, width):
    """Dai et al. 2019: sines, then cosines, of the distance from the query to
    a key before it."""
    most = table["span"] - 1
    angles = np.outer(np.arange(-most, most + 1),
                      10000.0 ** (-np.arange(0, width, 2) / width))
    return np.concatenate([np.sin(angles), np.cos(angles)], -1)


def sinusoid_rows(table, width):
    """Wei et al. 2019: the key before the query has the greater number."""
    numbers = np.arange(2 * table["span"] - 2, -1, -1)
    angles = np.outer(numbers, 10000.0 ** (-np.arange(0, width, 2) / width))
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(
        len(numbers), width)


def round_bf16(numbers):
    bits = np.asarray(numbers, dtype=np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


# ---- Attention -------------------------------------------------------------


class Sequence:
    """Tokens of one row: ids, which the mask leaves, other inputs by name, and
    the rows of floats of negative ids: row r of -1 - r."""

    def __init__(self, ids, visible, inputs=None, given=None):
        self.ids = np.array(ids)
        self.visible = np.array(visible, dtype=bool)
        self.inputs = inputs or {}
        self.given = None if given is None else np.array(given, dtype=float)
        self.columns = np.arange(len(self.ids))


class Attention:
    """An attention of the layer `number` whose parameters are at `path`."""

    def __init__(self, model, stack, spec, path, number):
        self.model, self.stack, self.spec = model, stack, spec
        self.path, self.number = path, number
        self.heads = spec["num_heads"]
        self.kv_heads = spec.get("num_kv_heads", self.heads)
        self.head_dim = spec.get("head_dim", model.hidden // self.heads)

    def has_bias(self, part):
        bias = self.spec.get("bias", False)
        return bias.get(part, False) if is_object(bias) else bias

    def project(self, x, part, heads):
        y = linear(self.model.weights, x, f"{self.path}.{part}",
                   heads * self.head_dim, self.has_bias(part))
        return y.reshape(len(x), heads, self.head_dim)

    def norm(self, x, part):
        norm = self.spec["qk_norm"]
        heads, over = x.shape[1], norm.get("over", "head")
        path = f"{self.path}.{part}_norm"
        if over == "row":
            rows = x.reshape(len(x), -1)
            return normalize(self.model.weights, norm, rows,
                             path).reshape(x.shape)
        shape = (heads, self.head_dim) if over == "each_head" else None
        return normalize(self.model.weights, norm, x, path, shape)

    def place(self, x, part, positions):
        """Norm and rotation of queries or keys."""
        norm, rotary = self.spec.get("qk_norm"), self.spec.get("rotary")
        is_after = is_object(norm) and norm.get("after_rotary", False)
        if is_object(norm) and not is_after:
            x = self.norm(x, part)
        x = self.clip(x)
        if is_object(rotary):
            x = turn(rotary, x, positions, self.model.max_positions)
        return self.norm(x, part) if is_after else x

    def clip(self, x):
        most = number_or(self.spec.get("clip"), None)
        return x if most is None else np.clip(x, -most, most)

    def scale(self):
        scale = number_or(self.spec.get("scale"),
                          1 / math.sqrt(self.head_dim))
        if self.spec.get("scale_by_inverse_layer", False):
            scale /= self.number + 1
        return scale

    def seen(self, queries, keys, visible):
        """[queries, keys], and the same without the window."""
        distance = keys[None, :] - queries[:, None]
        seen = np.broadcast_to(visible, distance.shape)
        if self.spec.get("causal", False):
            seen = seen & (distance <= 0)
        window = self.spec.get("window")
        inside = seen
        if is_object(window):
            inside = seen & (distance >= -window["left"]) & (
                distance <= window["right"])
        sparse = self.spec.get("sparse")
        if is_object(sparse) and self.spec.get("causal", False):
            size, first = sparse["block"], np.argmax(visible)
            own, other = (queries - first) // size, (keys - first) // size
            inside = inside & (other[None, :] >=
                               own[:, None] - sparse["before"])
        return inside, seen

    def near_terms(self, places, count):
        """Of blocks in a circle, how often one is near another (Kitaev et al.
        2020, as transformers evaluates it)."""
        sparse, last = self.spec["sparse"], (count - 1) // self.spec["sparse"][
            "block"]
        if last == 0:
            return 0
        block = np.minimum(places // sparse["block"], last)
        times = np.zeros((len(places), len(places)))
        for step in range(-sparse["before"], sparse["after"] + 1):
            times += (block[:, None] + step) % (last + 1) == block[None, :]
        with np.errstate(divide="ignore"):
            return np.log(times)[None]

    def sparse_terms(self, places, count):
        """Zaheer et al. 2020, as it is evaluated: all random blocks are block
        0. `places` count from the first of `count` keys."""
        size, random = (self.spec["sparse"][key] for key in ("block",
                                                             "random"))
        if count <= (5 + 2 * random) * size:
            return 0
        block, last = places // size, (count - 1) // size
        own, other = block[:, None], block[None, :]
        near = (abs(own - other) <= 1) | (other == last)
        terms = np.where(near, 0, -np.inf)
        terms = np.where(other == 0, math.log(1 + random), terms)
        return np.where((own == 0) | (own == last), 0, terms)[None]

    def add_distances(self, scores, queries, keys, scale, visible):
        places = keys - np.argmax(visible)
        distance = keys[None, :] - queries[:, None]
        bias = self.stack.get("position_bias")
        if (is_object(bias) and "cross" not in self.path and
                self.spec.get("use_position_bias", True)):
            owner = (self.path if bias.get("per_layer", False) else
                     self.model.stack_name)
            table = self.model.weights.get(
                f"{owner}.position_bias.weight",
                bias["buckets"], self.heads, spread=1.0)
            rows = [[bucket(int(d), bias) for d in row] for row in distance]
            scores = scores + table[rows].transpose(2, 0, 1)
        slopes = self.spec.get("slopes")
        if slopes == "alibi":
            slopes = alibi(self.heads)
        if isinstance(slopes, list) and self.spec.get("rounded_slopes", False):
            rounded = round_bf16(round_bf16(slopes)[:, None] *
                                 round_bf16(places))
            scores = scores + rounded[:, None] * scale[None, :, None]
        elif isinstance(slopes, list):
            scores = scores + np.array(slopes)[:, None, None] * distance
        sparse = self.spec.get("sparse")
        if is_object(sparse) and not self.spec.get("causal", False):
            terms = (self.near_terms if sparse["kind"] == "chunk_local" else
                     self.sparse_terms)
            scores = scores + terms(places, int(visible.sum()))
        return scores

    def relative_rows(self, part, weight):
        """What keys or queries have at each row of the table: [rows, heads,
        head_dim]."""
        table = self.stack["relative"]
        if table["kind"] == "sinusoid" and not is_of_hidden(table):
            rows = sinusoid_rows(table, self.head_dim)
            return np.repeat(rows[:, None], self.heads, 1)
        if is_of_heads(table):
            rows = self.model.weights.get(f"{self.path}.relative.weight",
                                          2 * table["span"] - 1, self.head_dim)
            return np.repeat(rows[:, None], self.heads, 1)
        if is_of_hidden(table):
            rows = distance_rows(table, self.model.hidden)
        else:
            stem = f"{self.model.stack_name}.relative"
            rows = self.model.weights.get(stem + ".weight", 2 * table["span"],
                                          self.model.hidden)
            rows = normalize(self.model.weights, table.get("norm"), rows,
                             stem + ".norm")
        terms = self.spec["relative"]
        if terms[part] == "shared":
            return self.project(rows, weight, self.heads)
        bias = terms.get("bias", False)
        has_bias = bias.get(part, False) if is_object(bias) else bias
        y = linear(self.model.weights, rows, f"{self.path}.relative_{weight}",
                   self.heads * self.head_dim, has_bias)
        return y.reshape(len(rows), self.heads, self.head_dim)

    def rows_of_distances(self, queries, keys):
        table = self.stack["relative"]
        distance = queries[:, None] - keys[None, :]
        if is_of_heads(table) or is_of_hidden(table):
            most = table["span"] - 1
            return np.clip(distance, -most, most) + most
        return np.array([[relative_row(int(d), table) for d in row]
                         for row in distance])

    def relative_terms(self, q, k, queries, keys):
        """He et al. 2020: q and k with the row of their distance."""
        terms = self.spec.get("relative")
        if not is_object(terms) or "cross" in self.path:
            return 0
        rows = self.rows_of_distances(queries, keys)
        total = 0
        if terms.get("keys", "none") != "none":
            own = self.relative_rows("keys", "k")[rows]
            total = total + np.einsum("qhd,qkhd->hqk",
                                      q + self.added("relative_bias"), own)
        if terms.get("queries", "none") != "none":
            own = self.relative_rows("queries", "q")[rows]
            total = total + np.einsum("khd,qkhd->hqk", k, own)
        return total

    def zero_scores(self, q, queries, scale):
        """What keys of zeros have that a window begins with before the
        sequence does: the term of their distance. `queries` are places behind
        the sequence's first token."""
        terms = self.spec.get("relative")
        if not is_object(terms) or not terms.get("zero_memory", False):
            return np.zeros((self.heads, len(q), 0))
        left, most = self.spec["window"]["left"], self.stack["relative"]["span"] - 1
        rows = self.relative_rows("keys", "k")
        own = q + self.added("relative_bias")
        scores = np.full((self.heads, len(q), left + 1), -np.inf)
        for number, place in enumerate(queries):
            for distance in range(max(int(place) + 1, 0), left + 1):
                row = rows[min(distance, most) + most]
                scores[:, number, distance] = scale[number] * (
                    own[number] * row).sum(-1)
        return scores

    def added(self, name):
        """What is added to queries, for one kind of product."""
        terms = self.spec.get("relative")
        key = "segments" if name == "segment_bias" else "query_bias"
        if not is_object(terms) or not terms.get(key, False):
            return 0
        return self.model.weights.get(
            f"{self.path}.{name}.weight",
            self.heads * self.head_dim).reshape(self.heads, self.head_dim)

    def segment_terms(self, q, types):
        """Yang et al. 2019, section 2.5: one of two rows, by whether a key's
        segment is the query's."""
        terms = self.spec.get("relative")
        if not is_object(terms) or not terms.get("segments", False):
            return 0
        rows = self.model.weights.get(
            f"{self.path}.segments.weight", 2,
            self.heads * self.head_dim).reshape(2, self.heads, self.head_dim)
        both = np.einsum("qhd,shd->shq", q + self.added("segment_bias"), rows)
        is_other = types[:, None] != types[None, :]
        return np.where(is_other, both[1][..., None], both[0][..., None])

    def keep(self, rows):
        """As a decoder's caches keep keys and values."""
        cache = self.model.spec.get("precision", {}).get("cache", "f32")
        if self.model.stack_name != "decoder" or cache == "f32":
            return rows
        single = rows.astype(np.float32)
        if cache == "f16":
            return single.astype(np.float16).astype(np.float64)
        if cache == "int8":
            # A scale for each head of a row.
            scale = np.maximum(np.abs(single).max(-1, keepdims=True),
                               np.float32(2.0 ** -100)) / 127
            return (np.rint(single / scale) * scale).astype(np.float64)
        return round_bf16(single)

    def attend(self, q, k, v, queries, keys, visible, types=None,
               targets=None):
        inside, seen = self.seen(queries, keys, visible)
        if targets is not None:
            inside = inside & (targets == 0)
        group = self.heads // self.kv_heads
        k, v = (np.repeat(self.keep(rows), group, 1) for rows in (k, v))
        scale = np.full(len(q), self.scale())
        base = self.spec.get("log_scale_base")
        if number_or(base, None) is not None:
            scale = scale * np.log(np.maximum(seen.sum(1), 1)) / math.log(base)
        scores = np.einsum("qhd,khd->hqk", q + self.added("query_bias"), k)
        scores = scores + self.relative_terms(q, k, queries, keys)
        scores = scores + self.segment_terms(q, types)
        scores = scores * scale[None, :, None]
        scores = self.add_distances(scores, queries, keys, scale, visible)
        cap = number_or(self.spec.get("softcap"), None)
        if cap is not None:
            scores = cap * np.tanh(scores / cap)
        scores = np.where(inside[None], scores, -np.inf)
        if self.spec.get("sinks", False):
            sinks = self.model.weights.get(f"{self.path}.sinks.weight",
                                           self.heads)
            sinks = np.broadcast_to(sinks[:, None, None],
                                    scores.shape[:2] + (1,))
            scores = np.concatenate([scores, sinks], 2)
        scores = np.concatenate(
            [scores, self.zero_scores(
                q, queries - keys[np.argmax(visible)], scale)], 2)
        # A token that sees nothing has no result.
        with np.errstate(invalid="ignore"):
            parts = np.exp(scores - scores.max(2, keepdims=True))
            parts = parts / parts.sum(2, keepdims=True)
        parts[:, ~inside.any(1)] = np.nan
        v = np.where(visible[:, None, None], v, 0)
        y = np.einsum("hqk,khd->qhd", parts[:, :, :len(k)], v)
        terms = self.spec.get("relative")
        if is_object(terms) and terms.get("values", False):
            own = self.relative_rows("values", "v")[
                self.rows_of_distances(queries, keys)]
            y = y + np.einsum("hqk,qkhd->qhd", parts[:, :, :len(k)], own)
        return y

    def output(self, y):
        y = normalize(self.model.weights, self.spec.get("inner_norm"),
                      y.reshape(len(y), -1), self.path + ".inner_norm")
        return linear(self.model.weights, y,
                      self.path + ".o", self.model.hidden, self.has_bias("o"))

    def gated(self, x, y):
        """y, of heads, times the gate, which x says."""
        kind = self.spec.get("gate", "none")
        if kind == "none":
            return y
        width = self.head_dim
        if self.spec.get("gate_per", "column") == "head":
            width = 1
        gate = linear(self.model.weights, x, self.path + ".gate",
                      self.heads * width, self.has_bias("q"))
        gate = gate.reshape(len(x), self.heads, width)
        return y * (softplus(gate) if kind == "softplus" else
                    1 / (1 + np.exp(-gate)))

    def keys_and_values(self, x, positions):
        """Its own, which others may read, or those of the last one before it
        that is like it."""
        window = self.spec.get("window")
        kind = (self.kv_heads, self.head_dim,
                (window["left"], window["right"]) if is_object(window)
                else None)
        if self.spec.get("shared_kv", False):
            return self.model.kept[kind]
        k = self.project(x, "k", self.kv_heads)
        v = (k if self.spec.get("values_are_keys", False) else
             self.project(x, "v", self.kv_heads))
        v = normalize(self.model.weights, self.spec.get("v_norm"), v,
                      self.path + ".v_norm")
        v = self.clip(v)
        self.model.kept[kind] = (self.place(k, "k", positions), v)
        return self.model.kept[kind]

    def of_itself(self, x, sequence, positions):
        q = self.place(self.project(x, "q", self.heads), "q", positions)
        k, v = self.keys_and_values(x, positions)
        k = np.where(sequence.visible[:, None, None], k, 0)
        types = np.array(sequence.inputs.get("token_type_ids",
                                             np.zeros(len(x))))
        targets = np.array(sequence.inputs.get("targets", np.zeros(len(x))))
        y = self.attend(q, k, v, sequence.columns, sequence.columns,
                        sequence.visible, types, targets)
        return self.output(self.gated(x, y))

    def of_source(self, x, source, visible):
        q = self.project(x, "q", self.heads)
        k = self.project(source, "k", self.kv_heads)
        v = self.project(source, "v", self.kv_heads)
        k = np.where(visible[:, None, None], k, 0)
        return self.output(self.attend(q, k, v, np.arange(len(x)),
                                       np.arange(len(source)), visible))


# ---- The model -------------------------------------------------------------


class Model:
    def __init__(self, spec, weights):
        self.spec, self.weights = spec, weights
        dims = spec["dims"]
        self.hidden = dims["hidden"]
        self.vocab = dims.get("vocab")
        self.max_positions = dims.get("max_positions", 0)
        self.stack_name = ""

    # -- embeddings --

    def token_table(self, stack_name):
        token = self.spec[stack_name]["embeddings"]["token"]
        if "use" in token:
            rows = self.spec["shared"]["token"].get("rows", self.vocab)
            return self.weights.get("shared.token.weight", rows, self.hidden,
                                    spread=1.0)
        if "adaptive" in token:
            return np.concatenate([
                rows if matrix is None else held(rows @ matrix.T)
                for rows, matrix in self.pieces(stack_name)])
        return self.weights.get(f"{stack_name}.embeddings.token.weight",
                                token.get("rows", self.vocab),
                                token.get("dim", self.hidden), spread=1.0)

    def pieces(self, stack_name):
        """Of each piece of a vocabulary its rows and what projects them."""
        token = self.spec[stack_name]["embeddings"]["token"]
        rows = token.get("rows", self.vocab)
        path = f"{stack_name}.embeddings"
        ends = [0, *token["adaptive"]["cutoffs"], rows]
        width, div = token.get("dim", self.hidden), token["adaptive"]["div"]
        for i in range(len(ends) - 1):
            own = self.weights.get(f"{path}.token.{i}.weight",
                                   ends[i + 1] - ends[i], width, spread=1.0)
            yield own, (self.weights.get(f"{path}.projection.{i}.weight",
                                         self.hidden, width)
                        if div > 1 else None)
            width //= div

    def positions(self, position, sequence):
        """Of each token, with the offset."""
        ids = position.get("ids", "arange")
        if "position_ids" in sequence.inputs:
            places = np.array(sequence.inputs["position_ids"])
        elif ids == "from_mask":
            count = np.cumsum(sequence.visible) - 1
            places = np.where(sequence.visible, count, -1)
        elif ids == "from_pad":
            pad = self.spec["tokens"]["pad"]
            is_token = sequence.ids != pad
            places = np.where(is_token, pad + np.cumsum(is_token), pad)
        else:
            places = sequence.columns
        return places + position.get("offset", 0)

    def position_rows(self, position, width, sequence):
        kind = position.get("kind", "none")
        if kind == "none":
            return 0
        places = self.positions(position, sequence)
        if kind == "sinusoid":
            return sinusoid(position, places, width)
        if kind == "axial":
            return self.axial_rows(position, places)
        more = position.get("offset", 0)
        if position.get("ids") == "from_pad":
            more = self.spec["tokens"]["pad"] + 1
        rows = position.get("rows", self.max_positions + more)
        table = self.weights.get(
            f"{self.stack_name}.embeddings.position.weight", rows, width,
            spread=0.6)
        return table[places]

    def axial_rows(self, position, places):
        """Kitaev et al. 2020, section 5: rows of each axis, side by side."""
        path, shape = self.stack_name + ".embeddings.position", position[
            "shape"]
        where = np.unravel_index(places, shape)
        return np.concatenate([
            self.weights.get(f"{path}.{axis}.weight", shape[axis], width,
                             spread=0.6)[where[axis]]
            for axis, width in enumerate(position["dims"])], -1)

    def segment_rows(self, segment, width, sequence, table):
        if "rows" in segment:
            table = self.weights.get(
                f"{self.stack_name}.embeddings.segment.{segment['name']}"
                ".weight", segment["rows"], width, spread=0.6)
        ids = sequence.inputs.get(segment["input"])
        if ids is None and "default" not in segment:
            return 0
        ids = np.full(len(sequence.ids),
                      segment["default"]) if ids is None else np.array(ids)
        return table[ids]

    def convolve(self, convs, sequence, path):
        """Convolutions over the frames of rows; what the mask hides is not
        there, and gives nothing to the next one."""
        given = np.array(sequence.given)
        frames = int(np.prod([conv.get("stride", 1) for conv in convs]))
        x = given.reshape(len(given) * frames, -1)
        seen = np.repeat(sequence.visible, frames)
        for number, conv in enumerate(convs):
            size = conv["kernel"]
            pad = np.zeros(((size - 1) // 2, x.shape[1]))
            x = np.concatenate([pad, np.where(seen[:, None], x, 0), pad])
            windows = [x[t:t + size].T.reshape(-1)
                       for t in range(0, len(seen), conv.get("stride", 1))]
            x = activate(conv.get("act", "identity"), linear(
                self.weights, np.array(windows), f"{path}.{number}",
                self.hidden, conv.get("bias", True)))
            seen = seen[::conv.get("stride", 1)]
        return x

    def patches(self, patches, table, sequence):
        path = f"{self.stack_name}.embeddings.patches"
        if "convs" in patches:
            return self.convolve(patches["convs"], sequence, path)
        projected = linear(self.weights, sequence.given, path, self.hidden,
                           patches.get("bias", True))
        return np.array([table[i] if i >= 0 else projected[-1 - i]
                         for i in sequence.ids])

    def told(self, rows, sequence):
        """Rows of tokens, or of those that are asked for."""
        if not has_targets(self.spec[self.stack_name]):
            return rows
        asked = np.array(sequence.inputs.get("targets", np.zeros(len(rows))))
        own = self.weights.get(f"{self.stack_name}.streams.target.weight", 1,
                               rows.shape[1])
        return np.where(asked[:, None] == 1, own, rows)

    def embed(self, embeddings, sequence):
        path = f"{self.stack_name}.embeddings"
        has_table = embeddings["token"] != "none"
        table = self.token_table(self.stack_name) if has_table else None
        scale = embeddings["token"].get("scale", 1) if has_table else 1
        x = self.told(table[sequence.ids], sequence) * (
            math.sqrt(self.hidden) if scale == "sqrt_hidden" else scale) \
            if sequence.given is None else \
            self.patches(embeddings["patches"], table, sequence)
        projection = embeddings.get("projection")

        def project(x):
            return linear(self.weights, x, path + ".projection", self.hidden,
                          projection["bias"])

        if projection and projection["at"] == "token":
            x = project(x)
        width = x.shape[-1]
        norm, of = embeddings.get("norm"), embeddings.get("norm_of", "sum")
        if of == "token":
            x = normalize(self.weights, norm, x, path + ".norm")
        x = x + self.position_rows(embeddings.get("position", {}), width,
                                   sequence)
        for segment in embeddings.get("segments", []):
            x = x + self.segment_rows(segment, width, sequence, table)
        if projection and projection["at"] == "sum":
            x = project(x)
        if of == "sum":
            x = normalize(self.weights, norm, x, path + ".norm")
        if projection and projection["at"] == "after_norm":
            x = project(x)
        return x

    # -- layers --

    def feed_forward(self, ffn, x, path):
        width, bias = ffn["width"], ffn.get("bias", False)
        up = linear(self.weights, x, path + ".up", width, bias)
        if ffn.get("gated", False):
            gate = linear(self.weights, x, path + ".gate", width, bias)
            gate = ffn.get("gate_scale", 1) * gate
            if "sparsity" in ffn:
                above = statistics.NormalDist().inv_cdf(ffn["sparsity"])
                cut = gate.mean(-1, keepdims=True) + above * gate.std(
                    -1, keepdims=True)
                gate = np.maximum(gate - cut, 0)
            inner = activate(ffn["act"], gate) * up
        elif ffn["act"] == "xielu":
            inner = xielu(self.weights, up, path)
        else:
            inner = activate(ffn["act"], up)
        inner = normalize(self.weights, ffn.get("inner_norm"), inner,
                          path + ".inner_norm")
        return linear(self.weights, inner, path + ".down", self.hidden, bias)

    def neighbours(self, sublayer, sequence, path):
        """A convolution of the embeddings; what the mask hides is not there."""
        size = sublayer["kernel"]
        rows = np.where(sequence.visible[:, None], self.embedded, 0)
        pad = np.zeros(((size - 1) // 2, self.hidden))
        rows = np.concatenate([pad, rows, pad])
        y = [rows[t:t + size].T.reshape(-1) for t in sequence.columns]
        y = linear(self.weights, np.array(y), path + ".conv", self.hidden, True)
        return activate(sublayer["act"], y)

    def layer_inputs(self, stack, sequence, x):
        """[layers, tokens, width]: of a layer its own of each token."""
        inputs = stack["layer_inputs"]
        layers, width = len(list_layers(stack["layers"])), inputs["width"]
        path = self.stack_name + ".layer_inputs"
        rows = inputs.get("rows", len(self.token_table(self.stack_name)))
        table = self.weights.get(path + ".token.weight", rows, layers * width)
        y = inputs.get("projection_scale", 1) * linear(
            self.weights, x, path + ".projection", layers * width, False)
        y = normalize(self.weights, inputs["norm"],
                      y.reshape(len(x), layers, width), path + ".norm")
        own = np.where(sequence.ids < rows, sequence.ids,
                       inputs.get("beyond", 0))
        tokens = table[own].reshape(y.shape)
        y = inputs.get("out_scale", 1) * (y + inputs.get("scale", 1) * tokens)
        return y.transpose(1, 0, 2)

    def of_layer(self, sublayer, number, x, path):
        given = self.given[number]
        if sublayer.get("scaled", False):
            x = x * self.weights.get(path + ".in_scale.weight", self.hidden,
                                     around=1.0)
        gate = linear(self.weights, x, path + ".gate", given.shape[1], False)
        return linear(self.weights, activate(sublayer["act"], gate) * given,
                      path + ".o", self.hidden, False)

    def low_rank(self, sublayer, x, path):
        y = linear(self.weights, x, path + ".in", sublayer["rank"], False)
        y = linear(self.weights, y, path + ".out", self.hidden, False)
        return x + normalize(self.weights, sublayer.get("norm"), y,
                             path + ".norm")

    def layer(self, stack, block, number, of_weights, x, sequence, source):
        return self.sublayers(list_sublayers(block), stack, number, of_weights,
                              x, sequence, source)

    # -- streams --

    def stream(self, stack, part, i, x, like):
        """A stream of another, as long as `like`."""
        y = linear(self.weights, x,
                   f"{self.stack_name}.streams.{part}.{i - 1}", self.hidden,
                   False)

        def square(rows):
            return (rows ** 2).mean(-1, keepdims=True)

        return y * np.sqrt(square(like) / np.maximum(
            square(y), stack["streams"]["floor"]))

    def mixing(self, streams, part, width, x, path):
        y = normalize(self.weights, streams["norm"], x, path + ".router_norm")
        y = linear(self.weights, streams.get("router_scale", 1) * y,
                   path + ".router", streams["count"], False)
        return linear(self.weights, np.tanh(y), f"{path}.{part}", width, False)

    def layer_of_streams(self, stack, block, number, of_weights, rows, sequence,
                         source):
        streams, path = stack["streams"], (
            f"{self.stack_name}.layers.{of_weights}.streams")
        count, active = streams["count"], streams.get("active", 0)
        mixed = self.mixing(streams, "predict", count * count, rows[active],
                            path).reshape(-1, count, count)
        before = [rows[i] + sum(mixed[:, i, j, None] * rows[j]
                                for j in range(count)) for i in range(count)]
        sublayers = list_sublayers(block)
        last = sublayers.pop() if sublayers[-1][0] == "layer_input" else None
        y = before[active]
        if sublayers:
            y = self.sublayers(sublayers, stack, number, of_weights, y,
                               sequence, source)
        mixed = 1 + self.mixing(streams, "correct", count, y, path)
        after = [before[i] + mixed[:, i, None] * (y - before[active])
                 for i in range(count)]
        if last:
            x = after[active]
            term = self.sublayers([last], stack, number, of_weights, x,
                                  sequence, source) - x
            after[1:] = [each + term for each in after[1:]]
        return after

    def layer_in_turns(self, stack, block, number, of_weights, rows, sequence,
                       source):
        """Kitaev et al. 2020, section 3: sublayers read one stream each, and
        are added to the other one."""
        rows = list(rows)
        for i, sublayer in enumerate(list_sublayers(block)):
            rows[i % 2] = self.sublayers(
                [sublayer], stack, number, of_weights, rows[1 - i % 2],
                sequence, source, rows[i % 2])
        return rows

    def sublayers(self, sublayers, stack, number, of_weights, x, sequence,
                  source, onto=None):
        """What is made of x, and added to it or to `onto`."""
        begin = read = x
        for name, sublayer, is_parallel in sublayers:
            path = f"{self.stack_name}.layers.{of_weights}.{name}"
            if not is_parallel:
                begin = read = x
            norm = sublayer.get("pre_norm")
            # One of the kind "none" is none, as the word is.
            if is_object(norm) and norm["kind"] != "none":
                read = normalize(self.weights, norm, begin,
                                 path + ".pre_norm")
            if name == "ffn":
                y = self.feed_forward(sublayer, read, path)
            elif name == "ngram":
                y = self.neighbours(sublayer, sequence, path)
            elif name == "low_rank":
                y = self.low_rank(sublayer, read, path)
            elif name == "layer_input":
                y = self.of_layer(sublayer, number, read, path)
            else:
                attention = Attention(self, stack, sublayer, path, number)
                if name == "cross":
                    y = attention.of_source(read, *source)
                else:
                    positions = self.positions(
                        stack["embeddings"].get("position", {}), sequence)
                    offset = stack["embeddings"].get("position", {}).get(
                        "offset", 0)
                    y = attention.of_itself(read, sequence,
                                            positions - offset)
            y = normalize(self.weights, sublayer.get("out_norm"), y,
                          path + ".out_norm")
            out_scale = sublayer.get("out_scale", 1)
            if out_scale == "learned":
                out_scale = self.weights.get(path + ".out_scale.weight",
                                             self.hidden, around=1.0)
            y = activate(sublayer.get("out_act", "identity"), out_scale * y)
            x = x if onto is None else onto
            if sublayer.get("residual", "add") == "gru_gate":
                x = self.gate(x, y, path + ".gru")
            else:
                x = x + y
            x = normalize(self.weights, sublayer.get("post_norm"), x,
                          path + ".post_norm")
            if not isinstance(sublayer.get("post_scale", False), bool):
                x = x * sublayer["post_scale"]
            elif sublayer.get("post_scale", False):
                x = x * self.weights.get(path + ".post_scale.weight", 1,
                                         around=1.0)
        return x

    def gate(self, x, y, path):
        """Parisotto et al. 2019, section 3.2; the bias is the paper's,
        negated."""
        def both(part, of_x):
            return linear(self.weights, y, f"{path}.{part}", self.hidden,
                          part == "update") + linear(
                self.weights, of_x, f"{path}.{part}_x", self.hidden, False)

        def sigmoid(rows):
            return 1 / (1 + np.exp(-rows))

        reset, update = sigmoid(both("reset", x)), sigmoid(both("update", x))
        return (1 - update) * x + update * np.tanh(both("state", reset * x))

    def run_stack(self, name, sequence, source=None):
        self.stack_name = name
        stack = self.spec[name]
        x = self.embed(stack["embeddings"], sequence)
        self.embedded, self.kept = x, {}
        if is_object(stack.get("layer_inputs")) and list_layers(
                stack["layers"]):
            self.given = self.layer_inputs(stack, sequence, x)
        layers = list_layers(stack["layers"])
        streams = {} if has_targets(stack) else stack.get("streams")
        if is_object(streams) and streams.get("kind") == "reversible":
            rows = [x, x]
            for number, (block, own) in enumerate(layers):
                rows = self.layer_in_turns(stack, block, number, own, rows,
                                           sequence, source)
            x, layers = np.concatenate(rows, -1), []
        elif is_object(streams) and streams:
            others = range(1, stack["streams"]["count"])
            rows = [x] + [self.stream(stack, "in", i, x, x) for i in others]
            for number, (block, own) in enumerate(layers):
                rows = self.layer_of_streams(stack, block, number, own, rows,
                                             sequence, source)
            rows[1:] = [self.stream(stack, "out", i, rows[i], rows[0])
                        for i in others]
            x = self.weights.rounded(sum(rows), sum(map(np.abs, rows))
                                     ) / len(rows)
            layers = []
        for number, (block, own) in enumerate(layers):
            x = self.layer(stack, block, number, own, x, sequence, source)
        return normalize(self.weights, stack.get("final_norm"), x,
                         name + ".final_norm")

    # -- heads --

    def take(self, at, sequence):
        """The column of the row that is taken."""
        columns, tokens = sequence.columns, self.spec.get("tokens", {})
        if at == "first":
            return 0
        if at == "last_nonpad":
            return columns[sequence.ids != tokens["pad"]][-1]
        if at in ("last_eos", "first_eos"):
            eos = tokens["eos"]
            eos = eos[0] if isinstance(eos, list) else eos
            return columns[sequence.ids == eos][-1 if at == "last_eos" else 0]
        left = columns[sequence.visible]
        return left[0] if at == "first_visible" else left[-1]

    @staticmethod
    def pool(step, x, sequence):
        rows = x[sequence.visible][step.get("skip", 0):]
        if not len(rows):
            y = np.full(x.shape[1], np.nan)
        elif step["how"] == "max":
            y = rows.max(0)
        else:
            root = step["how"] == "mean_sqrt_len"
            y = rows.sum(0) / (math.sqrt(len(rows)) if root else len(rows))
        if step.get("beside", "none") == "first_visible":
            y = np.concatenate([x[sequence.visible][0], y])
        return y

    def step(self, head, step, x, sequence):
        op, path = step["op"], f"heads.{head}.{step.get('name')}"
        if op == "take":
            return x[self.take(step["at"], sequence)]
        if op == "pool":
            return self.pool(step, x, sequence)
        if op == "activation_unit":
            return self.activation_unit(step, x[sequence.visible], path)
        if op == "adaptive_logits":
            return self.adaptive_logits(step, x, path)
        if op == "dense":
            y = linear(self.weights, x, path, step["out"],
                       step.get("bias", True))
            return activate(step.get("act", "identity"), y)
        if op == "norm":
            return normalize(self.weights, step, x, path)
        if op == "logits":
            return self.logits(step, x, path)
        if op == "scale":
            by = step["by"]
            return x * (1 / math.sqrt(self.hidden)
                        if by == "rsqrt_hidden" else by)
        if op == "act":
            return activate(step["kind"], x)
        if op == "truncate":
            return x[..., :step["dims"]]
        if op == "l2_normalize":
            length = np.sqrt(held(x * x).sum(-1, keepdims=True))
            return x / np.maximum(length, step.get("eps", 1e-12))
        assert op == "split", op
        return dict(zip(step["names"], np.moveaxis(x, -1, 0)))

    def logits(self, step, x, path):
        if "tied" not in step:
            return linear(self.weights, x, path, step["out"],
                          step.get("bias", False))
        stack = step["tied"].split(".")[0]
        if stack == "shared":
            stack = next(name for name in ("encoder", "decoder")
                         if "use" in self.spec.get(name, {}).get(
                             "embeddings", {}).get("token", {}))
        table = self.token_table(stack)
        y = held(x @ table.T)
        if step.get("bias", False):
            y = y + self.weights.get(path + ".bias", len(table))
        return y

    def activation_unit(self, step, rows, path):
        """Zhou et al. 2018, section 4.3: no softmax over the weights."""
        asks = 0 if step["query"] == "first" else len(rows) - 1
        q, others = rows[asks], np.delete(rows, asks, 0)
        total = np.zeros_like(q)
        for k in others:
            y = np.concatenate((q, k, q - k, q * k))[None]
            for number, width in enumerate([*step["hidden"], 1]):
                y = linear(self.weights, y, f"{path}.{number}", width, True)
                if number < len(step["hidden"]):
                    y = activate(step["act"], y)
            total = total + y[0, 0] * k
        # Every layer has its weights, whether a row asks for them or not.
        width = 4 * len(q)
        for number, out in enumerate([*step["hidden"], 1]):
            self.weights.get(f"{path}.{number}.weight", out, width)
            self.weights.get(f"{path}.{number}.bias", out)
            width = out
        return np.concatenate((total, q))

    def adaptive_logits(self, step, x, path):
        """Grave et al. 2016, section 3: a cluster's share, in which a word has
        its own."""
        def product(rows, matrix, name):
            y = held(rows @ matrix.T)
            if step.get("bias", False):
                y = y + self.weights.get(name + ".bias", len(matrix))
            return y

        def log_softmax(z):
            z = z - z.max(-1, keepdims=True)
            return z - np.log(np.exp(z).sum(-1, keepdims=True))

        if "tied" in step:
            stack = step["tied"].split(".")[0]
            token = self.spec[stack]["embeddings"]["token"]
            tables = [rows for rows, _ in self.pieces(stack)]
            div = token["adaptive"]["div"]
        else:
            ends = [0, *step["cutoffs"], step["out"]]
            div, width = step["div"], step.get("dim", x.shape[-1])
            tables = []
            for i in range(len(ends) - 1):
                tables.append(self.weights.get(
                    f"{path}.{i}.weight", ends[i + 1] - ends[i], width))
                width //= div

        def project(i):
            return x if div == 1 else held(x @ self.weights.get(
                f"{path}.projection.{i}.weight", tables[i].shape[1],
                x.shape[-1]).T)

        first = product(project(0), tables[0], f"{path}.0")
        count = len(tables) - 1
        if not count:
            return log_softmax(first)
        clusters = product(project(0), self.weights.get(
            path + ".clusters.weight", count, tables[0].shape[1]),
            path + ".clusters")
        both = log_softmax(np.concatenate((first, clusters), -1))
        parts = [both[..., :-count]]
        for i in range(1, count + 1):
            own = log_softmax(product(project(i), tables[i], f"{path}.{i}"))
            parts.append(both[..., i - 1 - count, None] + own)
        return np.concatenate(parts, -1)

    def run_head(self, name, results, sequences):
        """The rows of a head; whether there is one a sequence."""
        head = self.spec["heads"][name]
        origin = head["from"]
        if origin not in results:
            x, is_one, stack = results[origin + ".hidden"]
        else:
            x, is_one, stack = results[origin]
        for step in head["steps"]:
            is_one = is_one or step["op"] in ("take", "pool",
                                              "activation_unit")
            x = self.step(name, step, x, sequences[stack])
        return x, is_one, stack

    def outputs(self, sequences):
        """By name (rows, whether it is one row, their stack); `sequences` are
        those of the stacks."""
        results = {}
        source = None
        for name in ("encoder", "decoder"):
            if name in self.spec:
                x = self.run_stack(name, sequences[name], source)
                source = (x, sequences[name].visible)
                results[name + ".hidden"] = (x, False, name)
        heads = self.spec.get("heads", {})
        waiting = list(heads)
        while waiting:
            name = next(name for name in waiting
                        if heads[name]["from"] not in waiting)
            waiting.remove(name)
            results[name] = self.run_head(name, results, sequences)
        named = self.spec.get("outputs")
        if named is None:
            named = {"last_hidden_state": "decoder.hidden" if "decoder" in
                     self.spec else "encoder.hidden"}
            if self.spec["kind"] == "encoder_decoder":
                named["encoder_last_hidden_state"] = "encoder.hidden"
        return {key: find_result(results, text) for key, text in named.items()}


def find_result(results, text):
    if text in results:
        return results[text]
    head, part = text.split(".")
    parts, is_one, stack = results[head]
    return parts[part], is_one, stack
