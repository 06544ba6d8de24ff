# Every key of a spec says something: another value of it gives another model,
# or is refused. The keys are those of `tfc spec --schema`, so that a new one is
# tried by itself; what a key means is not asked here, only that it is not
# passed over.
#   spec_keys.py    runs the tfc of the PATH in the working directory
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import copy
import json
import re
import subprocess
import sys
import threading

UNSUPPORTED = "not supported by this tfc"
NORM = {"kind": "layernorm", "eps": 1e-5}
BLOCK = {
    "placement": "pre", "norm": NORM,
    "attn": {"num_heads": 4, "head_dim": 4, "bias": {"q": True}},
    "ffn": {"width": 10, "act": "relu", "bias": True}}

ENCODER = {
    "tfc": 1, "kind": "encoder",
    "dims": {"hidden": 16, "vocab": 11, "max_positions": 24},
    "encoder": {
        "embeddings": {"token": {"rows": 12, "dim": 6}, "norm": NORM,
                       "projection": {"at": "after_norm", "bias": True},
                       "position": {"kind": "sinusoid", "layout": "concat",
                                    "denominator": "dim"},
                       "segments": [{"name": "type", "rows": 2,
                                     "input": "token_type_ids"}]},
        "layers": {"repeat": 3, "block": BLOCK}, "final_norm": NORM},
    "heads": {"cls": {"from": "encoder", "steps": [
        {"op": "take", "at": "first"},
        {"op": "dense", "name": "dense", "out": 6},
        {"op": "act", "kind": "tanh"},
        {"op": "norm", "name": "norm", **NORM},
        {"op": "logits", "name": "proj", "out": 3}]}},
    "outputs": {"last_hidden_state": "encoder.hidden", "logits": "cls"},
    "tokens": {"pad": 0}}

DECODER = {
    "tfc": 1, "kind": "decoder",
    "dims": {"hidden": 16, "vocab": 11, "max_positions": 24},
    "decoder": {
        "embeddings": {"token": {"dim": 6}, "norm": NORM,
                       "projection": {"at": "after_norm", "bias": True}},
        "layers": {"repeat": 3, "block": dict(
            BLOCK, attn={
                "num_heads": 4, "num_kv_heads": 2, "causal": True,
                "rotary": {"style": "half", "dim": 4, "theta": 10000},
                "window": {"left": 5, "right": 0},
                "qk_norm": {"kind": "rmsnorm", "eps": 1e-6},
                "v_norm": {"kind": "rmsnorm", "eps": 1e-6}})},
        "final_norm": NORM},
    "heads": {"lm": {"from": "decoder", "steps": [
        {"op": "logits", "name": "proj", "out": 11}]}},
    "outputs": {"logits": "lm"},
    "tokens": {"pad": 0, "bos": 1, "eos": 2},
    "generation": {"head": "lm"}}

# Layers that read what is theirs of the tokens, and one the keys of another.
LAYERED = {
    "tfc": 1, "kind": "decoder", "dims": {"hidden": 16, "vocab": 11},
    "decoder": {
        "embeddings": {"token": {}},
        "layer_inputs": {"width": 3, "rows": 9, "beyond": 0, "norm": NORM},
        "streams": {"kind": "altup", "count": 3, "norm": NORM, "floor": 1e-5},
        "layers": [
            {"repeat": 2, "block": {
                "attn": {"num_heads": 4, "causal": True},
                "low_rank": {"rank": 2},
                "ffn": {"width": 10, "act": "gelu", "gated": True},
                "layer_input": {"act": "gelu"}}},
            {"repeat": 1, "block": {
                "attn": {"num_heads": 4, "causal": True, "shared_kv": True}}}]},
    "outputs": {"last_hidden_state": "decoder.hidden"}}

BOTH = {
    "tfc": 1, "kind": "encoder_decoder",
    "dims": {"hidden": 16, "vocab": 11, "max_positions": 24},
    "shared": {"token": {"rows": 11}},
    "encoder": {
        "embeddings": {"token": {"use": "shared.token"}},
        "position_bias": {"kind": "bucket", "buckets": 8, "max_distance": 20,
                          "bidirectional": True},
        "layers": {"repeat": 2, "block": BLOCK}, "final_norm": NORM},
    "decoder": {
        "embeddings": {"token": {"use": "shared.token"}, "norm": NORM,
                       "position": {"kind": "learned", "rows": 30}},
        "layers": {"repeat": 3, "share": {"groups": 1}, "block": {
            "sublayers": [
                {"attn": {"num_heads": 4, "causal": True, "pre_norm": NORM}},
                {"cross": {"num_heads": 4, "pre_norm": NORM}},
                {"ffn": {"width": 10, "act": "relu", "pre_norm": NORM}}]}},
        "final_norm": NORM},
    "heads": {"lm": {"from": "decoder", "steps": [
        {"op": "logits", "name": "proj", "tied": "shared.token"}]}},
    "outputs": {"logits": "lm", "encoder_last_hidden_state": "encoder.hidden"},
    "tokens": {"pad": 0, "bos": 1, "eos": 2, "decoder_start": 0},
    "generation": {"head": "lm"}}

# Keys that say nothing about some model, and why.
SILENT = {
    "meta": "notes for people",
    "defs": "nobody names the definition",
    "extends": "another spec, whose keys are these",
    "attn.use_position_bias": "there is no bias to be added",
    "dims.vocab": "every table and head says its own rows",
    "tokens.unk": "kept for tokenizers, as the three below",
    "tokens.cls": "", "tokens.sep": "", "tokens.mask": "",
    "precision.rules": "matrices that are no integers are what they are",
    "precision.group": "matrices that are not of four bits have no groups",
    "precision.zeros": "the same",
    "precision.scales": "the same",
    "precision.cache": "an encoder's keys and values are scratch",
    "generation.max_new_tokens": "kept in the canonical form alone",
}


def resolve(schema, root):
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].split("/")[-1]]
    return schema


def alternatives(schema, root):
    """The alternatives of a schema, references resolved."""
    schema = resolve(schema, root)
    if "oneOf" not in schema:
        return [schema]
    return [each for option in schema["oneOf"]
            for each in alternatives(option, root)]


def values_of(schema, root):
    """Values to try: of a number two that are no default, of words and flags
    all, of an object what it must have."""
    found = []
    for option in alternatives(schema, root):
        if not option:
            found.append({})
        elif "enum" in option:
            found += option["enum"]
        elif option.get("type") == "boolean":
            found += [False, True]
        elif option.get("type") == "number":
            found += [0.001, 1.75]
        elif option.get("type") == "integer":
            found += [max(option.get("minimum", 2), n) for n in (2, 8)]
        elif option.get("type") == "string":
            found += ["some.name", "other.name"]
        elif option.get("type") == "array":
            items = values_of(option.get("items", {}), root)
            count = max(option.get("minItems", 1), 1)
            found += [[items[0]] * count] if items else []
        elif option.get("type") == "object":
            properties = option.get("properties", {})
            found.append({key: values_of(properties[key], root)[0]
                          for key in option.get("required", [])})
    return found


def fits(value, option):
    """Whether an object is of this alternative, by its words."""
    return isinstance(value, dict) and "properties" in option and all(
        key in option["properties"] and
        ("enum" not in option["properties"][key] or
         value[key] in option["properties"][key]["enum"]) for key in value)


def replaced(spec, path, value):
    spec = copy.deepcopy(spec)
    place = spec
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return spec


def model_of(spec):
    """The stage `model` of a spec, less its text; None where tfc refuses it with a reason."""
    name = f"{threading.get_ident()}.json"
    with open(name, "w", encoding="utf-8") as stream:
        json.dump(spec, stream)
    run = subprocess.run(
        ["tfc", "compile", name, "--stop-after=model", "-o", "-"],
        capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise SystemExit(f"exit status {run.returncode} of {json.dumps(spec)}: "
                         f"{run.stderr}")
    # The text of the spec is in its module, too, where it computes nothing.
    return re.sub(r'spec = "(?:[^"\\]|\\.)*"', "", run.stdout) \
        if run.returncode == 0 else None


class Trial:
    """What came of the values that were tried of one key."""

    def __init__(self):
        self.same, self.others, self.refused = [], 0, 0


class Walk:
    def __init__(self, root):
        self.root = root
        self.trials = {}
        self.pool = concurrent.futures.ThreadPoolExecutor(2)

    def try_values(self, spec, path, schema, model):
        """Each value in the place of what is there, or beside it; objects that
        are taken are looked into."""
        values = [value for value in values_of(schema, self.root)
                  if value != find(spec, path)]
        specs = [replaced(spec, path, value) for value in values]
        same = []
        name = name_of(path)
        trial = self.trials.setdefault(name, Trial())
        if trial.others:
            return  # it said something of a model before
        for value, other, got in zip(values, specs,
                                     self.pool.map(model_of, specs)):
            if got is None:
                trial.refused += 1
            elif got == model:
                same.append(value)
            else:
                trial.others += 1
            if got is not None and isinstance(value, dict):
                self.look_into(other, path, schema, got)
        # A default may be said, by a word or by an object without keys.
        if len([value for value in same if value != {}]) > 1:
            trial.same.append(same)

    def faults(self):
        """The keys that say nothing wherever they were tried."""
        return [f"{name}: expected another model or a reason, got the same for "
                f"{json.dumps(trial.same[0])}"
                for name, trial in self.trials.items()
                if trial.same and not trial.others and
                not matches(name, SILENT)]

    def look_into(self, spec, path, schema, model):
        value = find(spec, path)
        if isinstance(value, list):
            items = resolve(schema, self.root).get("items", {})
            for option in alternatives(schema, self.root):
                items = option.get("items", items)
            for index in range(len(value)):
                self.look_into(spec, path + (index,), items, model)
            return
        for option in alternatives(schema, self.root):
            if fits(value, option):
                for key, inner in option["properties"].items():
                    if inner.get("description") == UNSUPPORTED:
                        continue
                    self.try_values(spec, path + (key,), inner, model)
                    if isinstance(value.get(key), (dict, list)):
                        self.look_into(spec, path + (key,), inner, model)
                return


def name_of(path):
    """Keys alone: all items of a list are of a kind."""
    return ".".join(key for key in path if not isinstance(key, int))


def matches(name, table):
    return any(name == key or name.endswith("." + key) for key in table)


def find(spec, path):
    for key in path:
        if isinstance(spec, dict) and key not in spec:
            return None
        spec = spec[key]
    return spec


def main():
    root = json.loads(subprocess.run(["tfc", "spec", "--schema"], check=True,
                                     capture_output=True, text=True).stdout)
    walk = Walk(root)
    for spec in (ENCODER, DECODER, LAYERED, BOTH):
        model = model_of(spec)
        if model is None:
            raise SystemExit(f"expected a good spec, got {json.dumps(spec)}")
        walk.look_into(spec, (), root, model)
    faults = walk.faults()
    for fault in faults[:20]:
        print(f"error: {fault}")
    said = sum(trial.others > 0 for trial in walk.trials.values())
    print(f"{said} keys say something, {len(walk.trials) - said} are refused "
          f"or neutral, {len(faults)} are passed over")
    return 1 if faults or said < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
