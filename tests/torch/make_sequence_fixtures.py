#!/usr/bin/env python3
"""Records what networks on sequences say in PyTorch, and the gradients of their loss: an LSTM encoder-decoder and
Transformers, with the answer shown and, of the LSTM, with its own words; and whole answers, written token by token.

Usage: python3 tests/torch/make_sequence_fixtures.py

Writes files/sequences-NAME.safetensors beside this file. Samples are padded with -1.
"""

import json
import math
import os
import pathlib
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "parity"))
from tensor_file import write_tensors  # noqa: E402

ROWS = 12
CASES = {
    "lstm": {"kind": "lstm", "input_tokens": 6, "output_tokens": 4, "embedding": 5, "width": 7, "layers": 2,
             "longest_input": 6, "longest_output": 9},
    "transformer": {"kind": "transformer", "input_tokens": 6, "output_tokens": 4, "width": 12, "inner": 10, "heads": 3,
                    "layers": 2, "longest_input": 6, "longest_output": 9},
    "transformer-shared": {"kind": "transformer", "input_tokens": 4, "output_tokens": 4, "width": 8, "inner": 12,
                           "heads": 2, "layers": 1, "longest_input": 7, "longest_output": 8, "shares_embedding": True},
}


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(1 + 0.1 * torch.randn(width))
        self.beta = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, x):
        return self.gamma * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5) + self.beta


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.merge = nn.Linear(width, width, bias=False)

    def forward(self, x, other, hidden):
        size = x.shape[-1] // self.heads
        found = []
        for head, (query, both) in enumerate(zip(self.query(x).split(size, -1), self.key_value(other).split(2 * size, -1))):
            key, value = both[..., :size], both[..., size:]
            scores = query @ key.transpose(1, 2) / math.sqrt(size)
            found.append(torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ value)
        return self.merge(torch.cat(found, -1))


class EncoderLayer(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.self_attention = Attention(case["width"], case["heads"])
        self.norm1 = Norm(case["width"])
        self.linear1 = nn.Linear(case["width"], case["inner"])
        self.linear2 = nn.Linear(case["inner"], case["width"])
        self.norm2 = Norm(case["width"])

    def forward(self, x, padding):
        x = self.norm1(x + self.self_attention(x, x, padding))
        return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


class DecoderLayer(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.self_attention = Attention(case["width"], case["heads"])
        self.norm1 = Norm(case["width"])
        self.cross_attention = Attention(case["width"], case["heads"])
        self.norm2 = Norm(case["width"])
        self.linear1 = nn.Linear(case["width"], case["inner"])
        self.linear2 = nn.Linear(case["inner"], case["width"])
        self.norm3 = Norm(case["width"])

    def forward(self, x, memory, later, padding):
        x = self.norm1(x + self.self_attention(x, x, later))
        x = self.norm2(x + self.cross_attention(x, memory, padding))
        return self.norm3(x + self.linear2(torch.relu(self.linear1(x))))


class Layers(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)


class Transformer(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.shared = case.get("shares_embedding", False)
        self.width = case["width"]
        embeddings = [nn.Embedding(case[f"{side}_tokens"] + 1, self.width) for side in ("input", "output")]
        setattr(self, "embedding" if self.shared else "input_embedding", embeddings[0])
        self.encoder = Layers(EncoderLayer(case) for _ in range(case["layers"]))
        if not self.shared:
            self.output_embedding = embeddings[1]
        self.decoder = Layers(DecoderLayer(case) for _ in range(case["layers"]))
        if not self.shared:
            self.output_projection = nn.Linear(self.width, case["output_tokens"] + 1)

    def placed(self, embedding, tokens):
        x = embedding(tokens)
        for place in range(x.shape[1]):
            table = [math.sin(place / 10000 ** (unit / self.width)) if unit % 2 == 0 else
                     math.cos(place / 10000 ** ((unit - 1) / self.width)) for unit in range(self.width)]
            x = x + functional.one_hot(torch.tensor(place), x.shape[1])[:, None] * torch.tensor(table, dtype=x.dtype)
        return x

    def forward(self, read, lengths, shown):
        """[row, place, token] for decoder inputs that are known."""
        padding = (torch.arange(read.shape[1]) >= lengths[:, None])[:, None]
        memory = self.placed(self.embedding if self.shared else self.input_embedding, read)
        for layer in self.encoder.layers:
            memory = layer(memory, padding)
        later = torch.ones(shown.shape[1], shown.shape[1], dtype=torch.bool).triu(1)
        x = self.placed(self.embedding if self.shared else self.output_embedding, shown)
        for layer in self.decoder.layers:
            x = layer(x, memory, later, padding)
        return x @ self.embedding.weight.t() / math.sqrt(self.width) if self.shared else self.output_projection(x)

    def written(self, read, lengths, start, steps):
        """[row, place, token] where it is shown its own words."""
        shown = torch.full((len(read), 1), start)
        for _ in range(steps):
            said = self.forward(read, lengths, shown)
            shown = torch.cat([shown, said[:, -1:].argmax(-1)], 1)
        return said


class Cell(nn.Module):
    def __init__(self, inputs, state):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(4 * state, inputs) / 2)
        self.weight_hh = nn.Parameter(torch.randn(4 * state, state) / 2)
        self.bias = nn.Parameter(torch.randn(4 * state) / 2)

    def forward(self, x, hidden, cell):
        i, f, g, o = (x @ self.weight_ih.t() + hidden @ self.weight_hh.t() + self.bias).chunk(4, 1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell


class Cells(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.cells = nn.ModuleList(
            Cell(case["embedding"] if layer == 0 else case["width"], case["width"]) for layer in range(case["layers"]))

    def forward(self, x, states):
        new = []
        for cell, state in zip(self.cells, states):
            new.append(cell(x, *state))
            x = new[-1][0]
        return x, new


class Lstm(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.width = case["width"]
        self.input_embedding = nn.Embedding(case["input_tokens"] + 1, case["embedding"])
        self.encoder = Cells(case)
        self.output_embedding = nn.Embedding(case["output_tokens"] + 1, case["embedding"])
        self.decoder = Cells(case)
        self.output_projection = nn.Linear(case["width"], case["output_tokens"] + 1)

    def encoded(self, read, lengths):
        zeros = self.output_projection.weight.new_zeros(len(read), self.width)
        states = [(zeros, zeros) for _ in self.encoder.cells]
        for place in range(read.shape[1]):
            _, new = self.encoder(self.input_embedding(read[:, place]), states)
            goes_on = (place < lengths)[:, None]
            states = [tuple(torch.where(goes_on, now, before) for now, before in zip(*both)) for both in zip(new, states)]
        return states

    def forward(self, read, lengths, shown):
        states, said = self.encoded(read, lengths), []
        for place in range(shown.shape[1]):
            x, states = self.decoder(self.output_embedding(shown[:, place]), states)
            said.append(self.output_projection(x))
        return torch.stack(said, 1)

    def written(self, read, lengths, start, steps):
        states, said, token = self.encoded(read, lengths), [], torch.full((len(read),), start)
        for _ in range(steps):
            x, states = self.decoder(self.output_embedding(token), states)
            said.append(self.output_projection(x))
            token = said[-1].argmax(-1)
        return torch.stack(said, 1)


def drawn(tokens, longest, generator):
    lengths = torch.randint(1, longest + 1, (ROWS,), generator=generator)
    lengths[0] = longest
    sequences = torch.randint(tokens, (ROWS, longest), generator=generator)
    return sequences.masked_fill(torch.arange(longest) >= lengths[:, None], -1), lengths


def ended(sequences, lengths, end):
    """With the token that ends them."""
    longer = functional.pad(sequences, (0, 1), value=-1)
    longer[torch.arange(ROWS), lengths] = end
    return longer


def loss_of(said, wanted):
    """Sums over tokens, the mean over rows."""
    return functional.cross_entropy(said.flatten(0, 1), wanted.flatten(), ignore_index=-1, reduction="sum") / ROWS


def answers(network, read, read_lengths, wanted, end):
    """1 where an answer is written rightly, token by token, up to its end."""
    words = network.written(read, read_lengths, end, wanted.shape[1]).argmax(-1)
    return ((words == wanted) | (wanted < 0)).all(1)


def record(name, case, folder):
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(2)
    network = (Lstm if case["kind"] == "lstm" else Transformer)(case).double()
    weights = dict(network.named_parameters())
    inputs, input_lengths = drawn(case["input_tokens"], case["longest_input"], generator)
    outputs, output_lengths = drawn(case["output_tokens"], case["longest_output"], generator)
    read = ended(inputs, input_lengths, case["input_tokens"]).clamp(min=0)
    read_lengths = input_lengths + 1
    end = case["output_tokens"]
    wanted = ended(outputs, output_lengths, end)
    shown = functional.pad(outputs.clamp(min=0), (1, 0), value=end)
    # Trained until it writes some answers rightly, and others not.
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    right = torch.zeros(ROWS)
    while right.sum() < ROWS // 3:
        optimizer.zero_grad()
        loss_of(network(read, read_lengths, shown), wanted).backward()
        optimizer.step()
        with torch.no_grad():
            right = answers(network, read, read_lengths, wanted, end)
    found = {"inputs": inputs.float(), "outputs": outputs.float(),
             "parameters": torch.cat([weight.detach().reshape(-1) for weight in weights.values()])}

    def keep(what, said):
        loss = loss_of(said, wanted)
        gradients = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        found[f"{what}_loss"] = loss.detach().reshape(1)
        found[f"{what}_gradient"] = torch.cat(
            [(torch.zeros_like(weight) if grad is None else grad).reshape(-1)
             for weight, grad in zip(weights.values(), gradients)])

    keep("shown", network(read, read_lengths, shown))
    if case["kind"] == "lstm":
        keep("free", network.written(read, read_lengths, end, wanted.shape[1]))
    found["right"] = right.double()
    settings = {**case, "names": list(weights)}
    write_tensors(folder / f"sequences-{name}.safetensors", found, {"settings": json.dumps(settings)})
    print(f"{name}: {found['parameters'].numel()} parameters, loss {found['shown_loss'].item():.4f}, "
          f"{int(right.sum())} of {ROWS} answers right")


def main():
    folder = pathlib.Path(__file__).parent / "files"
    for name, case in CASES.items():
        record(name, case, folder)


if __name__ == "__main__":
    main()
