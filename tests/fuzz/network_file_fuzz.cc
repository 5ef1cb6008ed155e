#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "io/inflate.h"
#include "io/safetensors.h"
#include "models/layered_network_file.h"
#include "packed_bytes.h"

namespace {

using modlab::models::LayeredNetwork;
using modlab::models::NamedNetwork;

bool is_same(const LayeredNetwork& a, const LayeredNetwork& b) {
  for (std::size_t layer = 0; layer < a.connections.size() && a.widths == b.widths; ++layer) {
    if (a.connections[layer].edges != b.connections[layer].edges ||
        a.connections[layer].bias != b.connections[layer].bias) {
      return false;
    }
  }
  return a.widths == b.widths;
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  // The first two of the published networks.
  const std::string lines = io::inflate_stream(repository_file("tests/data/sculpt/nets.jsonl.gz"), io::Wrapping::kGzip,
                                               std::size_t{1} << 24, "nets.jsonl.gz");
  const std::string published = lines.substr(0, lines.find('\n', lines.find('\n') + 1));
  const std::string matrices =
      R"({"arch":[2,3,1],"seed":4,"W":[[[1.5,0],[0,0],[0,-2]],[[3,0,0.1]]],"b":[[0,0.25,0],[-1]]})";
  const io::TensorFile layers = {{{"a.weight", {3, 2}, {1, 0, 0, 2, 0, 0}}, {"b.weight", {1, 3}, {0, 0, 1}}}, {}};
  io::TensorFile run = {{{"best/layer0.weight", {1, 2}, {1, 0}}, {"best/layer0.bias", {1}, {0.5F}}}, {}};
  run.metadata["modlab.run"] = R"({"model":"sparse","id":"one"})";
  const std::string numpy = test::npy("<f4", "(1, 2)", test::bytes_of<float>({0.5F, 0}));
  return {published,
          matrices,
          "[" + matrices + "]",
          test::gzip(matrices),
          io::encode_safetensors(layers),
          io::encode_safetensors(run),
          test::zip({{"w.npy", numpy, true}}),
          "layer,from,to,weight\n0,0,1,0.5\n0,1,0,-2\n1,1,0,1e-3\n"};
}

// Any bytes are networks that are written and read back as they were, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::vector<NamedNetwork> networks;
  try {
    networks = modlab::models::parse_layered_networks(bytes, "fuzz");
  } catch (const modlab::UserError&) {
    return 0;
  }
  for (const NamedNetwork& named : networks) {
    const std::vector<NamedNetwork> back =
        modlab::models::parse_layered_networks(modlab::models::to_json_line(named), "back");
    if (back.size() != 1 || !is_same(back.front().network, named.network)) {
      std::abort();
    }
  }
  return 0;
}
