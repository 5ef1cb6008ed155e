"""How fast PyTorch's own products are: a float32 matrix product of 1024 x 1024, one thread, best of some.

Prints JSON: gflops, and the name of the kernels that OpenBLAS took for this processor. It takes those of a Prescott, without
a word, for processors that are newer than it; OPENBLAS_CORETYPE names others.
"""
import ctypes
import json
import time

import common  # noqa: F401  one thread, before torch is there
import torch

SIZE = 1024
SECONDS = 0.6


def kernels():
    """The name that OpenBLAS has for its kernels, or nothing where it is not there."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            paths = {line.split()[-1] for line in maps if "libopenblas" in line}
        library = ctypes.CDLL(sorted(paths)[0])
        library.openblas_get_corename.restype = ctypes.c_char_p
        return library.openblas_get_corename().decode()
    except (OSError, IndexError, AttributeError):
        return ""


def main():
    a = torch.rand(SIZE, SIZE)
    b = torch.rand(SIZE, SIZE)
    out = torch.empty(SIZE, SIZE)
    torch.mm(a, b, out=out)
    best = float("inf")
    begin = time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        started = time.perf_counter()
        torch.mm(a, b, out=out)
        best = min(best, time.perf_counter() - started)
    print(json.dumps({"gflops": 2 * SIZE**3 / best / 1e9, "kernels": kernels()}))


if __name__ == "__main__":
    main()
