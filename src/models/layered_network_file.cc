#include "models/layered_network_file.h"

#include "core/text.h"
#include "io/file.h"
#include "io/inflate.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "models/network_file/network_file_parts.h"
#include "models/torch/torch_network.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMaxFileBytes = 4'000'000'000;

}  // namespace

std::vector<NamedNetwork> parse_layered_networks(const std::string& bytes, const std::string& name,
                                                 const NetworkFileOptions& options) {
  if (io::is_gzip(bytes)) {
    const std::string expanded = io::inflate_stream(bytes, io::Wrapping::kGzip, network_file::kMaxTextBytes, name);
    if (io::is_gzip(expanded)) {
      network_file::fail(name, "is compressed twice; expand it once");
    }
    return parse_layered_networks(expanded, name, options);
  }
  if (is_torch_script(bytes)) {
    return {network_file::network_of_script(bytes, name, options)};
  }
  if (io::is_zip(bytes)) {
    return {network_file::network_of_any_tensors(io::decode_npz(bytes, name), name, options)};
  }
  if (io::is_safetensors(bytes, name)) {
    return {network_file::network_of_safetensors(bytes, name, options)};
  }
  if (const std::string_view text = trim(bytes); text.starts_with('{') || text.starts_with('[')) {
    return network_file::networks_of_json(bytes, name, options);
  }
  if (network_file::is_edge_list(bytes)) {
    return {network_file::network_of_csv(bytes, name, options)};
  }
  io::refuse_pickle(bytes, name);
  network_file::fail(
      name, "is no file of networks; JSON, safetensors, npz, TorchScript, and CSV with layer, from and to are read");
}

std::vector<NamedNetwork> read_layered_networks(const std::string& path, const NetworkFileOptions& options) {
  return parse_layered_networks(io::read_file(path, kMaxFileBytes), path, options);
}

}  // namespace modlab::models
