#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"
#include "models/layered_network.h"
#include "models/layered_network_file.h"

// The kinds of file that layered_network_file.h reads, and what they have in common.
namespace modlab::models::network_file {

inline constexpr std::size_t kMaxTextBytes = 500'000'000;  // numbers of JSON take several times their text

[[noreturn]] void fail(const std::string& source, const std::string& reason);

// Which options mean something to a network.
struct Meaning {
  bool tensors = false;
  bool order = false;
  bool sizes = false;
  bool snapshot = false;
};
void refuse_others(const NetworkFileOptions& options, const Meaning& meaning, const std::string& source);

// "nets/a.b.npz.gz" is called a.b.
std::string id_of_file(const std::string& name);

// Its matrix is [in][out]; that of the result [out][in].
DenseLayer turned(const DenseLayer& layer);

std::vector<NamedNetwork> networks_of_json(const std::string& text, const std::string& name,
                                           const NetworkFileOptions& options);

NamedNetwork network_of_any_tensors(const std::vector<io::NamedTensor>& tensors, const std::string& name,
                                    const NetworkFileOptions& options);
NamedNetwork network_of_safetensors(const std::string& bytes, const std::string& name,
                                    const NetworkFileOptions& options);

// Its code is run to load it, by the library of src/torch.
NamedNetwork network_of_script(const std::string& bytes, const std::string& name, const NetworkFileOptions& options);

bool is_edge_list(std::string_view text);
NamedNetwork network_of_csv(const std::string& text, const std::string& name, const NetworkFileOptions& options);

}  // namespace modlab::models::network_file
