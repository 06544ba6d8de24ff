# Transformers that are a paper or a page of code: in PyTorch, from their
# formulas, with the names that their published tensors have.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math

import torch
from torch import nn
from torch.nn import functional


def sinusoid(length, width):
    """Sines in the even columns and cosines in the odd ones (Vaswani et al.
    2017, section 3.5)."""
    place = torch.arange(length)[:, None]
    angles = place / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def attend(query, key, value, heads, mask):
    """Scaled dot-product attention; `mask` [rows, queries, keys] has True where
    a query sees a key."""
    def split(x):
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    query, key, value = split(query), split(key), split(value)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask[:, None],
                                torch.finfo(scores.dtype).min)
    return (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)


def seen(mask):
    """What tokens that all see each other see."""
    return mask[:, None, :].expand(-1, mask.shape[1], -1)


def seen_before(mask):
    """What tokens see that see themselves and those before them."""
    return seen(mask) & torch.ones(mask.shape[1], mask.shape[1]).tril().bool()


class Pair(nn.Module):
    """An encoder-decoder of encode(ids, mask), decode(ids, mask, memory, mask)
    and logits(hidden)."""

    def forward(self, inputs):
        source, target = inputs["input_ids"], inputs["decoder_input_ids"]
        mask = inputs.get("attention_mask", torch.ones_like(source)).bool()
        own = inputs.get("decoder_attention_mask",
                         torch.ones_like(target)).bool()
        memory = self.encode(source, mask)
        hidden = self.decode(target, own, memory, mask)
        return {"logits": self.logits(hidden) * own[..., None],
                "encoder_last_hidden_state": memory * mask[..., None]}


class Norm(nn.Module):
    """The weights of a norm, and torch's own formula."""

    def __init__(self, width, bias=True, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        self.eps = eps

    def forward(self, x):
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias,
                                     self.eps)


class Sublayer(nn.Module):
    """Attention or a feed-forward part, with its norm behind the sum. It has
    the names of tfc."""

    def __init__(self, width, heads=None, inner=None):
        super().__init__()
        self.heads = heads
        for name in ("q", "k", "v", "o") if heads else ():
            setattr(self, name, nn.Linear(width, width, bias=False))
        if inner:
            self.up = nn.Linear(width, inner)
            self.down = nn.Linear(inner, width)
        self.post_norm = Norm(width)

    def forward(self, x, memory=None, mask=None):
        if self.heads:
            y = self.o(attend(self.q(x), self.k(memory), self.v(memory),
                              self.heads, mask))
        else:
            y = self.down(self.up(x).relu())
        return self.post_norm(x + y)


class Stack(nn.Module):
    def __init__(self, width, heads, inner, layers, has_cross):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(layers):
            parts = {"attn": Sublayer(width, heads)}
            if has_cross:
                parts["cross"] = Sublayer(width, heads)
            parts["ffn"] = Sublayer(width, inner=inner)
            self.layers.append(nn.ModuleDict(parts))

    def forward(self, x, sees, memory=None, mask=None):
        for layer in self.layers:
            x = layer["attn"](x, x, sees)
            if "cross" in layer:
                x = layer["cross"](x, memory, mask)
            x = layer["ffn"](x)
        return x


class Transformer(Pair):
    """Vaswani et al. 2017, arXiv:1706.03762: one table of tokens for both
    stacks and the logits (section 3.4), norms behind sums (3.1)."""

    def __init__(self, vocab, width, heads, inner, layers):
        super().__init__()
        self.shared = nn.ModuleDict({"token": nn.Embedding(vocab, width)})
        self.encoder = Stack(width, heads, inner, layers, False)
        self.decoder = Stack(width, heads, inner, layers, True)

    def embed(self, ids):
        rows = self.shared["token"](ids)
        width = rows.shape[-1]
        places = sinusoid(ids.shape[1], width).to(rows.dtype)
        return rows * math.sqrt(width) + places

    def encode(self, ids, mask):
        return self.encoder(self.embed(ids), seen(mask))

    def decode(self, ids, mask, memory, memory_mask):
        cross = memory_mask[:, None, :].expand(-1, ids.shape[1], -1)
        return self.decoder(self.embed(ids), seen_before(mask), memory, cross)

    def logits(self, hidden):
        return hidden @ self.shared["token"].weight.T


class SampleNorm(nn.Module):
    """Divides by the deviation of a sample plus eps."""

    def __init__(self, width):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(width))
        self.b_2 = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return (self.a_2 * centred / (x.std(-1, keepdim=True) + 1e-6) +
                self.b_2)


class Named(nn.Module):
    """Modules by their names, and nothing to compute."""

    def __init__(self, **modules):
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)


def annotated_layer(width, inner, attentions):
    linears = {name: Named(linears=nn.ModuleList(
        nn.Linear(width, width) for _ in range(4))) for name in attentions}
    norms = nn.ModuleList(Named(norm=SampleNorm(width))
                          for _ in range(len(attentions) + 1))
    return Named(**linears, sublayer=norms, feed_forward=Named(
        w_1=nn.Linear(width, inner), w_2=nn.Linear(inner, width)))


class AnnotatedTransformer(Pair):
    """Rush 2018, The Annotated Transformer: norms before sublayers and behind
    the stacks, a table of tokens for each."""

    def __init__(self, source, target, width, heads, inner, layers):
        super().__init__()
        self.heads = heads

        def stack(*attentions):
            return Named(layers=nn.ModuleList(
                annotated_layer(width, inner, attentions)
                for _ in range(layers)), norm=SampleNorm(width))

        def embedding(rows):
            position = Named()
            position.register_buffer("pe", sinusoid(80, width)[None])
            return nn.ModuleList((Named(lut=nn.Embedding(rows, width)),
                                  position))

        self.encoder = stack("self_attn")
        self.decoder = stack("self_attn", "src_attn")
        self.src_embed, self.tgt_embed = embedding(source), embedding(target)
        self.generator = Named(proj=nn.Linear(width, target))

    def attention(self, module, x, memory, mask):
        query, key, value, out = module.linears
        return out(attend(query(x), key(memory), value(memory), self.heads,
                          mask))

    def run(self, stack, embedding, ids, sees, memory=None, mask=None):
        table, position = embedding
        width = table.lut.weight.shape[1]
        x = (table.lut(ids) * math.sqrt(width) +
             position.pe[:, :ids.shape[1]])
        for layer in stack.layers:
            norms = [part.norm for part in layer.sublayer]
            y = norms[0](x)
            x = x + self.attention(layer.self_attn, y, y, sees)
            if memory is not None:
                x = x + self.attention(layer.src_attn, norms[1](x), memory,
                                       mask)
            inner = layer.feed_forward
            x = x + inner.w_2(inner.w_1(norms[-1](x)).relu())
        return stack.norm(x)

    def encode(self, ids, mask):
        return self.run(self.encoder, self.src_embed, ids, seen(mask))

    def decode(self, ids, mask, memory, memory_mask):
        cross = memory_mask[:, None, :].expand(-1, ids.shape[1], -1)
        return self.run(self.decoder, self.tgt_embed, ids, seen_before(mask),
                        memory, cross)

    def logits(self, hidden):
        return self.generator.proj(hidden)


class NanoGpt(nn.Module):
    """Karpathy 2022, nanoGPT: GPT-2 of plain linears, with the erf's gelu."""

    def __init__(self, vocab, positions, width, heads, layers, bias):
        super().__init__()
        self.heads = heads

        def block():
            return Named(
                ln_1=Norm(width, bias, 1e-5), ln_2=Norm(width, bias, 1e-5),
                attn=Named(c_attn=nn.Linear(width, 3 * width, bias=bias),
                           c_proj=nn.Linear(width, width, bias=bias)),
                mlp=Named(c_fc=nn.Linear(width, 4 * width, bias=bias),
                          c_proj=nn.Linear(4 * width, width, bias=bias)))

        self.transformer = Named(
            wte=nn.Embedding(vocab, width), wpe=nn.Embedding(positions, width),
            h=nn.ModuleList(block() for _ in range(layers)),
            ln_f=Norm(width, bias, 1e-5))
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, inputs):
        ids, body = inputs["input_ids"], self.transformer
        mask = inputs.get("attention_mask", torch.ones_like(ids)).bool()
        x = body.wte(ids) + body.wpe.weight[:ids.shape[1]]
        for block in body.h:
            qkv = block.attn.c_attn(block.ln_1(x)).chunk(3, -1)
            x = x + block.attn.c_proj(attend(*qkv, self.heads,
                                             seen_before(mask)))
            inner = functional.gelu(block.mlp.c_fc(block.ln_2(x)))
            x = x + block.mlp.c_proj(inner)
        return {"logits": self.lm_head(body.ln_f(x)) * mask[..., None]}


class EncoderOfHeads(nn.Module):
    """Tunstall, von Werra, Wolf 2022, chapter 3: norms before sublayers, and
    queries, keys and values of each head by themselves."""

    def __init__(self, vocab, positions, width, heads, inner, layers, labels):
        super().__init__()

        def head():
            return Named(**{name: nn.Linear(width, width // heads)
                            for name in "qkv"})

        def layer():
            return Named(
                layer_norm_1=Norm(width, eps=1e-5),
                layer_norm_2=Norm(width, eps=1e-5),
                attention=Named(
                    heads=nn.ModuleList(head() for _ in range(heads)),
                    output_linear=nn.Linear(width, width)),
                feed_forward=Named(linear_1=nn.Linear(width, inner),
                                   linear_2=nn.Linear(inner, width)))

        self.encoder = Named(
            embeddings=Named(
                token_embeddings=nn.Embedding(vocab, width),
                position_embeddings=nn.Embedding(positions, width),
                layer_norm=Norm(width, eps=1e-12)),
            layers=nn.ModuleList(layer() for _ in range(layers)))
        self.classifier = nn.Linear(width, labels)

    def forward(self, inputs):
        ids, tables = inputs["input_ids"], self.encoder.embeddings
        mask = inputs.get("attention_mask", torch.ones_like(ids)).bool()
        x = tables.layer_norm(
            tables.token_embeddings(ids) +
            tables.position_embeddings.weight[:ids.shape[1]])
        for layer in self.encoder.layers:
            y = layer.layer_norm_1(x)
            x = x + layer.attention.output_linear(torch.cat(
                [attend(head.q(y), head.k(y), head.v(y), 1, seen(mask))
                 for head in layer.attention.heads], -1))
            inner = layer.feed_forward
            x = x + inner.linear_2(functional.gelu(
                inner.linear_1(layer.layer_norm_2(x))))
        return {"last_hidden_state": x * mask[..., None],
                "logits": self.classifier(x[:, 0])}


class FairseqAttention(nn.Module):
    """Queries, keys and values are one tensor, in this order."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x, memory, mask):
        parts = zip(self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3))
        query, key, value = (functional.linear(rows, weight, bias)
                             for rows, (weight, bias) in
                             zip((x, memory, memory), parts))
        return self.out_proj(attend(query, key, value, self.heads, mask))


def mass_stack(vocab, positions, width, heads, inner, layers, attentions):
    def layer():
        norms = [name + "_layer_norm" for name in (*attentions, "final")]
        return Named(**{name: FairseqAttention(width, heads)
                        for name in attentions},
                     **{name: Norm(width, eps=1e-5) for name in norms},
                     fc1=nn.Linear(width, inner), fc2=nn.Linear(inner, width))

    return Named(embed_tokens=nn.Embedding(vocab, width),
                 embed_positions=nn.Embedding(positions + 1, width),
                 emb_layer_norm=Norm(width, eps=1e-5),
                 layers=nn.ModuleList(layer() for _ in range(layers)))


class Mass(Pair):
    """Song et al. 2019, arXiv:1905.02450, with fairseq's names: positions begin
    behind the pad token's id, 0, and embeddings have a norm."""

    def __init__(self, vocab, positions, width, heads, inner, layers):
        super().__init__()
        sizes = (vocab, positions, width, heads, inner, layers)
        self.encoder = mass_stack(*sizes, ("self_attn",))
        self.decoder = mass_stack(*sizes, ("self_attn", "encoder_attn"))
        self.decoder.embed_tokens.weight = self.encoder.embed_tokens.weight

    def embed(self, stack, ids):
        rows, is_token = stack.embed_tokens(ids), (ids != 0).long()
        places = is_token.cumsum(1) * is_token
        return stack.emb_layer_norm(rows * math.sqrt(rows.shape[-1]) +
                                    stack.embed_positions(places))

    def layer(self, layer, x, mask, memory=None, memory_mask=None):
        x = layer.self_attn_layer_norm(x + layer.self_attn(x, x, mask))
        if memory is not None:
            x = layer.encoder_attn_layer_norm(
                x + layer.encoder_attn(x, memory, memory_mask))
        y = layer.fc2(functional.gelu(layer.fc1(x)))
        return layer.final_layer_norm(x + y)

    def encode(self, ids, mask):
        x = self.embed(self.encoder, ids)
        for layer in self.encoder.layers:
            x = self.layer(layer, x, seen(mask))
        return x

    def decode(self, ids, mask, memory, memory_mask):
        x = self.embed(self.decoder, ids)
        cross = memory_mask[:, None, :].expand(-1, ids.shape[1], -1)
        for layer in self.decoder.layers:
            x = self.layer(layer, x, seen_before(mask), memory, cross)
        return x

    def logits(self, hidden):
        return hidden @ self.encoder.embed_tokens.weight.T


def distances(length, width, clamp):
    """Sines, then cosines, of 0 to length - 1, those beyond `clamp` as it (Dai
    et al. 2019, appendix B)."""
    place = torch.arange(length).clamp(max=clamp)[:, None]
    angles = place / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.cat((angles.sin(), angles.cos()), -1)


class MemoryAttention(nn.Module):
    """Dai et al. 2019, arXiv:1901.02860, section 3.3: content and distance,
    each with a bias of the query."""

    def __init__(self, width, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv_net = nn.Linear(width, 3 * heads * size, bias=False)
        self.r_net = nn.Linear(width, heads * size, bias=False)
        self.o_net = nn.Linear(heads * size, width, bias=False)
        self.r_w_bias = nn.Parameter(torch.zeros(heads, size))
        self.r_r_bias = nn.Parameter(torch.zeros(heads, size))

    def forward(self, x, known, reach, clamp):
        """`known` are the rows of the memory and then x; a row sees `reach` of
        them, itself included."""
        def split(rows):
            return rows.unflatten(-1, (self.heads, self.size))

        query = split(self.qkv_net(x).chunk(3, -1)[0])
        key, value = (split(rows) for rows in
                      self.qkv_net(known).chunk(3, -1)[1:])
        far = split(self.r_net(distances(len(known), x.shape[-1], clamp)))
        places = torch.arange(len(known))
        behind = places[len(known) - len(x):, None] - places
        content = torch.einsum("ihd,jhd->hij", query + self.r_w_bias, key)
        place = torch.einsum("ihd,rhd->hir", query + self.r_r_bias, far)
        rows = behind.clamp(min=0).expand(self.heads, -1, -1)
        scores = (content + place.gather(2, rows)) / math.sqrt(self.size)
        scores = scores.masked_fill((behind < 0) | (behind >= reach),
                                    -math.inf)
        return self.o_net(torch.einsum("hij,jhd->ihd", scores.softmax(-1),
                                       value).flatten(1))


class Segments(nn.Module):
    """A decoder that goes through a text by segments, with the last rows that
    each layer has read as its memory. logits(hidden), embed(ids) and
    layer(layer, x, known) are the model's."""

    def __init__(self, memory, segment, clamp):
        super().__init__()
        self.memory, self.segment, self.clamp = memory, segment, clamp

    def begin(self):
        """What the first segment has as its memory."""

    def of_text(self, ids):
        memories, found = [self.begin()] * len(self.layers), []
        for part in ids.split(self.segment):
            x = self.embed(part)
            for number, layer in enumerate(self.layers):
                memory = memories[number]
                known = x if memory is None else torch.cat((memory, x))
                memories[number] = known[-self.memory:]
                x = self.layer(layer, x, known)
            found.append(x)
        return self.logits(torch.cat(found))

    def forward(self, inputs):
        ids = inputs["input_ids"]
        mask = inputs.get("attention_mask", torch.ones_like(ids)).bool()
        rows = []
        for own, seen_here in zip(ids, mask):
            found = self.of_text(own[seen_here])
            row = torch.zeros(len(own), found.shape[-1])
            row[seen_here] = found
            rows.append(row)
        return {"logits": torch.stack(rows)}


class TransformerXl(Segments):
    """Dai et al. 2019, with the names of its MemTransformerLM; a token sees as
    many as there are in the memory (same_length)."""

    def __init__(self, vocab, width, heads, size, inner, layers, memory,
                 segment, clamp):
        super().__init__(memory, segment, clamp)
        self.word_emb = Named(emb_layers=nn.ModuleList(
            [nn.Embedding(vocab, width)]))

        def layer():
            attention = MemoryAttention(width, heads, size)
            attention.layer_norm = Norm(width, eps=1e-5)
            return Named(dec_attn=attention, pos_ff=Named(
                CoreNet=nn.Sequential(
                    nn.Linear(width, inner), nn.ReLU(), nn.Identity(),
                    nn.Linear(inner, width)),
                layer_norm=Norm(width, eps=1e-5)))

        self.layers = nn.ModuleList(layer() for _ in range(layers))
        self.crit = Named(out_layers=nn.ModuleList(
            [nn.Linear(width, vocab)]))
        self.crit.out_layers[0].weight = self.word_emb.emb_layers[0].weight

    def embed(self, ids):
        rows = self.word_emb.emb_layers[0](ids)
        return rows * math.sqrt(rows.shape[-1])

    def layer(self, layer, x, known):
        attention, inner = layer.dec_attn, layer.pos_ff
        x = attention.layer_norm(
            x + attention(x, known, self.memory, self.clamp))
        return inner.layer_norm(x + inner.CoreNet(x))

    def logits(self, hidden):
        return self.crit.out_layers[0](hidden)


class Pieces(nn.Module):
    """Baevski and Auli 2018, arXiv:1809.10853: rows of rare tokens are
    narrower, and each piece is projected. With a `div` of 1 nothing is."""

    def __init__(self, vocab, wide, width, cutoffs, div):
        super().__init__()
        self.ends = [0, *cutoffs, vocab]
        sizes = [b - a for a, b in zip(self.ends, self.ends[1:])]
        self.emb_layers = nn.ModuleList(
            nn.Embedding(size, wide // div ** i)
            for i, size in enumerate(sizes))
        self.emb_projs = nn.ParameterList(
            nn.Parameter(torch.empty(width, wide // div ** i))
            for i in range(len(sizes) if div > 1 else 0))

    def forward(self, ids):
        rows = []
        for token in ids.tolist():
            piece = sum(token >= end for end in self.ends[1:-1])
            row = self.emb_layers[piece].weight[token - self.ends[piece]]
            rows.append(self.emb_projs[piece] @ row if len(self.emb_projs)
                        else row)
        return torch.stack(rows)


class AdaptiveSoftmax(nn.Module):
    """Grave et al. 2016, arXiv:1609.04309: the first piece and each other one
    as a whole are of one softmax, in which every piece has its own. Its tables
    are those of `pieces`; so are its projections but the first."""

    def __init__(self, pieces, wide, clusters):
        super().__init__()
        self.out_layers = nn.ModuleList()
        for table in pieces.emb_layers:
            layer = nn.Linear(*reversed(table.weight.shape))
            layer.weight = table.weight
            self.out_layers.append(layer)
        self.out_projs = nn.ParameterList(
            nn.Parameter(torch.empty_like(one)) if i == 0 else one
            for i, one in enumerate(pieces.emb_projs))
        if clusters:
            self.cluster_weight = nn.Parameter(torch.empty(clusters, wide))
            self.cluster_bias = nn.Parameter(torch.empty(clusters))

    def forward(self, hidden):
        def rows_of(i):
            return hidden @ self.out_projs[i] if len(self.out_projs) else hidden

        first = self.out_layers[0](rows_of(0))
        count = len(self.out_layers) - 1
        if not count:
            return first.log_softmax(-1)
        clusters = functional.linear(rows_of(0), self.cluster_weight,
                                     self.cluster_bias)
        both = torch.cat((first, clusters), -1).log_softmax(-1)
        found = [both[:, :-count]]
        for i in range(1, count + 1):
            own = self.out_layers[i](rows_of(i)).log_softmax(-1)
            found.append(both[:, i - 1 - count, None] + own)
        return torch.cat(found, -1)


class TransfoXl(TransformerXl):
    """The Transformer-XL of transformers 4, with its names: a vocabulary in
    pieces, and a first memory of zeros, which is seen."""

    def __init__(self, vocab, wide, cutoffs, div, width, heads, size, inner,
                 layers, memory, segment, clamp, has_head=True):
        super().__init__(vocab, width, heads, size, inner, layers, memory,
                         segment, clamp)
        del self.word_emb, self.crit
        self.width, self.has_head = width, has_head
        body = Named(word_emb=Pieces(vocab, wide, width, cutoffs, div),
                     layers=self.layers)
        if has_head:
            self.transformer = body
            self.crit = AdaptiveSoftmax(body.word_emb, wide, len(cutoffs))
            del self.layers
        else:
            self.word_emb = body.word_emb

    def __getattr__(self, name):
        if name in ("layers", "word_emb") and "transformer" in self._modules:
            return getattr(self._modules["transformer"], name)
        return super().__getattr__(name)

    def begin(self):
        return torch.zeros(self.memory, self.width)

    def embed(self, ids):
        return self.word_emb(ids) * math.sqrt(self.width)

    def logits(self, hidden):
        return self.crit(hidden) if self.has_head else hidden

    def forward(self, inputs):
        outputs = super().forward(inputs)
        return outputs if self.has_head else {
            "last_hidden_state": outputs["logits"]}


class Din(nn.Module):
    """Zhou et al. 2018, arXiv:1706.06978: the last item is the candidate, those
    before it are what a user has seen. Section 4.3: what a small network makes
    of both weighs each, and weights are no softmax."""

    def __init__(self, items, width, hidden, layers):
        super().__init__()

        def network(sizes):
            return nn.ModuleList(nn.Linear(a, b)
                                 for a, b in zip(sizes, sizes[1:]))

        self.item = nn.Embedding(items, width)
        self.unit = network([4 * width, *hidden, 1])
        self.score = network([2 * width, *layers, 1])

    @staticmethod
    def run(network, x):
        for layer in network[:-1]:
            x = layer(x).sigmoid()
        return network[-1](x)

    def of_items(self, ids):
        rows = self.item(ids)
        candidate, seen_items = rows[-1], rows[:-1]
        total = torch.zeros_like(candidate)
        for row in seen_items:
            weight = self.run(self.unit, torch.cat(
                (candidate, row, candidate - row, candidate * row)))
            total = total + weight * row
        return self.run(self.score, torch.cat((total, candidate)))

    def forward(self, inputs):
        ids = inputs["input_ids"]
        mask = inputs.get("attention_mask", torch.ones_like(ids)).bool()
        return {"score": torch.stack([
            self.of_items(own[seen_here])
            for own, seen_here in zip(ids, mask)])}


class GruGate(nn.Module):
    """Parisotto et al. 2019, arXiv:1910.06764, section 3.2: the gate in the
    place of a sum, with the names of tfc."""

    def __init__(self, width):
        super().__init__()
        for name in ("reset", "update", "state"):
            setattr(self, name, nn.Linear(width, width, name == "update"))
            setattr(self, name + "_x", nn.Linear(width, width, bias=False))

    def forward(self, x, y):
        reset = (self.reset(y) + self.reset_x(x)).sigmoid()
        # The paper subtracts a bias.
        update = (self.update(y) + self.update_x(x)).sigmoid()
        state = (self.state(y) + self.state_x(reset * x)).tanh()
        return (1 - update) * x + update * state


class GatedTransformerXl(Segments):
    """Parisotto et al. 2019: norms in front, which memories are rows before,
    relus behind, and gates."""

    def __init__(self, vocab, width, heads, size, inner, layers, memory,
                 segment, clamp):
        super().__init__(memory, segment, clamp)
        self.token = nn.Embedding(vocab, width)

        def part(**modules):
            return Named(pre_norm=Norm(width, eps=1e-5), gru=GruGate(width),
                         **modules)

        self.layers = nn.ModuleList(Named(
            attn=part(core=MemoryAttention(width, heads, size)),
            ffn=part(up=nn.Linear(width, inner), down=nn.Linear(inner, width)))
            for _ in range(layers))
        self.final_norm = Norm(width, eps=1e-5)
        self.proj = nn.Linear(width, vocab, bias=False)

    def embed(self, ids):
        return self.token(ids)

    def layer(self, layer, x, known):
        attention, inner = layer.attn, layer.ffn
        y = attention.core(attention.pre_norm(x), attention.pre_norm(known),
                           self.memory, self.clamp)
        x = attention.gru(x, y.relu())
        y = inner.down(inner.up(inner.pre_norm(x)).relu())
        return inner.gru(x, y.relu())

    def logits(self, hidden):
        return self.proj(self.final_norm(hidden))
