# The command lines of tfc and tfc-run, as the tests call them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess

import tensors


# tfc-run's options for those of Hugging Face's generate.
DECODING = {
    "num_beams": "--beams",
    "length_penalty": "--length-penalty",
    "early_stopping": "--early-stopping",
    "no_repeat_ngram_size": "--no-repeat-ngram",
    "num_return_sequences": "--return-sequences",
    "min_length": "--min-length",
    "min_new_tokens": "--min-new-tokens",
    "repetition_penalty": "--repetition-penalty",
    "do_sample": "--sample",
    "timestamp_begin": "--timestamp-begin",
    "max_initial_timestamp_index": "--max-initial-timestamp",
}


def decoding_options(options):
    """The command line of options as in cases.json."""
    words = []
    for name, value in options.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += [DECODING[name], text]
    return words


class Failure(Exception):
    """A command that did not exit with 0."""


class Tool:
    """Files go into the folder `scratch`, which must exist. The options are
    given to every tfc compile and to every tfc-run."""

    def __init__(self, tfc, tfc_run, scratch, compile_options=(),
                 run_options=()):
        self.tfc = os.path.abspath(tfc)
        self.tfc_run = os.path.abspath(tfc_run)
        self.scratch = scratch
        self.compile_options = compile_options
        self.run_options = run_options
        self.count = 0

    def path(self, name):
        return os.path.join(self.scratch, name)

    def call(self, *command):
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  errors="replace", timeout=600)
        except subprocess.TimeoutExpired:
            raise Failure(" ".join(command) + "\nno end after 600 s")
        if done.returncode != 0:
            raise Failure(f"{' '.join(command)}\nexit code {done.returncode}"
                          f"\n{done.stdout}{done.stderr}")
        return done

    def import_model(self, weights, spec):
        return self.call(self.tfc, "import", weights, "-o", spec)

    def compile(self, spec, library, *options):
        return self.call(self.tfc, "compile", spec, "-o", library,
                         *self.compile_options, *options)

    def build(self, weights, name):
        """Import and compile; returns the paths of spec and library. A folder
        with a spec.json has been imported."""
        spec, library = self.path(name + ".json"), self.path(name + ".so")
        own = os.path.join(weights, "spec.json")
        if os.path.exists(own):
            with open(spec, "w") as stream:
                stream.write(self.call(self.tfc, "spec", "--canonical",
                                       own).stdout)
        else:
            self.import_model(weights, spec)
        self.compile(spec, library)
        return spec, library

    def answer(self, weights, *options):
        """tfc run on a folder, with the scratch folder for its libraries."""
        return self.call("env", "XDG_CACHE_HOME=" + self.scratch, self.tfc,
                         "run", *self.compile_options, weights, "--", *options)

    def run(self, library, weights, inputs, *options):
        """tfc-run with these inputs; returns the tensors of its output."""
        self.count += 1
        source = self.path(f"in-{self.count}.safetensors")
        result = self.path(f"out-{self.count}.safetensors")
        tensors.write(source, inputs)
        self.call(self.tfc_run, library, "--weights", weights, "--inputs",
                  source, "--outputs", result, *self.run_options, *options)
        out = tensors.read(result)
        os.remove(source)
        os.remove(result)
        return out

    def generate(self, library, weights, inputs, new_tokens, eos=None,
                 *options):
        """`options` are tfc-run's own."""
        choice = ["--eos", str(eos)] if eos is not None else []
        return self.run(library, weights, inputs, "--generate",
                        "--max-new-tokens", str(new_tokens), *choice,
                        *options)
