#pragma once

#include <cstdint>
#include <vector>

#include "engine/network.h"

namespace modlab::models {

// Samples of networks that read a sequence of tokens and write another one.
struct TokenSequences {
  std::vector<std::vector<std::uint8_t>> inputs;
  std::vector<std::vector<std::uint8_t>> outputs;
};

enum class SequenceNetworkKind { kLstm, kTransformer };

// What such a network is made of: an encoder that reads and a decoder that writes. Behind the tokens comes one more,
// which ends every sequence; the decoder begins with it too.
struct SequenceShape {
  SequenceNetworkKind kind = SequenceNetworkKind::kLstm;
  int input_tokens = 0;
  int output_tokens = 0;
  int layers = 2;        // of the encoder, and as many of the decoder
  int embedding = 16;    // lstm: numbers that a token is read as
  int width = 200;       // lstm: units of a cell; transformer: numbers of a token in all layers
  int inner = 200;       // transformer: units of a feed-forward part
  int heads = 4;         // transformer
  int positions = 5000;  // transformer: tokens that a sequence may have, its end included
  // transformer: the encoder and the decoder have one embedding, and tokens are written by their likeness to it.
  bool shares_embedding = false;
  double dropout = 0.5;
};

// Tensors in the order in which they are used. Those of a norm are called gamma and beta, as in the published code: its
// rule that biases are not masked takes a beta for no bias.
engine::Layout sequence_layout(const SequenceShape& shape);

// As published: LSTM cells as those on digits (drawn_tensors.h) and a linear layer as PyTorch has it; projections of a
// Transformer are Xavier's uniform ones. Embeddings are normal.
std::vector<float> initial_sequence_parameters(const SequenceShape& shape, std::uint64_t seed);

}  // namespace modlab::models
