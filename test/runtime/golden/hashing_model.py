# A model whose scores are a hash of the sequence: nothing is learned and every
# number is exact, so that a search over it can be compared bit for bit.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf
from transformers.modeling_outputs import CausalLMOutput

WORD = 0xFFFFFFFF


def hash_score(tokens, token, levels):
    """The score of `token` behind `tokens`: of 0, -1/16, ..., `levels` many."""
    h = 2166136261
    for t in tokens:
        h = ((h ^ t) * 16777619) & WORD
    h ^= (token * 0x9E3779B9) & WORD
    h = ((h ^ h >> 15) * 0x2C1B3C6D) & WORD
    h = ((h ^ h >> 12) * 0x297A2D39) & WORD
    return -((h ^ h >> 15) % levels) / 16


class HashingConfig(hf.PretrainedConfig):
    model_type = "hashing"

    def __init__(self, vocab_size=13, levels=64, **keys):
        super().__init__(**keys)
        self.vocab_size = vocab_size
        self.levels = levels
        self.num_hidden_layers = 0
        self.hidden_size = 1
        self.num_attention_heads = 1


class HashingModel(hf.PreTrainedModel, hf.GenerationMixin):
    config_class = HashingConfig

    def __init__(self, config):
        super().__init__(config)
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.generation_config = hf.GenerationConfig()

    def forward(self, input_ids, attention_mask=None, **_):
        vocab, levels = self.config.vocab_size, self.config.levels
        rows = [[hash_score(row, token, levels) for token in range(vocab)]
                for row in input_ids.tolist()]
        return CausalLMOutput(logits=torch.tensor(rows)[:, None])
