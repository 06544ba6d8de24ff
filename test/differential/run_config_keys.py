#!/usr/bin/env python3
# Every key of config.json that transformers reads, in a family's file, in the
# helpers that it imports or while a model runs, is one that `tfc import`
# reads, ignores or refuses for this family.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import ast
import os
import random
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "..", "golden"))
# What ctest takes for "skipped".
SKIPPED = 77

try:
    import torch
    import transformers as hf
except ImportError as error:
    print(f"skipped: {error} (keys are compared with those that transformers "
          "reads)")
    sys.exit(SKIPPED)

import classes
import families
import folders
import reference
from transformers.configuration_utils import PreTrainedConfig

# Read by transformers in what models share, and left to the importer's warning
# about keys that it does not know: why they need no decision of their own. One
# that a family's own file reads needs one.
WARNED = {
    "code beside the model, which nobody runs unasked": ("auto_map",),
    "of models with images": (
        "vision_aspect_ratio", "vision_feature_layer",
        "vision_feature_select_strategy"),
    "of layers that these model types do not have": (
        "mlp_layer_types", "number_of_conv_states", "rope_parameters",
        "rms_norm_eps", "embedding_size",
        "first_k_dense_replace"),
    "of heads that draft tokens": (
        "chain_hidden_post_norm", "logits_mup_width_multiplier",
        "mtp_hidden_states_first", "mtp_layer_types", "mtp_mlp_layer_types",
        "mtp_per_layer_config", "num_mtp_layers", "unpadded_vocab_size"),
    "of classes that tfc does not import": ("token_classification_bias",),
    "of training": ("classifier_dropout", "hidden_dropout", "init_std",
                    "layerdrop", "summary_last_dropout"),
    "of generation, which says itself what it does not have": (
        "assistant_confidence_threshold", "assistant_lookbehind",
        "encoder_repetition_penalty", "epsilon_cutoff", "eta_cutoff",
        "num_assistant_tokens", "num_assistant_tokens_schedule",
        "target_lookbehind"),
    "what is returned, or how it is computed": (
        "fusion_config", "gguf_file", "output_cross_attentions",
        "tie_last_hidden_states"),
    "names that a class may have, in checks and plans for any model": (
        "ffn_dim", "head_dim", "hidden_sizes", "max_position_embeddings",
        "num_heads",
        "start_token_id"),
}
# A key of nobody: the importer's warning must name it, or it names nothing.
CANARY = "key_that_nobody_reads"


def is_config(node):
    """config, self.config, layer_config: what a key is read from."""
    name = getattr(node, "id", getattr(node, "attr", ""))
    return name in ("config", "layer_config", "text_config", "decoder_config")


def keys_in(path):
    """X of each config.X that is no call, and of getattr(config, "X")."""
    with open(path) as stream:
        tree = ast.parse(stream.read())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {id(call.func) for call in calls}
    keys = {node.attr for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and is_config(node.value) and
            isinstance(node.ctx, ast.Load) and id(node) not in called}
    return keys | {call.args[1].value for call in calls
                   if getattr(call.func, "id", "") in ("getattr", "hasattr")
                   and is_config(call.args[0])
                   and isinstance(call.args[1], ast.Constant)}


def helpers_of(path):
    """The files of transformers that a model's file imports. modeling_utils is
    left out: it loads models of every kind, and what it reads of this one shows
    when one is loaded."""
    with open(path) as stream:
        tree = ast.parse(stream.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level > 1:
            parts = [".."] * (node.level - 1) + (node.module or "").split(".")
            file = os.path.normpath(
                os.path.join(os.path.dirname(path), *parts)) + ".py"
            if os.path.isfile(file) and node.module != "modeling_utils":
                yield file


def file_of(cls):
    return sys.modules[cls.__module__].__file__


def keys_of_helpers(cls):
    return set().union(*map(keys_in, helpers_of(file_of(cls))))


# Classes that lengthen the ids of a prompt, and nothing beside them.
OF_IDS_ALONE = ("XLNetLMHeadModel",)


class Reads:
    """Notes the names of a config's attributes while it is entered."""

    def __init__(self):
        self.names = set()

    def __enter__(self):
        self.read = PreTrainedConfig.__getattribute__

        def note(config, name):
            self.names.add(name)
            return self.read(config, name)

        PreTrainedConfig.__getattribute__ = note
        return self

    def __exit__(self, *_):
        PreTrainedConfig.__getattribute__ = self.read


def keys_of_run(cls, inputs, folder):
    """What is read of a config when a model is loaded, runs and generates."""
    with Reads() as reads, torch.no_grad():
        model = reference.load(cls, folder)
        reference.run(model, inputs)
        if model.can_generate():
            prompt = {name: value for name, value in inputs.items()
                      if not name.startswith("decoder_")}
            if cls.__name__ in OF_IDS_ALONE:
                prompt = {"input_ids": prompt["input_ids"]}
            if "patches" in prompt:
                prompt = {"input_features": reference.to_features(
                    prompt["patches"])}
            # Of a pair the cache has the layers of the encoder, also for a
            # decoder that has more.
            model.generate(**prompt, max_new_tokens=2, do_sample=False,
                           use_cache=len(prompt) == len(inputs))
    # Its own state begins with an underscore.
    return {name for name in reads.names if name[0] != "_"}


def check_class(tfc, name, source):
    """The keys that transformers reads and the importer does not know."""
    module = families.MODULES[families.family_of(name)]
    case = module.draw_case(source, name)
    # Room for the tokens that keys_of_run generates.
    config = module.make_config(hf, dict(case, positions=case.get(
        "positions", 0) + 3))
    cls = families.class_of(hf, name)
    inputs = {key: value if value.is_floating_point() else value.long()
              for key, value in module.make_inputs(torch, case).items()}
    with tempfile.TemporaryDirectory(prefix="tfc-") as folder:
        cls(config).save_pretrained(folder)
        own = keys_in(file_of(cls))
        keys = own | keys_of_helpers(cls) | keys_of_run(cls, inputs, folder)
        whole = {**config.to_dict(), "architectures": [name]}
        # Methods, and what the class has without a key.
        keys = {key for key in keys
                if key in whole or not hasattr(type(config), key)}
        keys |= set(whole)
        config.dtype = None  # of what was saved it is a word
        stacks = [stack for stack in ("encoder", "decoder")
                  if isinstance(whole.get(stack), dict)]
        # What its layers read is the stack's own, and need not be the whole's.
        for stack in stacks:
            whole[stack] = {**dict.fromkeys(keys), **whole[stack]}
        folders.write(folder, {**dict.fromkeys(keys | {CANARY}), **whole},
                      folders.shapes_of(cls, config))
        messages = folders.run_import(tfc, folder)[2]
    unread = folders.unread(messages)
    if stacks:
        unread &= {key.split(".")[-1] for key in unread if "." in key} | {
            CANARY}
    if CANARY not in unread:
        return [f"{name}: expected a warning about {CANARY}, got:\n{messages}"]
    print(f"{name}: {len(keys)} keys", flush=True)
    excused = set().union(*WARNED.values()) - own
    return [f"{name}: expected that tfc import reads, ignores or refuses "
            f"{key} (transformers reads it), got a key that it does not know"
            for key in sorted((unread & keys) - excused)]


def main():
    parser = argparse.ArgumentParser(
        description="finds config keys that transformers reads and tfc not")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", help="not used")
    options = parser.parse_args()
    source = random.Random(1)
    faults = []
    for family in families.switched_on():
        names = families.CLASSES[family]
        # The keys of all heads are in one file: the one that reads most while
        # it runs, and one of the others.
        first = next(filter(classes.generates, names), names[0])
        for name in {first: 0, source.choice(names): 0}:
            faults += check_class(options.tfc, name, source)
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
