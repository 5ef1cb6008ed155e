#include "models/torch/sequence_shape.h"

#include <cmath>
#include <span>
#include <string>

#include "models/drawn_tensors.h"

namespace modlab::models {
namespace {

class SequenceLayout {
 public:
  explicit SequenceLayout(const SequenceShape& shape) : shape_(shape) {}

  engine::Layout make() {
    if (shape_.kind == SequenceNetworkKind::kLstm) {
      embedding("input_embedding", shape_.input_tokens, shape_.embedding);
      cells("encoder");
      embedding("output_embedding", shape_.output_tokens, shape_.embedding);
      cells("decoder");
    } else {
      embedding(shape_.shares_embedding ? "embedding" : "input_embedding", shape_.input_tokens, shape_.width);
      for (int layer = 0; layer < shape_.layers; ++layer) {
        const std::string name = "encoder.layers." + std::to_string(layer);
        attention(name + ".self_attention");
        norm(name + ".norm1");
        feed_forward(name);
        norm(name + ".norm2");
      }
      if (!shape_.shares_embedding) {
        embedding("output_embedding", shape_.output_tokens, shape_.width);
      }
      for (int layer = 0; layer < shape_.layers; ++layer) {
        const std::string name = "decoder.layers." + std::to_string(layer);
        attention(name + ".self_attention");
        norm(name + ".norm1");
        attention(name + ".cross_attention");
        norm(name + ".norm2");
        feed_forward(name);
        norm(name + ".norm3");
      }
    }
    if (!shape_.shares_embedding) {
      matrix("output_projection.weight", shape_.width, shape_.output_tokens + 1);
      vector("output_projection.bias", shape_.output_tokens + 1, shape_.width);
    }
    return std::move(layout_);
  }

 private:
  void matrix(const std::string& name, int in, int out) {
    layout_.add(name, {out, in}, engine::Rate::kFunctional, in, out);
  }
  void vector(const std::string& name, int size, int fan_in) {
    layout_.add(name, {size}, engine::Rate::kFunctional, fan_in, size);
  }
  void embedding(const std::string& name, int tokens, int width) { matrix(name + ".weight", width, tokens + 1); }
  void cells(const std::string& name) {
    const int gates = kLstmGates * shape_.width;
    for (int layer = 0; layer < shape_.layers; ++layer) {
      const std::string cell = name + ".cells." + std::to_string(layer);
      const int below = layer == 0 ? shape_.embedding : shape_.width;
      matrix(cell + ".weight_ih", below, gates);
      matrix(cell + ".weight_hh", shape_.width, gates);
      vector(cell + ".bias", gates, below);
    }
  }
  void attention(const std::string& name) {
    matrix(name + ".query.weight", shape_.width, shape_.width);
    matrix(name + ".key_value.weight", shape_.width, 2 * shape_.width);
    matrix(name + ".merge.weight", shape_.width, shape_.width);
  }
  void norm(const std::string& name) {
    vector(name + ".gamma", shape_.width, shape_.width);
    vector(name + ".beta", shape_.width, shape_.width);
  }
  void feed_forward(const std::string& name) {
    matrix(name + ".linear1.weight", shape_.width, shape_.inner);
    vector(name + ".linear1.bias", shape_.inner, shape_.width);
    matrix(name + ".linear2.weight", shape_.inner, shape_.width);
    vector(name + ".linear2.bias", shape_.width, shape_.inner);
  }

  const SequenceShape& shape_;
  engine::Layout layout_;
};

// A matrix of a Transformer. Keys and values are two square ones; in front of the ReLU the gain is the root of 2.
double xavier_bound(const engine::Tensor& tensor) {
  const bool is_fused = tensor.name.ends_with(".key_value.weight");
  const double gain = tensor.name.ends_with(".linear1.weight") ? std::sqrt(2.0) : 1;
  return gain * std::sqrt(6.0 / (tensor.shape[1] + (is_fused ? tensor.shape[1] : tensor.shape[0])));
}

}  // namespace

engine::Layout sequence_layout(const SequenceShape& shape) { return SequenceLayout(shape).make(); }

std::vector<float> initial_sequence_parameters(const SequenceShape& shape, std::uint64_t seed) {
  const engine::Layout layout = sequence_layout(shape);
  std::vector<float> parameters(layout.count);
  RandomSequence random(seed, Stream::kInitialWeights);
  for (const engine::Tensor& tensor : layout.tensors) {
    const std::span<float> values = std::span(parameters).subspan(tensor.offset, tensor.count);
    if (tensor.name.ends_with("embedding.weight")) {
      fill_normal(values, 1, random);
    } else if (tensor.name.find(".cells.") != std::string::npos) {
      fill_lstm_cell(tensor, values, shape.width, random);
    } else if (tensor.name.ends_with(".gamma")) {
      std::ranges::fill(values, 1.0F);
    } else if (tensor.name.ends_with(".beta")) {
      std::ranges::fill(values, 0.0F);
    } else if (shape.kind == SequenceNetworkKind::kTransformer && tensor.shape.size() == 2) {
      fill_uniform(values, xavier_bound(tensor), random);
    } else {
      fill_linear(values, tensor.fan_in, random);
    }
  }
  return parameters;
}

}  // namespace modlab::models
