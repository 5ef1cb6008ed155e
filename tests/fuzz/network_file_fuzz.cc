#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/errors.h"
#include "models/layered_network_file.h"

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
