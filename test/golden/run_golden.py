#!/usr/bin/env python3
# Compiles the golden models with tfc and compares what tfc-run computes with
# what Hugging Face computed; checks the laws as well. Needs no packages.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import filecmp
import json
import os
import shutil
import sys
import tempfile

import distances
import laws
import stored
import tensors
from compare import check_equal, check_floats, check_names, check_noise
from tool import Failure, Tool, decoding_options

ROOT = os.path.dirname(os.path.abspath(__file__))
SPECS = os.path.join(ROOT, "..", "..", "examples", "specs")
NEW_TOKENS = 40
# Where the positions of a token come from; in other models the caller may say.
POSITIONS = {"t5": laws.RELATIVE, "mt5": laws.RELATIVE, "opt": laws.RELATIVE,
             "bloom": laws.UNSAID, "mpt": laws.UNSAID,
             "mamba2": laws.UNSAID, "nemotron_h": laws.UNSAID,
             "mamba": laws.UNSAID, "falcon_mamba": laws.UNSAID,
             "jamba": laws.UNSAID, "kimi_linear": laws.UNSAID,
             "switch_transformers": laws.RELATIVE,
             "m2m_100": laws.RELATIVE, "umt5": laws.RELATIVE,
             "longt5": laws.RELATIVE, "fsmt": laws.RELATIVE,
             "mass": laws.RELATIVE, "transformer-xl": laws.UNSAID,
             "gtrxl": laws.UNSAID, "xlnet": laws.UNSAID,
             "din": laws.UNSAID, "transfo-xl": laws.UNSAID,
             **dict.fromkeys(("bart", "mbart", "plbart", "blenderbot",
                              "blenderbot-small", "pegasus", "bigbird_pegasus",
                              "marian", "mvp", "led", "t5gemma", "transformer",
                              "annotated-transformer"), laws.COLUMNS)}
AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "data2vec-text",
                 "mpnet", "roberta-prelayernorm", "xlm-roberta-xl", "esm",
                 "longformer")
# Encoders with biases or windows of distances, or with blocks.
COUNTING = ("mpnet", "modernbert", "deberta", "deberta-v2", "nezha",
            "big_bird", "xlnet", "reformer", "clip_text_model", "longformer",
            "gemma3_text", "metaclip_2_text_model")
# What makes a token depend on those before it, or on their number.
RULES = {"no_repeat_ngram_size", "repetition_penalty", "min_length",
         "min_new_tokens", "timestamp_begin"}


# Decibels between an output and its rounding noise, by what keys and values are
# kept in.
LEAST_SNR = {"f16": 55.0, "bf16": 38.0, "int8": 30.0}


def switched_on():
    """The families and abilities that tfc has by now."""
    with open(os.path.join(ROOT, "families.txt")) as stream:
        return stream.read().split()


class Model:
    """One entry of cases.json, built in a scratch folder."""

    def __init__(self, entry, entries, tool, dtype=None, noise=None,
                 contract=None, deterministic=False):
        """Its weights are those of the files, or narrowed to `dtype`; with
        `noise`, decibels, or a Contract outputs are compared by it, and tokens
        with nobody's: something is rounded to 16 bits on the way.
        `deterministic`: tokens have the bits that they have in a crowd, too."""
        self.entry = entry
        self.noise = noise
        self.contract = contract
        self.deterministic = deterministic
        self.tool = tool
        self.weights = tool.path("weights")
        self.assemble(entries, self.weights)
        if dtype:
            stored.narrow(self.weights, dtype)
        self.spec, self.library = tool.build(self.weights, "model")
        config = self.read_json("config.json")
        with open(self.spec) as stream:
            kind = json.load(stream)["kind"]
        self.pair = config.get("is_encoder_decoder",
                               kind == "encoder_decoder")
        self.is_causal = kind == "decoder"
        family = config.get("model_type", entry.get("spec"))
        self.positions = POSITIONS.get(family, laws.GIVEN)
        if not config.get("position_biased_input", True) or family == "nezha":
            self.positions = laws.UNSAID
        if (family in AFTER_PADDING and
                config.get("position_embedding_type") != "rotary"):
            self.positions = laws.after_padding(config["pad_token_id"])
        kind = config.get("position_embedding_type", "")
        if ((kind or "").startswith("relative") or config.get("alibi") or
                kind is None or
                config.get("rope_parameters", {}).get("rope_theta", 1) is None):
            self.positions = laws.UNSAID
        # Of an encoder that knows of places what the caller says of them.
        self.has_places = (not self.pair and family not in COUNTING and (self.positions == laws.GIVEN or
                                         callable(self.positions)))

    def source(self, name):
        return os.path.join(ROOT, "models", self.entry["name"], name)

    def assemble(self, entries, folder):
        """The model's folder: its base's files, then its own."""
        os.mkdir(folder)
        entry, chain = self.entry, []
        while entry:
            chain.insert(0, entry["name"])
            entry = entries.get(entry.get("base"))
        for name in chain:
            origin = os.path.join(ROOT, "models", name)
            shutil.copytree(
                origin, folder, dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("inputs-*", "expected-*"))
        if "spec" in self.entry:
            shutil.copy(os.path.join(SPECS, self.entry["spec"] + ".json"),
                        folder)

    def case(self, name):
        return (tensors.read(self.source(f"inputs-{name}.safetensors")),
                tensors.read(self.source(f"expected-{name}.safetensors")))

    def read_json(self, name):
        """A file of the model; nothing where there is none."""
        path = os.path.join(self.weights, name)
        if not os.path.exists(path):
            return {}
        with open(path) as stream:
            return json.load(stream)

    def run(self, inputs, *options):
        return self.tool.run(self.library, self.weights, inputs,
                             *(options or ("--threads", "1")))

    def check_forward(self, name):
        inputs, expected = self.case(name)
        result = self.run(inputs)
        faults = check_names(expected, result)
        if faults:
            return faults
        if self.contract:
            faults += self.contract.add(name, expected, result)
        else:
            for key in expected:
                faults += self.check_values(key, expected[key], result[key])
        # Kernels for many tokens add in another order.
        few = (laws.FEW if self.contract and not self.deterministic else None)
        held = [laws.check_threads, laws.check_integers]
        if self.deterministic:
            held.append(laws.check_crowd)
        if "patches" in inputs:
            held.append(lambda *each: laws.check_pictures_alone(*each, few))
        elif self.is_causal:
            held.append(laws.check_prefix)
        elif self.has_places:
            compare = (self.contract.compare if self.contract
                       else check_floats)
            held.append(lambda *each: laws.check_permuted(*each, compare))
        if "targets" in inputs:
            held.append(laws.check_targets)
        for law in held:
            faults += law(self.run, inputs, result)
        if "patches" in inputs:
            return faults
        return faults + laws.check_alone(self.run, inputs, result,
                                         self.positions, few)

    def check_values(self, key, expected, got):
        if self.noise is None:
            return check_floats(key, expected, got)
        return check_noise(key, expected, got, self.noise)

    def check_refused(self, name, word):
        """tfc-run says no, and its message has the word."""
        inputs = tensors.read(self.source(f"inputs-{name}.safetensors"))
        try:
            if name.startswith("generate"):
                self.tool.generate(self.library, self.weights, inputs,
                                   NEW_TOKENS)
            else:
                self.run(inputs)
        except Failure as failure:
            text = str(failure)
            if "exit code 1\n" in text and word in text.split("error:")[-1]:
                return []
            return [f"expected exit code 1 and a message with {word}, got "
                    f"{text}"]
        return [f"expected a message with {word}, got outputs"]

    def ends(self, eos):
        """The ids that end a row: the option, else the model's files."""
        if eos is not None:
            return [] if eos == "none" else [int(eos)]
        value = self.read_json("generation_config.json").get("eos_token_id")
        if value is None:
            return []
        return value if isinstance(value, list) else [value]

    def check_generate(self, step):
        inputs, expected = self.case(step["name"])
        eos, new_tokens = step.get("eos"), step.get("new_tokens", NEW_TOKENS)
        given = step.get("options", {})
        decoding = {**self.read_json("generation_config.json"), **given}

        def generate(given_inputs, *options):
            return self.tool.generate(
                self.library, self.weights, given_inputs, new_tokens, eos,
                *decoding_options(given), *options)

        result = generate(inputs)
        faults = check_names(expected, result)
        if faults:
            return faults
        sequences = result["sequences"]
        if self.noise is None and self.contract is None:
            if "sequences_scores" in expected:
                faults += check_floats("sequences_scores",
                                       expected["sequences_scores"],
                                       result["sequences_scores"])
            faults += check_equal("sequences", expected["sequences"],
                                  sequences)
            faults += laws.check_drafts(generate, inputs, result)
        faults += laws.check_threads(generate, inputs, result)
        faults += laws.check_integers(generate, inputs, result)
        # The law knows only the simplest rule.
        if (not RULES & set(given) - {"min_length"} and
                step.get("needs") != "beams"):
            faults += laws.check_decoding(self.run, inputs, sequences,
                                          new_tokens, self.ends(eos), decoding,
                                          self.pair, self.positions,
                                          self.contract and self.contract.noise)
        # Rules count what is masked before a decoder's prompt.
        if self.pair or not RULES & set(given):
            faults += laws.check_generated_alone(
                generate, inputs, sequences,
                decoding.get("num_return_sequences") or 1, self.pair)
        return faults

    def check_bytes(self):
        """Neither a second time nor another folder changes the library."""
        again = self.tool.path("again.so")
        self.tool.compile(self.spec, again)
        other = self.tool.path("another-name")
        shutil.copytree(self.weights, other)
        spec, library = self.tool.build(other, "elsewhere")
        return [f"{what}: the bytes differ" for what, one, two in (
            ("compiled twice", self.library, again),
            ("imported from another folder", self.spec, spec),
            ("compiled from another folder", self.library, library))
                if not filecmp.cmp(one, two, shallow=False)]


def check_model(entry, entries, tool, noise=None, contract=None,
                deterministic=False):
    """Runs all of a model; returns its faults, each with the case's name."""
    model = Model(entry, entries, tool, noise=noise, contract=contract,
                  deterministic=deterministic)
    jobs = [("bytes", model.check_bytes)]
    for name in entry["forward"]:
        jobs.append((name, lambda name=name: model.check_forward(name)))
    if contract:
        jobs.append(("all cases", contract.check))
    refused = entry.get("refused", {}) if "refusals" in switched_on() else {}
    for name, word in refused.items():
        jobs.append((name, lambda name=name, word=word:
                     model.check_refused(name, word)))
    for step in entry["generate"]:
        if "needs" not in step or step["needs"] in switched_on():
            jobs.append((step["name"],
                         lambda step=step: model.check_generate(step)))
    faults = []
    for name, job in jobs:
        try:
            found = job()
        except Failure as failure:
            found = [str(failure)]
        faults += [f"{entry['name']}/{name}: {fault}" for fault in found]
    return faults


def main():
    parser = argparse.ArgumentParser(
        description="compares tfc with Hugging Face")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--opt", default="full", help="tfc compile's --opt")
    parser.add_argument("--target", help="tfc compile's --target")
    parser.add_argument("--emulate", action="store_true",
                        help="tfc compile's --emulate")
    parser.add_argument("--program", help="tfc-run's --program")
    parser.add_argument("--stored", choices=sorted(stored.NARROW),
                        help="only the law of storage, of weights stored so")
    parser.add_argument("--cache", choices=sorted(LEAST_SNR),
                        help="tfc compile's --cache: outputs by their noise, "
                        "and all laws")
    parser.add_argument("--dtype", choices=sorted(distances.LEAST),
                        help="tfc compile's --dtype, for a program that keeps "
                        "values between ops so: outputs by distances.json, and "
                        "all laws")
    parser.add_argument("--deterministic", action="store_true",
                        help="tfc compile's --deterministic, and its law")
    parser.add_argument("models", nargs="*",
                        help="names from cases.json; all that are switched "
                        "on without one")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "cases.json")) as stream:
        entries = {entry["name"]: entry
                   for entry in json.load(stream)["models"]}
    unknown = [name for name in options.models if name not in entries]
    if unknown:
        parser.error(f"no such model: {', '.join(unknown)}")

    failed = 0
    ready = [name for name in entries
             if name.split("-")[0] in switched_on()]
    for name in options.models or ready:
        with tempfile.TemporaryDirectory(prefix="tfc-golden-") as scratch:
            tool = Tool(options.tfc, options.tfc_run, scratch,
                        [f"--opt={options.opt}"] +
                        ([f"--target={options.target}"]
                         if options.target else []) +
                        (["--emulate"] if options.emulate else []) +
                        ([f"--cache={options.cache}"]
                         if options.cache else []) +
                        ([f"--dtype={options.dtype}"]
                         if options.dtype else []) +
                        (["--deterministic"] if options.deterministic
                         else []),
                        ["--program", options.program]
                        if options.program else [])
            try:
                if options.stored:
                    model = Model(entries[name], entries, tool, options.stored)
                    faults = stored.check_stored(model, options.stored)
                else:
                    faults = check_model(
                        entries[name], entries, tool,
                        LEAST_SNR.get(options.cache),
                        distances.find_contract(name, options.dtype),
                        options.deterministic)
            except Failure as failure:
                faults = [f"{name}: {failure}"]
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f"{'FAILED' if faults else 'ok'}: {name}", flush=True)
        failed += bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
