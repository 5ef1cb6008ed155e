#!/usr/bin/env python3
"""Makes tests/torch/files: small networks as torch.jit.save writes them, what PyTorch says of them, and files that are
none. Needs PyTorch (Debian's python3-torch): python3 tests/torch/make_scripts.py"""

import io
import pathlib
import zipfile

import numpy as np
import torch
import torch.nn as nn

FOLDER = pathlib.Path(__file__).parent / "files"


class Cell(nn.Module):
    """An embedding, a recurrent cell of two layers, and a read-out."""

    def __init__(self, kind):
        super().__init__()
        self.words = nn.Embedding(5, 4)
        self.cell = kind(4, 6, 2, batch_first=True)
        self.out = nn.Linear(6, 3)

    def forward(self, tokens):
        states, _ = self.cell(self.words(tokens))
        return self.out(states[:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        h = self.up(x.unsqueeze(-1))
        h = self.norm(h + self.attention(h, h, h, need_weights=False)[0])
        return self.out(h.mean(1))


class Tied(nn.Module):
    """One matrix that is used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.second.weight = self.first.weight
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        return self.out(torch.tanh(self.second(torch.tanh(self.first(x)))))


class NoParameters(nn.Module):
    def forward(self, x):
        return 2 * x


class NoTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        return [self.out(x)]


def rewrite(source, target, change=lambda text: text):
    """A copy with other code, and without what names the folder that it was made in."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith(".debug_pkl")}
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), change(content))


def write(net, name, **extra):
    path = FOLDER / f"{name}.pt"
    torch.jit.save(torch.jit.script(net), str(path), **extra)
    rewrite(path, path)


def record(net, inputs):
    file = io.BytesIO()
    np.savez(file, inputs=inputs.numpy(), outputs=net(inputs).detach().numpy())
    return file.getvalue()


def save(name, net, inputs, labels, loss):
    """The network with its record, and PyTorch's own loss and gradients beside it."""
    net.eval()
    write(net, name, _extra_files={"check.npz": record(net, inputs)})
    net.zero_grad()
    value = loss(net(inputs), labels)
    value.backward()
    arrays = {"loss": value.detach().numpy().reshape(1), "inputs": inputs.numpy(), "labels": labels.numpy()}
    for parameter, tensor in net.named_parameters():
        arrays["gradient/" + parameter] = tensor.grad.numpy()
    np.savez(FOLDER / f"{name}.npz", **arrays)


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    bits = torch.tensor([[int(bit) for bit in f"{row:06b}"] for row in range(64)], dtype=torch.float32)
    columns = torch.stack([(bits[:, 0] + bits[:, 1]) % 2, bits[:, 2] * bits[:, 3], (bits[:, 4] + bits[:, 5]) % 2], 1)
    classes = torch.arange(64) % 3
    bce = nn.functional.binary_cross_entropy_with_logits
    entropy = nn.functional.cross_entropy

    plain = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(plain.parameters(), 1e-2)
    for _ in range(400):
        optimizer.zero_grad()
        bce(plain(bits), columns).backward()
        optimizer.step()
    save("plain", plain, bits, columns, bce)
    tokens = torch.randint(0, 5, (20, 7))
    save("lstm", Cell(nn.LSTM), tokens, classes[:20], entropy)
    save("gru", Cell(nn.GRU), tokens, classes[:20], entropy)
    save("attention", Attention(), bits[:20], classes[:20], entropy)
    save("tied", Tied(), bits[:20], columns[:20], nn.functional.mse_loss)
    images = torch.randn(20, 1, 8, 8)
    conv = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(4, 3))
    conv(images)  # its running statistics are some
    save("conv", conv, images, classes[:20], entropy)

    # An architecture that is to be trained, on depth1: six inputs, two outputs.
    untrained = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.05), nn.Linear(24, 2))
    write(untrained, "untrained")
    write(NoParameters(), "no_parameters")
    write(NoTensor(), "no_tensor")
    torch.save(plain, FOLDER / "pickle.pt")
    wrong = record(nn.Sequential(nn.Linear(6, 3)), bits)
    write(plain, "wrong_record", _extra_files={"check.npz": wrong})
    # The same with an operator that nobody has.
    rewrite(FOLDER / "tied.pt", FOLDER / "unknown_operator.pt", lambda text: text.replace(b"torch.tanh", b"torch.tan9"))


if __name__ == "__main__":
    main()
