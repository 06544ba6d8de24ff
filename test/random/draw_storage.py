# Ways of storing the weights of a spec: a `map` of its parameters and the
# tensors that it asks for, from those that have tfc's own names.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import re

import numpy as np

from layers import list_layers, list_sublayers

LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.(.+)\.(weight|bias)$")
MATRICES = {"q", "k", "v", "o", "gate", "up", "down"}


class Storage:
    """Draws for parameters `own`; afterwards `map`, `tensors` and the other
    members of the spec's `weights`."""

    def __init__(self, spec, own, seed):
        self.random = random.Random(seed)
        self.spec, self.own = spec, own
        self.map, self.tensors = {}, {}
        self.prefix = self.random.choice([None, ["m."], ["", "m."]])
        self.ignored = []
        self.layers = {}   # of a stack: module -> layer -> {weight, bias}
        self.others = {}   # module -> {weight, bias}
        for name, tensor in own.items():
            match = LAYER.match(name)
            if match:
                stack, layer, module, part = match.groups()
                self.layers.setdefault(stack, {}).setdefault(
                    module, {}).setdefault(int(layer), {})[part] = tensor
            else:
                module, part = name.rsplit(".", 1)
                self.others.setdefault(module, {})[part] = tensor

    def draw(self):
        for stack, modules in self.layers.items():
            self.draw_packs(stack, modules)
            for module, layers in modules.items():
                self.draw_module(f"{stack}.layers", module, layers)
        for module, parts in self.others.items():
            self.draw_module("", module, {None: parts})
        weights = {"map": self.map}
        if self.prefix:
            weights["prefix"] = self.prefix
        if self.random.random() < 0.5:
            self.ignored = ["*.unread", "position_ids"]
            weights["ignore"] = self.ignored
            self.tensors["a.unread"] = np.zeros(3, np.float32)
        if self.random.random() < 0.3:
            weights["aliases"] = [["weight", "gamma"], ["bias", "beta"]]
            self.rename_aliases()
        if self.prefix:
            self.tensors = {name.replace("{p}", "m."): tensor
                            for name, tensor in self.tensors.items()}
        return weights, self.tensors

    def stem(self, key):
        """A new name for a parameter; `{i}` where it is one of layers."""
        place = "{p}" if self.prefix else ""
        return place + "x." + key.replace(".layers.", ".{i}.", 1)

    def put(self, stem, layer, part, tensor):
        name = stem.replace("{i}", str(layer)) + "." + part
        assert name not in self.tensors, name
        self.tensors[name] = np.ascontiguousarray(tensor)

    def rename_aliases(self):
        for name in list(self.tensors):
            if name.endswith("weight") and self.random.random() < 0.3:
                self.tensors[name[:-6] + "gamma"] = self.tensors.pop(name)

    # -- several parameters in one tensor --

    def draw_packs(self, stack, modules):
        for block in {name.rsplit(".", 1)[0] for name in modules
                      if "." in name}:
            for parts, name in ((("q", "k", "v"), "qkv"),
                                (("gate", "up"), "gate_up")):
                names = [f"{block}.{part}" for part in parts]
                if (self.random.random() < 0.5 and
                        all(each in modules for each in names)):
                    self.pack(stack, modules, block, list(parts), name)

    def pack(self, stack, modules, block, parts, name):
        members = [modules[f"{block}.{part}"] for part in parts]
        shapes = [{part: tensor.shape for part, tensor in each.items()}
                  for member in members for each in member.values()]
        layers = set(members[0])
        same = all(set(member) == layers and
                   all({key: value.shape for key, value in each.items()} ==
                       {key: value.shape for key, value in
                        member[min(layers)].items()}
                       for each in member.values()) for member in members)
        if not same or len({tuple(sorted(each)) for each in shapes}) > 1:
            return
        self.random.shuffle(parts)
        members = [modules.pop(f"{block}.{part}") for part in parts]
        rows = [member[min(layers)]["weight"].shape[0] for member in members]
        groups = self.random.choice(
            [number for number in range(1, 9)
             if all(count % number == 0 for count in rows)])
        key = f"{stack}.layers.{block}.{name}"
        source = {"stem": self.stem(key), "pack": parts}
        if groups > 1:
            source["groups"] = groups
        is_in_out = self.random.random() < 0.4
        if is_in_out:
            source["layout"] = "in_out"
        self.map[key] = source
        for layer in layers:
            for part in members[0][layer]:
                tensor = join_groups([member[layer][part]
                                      for member in members], groups)
                self.put(source["stem"], layer, part,
                         tensor.T if is_in_out else tensor)

    # -- one parameter --

    def draw_module(self, place, module, layers):
        key = f"{place}.{module}" if place else module
        stem = self.stem(key)
        first = next(iter(layers.values()))
        is_uniform = all({part: t.shape for part, t in each.items()} ==
                         {part: t.shape for part, t in first.items()}
                         for each in layers.values())
        ways = ["stem", "stem", "tensor"]
        is_matrix = (module.rsplit(".", 1)[-1] in MATRICES or
                     module.startswith("heads.") and
                     first["weight"].ndim == 2 if "weight" in first else False)
        if is_matrix:
            ways += ["in_out", "in_out"]
        if is_uniform and is_matrix and place:
            ways += ["rows"]
        if module.rsplit(".", 1)[-1] in "qkv" and place:
            ways += ["heads"]
        getattr(self, "by_" + self.random.choice(ways))(key, module, stem,
                                                        layers)

    def by_stem(self, key, module, stem, layers):
        self.map[key] = self.random.choice(
            [stem, {"stem": stem}, {"stem": ["absent." + stem, stem]}])
        is_zero = self.random.random() < 0.1
        if is_zero:
            self.map[key] = {"stem": stem, "optional": "zeros"}
        for layer, parts in layers.items():
            for part, tensor in parts.items():
                if is_zero:
                    tensor[...] = 0
                else:
                    self.put(stem, layer, part, tensor)

    def by_in_out(self, key, module, stem, layers):
        self.map[key] = {"stem": stem, "layout": "in_out"}
        for layer, parts in layers.items():
            for part, tensor in parts.items():
                self.put(stem, layer, part, tensor.T)

    def by_tensor(self, key, module, stem, layers):
        for part in {part for parts in layers.values() for part in parts}:
            name = f"{stem}.own.{part}"
            self.map[f"{key}.{part}"] = {
                "tensor": self.random.choice([name, ["absent." + stem, name]])}
        for layer, parts in layers.items():
            for part, tensor in parts.items():
                self.put(stem + ".own", layer, part, tensor)

    def by_rows(self, key, module, stem, layers):
        """Rows of a larger tensor, in groups or all together."""
        first = next(iter(layers.values()))
        rows = len(first["weight"])
        groups = self.random.choice([number for number in (1, 2, 3, 5)
                                     if rows % number == 0])
        before, after = self.random.randint(0, 2), self.random.randint(0, 2)
        for part in first:
            source = {"tensor": f"{stem}.wide.{part}", "first_row": before,
                      "stored_rows": rows + groups * (before + after)}
            if groups > 1:
                source["groups"] = groups
            self.map[f"{key}.{part}"] = source
        for layer, parts in layers.items():
            for part, tensor in parts.items():
                pad = [np.full((groups * count,) + tensor.shape[1:], 7.0,
                               np.float32) for count in (before, after)]
                self.put(stem + ".wide", layer, part,
                         join_groups([pad[0], tensor, pad[1]], groups))

    def by_heads(self, key, module, stem, layers):
        """A tensor a head."""
        stack, _, layer_key = key.split(".", 2)
        sizes = {self.heads_of(stack, module, layer) for layer in layers}
        if len(sizes) > 1:
            return self.by_stem(key, module, stem, layers)
        heads = sizes.pop()
        self.map[key] = stem + ".{h}"
        for layer, parts in layers.items():
            for part, tensor in parts.items():
                for head, rows in enumerate(np.split(tensor, heads)):
                    self.put(f"{stem}.{head}", layer, part, rows)

    def heads_of(self, stack, module, layer):
        """How many heads the rows of `attn.q` and the like are."""
        name, part = module.split(".")
        for block, number in list_layers(
                self.spec[stack]["layers"]):
            if number == layer:
                for own, sublayer, _ in list_sublayers(block):
                    if own == name:
                        heads = sublayer["num_heads"]
                        return (heads if part == "q" else
                                sublayer.get("num_kv_heads", heads))
        raise AssertionError(module)


def join_groups(parts, groups):
    """Each group has its share of the rows of every part."""
    shares = [np.split(part, groups) for part in parts]
    return np.concatenate([share[i] for i in range(groups)
                           for share in shares])
