#include "torch/sequence_network.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/errors.h"
#include "torch/packed_lstm.h"
#include "torch/small_products.h"

namespace modlab::on_torch {
namespace {

using models::SequenceNetworkKind;
using models::SequenceShape;

constexpr double kShown = 0.5;  // chance that an LSTM is shown the right answer in a training step

// Parameters one after the other, in the order of models::sequence_layout.
class InOrder {
 public:
  explicit InOrder(const Tensors& tensors) : next_(tensors.begin()) {}
  const torch::Tensor& next() { return *next_++; }

 private:
  Tensors::const_iterator next_;
};

torch::Tensor dropped(const torch::Tensor& values, Dropout* dropout) {
  return dropout == nullptr ? values : (*dropout)(values);
}

class LstmModel : public SequenceModel {
 public:
  explicit LstmModel(const SequenceShape& shape) : layers_(shape.layers), width_(shape.width) {}

  torch::Tensor logits(const Tensors& parameters, const SequenceBlock& block, bool is_shown,
                       Dropout* dropout) const override {
    InOrder order(parameters);
    const torch::Tensor input_embedding = order.next();
    const std::vector<LstmCell> encoder = cells(order);
    const torch::Tensor output_embedding = order.next();
    const std::vector<LstmCell> decoder = cells(order);
    const torch::Tensor weight = order.next();
    const torch::Tensor bias = order.next();

    std::vector<LstmState> states = read(block, input_embedding, encoder, dropout);
    if (is_shown) {
      return torch::linear(write_shown(block, output_embedding, decoder, states, dropout), weight, bias);
    }
    return write_freely(block, output_embedding, decoder, states, weight, bias, dropout);
  }

 private:
  std::vector<LstmCell> cells(InOrder& order) const {
    std::vector<LstmCell> made;
    for (int layer = 0; layer < layers_; ++layer) {
      LstmCell& cell = made.emplace_back();
      cell.input = order.next();
      cell.recurrent = order.next();
      cell.bias = order.next();
    }
    return made;
  }

  // The states of all layers after the token that ends what is read.
  std::vector<LstmState> read(const SequenceBlock& block, const torch::Tensor& embedding,
                              const std::vector<LstmCell>& encoder, Dropout* dropout) const {
    const auto [lengths, order] = block.read_lengths.sort(true, 0, true);
    const torch::Tensor back = order.argsort();
    const torch::Tensor sorted = block.read.index_select(0, order.to(block.read.device()));
    auto [steps, rows_at] = torch::_pack_padded_sequence(torch::embedding(embedding, sorted), lengths, true);
    std::vector<LstmState> states;
    for (std::size_t layer = 0; layer < encoder.size(); ++layer) {
      const torch::Tensor zeros = torch::zeros({block.read.size(0), width_}, steps.options());
      LstmState& state = states.emplace_back(LstmState{zeros, zeros});
      steps = packed_lstm(encoder[layer], dropped(steps, dropout), rows_at, state);
    }
    for (LstmState& state : states) {
      const torch::Tensor place = back.to(state.hidden.device());
      state = {state.hidden.index_select(0, place), state.cell.index_select(0, place)};
    }
    return states;
  }

  static torch::Tensor write_shown(const SequenceBlock& block, const torch::Tensor& embedding,
                                   const std::vector<LstmCell>& decoder, std::vector<LstmState>& states,
                                   Dropout* dropout) {
    auto [steps, rows_at] = torch::_pack_padded_sequence(torch::embedding(embedding, block.shown), block.lengths, true);
    for (std::size_t layer = 0; layer < decoder.size(); ++layer) {
      steps = packed_lstm(decoder[layer], dropped(steps, dropout), rows_at, states[layer]);
    }
    return steps;
  }

  static torch::Tensor write_freely(const SequenceBlock& block, const torch::Tensor& embedding,
                                    const std::vector<LstmCell>& decoder, std::vector<LstmState>& states,
                                    const torch::Tensor& weight, const torch::Tensor& bias, Dropout* dropout) {
    Tensors all;
    // libtorch's cell has a second bias.
    const torch::Tensor no_bias = torch::zeros_like(decoder.front().bias);
    torch::Tensor token = block.shown.select(1, 0);
    for (std::int64_t place = 0; place < block.rows_at.size(0); ++place) {
      // What is said behind the end of an answer counts nowhere.
      const auto rows = block.rows_at[place].item<std::int64_t>();
      torch::Tensor signal = torch::embedding(embedding, token.narrow(0, 0, rows));
      for (std::size_t layer = 0; layer < decoder.size(); ++layer) {
        LstmState& state = states[layer];
        std::tie(state.hidden, state.cell) =
            torch::lstm_cell(dropped(signal, dropout), {state.hidden.narrow(0, 0, rows), state.cell.narrow(0, 0, rows)},
                             decoder[layer].input, decoder[layer].recurrent, decoder[layer].bias, no_bias);
        signal = state.hidden;
      }
      all.push_back(torch::linear(signal, weight, bias));
      token = all.back().argmax(1);
    }
    return torch::cat(all);
  }

  int layers_;
  int width_;
};

// Sines at even places and cosines at odd ones, slower from one pair to the next.
torch::Tensor position_table(int positions, int width) {
  const torch::Tensor place = torch::arange(positions, torch::kDouble).unsqueeze(1);
  const torch::Tensor pair = torch::arange(0, width, 2, torch::kDouble);
  const torch::Tensor angle = place * torch::exp(pair * (-std::log(10000.0) / width));
  torch::Tensor table = torch::zeros({positions, width}, torch::kDouble);
  table.slice(1, 0, torch::nullopt, 2).copy_(angle.sin());
  table.slice(1, 1, torch::nullopt, 2).copy_(angle.cos().narrow(1, 0, width / 2));
  return table.to(torch::kFloat);
}

// The published norm: by the unbiased deviation, with the small number beside it and not under a root. Written down
// with its gradient, since libtorch's own deviation is slow, and it keeps more on the way than is needed back.
struct PublishedNorm : torch::autograd::Function<PublishedNorm> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& values,
                               const torch::Tensor& gamma, const torch::Tensor& beta) {
    constexpr double kSmall = 1e-5;
    const torch::Tensor centred = values - values.mean(-1, true);
    const torch::Tensor deviation = (centred.square().sum(-1, true) / (values.size(-1) - 1)).sqrt();
    const torch::Tensor unit = centred / (deviation + kSmall);
    context->save_for_backward({unit, deviation, deviation + kSmall, gamma});
    return torch::addcmul(beta, unit, gamma);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list given) {
    const torch::autograd::tensor_list saved = context->get_saved_variables();
    const torch::Tensor &unit = saved[0], &deviation = saved[1], &divisor = saved[2], &gamma = saved[3];
    const torch::Tensor gradient = given[0];
    const torch::Tensor of_unit = gradient * gamma;
    // Values that are all alike have no deviation, and none of its slope.
    const torch::Tensor share =
        (divisor / (deviation * (unit.size(-1) - 1))).masked_fill(deviation == 0, 0) * (of_unit * unit).sum(-1, true);
    const torch::Tensor of_values = torch::addcmul(of_unit - of_unit.mean(-1, true), unit, share, -1) / divisor;
    return {of_values, (gradient * unit).flatten(0, -2).sum(0), gradient.flatten(0, -2).sum(0)};
  }
};

class TransformerModel : public SequenceModel {
 public:
  TransformerModel(const SequenceShape& shape, int longest, const torch::Device& device)
      : shape_(shape), positions_(position_table(longest, shape.width).to(device)) {}

  // Always shown the answer: what it says of a place follows from the places before alone, so that one pass serves all.
  torch::Tensor logits(const Tensors& parameters, const SequenceBlock& block, bool /*is_shown*/,
                       Dropout* dropout) const override {
    InOrder order(parameters);
    const torch::Tensor input_embedding = order.next();
    const torch::Tensor places = torch::arange(block.read.size(1)).unsqueeze(0);
    const torch::Tensor is_padding =
        (places >= block.read_lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(1).to(block.read.device());
    torch::Tensor memory = placed(input_embedding, block.read, dropout);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      memory = joined(order, memory, attention(order, memory, memory, is_padding, dropout), dropout);
      memory = joined(order, memory, feed_forward(order, memory, dropout), dropout);
    }
    const torch::Tensor output_embedding = shape_.shares_embedding ? input_embedding : order.next();
    const std::int64_t length = block.shown.size(1);
    const torch::Tensor is_later =
        torch::ones({length, length}, torch::TensorOptions(torch::kBool).device(block.shown.device())).triu(1);
    torch::Tensor signal = placed(output_embedding, block.shown, dropout);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      signal = joined(order, signal, attention(order, signal, signal, is_later, dropout), dropout);
      signal = joined(order, signal, attention(order, signal, memory, is_padding, dropout), dropout);
      signal = joined(order, signal, feed_forward(order, signal, dropout), dropout);
    }
    const torch::Tensor packed = std::get<0>(torch::_pack_padded_sequence(signal, block.lengths, true));
    if (shape_.shares_embedding) {
      return torch::matmul(packed, output_embedding.t()) / std::sqrt(shape_.width);
    }
    const torch::Tensor weight = order.next();
    return torch::linear(packed, weight, order.next());
  }

 private:
  torch::Tensor placed(const torch::Tensor& embedding, const torch::Tensor& tokens, Dropout* dropout) const {
    return dropped(torch::embedding(embedding, tokens) + positions_.narrow(0, 0, tokens.size(1)), dropout);
  }

  // What a part adds to what it was given, and the norm behind it.
  static torch::Tensor joined(InOrder& order, const torch::Tensor& values, const torch::Tensor& added,
                              Dropout* dropout) {
    const torch::Tensor gamma = order.next();
    return PublishedNorm::apply(values + dropped(added, dropout), gamma, order.next());
  }

  torch::Tensor attention(InOrder& order, const torch::Tensor& from, const torch::Tensor& to,
                          const torch::Tensor& is_hidden, Dropout* dropout) const {
    const torch::Tensor query = order.next();
    const torch::Tensor key_value = order.next();
    const torch::Tensor merge = order.next();
    const std::int64_t size = shape_.width / shape_.heads;
    const auto heads = [&](const torch::Tensor& values, std::int64_t each) {
      return values.view({values.size(0), values.size(1), shape_.heads, each}).transpose(1, 2);
    };
    const torch::Tensor asked = heads(torch::matmul(from, query.t()), size);
    const torch::Tensor offered = heads(torch::matmul(to, key_value.t()), 2 * size);
    const torch::Tensor scores = small_products(asked, offered.narrow(-1, 0, size), true) / std::sqrt(size);
    const torch::Tensor shares = scores.masked_fill(is_hidden, -std::numeric_limits<double>::infinity()).softmax(-1);
    const torch::Tensor found = small_products(dropped(shares, dropout), offered.narrow(-1, size, size), false);
    return torch::matmul(found.transpose(1, 2).reshape(from.sizes()), merge.t());
  }

  static torch::Tensor feed_forward(InOrder& order, const torch::Tensor& values, Dropout* dropout) {
    const torch::Tensor weight1 = order.next();
    const torch::Tensor bias1 = order.next();
    const torch::Tensor weight2 = order.next();
    const torch::Tensor bias2 = order.next();
    return torch::linear(dropped(torch::relu(torch::linear(values, weight1, bias1)), dropout), weight2, bias2);
  }

  SequenceShape shape_;
  torch::Tensor positions_;
};

}  // namespace

Dropout::Dropout(double rate, std::uint64_t seed)
    : rate_(rate), generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}

torch::Tensor Dropout::operator()(const torch::Tensor& values) {
  torch::Tensor kept = torch::empty(values.sizes(), torch::kFloat);
  kept.bernoulli_(1 - rate_, generator_);
  return values * (kept / (1 - rate_)).to(values.device());
}

std::unique_ptr<SequenceModel> make_sequence_model(const SequenceShape& shape, int longest,
                                                   const torch::Device& device) {
  if (shape.kind == SequenceNetworkKind::kLstm) {
    return std::make_unique<LstmModel>(shape);
  }
  if (longest > shape.positions) {
    throw ConfigError(fmt::format("a sequence has {} tokens, its end included, and the network has {} positions",
                                  longest, shape.positions));
  }
  return std::make_unique<TransformerModel>(shape, longest, device);
}

SequenceNetwork::SequenceNetwork(const SequenceShape& shape, std::shared_ptr<const models::TokenSequences> samples,
                                 std::uint64_t seed, const models::TorchPlace& place)
    : NetworkOnTorch("a network on sequences", place), shape_(shape), samples_(std::move(samples)), seed_(seed) {
  for (const engine::Tensor& tensor : models::sequence_layout(shape_).tensors) {
    add_parameter(tensor.name, torch::empty(std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end())));
  }
  std::size_t longest = 0;
  for (const auto& [sequences, tokens] :
       {std::pair(&samples_->inputs, shape_.input_tokens), std::pair(&samples_->outputs, shape_.output_tokens)}) {
    for (const std::vector<std::uint8_t>& sequence : *sequences) {
      longest = std::max(longest, sequence.size());
      if (std::ranges::any_of(sequence, [tokens](std::uint8_t token) { return token >= tokens; })) {
        throw ConfigError(fmt::format("a sequence has a token that is none of the {} there are", tokens));
      }
    }
  }
  model_ = make_sequence_model(shape_, static_cast<int>(longest + 1), device());
}

SequenceBlock SequenceNetwork::block_of(std::span<const std::uint32_t> rows) const {
  const auto count = std::ssize(rows);
  std::vector<std::int64_t> read_lengths;
  std::vector<std::int64_t> lengths;
  for (const std::uint32_t row : rows) {
    read_lengths.push_back(std::ssize(samples_->inputs[row]) + 1);
    lengths.push_back(std::ssize(samples_->outputs[row]) + 1);
  }
  const std::int64_t read_width = *std::ranges::max_element(read_lengths);
  const std::int64_t width = lengths.front();
  SequenceBlock block;
  block.read_lengths = torch::tensor(read_lengths, torch::kLong);
  block.lengths = torch::tensor(lengths, torch::kLong);
  block.read = torch::full({count, read_width}, shape_.input_tokens, torch::kLong);
  block.shown = torch::full({count, width}, shape_.output_tokens, torch::kLong);
  torch::Tensor wanted = block.shown.clone();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    std::ranges::copy(samples_->inputs[rows[row]], block.read.data_ptr<std::int64_t>() + at * read_width);
    std::ranges::copy(samples_->outputs[rows[row]], block.shown.data_ptr<std::int64_t>() + at * width + 1);
    std::ranges::copy(samples_->outputs[rows[row]], wanted.data_ptr<std::int64_t>() + at * width);
  }
  std::tie(block.wanted, block.rows_at) = torch::_pack_padded_sequence(wanted, block.lengths, true);
  const torch::Tensor numbers = torch::arange(count).unsqueeze(1).expand({count, width});
  block.row_of = std::get<0>(torch::_pack_padded_sequence(numbers, block.lengths, true));
  for (torch::Tensor* tensor : {&block.read, &block.shown, &block.wanted, &block.row_of}) {
    *tensor = tensor->to(device());
  }
  return block;
}

std::vector<std::vector<std::uint32_t>> SequenceNetwork::blocks_of(std::span<const std::uint32_t> rows) const {
  // An LSTM's steps have no padding in any case. Smaller blocks have less of it, and larger ones fewer calls.
  constexpr std::size_t kLeastRows = 16;
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto length = [&](std::uint32_t place) { return samples_->outputs[rows[place]].size() + 1; };
  std::ranges::stable_sort(order, std::ranges::greater{}, length);
  std::vector<std::vector<std::uint32_t>> blocks;
  for (const std::uint32_t place : order) {
    const bool is_short = !blocks.empty() && shape_.kind == SequenceNetworkKind::kTransformer &&
                          3 * length(place) <= 2 * length(blocks.back().front());
    if (blocks.empty() || (is_short && blocks.back().size() >= kLeastRows)) {
      blocks.emplace_back();
    }
    blocks.back().push_back(place);
  }
  return blocks;
}

torch::Tensor SequenceNetwork::loss(const Tensors& parameters, const models::TorchBatch& batch) {
  std::optional<Dropout> dropout;
  if (batch.trains_weights && shape_.dropout > 0) {
    dropout.emplace(shape_.dropout, batch.noise);
  }
  constexpr double kHighest = 0x1p64;
  const bool is_shown = static_cast<double>(batch.step_noise) < kShown * kHighest;
  torch::Tensor sum;
  for (const std::vector<std::uint32_t>& places : blocks_of(batch.rows)) {
    std::vector<std::uint32_t> rows;
    std::ranges::transform(places, std::back_inserter(rows), [&](std::uint32_t place) { return batch.rows[place]; });
    const SequenceBlock block = block_of(rows);
    const torch::Tensor logits = model_->logits(parameters, block, is_shown, dropout ? &*dropout : nullptr);
    const torch::Tensor part = torch::cross_entropy_loss(logits, block.wanted, {}, at::Reduction::Sum);
    sum = sum.defined() ? sum + part : part;
  }
  return sum / std::ssize(batch.rows);
}

// A network that writes a whole answer rightly has, at each place, written the right tokens before. So it does exactly
// if it says the right token at each place when it is shown the right ones before, which is one pass.
torch::Tensor SequenceNetwork::said(const Tensors& parameters, const torch::Tensor& rows) {
  const std::vector<std::uint32_t> all(rows.data_ptr<std::int64_t>(), rows.data_ptr<std::int64_t>() + rows.numel());
  torch::Tensor right = torch::ones({rows.numel(), 1});
  for (const std::vector<std::uint32_t>& places : blocks_of(all)) {
    std::vector<std::uint32_t> some;
    std::ranges::transform(places, std::back_inserter(some), [&](std::uint32_t place) { return all[place]; });
    const SequenceBlock block = block_of(some);
    const torch::Tensor is_wrong = model_->logits(parameters, block, true, nullptr).argmax(1).ne(block.wanted);
    const torch::Tensor wrong = block.row_of.masked_select(is_wrong).to(torch::kCPU);
    right.index_fill_(0, as_tensor(places).index_select(0, wrong), 0);
  }
  return right;
}

}  // namespace modlab::on_torch
