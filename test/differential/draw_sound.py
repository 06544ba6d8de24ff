# Random cases of encoders of sound with a decoder: rows of two log-mel frames,
# as many as the model has positions, since transformers takes no others.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

CLASSES = {"whisper": ("WhisperModel", "WhisperForConditionalGeneration",
                       "WhisperForAudioClassification")}
ACTS = ("gelu", "gelu_new", "relu", "silu", "quick_gelu")


def make_rows(lengths):
    """Masks of the decoder's tokens."""
    return [[1] * n + [0] * (max(lengths) - n) for n in lengths]


def draw_case(random, cls):
    heads = random.randint(1, 3)
    most = random.randint(1, 9)
    rows = make_rows([random.randint(1, most)
                      for _ in range(random.randint(1, 3))])
    return {"class": cls, "heads": heads,
            "hidden": heads * random.choice((6, 14, 16, 26)),
            "layers": random.randint(1, 3),
            "decoder_layers": random.randint(1, 3),
            "inner": random.choice((7, 33, 64)),
            "mels": random.choice((1, 5, 16, 80)),
            "longest": random.choice((1, 2, 7, 16, 33)),
            "act": random.choice(ACTS), "rows": rows,
            "tied": random.random() < 0.7, "labels": random.choice((1, 2, 5)),
            "projection": random.choice((1, 9, 40)),
            "given_mask": random.random() < 0.5, "generate": 0,
            "dtype": random.choice(("float32", "float32", "float16",
                                    "bfloat16")),
            "integers": random.choice(("int32", "int64")),
            "shards": random.random() < 0.2, "threads": random.randint(1, 2),
            "seed": random.randrange(1 << 30)}


def make_config(hf, case):
    return hf.WhisperConfig(
        vocab_size=61, num_mel_bins=case["mels"], d_model=case["hidden"],
        encoder_layers=case["layers"], decoder_layers=case["decoder_layers"],
        encoder_attention_heads=case["heads"],
        decoder_attention_heads=case["heads"], encoder_ffn_dim=case["inner"],
        decoder_ffn_dim=case["inner"], activation_function=case["act"],
        max_source_positions=case["longest"], max_target_positions=12,
        pad_token_id=1, bos_token_id=2, eos_token_id=3,
        decoder_start_token_id=4, begin_suppress_tokens=[5],
        tie_word_embeddings=case["tied"], num_labels=case["labels"],
        classifier_proj_size=case["projection"])


def make_inputs(torch, case):
    generator = torch.Generator().manual_seed(case["seed"])
    rows, length = len(case["rows"]), len(case["rows"][0])
    inputs = {
        "patches": torch.randn(rows, case["longest"], 2 * case["mels"],
                               generator=generator)}
    if case["class"].endswith("Classification"):
        return inputs
    inputs["decoder_input_ids"] = torch.randint(0, 61, (rows, length),
                                                generator=generator)
    if case["given_mask"]:
        inputs["decoder_attention_mask"] = torch.tensor(case["rows"])
    return inputs


def smaller(case):
    for key, value in (("layers", 1), ("decoder_layers", 1), ("heads", 1),
                       ("mels", 1), ("longest", 1), ("inner", 7),
                       ("dtype", "float32"), ("given_mask", False),
                       ("shards", False), ("threads", 1), ("act", "relu")):
        if case[key] != value:
            yield dict(case, **{key: value})
    if len(case["rows"]) > 1:
        yield dict(case, rows=case["rows"][:1])
    if len(case["rows"][0]) > 1:
        yield dict(case, rows=[[1]] * len(case["rows"]))
