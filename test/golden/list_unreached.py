#!/usr/bin/env python3
# Lists kernels that golden models have and never launch: what no case of them
# tests on a device. By hand, on the stand-in for CUDA's driver; needs no packages.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: list_unreached.py TFC TFC_RUN LIBTFC_FAKECUDA OPTIONS MODEL...

OPTIONS are tfc compile's, as "--opt=full --dtype=bf16". Kernels of products are
for all models together: product_<rows>x<columns>_<element>, whatever is done to
the sums. Others are a model's own; of several for one op the number says which.
Exits with 1 where something is not reached.
"""
import json
import os
import re
import sys
import tempfile

from run_golden import NEW_TOKENS, ROOT, Model
from tool import Tool

ENTRY = re.compile(rb"\.visible \.entry (\w+)")
PRODUCT = re.compile(r"(product_\d+x\d+_[a-z0-9]+)_\d+$")


def forms_of(kernels, model):
    """{kernel: its form}."""
    forms, counts = {}, {}
    for kernel in kernels:
        product = PRODUCT.match(kernel)
        if product:
            forms[kernel] = product.group(1)
            continue
        op = re.sub(r"^([a-z]+)_\d+", r"\1", kernel)
        counts[op] = counts.get(op, 0) + 1
        forms[kernel] = f"{model}: {op} {counts[op]}"
    return forms


def run_all(model, counters):
    """The kernels that the model's cases launch."""
    launched = set()
    jobs = [lambda name=name: model.run(model.case(name)[0])
            for name in model.entry["forward"]]
    jobs += [lambda step=step: model.tool.generate(
        model.library, model.weights, model.case(step["name"])[0],
        step.get("new_tokens", NEW_TOKENS), step.get("eos"))
             for step in model.entry["generate"][:1]]
    for job in jobs:
        job()
        with open(counters) as stream:
            launched.update(json.load(stream).keys() - {"copies"})
    return launched


def main():
    tfc, tfc_run, driver, options, *names = sys.argv[1:]
    with open(os.path.join(ROOT, "cases.json")) as stream:
        entries = {entry["name"]: entry
                   for entry in json.load(stream)["models"]}
    reached, known = set(), {}
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tfc-golden-") as scratch:
            counters = os.path.join(scratch, "counters.json")
            os.environ["TFC_CUDA_DRIVER"] = os.path.abspath(driver)
            os.environ["TFC_FAKECUDA"] = f"races=0,counters={counters}"
            tool = Tool(tfc, tfc_run, scratch,
                        ["--target=cuda", *options.split()],
                        ["--program", "cuda"])
            model = Model(entries[name], entries, tool)
            with open(model.library, "rb") as stream:
                kernels = [each.decode()
                           for each in ENTRY.findall(stream.read())]
            forms = forms_of(kernels, name)
            known.update(dict.fromkeys(forms.values()))
            reached.update(forms[kernel] for kernel in
                           run_all(model, counters))
    missing = [form for form in known if form not in reached]
    for form in missing:
        print(f"not reached: {form}")
    print(f"{len(known) - len(missing)} of {len(known)} kernels are reached")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
