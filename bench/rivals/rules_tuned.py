"""The networks and samples of rules.py with no needless work.

- Samples are drawn in PyTorch, in floats; for attention only the rule that a token needs is searched, and the states of
  a sequence are products over the tokens of each rule.
- A one-hot rule is never multiplied: its row of weights is added. What depends on the rule alone is computed once for
  each rule.
- What all modules read is one product, and a sum over modules of gate times output is one product with the
  concatenation of gate times hidden units.
- An oracle computes the module that a row needs: rows are gathered by module, padded to the largest group, and one
  batched product takes them all.
- The gradient of the loss is written down; parameters lie in one storage, which a hand-written Adam passes over.
"""

import math

import torch

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def shared_state(r, e):
    h, linear, square = 4 * e, 4 * r * e + 1, 4 * r + 1
    return math.floor((-linear + math.sqrt(linear**2 + 4 * square * (5 * h * h + h * (4 * e + 1)))) / (2 * square))


class Groups:
    """Rows by their rule: `rows` [rule, place] gathers them, `places` [row] says where each then stands."""

    def __init__(self, rules, count):
        sizes = torch.bincount(rules, minlength=count)
        order = torch.argsort(rules)
        first = sizes.cumsum(0) - sizes
        most = int(sizes.max())
        sorted_rules = rules[order]
        place = torch.arange(len(rules)) - first[sorted_rules] + sorted_rules * most
        # Places that no row fills repeat the first row; nobody reads what is said of it there.
        self.rows = torch.zeros(count * most, dtype=torch.long).index_copy_(0, place, order)
        self.places = torch.empty_like(order).index_copy_(0, order, place)
        self.shape = (count, most, -1)

    def multiply(self, x, weights, bias=None):
        """Rows of x by the weights [rule, input, output] of their rule, as gathered rows: see take."""
        gathered = x.index_select(0, self.rows).view(self.shape)
        return torch.bmm(gathered, weights) if bias is None else torch.baddbmm(bias, gathered, weights)

    def take(self, gathered):
        return gathered.reshape(-1, gathered.shape[-1]).index_select(0, self.places)


class Samples:
    def __init__(self, task):
        self.task = task
        if task.family == "rnn":
            self.drive = torch.from_numpy(task.drive).float()
            self.transition = torch.from_numpy(task.transition).float()
        else:
            self.alpha = torch.from_numpy(task.alpha).float()
            self.beta = torch.from_numpy(task.beta).float()
            self.itself = torch.zeros(task.length, task.length).fill_diagonal_(math.inf)

    def draw(self):
        task = self.task
        if task.family == "rnn":  # step by step
            rules = torch.randint(task.rules, (task.length, task.batch))
            x = torch.randn(task.length, task.batch, task.dim)
            return x, rules, self.states(x, rules)
        rules = torch.randint(task.rules, (task.batch, task.length))
        x = torch.randn(task.batch, task.length, task.data_columns)
        if task.family == "mlp":
            x, rules = x[:, 0], rules[:, 0]
            return x, rules, (self.alpha[rules] * x[:, 0] + self.beta[rules] * x[:, 1])[:, None]
        return x, rules, self.searches(x, rules)

    def searches(self, x, rules):
        task = self.task
        of_asker = rules[:, None, :].expand(-1, task.length, -1)
        wanted = 0
        for which, factors in enumerate((self.alpha, self.beta)):
            answers = x[..., which::4].gather(2, of_asker)  # [sample, other, asker]
            own = answers.diagonal(dim1=1, dim2=2)
            found = ((answers - own[:, None]).abs_() + self.itself).argmin(1, keepdim=True)
            values = x[..., 2 + which :: 4].gather(2, of_asker).gather(1, found)[:, 0]
            wanted = wanted + factors[rules] * values
        return wanted[..., None]

    def states(self, x, rules):
        task = self.task
        groups = Groups(rules.view(-1), task.rules)
        driven = groups.take(groups.multiply(x.view(-1, task.dim), self.drive)).view(x.shape)
        states = [driven[0]]
        for step in range(1, task.length):
            groups = Groups(rules[step], task.rules)
            states.append(driven[step] + groups.take(groups.multiply(states[-1], self.transition)))
        return torch.stack(states)


class Parameters:
    """Named leaves that share one storage."""

    def __init__(self):
        self.shapes = {}

    def add(self, name, shape, fan_in):
        self.shapes[name] = (shape, fan_in)

    def layer(self, name, inputs, outputs):
        self.add(name + ".weight", (inputs, outputs), inputs)
        self.add(name + ".bias", (outputs,), inputs)

    def layer2(self, name, inputs, hidden, outputs):
        self.layer(name + ".layer0", inputs, hidden)
        self.layer(name + ".layer1", hidden, outputs)

    def make(self):
        pieces = []
        for shape, fan_in in self.shapes.values():
            bound = 1 / math.sqrt(fan_in)
            pieces.append(torch.empty(math.prod(shape)).uniform_(-bound, bound))
        flat = torch.cat(pieces)
        split = flat.split([piece.numel() for piece in pieces])
        views = [piece.view(shape).detach().requires_grad_(True) for piece, (shape, _) in zip(split, self.shapes.values())]
        return flat, dict(zip(self.shapes, views))


def layer(p, name, x):
    return torch.addmm(p[name + ".bias"], x, p[name + ".weight"])


def layer2(p, name, x):
    return layer(p, name + ".layer1", layer(p, name + ".layer0", x).relu())


def encoded_rules(p, name):
    """A layer's output for each rule: one-hots times weights are the weights."""
    return p[name + ".weight"] + p[name + ".bias"]


class Core:
    """Modules whose last layers are one product over all of them."""

    def __init__(self, model, rules, units, outputs):
        self.model, self.rules, self.units, self.outputs = model, rules, units, outputs

    def add_last(self, parameters):
        r, u = self.rules, self.units
        parameters.add("modules.layer1.weight", (r, u, self.outputs), u)
        parameters.add("modules.layer1.bias", (r, self.outputs), u)
        if self.model == "modular":
            parameters.add("scores.weight", (r, u), u)
            parameters.add("scores.bias", (r,), u)

    def mix(self, p, hidden, scores):
        """hidden [row, rule, unit]; scores [row, rule], or None where hidden units say them."""
        if self.model == "modular":
            scores = (hidden * p["scores.weight"]).sum(-1) + p["scores.bias"]
        shares = torch.softmax(scores, -1)
        weighed = (hidden * shares.unsqueeze(-1)).view(hidden.shape[0], -1)
        stacked = p["modules.layer1.weight"].view(-1, self.outputs)
        return torch.addmm(shares @ p["modules.layer1.bias"], weighed, stacked)


class Mlp:
    def __init__(self, model, task, e):
        self.model, self.rules, self.e, self.d = model, task.rules, e, 4 * e
        self.core = Core(model, task.rules, self.d // task.rules, self.d)

    def parameters(self):
        e, d, r, units = self.e, self.d, self.rules, self.core.units
        found = Parameters()
        found.layer2("encoder_x", 1, e, e)
        found.layer2("encoder_c", r, e, e)
        if self.model == "monolithic":
            found.layer2("core", 3 * e, d, d)
        elif self.model == "gt-modular":
            found.add("modules.layer0.weight", (r, 3 * e, units), 3 * e)
            found.add("modules.layer0.bias", (r, 1, units), 3 * e)
            found.add("modules.layer1.weight", (r, units, d), units)
            found.add("modules.layer1.bias", (r, 1, d), units)
        else:
            found.layer("modules.layer0", 3 * e, r * units)
            self.core.add_last(found)
        if self.model == "modular-op":
            found.layer("gate", e, r)
        found.layer2("decoder", d, e, 1)
        return found

    def forward(self, p, x, rules):
        codes = layer2(p, "encoder_x", x.t().reshape(-1, 1))
        of_rules = layer(p, "encoder_c.layer1", encoded_rules(p, "encoder_c.layer0").relu())
        z = torch.cat([*codes.chunk(2), of_rules.index_select(0, rules)], 1)
        return layer2(p, "decoder", self.middle(p, z, of_rules, rules))

    def middle(self, p, z, of_rules, rules):
        if self.model == "monolithic":
            return layer2(p, "core", z)
        if self.model == "gt-modular":
            groups = Groups(rules, self.rules)
            hidden = groups.multiply(z, p["modules.layer0.weight"], p["modules.layer0.bias"]).relu()
            return groups.take(torch.baddbmm(p["modules.layer1.bias"], hidden, p["modules.layer1.weight"]))
        hidden = layer(p, "modules.layer0", z).relu().view(len(z), self.rules, -1)
        scores = layer(p, "gate", of_rules).index_select(0, rules) if self.model == "modular-op" else None
        return self.core.mix(p, hidden, scores)


class Mha:
    def __init__(self, model, task, e):
        r, a = task.rules, 4 * e
        self.model, self.rules, self.e, self.a, self.head = model, r, e, a, a // (2 * r)
        units = math.floor(2 * e * (2 * r * (a + e) + a) / (r * (3 * a + 2 * r * e)))
        self.core = Core(model, r, units, e)
        self.itself = torch.zeros(task.length, task.length).fill_diagonal_(-math.inf)
        # An oracle's tokens ask two heads of their own; with few rules all heads of a sample cost less than finding
        # out which.
        self.asks_own = model == "gt-modular" and r > 4

    def parameters(self):
        e, a, r, head, units = self.e, self.a, self.rules, self.head, self.core.units
        own = head if self.model == "monolithic" else head * r
        found = Parameters()
        found.layer2("encoder", 5 * r, e, e)
        found.layer("paths", e, 3 * a + own)
        if self.model == "monolithic":
            found.layer2("core", a + head, 2 * e, e)
        else:
            found.add("modules.layer0.weight", (r, 3 * head, units), 3 * head)
            found.add("modules.layer0.bias", (r, 1, units), 3 * head)
            if self.model == "gt-modular":
                found.add("modules.layer1.weight", (r, units, e), units)
                found.add("modules.layer1.bias", (r, 1, e), units)
            else:
                self.core.add_last(found)
        if self.model == "modular-op":
            found.layer2("gate", r, head, r)
        found.layer2("decoder", e, e, 1)
        return found

    def forward(self, p, x, rules):
        samples, length = rules.shape
        flat_rules = rules.reshape(-1)
        data, of_rule = p["encoder.layer0.weight"].split([4 * self.rules, self.rules])
        first = torch.addmm((of_rule + p["encoder.layer0.bias"]).index_select(0, flat_rules), x.view(-1, x.shape[-1]), data)
        codes = layer(p, "encoder.layer1", first.relu())
        own_units = p["paths.bias"].numel() - 3 * self.a
        query, key, value, own = layer(p, "paths", codes).split([self.a, self.a, self.a, own_units], 1)
        if self.asks_own:
            read = self.own_heads(query, key, value, own, rules)
        else:
            found = self.all_heads(query, key, value, samples, length)
        if self.model == "monolithic":
            mixture = layer2(p, "core", torch.cat([found.reshape(samples * length, -1), own], 1))
        elif self.model == "gt-modular":
            if not self.asks_own:
                read = self.parts(found, own)[torch.arange(samples * length), flat_rules]
            groups = Groups(flat_rules, self.rules)
            hidden = groups.multiply(read, p["modules.layer0.weight"], p["modules.layer0.bias"]).relu()
            mixture = groups.take(torch.baddbmm(p["modules.layer1.bias"], hidden, p["modules.layer1.weight"]))
        else:
            read = self.parts(found, own).transpose(0, 1)
            hidden = torch.baddbmm(p["modules.layer0.bias"], read, p["modules.layer0.weight"]).relu()
            scores = None
            if self.model == "modular-op":
                of_rules = layer(p, "gate.layer1", encoded_rules(p, "gate.layer0").relu())
                scores = of_rules.index_select(0, flat_rules)
            mixture = self.core.mix(p, hidden.transpose(0, 1).contiguous(), scores)
        return layer2(p, "decoder", mixture).view(samples, length, 1)

    def parts(self, found, own):
        pairs = found.reshape(-1, self.rules, 2 * self.head)
        return torch.cat([pairs, own.view(-1, self.rules, self.head)], -1)

    def all_heads(self, query, key, value, samples, length):
        def heads(x):
            return x.reshape(samples, length, 2 * self.rules, self.head).transpose(1, 2).reshape(-1, length, self.head)

        scores = torch.baddbmm(self.itself, heads(query), heads(key).transpose(1, 2), alpha=1 / math.sqrt(self.head))
        found = torch.bmm(torch.softmax(scores, -1), heads(value))
        return found.view(samples, 2 * self.rules, length, self.head).transpose(1, 2)

    def own_heads(self, query, key, value, own, rules):
        samples, length = rules.shape
        tokens = torch.arange(samples * length)
        flat_rules = rules.reshape(-1)
        asked = query.reshape(samples * length, self.rules, 2, self.head)[tokens, flat_rules]
        sample = torch.arange(samples)[:, None]

        def of_asker(x):  # [token, head, other, unit]
            x = x.reshape(samples, length, self.rules, -1).transpose(1, 2)[sample, rules]
            return x.view(samples * length, length, 2, self.head).transpose(1, 2)

        scores = (asked[:, :, None] * of_asker(key)).sum(-1) / math.sqrt(self.head)
        scores = scores + self.itself.repeat(samples, 1)[:, None]
        found = (torch.softmax(scores, -1)[..., None] * of_asker(value)).sum(2)
        itself = own.reshape(samples * length, self.rules, self.head)[tokens, flat_rules]
        return torch.cat([found.reshape(samples * length, -1), itself], 1)


class Rnn:
    def __init__(self, model, task, e):
        self.model, self.rules, self.e, self.task = model, task.rules, e, task
        self.size = 4 * e if model == "monolithic" else shared_state(task.rules, e)

    def parameters(self):
        e, r, h = self.e, self.rules, self.size
        found = Parameters()
        found.layer2("encoder", self.task.dim + r, e, e)
        if self.model == "monolithic":
            for name, shape in (("input", (4 * h, e)), ("state", (4 * h, h)), ("input_bias", (4 * h,)), ("state_bias", (4 * h,))):
                found.add("cell." + name, shape, h)
        elif self.model == "gt-modular":
            found.add("input", (r, e, 4 * h), e)
            found.add("state", (r, h, 4 * h), h)
        else:
            found.add("input", (e, r * 4 * h), e)
            found.add("state", (h, r * 4 * h), h)
        if self.model == "modular":
            found.add("scores.input", (r, 4 * h), 8 * h)
            found.add("scores.state", (r, 4 * h), 8 * h)
        elif self.model == "modular-op":
            found.add("gate.layer0", (r, h), r)
            found.add("gate.layer1", (h, r), h)
        found.layer2("decoder", h, h, self.task.outputs)
        return found

    def forward(self, p, x, rules):
        length, samples = rules.shape
        data, of_rule = p["encoder.layer0.weight"].split([self.task.dim, self.rules])
        of_rule = (of_rule + p["encoder.layer0.bias"]).index_select(0, rules.view(-1))
        codes = layer(p, "encoder.layer1", torch.addmm(of_rule, x.view(-1, self.task.dim), data).relu())
        if self.model == "monolithic":
            zero = torch.zeros(1, samples, self.size)
            weights = [p["cell." + name] for name in ("input", "state", "input_bias", "state_bias")]
            codes = codes.view(length, samples, -1)
            states, _, _ = torch._VF.lstm(codes, (zero, zero), weights, True, 1, 0.0, False, False, False)
        elif self.model == "gt-modular":
            states = self.chosen(p, codes, rules)
        else:
            states = self.mixed(p, codes, rules)
        return layer2(p, "decoder", states.view(length * samples, -1)).view(length, samples, -1)

    def squashed(self, said, c):
        """said [..., 4 h], in the order input, forget, output, candidate."""
        gates, candidate = said.split([3 * self.size, self.size], -1)
        i, f, o = torch.sigmoid(gates).chunk(3, -1)
        c = torch.addcmul(f * c, i, torch.tanh(candidate))
        return o * torch.tanh(c), c

    def chosen(self, p, codes, rules):
        length, samples = rules.shape
        groups = Groups(rules.view(-1), self.rules)
        from_input = groups.take(groups.multiply(codes, p["input"])).view(length, samples, -1).unbind()
        h, c = self.squashed(from_input[0], torch.zeros(samples, self.size))
        states = [h]
        for step in range(1, length):
            groups = Groups(rules[step], self.rules)
            h, c = self.squashed(from_input[step] + groups.take(groups.multiply(h, p["state"])), c)
            states.append(h)
        return torch.stack(states)

    def mixed(self, p, codes, rules):
        length, samples = rules.shape
        from_input = (codes @ p["input"]).view(length, samples, self.rules, 4 * self.size)
        if self.model == "modular":
            of_input = (from_input.relu() * p["scores.input"]).sum(-1).unbind()
        else:
            shares_of_rule = torch.softmax(p["gate.layer0"].relu() @ p["gate.layer1"], -1)
        from_input = from_input.unbind()  # at once: taking one step's part would give a gradient of all steps
        h = c = torch.zeros(samples, self.size)
        states = []
        for step in range(length):
            from_state = (h @ p["state"]).view(samples, self.rules, 4 * self.size)
            if self.model == "modular":
                shares = torch.softmax(of_input[step] + (from_state.relu() * p["scores.state"]).sum(-1), -1)
            else:
                shares = shares_of_rule.index_select(0, rules[step])
            hs, cs = self.squashed(from_input[step] + from_state, c[:, None])
            h = torch.bmm(shares[:, None], hs)[:, 0]
            c = torch.bmm(shares[:, None], cs)[:, 0]
            states.append(h)
        return torch.stack(states)


NETWORKS = {"mlp": Mlp, "mha": Mha, "rnn": Rnn}


class Trainer:
    def __init__(self, arguments, task):
        self.samples = Samples(task)
        self.network = NETWORKS[arguments.family](arguments.model, task, arguments.width)
        self.values, self.leaves = self.network.parameters().make()
        self.clip = 1.0 if arguments.family == "rnn" else 0
        self.lr = arguments.lr
        self.moment1, self.moment2, self.scratch = torch.zeros(3, self.values.numel())
        self.steps = 0

    def step(self):
        x, rules, targets = self.samples.draw()
        said = self.network.forward(self.leaves, x, rules)
        error = said.detach() - targets
        upstream = error.sign().mul_(1 / error.numel())
        gradients = torch.autograd.grad(said, list(self.leaves.values()), upstream)
        self.update(torch.cat([gradient.reshape(-1) for gradient in gradients]))
        return error.abs_().mean().item()

    @torch.no_grad()
    def update(self, gradient):
        if self.clip:
            gradient.mul_(min(1.0, self.clip / (gradient.norm().item() + 1e-6)))
        self.steps += 1
        root = math.sqrt(1 - BETA2**self.steps)
        self.moment1.lerp_(gradient, 1 - BETA1)
        self.moment2.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        torch.sqrt(self.moment2, out=self.scratch).add_(EPSILON * root)
        self.values.addcdiv_(self.moment1, self.scratch, value=-self.lr * root / (1 - BETA1**self.steps))
