#include "torch/network_on_torch.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"
#include "torch/drawn_masks.h"

namespace modlab::on_torch {
namespace {

// Rows that are looked at together when nothing is learned from them.
constexpr std::size_t kRowsAtOnce = 512;

// Products are a BLAS's, which has threads of its own. Once for each thread of ours: libtorch starts new ones each
// time.
void set_threads(int threads) {
  thread_local int known = 0;
  if (known == threads) {
    return;
  }
  known = threads;
  at::set_num_threads(threads);
  using SetThreads = void (*)(int);
  static const auto kSetThreads = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (kSetThreads != nullptr) {
    kSetThreads(threads);
  }
}

// A script's errors are told with the lines of its code that lead to them; what went wrong is said last.
std::string matter_of(const std::string& message) {
  std::string first;
  std::string last;
  for (const std::string& line : split_text(message, '\n')) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) {
      continue;
    }
    const std::string text = line.substr(begin);
    first = first.empty() ? text : first;
    const std::size_t error = text.find("Error: ");
    if (error != std::string::npos) {
      last = text.substr(error + std::string_view("Error: ").size());
    }
  }
  return last.empty() ? first : last;
}

}  // namespace

void with_libtorch(const std::string& source, int threads, const std::function<void()>& work) {
  try {
    set_threads(threads);
    work();
  } catch (const UserError&) {
    throw;
  } catch (const c10::Error& error) {
    throw FormatError(fmt::format("{}: libtorch says: {}", source, matter_of(error.what_without_backtrace())));
  } catch (const std::exception& error) {
    throw FormatError(fmt::format("{}: libtorch says: {}", source, matter_of(error.what())));
  }
}

torch::Tensor as_tensor(std::span<const std::uint32_t> rows) {
  torch::Tensor tensor = torch::empty({std::ssize(rows)}, torch::kLong);
  std::ranges::copy(rows, tensor.data_ptr<std::int64_t>());
  return tensor;
}

std::vector<float> as_floats(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU, torch::kFloat).contiguous();
  const float* begin = plain.data_ptr<float>();
  return {begin, begin + plain.numel()};
}

void NetworkOnTorch::add_parameter(const std::string& name, const torch::Tensor& tensor) {
  std::vector<int> shape;
  for (const std::int64_t size : tensor.sizes()) {
    shape.push_back(static_cast<int>(size));
  }
  const int fan_out = shape.empty() ? 1 : shape.front();
  const int fan_in = static_cast<int>(tensor.numel() / std::max(fan_out, 1));
  layout_.add(name, std::move(shape), engine::Rate::kFunctional, std::max(fan_in, 1), std::max(fan_out, 1));
}

Tensors NetworkOnTorch::views(std::span<const float> parameters) const {
  Tensors tensors;
  for (const engine::Tensor& tensor : layout_.tensors) {
    const std::vector<std::int64_t> sizes(tensor.shape.begin(), tensor.shape.end());
    // Nobody writes to it.
    auto* values = const_cast<float*>(parameters.data() + tensor.offset);
    tensors.push_back(torch::from_blob(values, sizes, torch::kFloat).to(device()));
  }
  return tensors;
}

double NetworkOnTorch::gradient(std::span<const float> parameters, const models::TorchBatch& batch,
                                std::span<const std::uint8_t> wanted, std::span<float> gradients) {
  double value = 0;
  with_libtorch(source_, place_.threads, [&] {
    Tensors tensors = views(parameters);
    Tensors leaves;
    std::vector<const engine::Tensor*> places;
    for (std::size_t at = 0; at < tensors.size(); ++at) {
      if (wanted.empty() || wanted[at] != 0) {
        leaves.push_back(tensors[at].requires_grad_(true));
        places.push_back(&layout_.tensors[at]);
      }
    }
    const torch::Tensor sum = loss(tensors, batch);
    const Tensors found = torch::autograd::grad({sum}, leaves, {}, false, false, true);
    for (std::size_t at = 0; at < found.size(); ++at) {
      float* to = gradients.data() + places[at]->offset;
      if (found[at].defined()) {
        const torch::Tensor plain = found[at].to(torch::kCPU, torch::kFloat).contiguous();
        std::copy_n(plain.data_ptr<float>(), places[at]->count, to);
      } else {
        std::fill_n(to, places[at]->count, 0.0F);  // this batch does not use it
      }
    }
    value = sum.item<double>();
  });
  return value;
}

double NetworkOnTorch::mask_gradient(const models::MaskDraws& draws, std::span<const models::TorchBatch> batches,
                                     std::span<const std::uint8_t> wanted, std::span<float> gradients) {
  double value = 0;
  with_libtorch(source_, place_.threads, [&] {
    const auto there = [&](std::span<const float> values) {
      return torch::from_blob(const_cast<float*>(values.data()), {std::ssize(values)}, torch::kFloat)
          .to(device(), torch::kFloat, false, true);
    };
    const torch::Tensor weights = there(draws.weights);
    const torch::Tensor logits = there(draws.logits).requires_grad_(true);
    torch::Tensor sum = torch::zeros_like(weights);
    std::array<torch::Tensor, 4> words;
    for (std::size_t sample = 0; sample < batches.size(); ++sample) {
      if (sample % words.size() == 0 && !draws.deterministic) {
        words = drawn_words(draws, static_cast<int>(sample / words.size()), device());
      }
      const torch::Tensor masked = masked_weights(draws, logits, weights, words[sample % words.size()]);
      Tensors tensors;
      for (std::size_t at = 0; at < layout_.tensors.size(); ++at) {
        const engine::Tensor& tensor = layout_.tensors[at];
        const std::vector<std::int64_t> sizes(tensor.shape.begin(), tensor.shape.end());
        tensors.push_back(
            (wanted[at] != 0 ? masked : weights)
                .narrow(0, static_cast<std::int64_t>(tensor.offset), static_cast<std::int64_t>(tensor.count))
                .view(sizes));
      }
      const torch::Tensor part = loss(tensors, batches[sample]) / std::ssize(batches);
      sum += torch::autograd::grad({part}, {logits}).front();
      value += part.item<double>();
    }
    const std::vector<float> found = as_floats(sum);
    std::ranges::copy(found, gradients.begin());
  });
  return value;
}

std::vector<float> NetworkOnTorch::say(std::span<const float> parameters, std::span<const std::uint32_t> rows) {
  std::vector<float> all;
  with_libtorch(source_, place_.threads, [&] {
    const torch::NoGradGuard no_grad;
    const Tensors tensors = views(parameters);
    for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
      const auto some = rows.subspan(first, std::min(kRowsAtOnce, rows.size() - first));
      const std::vector<float> words = as_floats(said(tensors, as_tensor(some)));
      all.insert(all.end(), words.begin(), words.end());
    }
  });
  return all;
}

}  // namespace modlab::on_torch
