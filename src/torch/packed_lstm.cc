#include "torch/packed_lstm.h"

#include <vector>

namespace modlab::on_torch {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// The four parts of a step's gates.
struct Gates {
  Gates(const Tensor& all, std::int64_t units)
      : in(all.narrow(1, 0, units)),
        forget(all.narrow(1, units, units)),
        value(all.narrow(1, 2 * units, units)),
        out(all.narrow(1, 3 * units, units)) {}
  Tensor in, forget, value, out;
};

// Rows of each step, and the place of its first.
struct Steps {
  explicit Steps(const Tensor& rows_at)
      : rows(rows_at.data_ptr<std::int64_t>(), rows_at.data_ptr<std::int64_t>() + rows_at.numel()) {
    std::int64_t at = 0;
    for (const std::int64_t count : rows) {
      first.push_back(at);
      at += count;
    }
  }
  std::size_t count() const { return rows.size(); }
  Tensor of(const Tensor& all, std::size_t step) const { return all.narrow(0, first[step], rows[step]); }
  // Of what the step before left, or of the state that there was at first, the rows of this one.
  Tensor before(const Tensor& all, const Tensor& start, std::size_t step) const {
    return (step == 0 ? start : of(all, step - 1)).narrow(0, 0, rows[step]);
  }
  // Rows from here on have no later step.
  std::int64_t going_on(std::size_t step) const { return step + 1 < rows.size() ? rows[step + 1] : 0; }

  std::vector<std::int64_t> rows, first;
};

struct PackedLstm : torch::autograd::Function<PackedLstm> {
  static tensor_list forward(AutogradContext* context, const Tensor& x, const Tensor& rows_at, const Tensor& input,
                             const Tensor& recurrent, const Tensor& bias, const Tensor& hidden, const Tensor& cell) {
    const Steps steps(rows_at);
    const std::int64_t units = hidden.size(1);
    const Tensor gates = torch::addmm(bias, x, input.t());
    const Tensor out = torch::empty({x.size(0), units}, x.options());
    const Tensor cells = torch::empty_like(out);
    const Tensor squashed = torch::empty_like(out);  // tanh of the cells
    Tensor last_hidden = torch::empty_like(hidden);
    Tensor last_cell = torch::empty_like(cell);
    for (std::size_t step = 0; step < steps.count(); ++step) {
      Tensor all = steps.of(gates, step);
      all.addmm_(steps.before(out, hidden, step), recurrent.t());
      const Gates gate(all, units);
      all.narrow(1, 0, 2 * units).sigmoid_();
      gate.value.tanh_();
      gate.out.sigmoid_();
      Tensor now = steps.of(cells, step);
      torch::mul_out(now, gate.forget, steps.before(cells, cell, step));
      now.addcmul_(gate.in, gate.value);
      Tensor root = steps.of(squashed, step);
      torch::tanh_out(root, now);
      Tensor said = steps.of(out, step);
      torch::mul_out(said, gate.out, root);
      const std::int64_t going_on = steps.going_on(step);
      const std::int64_t ending = steps.rows[step] - going_on;
      if (ending > 0) {
        last_hidden.narrow(0, going_on, ending).copy_(said.narrow(0, going_on, ending));
        last_cell.narrow(0, going_on, ending).copy_(now.narrow(0, going_on, ending));
      }
    }
    context->save_for_backward({x, rows_at, input, recurrent, hidden, cell, gates, out, cells, squashed});
    return {out, last_hidden, last_cell};
  }

  static tensor_list backward(AutogradContext* context, tensor_list given) {
    const tensor_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &rows_at = saved[1], &input = saved[2], &recurrent = saved[3], &hidden = saved[4],
                 &cell = saved[5], &gates = saved[6], &out = saved[7], &cells = saved[8], &squashed = saved[9];
    const Steps steps(rows_at);
    const std::int64_t units = hidden.size(1);
    const Tensor of_gates = torch::empty_like(gates);
    const Tensor before = torch::empty_like(out);  // what each step was given of the one before
    Tensor of_hidden = torch::empty_like(hidden);
    Tensor of_cell = torch::empty_like(cell);
    for (std::size_t step = steps.count(); step-- > 0;) {
      const std::int64_t rows = steps.rows[step];
      const std::int64_t going_on = steps.going_on(step);
      if (rows > going_on) {
        of_hidden.narrow(0, going_on, rows - going_on).copy_(given[1].narrow(0, going_on, rows - going_on));
        of_cell.narrow(0, going_on, rows - going_on).copy_(given[2].narrow(0, going_on, rows - going_on));
      }
      const Gates gate(steps.of(gates, step), units);
      Gates found(steps.of(of_gates, step), units);
      const Tensor root = steps.of(squashed, step);
      const Tensor of_said = of_hidden.narrow(0, 0, rows) + steps.of(given[0], step);
      Tensor of_now = of_cell.narrow(0, 0, rows);
      of_now.add_(at::tanh_backward(of_said * gate.out, root));
      at::sigmoid_backward_out(found.out, of_said * root, gate.out);
      at::sigmoid_backward_out(found.in, of_now * gate.value, gate.in);
      at::sigmoid_backward_out(found.forget, of_now * steps.before(cells, cell, step), gate.forget);
      at::tanh_backward_out(found.value, of_now * gate.in, gate.value);
      of_now.mul_(gate.forget);
      Tensor next = of_hidden.narrow(0, 0, rows);
      torch::mm_out(next, steps.of(of_gates, step), recurrent);
      steps.of(before, step).copy_(steps.before(out, hidden, step));
    }
    return {torch::mm(of_gates, input),
            Tensor(),
            torch::mm(of_gates.t(), x),
            torch::mm(of_gates.t(), before),
            of_gates.sum(0),
            of_hidden,
            of_cell};
  }
};

}  // namespace

torch::Tensor packed_lstm(const LstmCell& cell, const torch::Tensor& steps, const torch::Tensor& rows_at,
                          LstmState& state) {
  const tensor_list found =
      PackedLstm::apply(steps, rows_at, cell.input, cell.recurrent, cell.bias, state.hidden, state.cell);
  state = {found[1], found[2]};
  return found[0];
}

}  // namespace modlab::on_torch
