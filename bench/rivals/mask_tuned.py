"""Masks over weights as in mask.py, with no needless work.

- One uniform number a weight and sample, and no logarithm: the difference of two Gumbel numbers is logistic, so that
  s = u / (u + (1 - u) e^-l), and the bit is whether u > (1 - u) e^-l.
- Uniform numbers are drawn by numpy's SFC64 into the tensors' memory: PyTorch's own take five times as long.
- Weights are [input, output], so that no gradient is turned.
- Draws, masked weights and slopes are one function with a gradient of its own, in buffers that are kept and in pieces
  that stay in cache; nothing is computed for the weights, which stay as they are.
- What an LSTM is shown at every step is multiplied once; what its layers are shown of all steps is one product.
- Logits, gradients and moments lie in one storage, which a hand-written Adam passes over in pieces that stay in cache;
  the penalty is added there.
"""

import numpy
import torch

import mask

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
PIECE = 1 << 16
GENERATOR = numpy.random.Generator(numpy.random.SFC64(0))


class Adam:
    def __init__(self, values, lr, alpha=0.0):
        self.values, self.lr, self.alpha, self.steps = values, lr, alpha, 0
        self.gradients = torch.zeros_like(values)
        self.first, self.second = torch.zeros_like(values), torch.zeros_like(values)

    def step(self):
        if self.alpha:
            self.gradients.add_(self.alpha)
        clip = 1 / (self.gradients.norm().item() + 1e-6)
        self.steps += 1
        rate = self.lr / (1 - BETA1**self.steps)
        root = (1 - BETA2**self.steps) ** 0.5
        for first in range(0, len(self.values), PIECE):
            part = slice(first, first + PIECE)
            gradient, m, v = self.gradients[part], self.first[part], self.second[part]
            if clip < 1:
                gradient.mul_(clip)
            m.mul_(BETA1).add_(gradient, alpha=1 - BETA1)
            v.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            self.values[part].addcdiv_(m, v.sqrt().div_(root).add_(EPSILON), value=-rate)
        self.gradients.zero_()


def pieces(weight):
    """Rows of a matrix that stay in the second cache level with what is computed of them."""
    rows = max(1, PIECE // weight.shape[1])
    return [slice(first, first + rows) for first in range(0, weight.shape[0], rows)]


class Masked(torch.autograd.Function):
    """K samples of masked weights of logits; `room` keeps what is needed on the way back, from step to step."""

    @staticmethod
    def forward(context, logits, weight, room):
        masked, uniform, against, _, _ = room
        for part in pieces(weight):
            odds = logits[part].neg().exp_()
            for sample in range(len(masked)):
                u, a = uniform[sample, part], against[sample, part]
                GENERATOR.random(dtype=numpy.float32, out=u.numpy())
                torch.mul(u, odds, out=a)
                torch.sub(odds, a, out=a)  # (1 - u) e^-l
                torch.gt(u, a, out=masked[sample, part]).mul_(weight[part])
        context.save_for_backward(weight)
        context.room = room
        return masked.view_as(masked)

    @staticmethod
    def backward(context, gradient):
        (weight,) = context.saved_tensors
        _, uniform, against, found, slope = context.room
        for part in pieces(weight):
            sums = found[part]
            for sample in range(len(uniform)):
                u, a = uniform[sample, part], against[sample, part]
                s = slope[: len(u)]
                torch.mul(u, a, out=s)
                a.add_(u)
                s.div_(a).div_(a)
                if sample == 0:
                    torch.mul(s, gradient[sample, part], out=sums)
                else:
                    sums.addcmul_(s, gradient[sample, part])
            sums.mul_(weight[part])
        return found, None, None


class Network(mask.Network):
    def product(self, x, weight, bias=None):
        if weight.dim() == 2:
            return torch.mm(x, weight) if bias is None else torch.addmm(bias, x, weight)
        blocks = x.view(weight.shape[0], -1, x.shape[-1])
        y = torch.bmm(blocks, weight) if bias is None else torch.baddbmm(bias, blocks, weight)
        return y.view(x.shape[0], -1)

    def __call__(self, weights, x):
        if self.shape.state == 0:
            return super().__call__(weights, x)
        shown = None
        for layer in range(self.shape.layers):
            name = f"lstm_cells.{layer}."
            ih, hh, bias = weights[name + "weight_ih"], weights[name + "weight_hh"], weights[name + "bias"]
            if layer == 0:
                parts = [self.product(x, ih, bias)] * mask.STEPS_SHOWN
            else:
                # Blocks of all steps: [K, steps * rows of a block].
                samples = ih.shape[0] if ih.dim() == 3 else 1
                stacked = torch.stack([y.view(samples, -1, y.shape[-1]) for y in shown], 1)
                parts = self.product(stacked.reshape(-1, stacked.shape[-1]), ih, bias)
                parts = parts.view(samples, mask.STEPS_SHOWN, -1, parts.shape[-1]).unbind(1)
                parts = [part.reshape(x.shape[0], -1) for part in parts]
            shown, h, c = [], None, None
            for step in range(mask.STEPS_SHOWN):
                z = parts[step] if h is None else parts[step] + self.product(h, hh)
                i, f, g, o = z.chunk(4, 1)
                c = torch.sigmoid(i) * torch.tanh(g) + (0 if c is None else torch.sigmoid(f) * c)
                h = torch.sigmoid(o) * torch.tanh(c)
                shown.append(h)
        return self.product(h, weights["output_projection.weight"], weights["output_projection.bias"])


def on_one_storage(tensors, lr, alpha=0.0):
    """The tensors as leaves that share one storage, as do their gradients; and the Adam of it."""
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors.values()])
    adam = Adam(flat, lr, alpha)
    found, first = {}, 0
    for name, tensor in tensors.items():
        part = slice(first, first + tensor.numel())
        found[name] = flat[part].view(tensor.shape).requires_grad_()
        found[name].grad = adam.gradients[part].view(tensor.shape)
        first += tensor.numel()
    return found, adam


def turned_weights(shape):
    return {name: value.t().contiguous() if value.dim() == 2 else value
            for name, value in mask.initial_weights(shape).items()}


class WeightTrainer:
    def __init__(self, shape):
        self.network = Network(shape)
        self.weights, self.adam = on_one_storage(turned_weights(shape), 1e-3)

    def step(self, inputs, digits):
        loss = mask.task_loss(self.network(self.weights, inputs), digits)
        loss.backward()
        with torch.no_grad():
            self.adam.step()
        return loss.item()


class MaskTrainer:
    def __init__(self, shape):
        self.network = Network(shape)
        self.weights = turned_weights(shape)
        logits = {name: torch.full_like(value, 2.0)
                  for name, value in self.weights.items() if not name.endswith("bias")}
        self.logits, self.adam = on_one_storage(logits, 1e-2, mask.ALPHA)
        self.room = {name: [*(torch.empty(shape.samples, *value.shape) for _ in range(3)), torch.empty_like(value),
                            torch.empty_like(value)[: max(1, PIECE // value.shape[1])]]
                     for name, value in self.weights.items() if name in self.logits}

    def step(self, inputs, digits):
        masked = {name: Masked.apply(self.logits[name], weight, self.room[name]) if name in self.logits else weight
                  for name, weight in self.weights.items()}
        loss = mask.task_loss(self.network(masked, inputs), digits)
        loss.backward()
        with torch.no_grad():
            self.adam.step()
        return loss.item()
