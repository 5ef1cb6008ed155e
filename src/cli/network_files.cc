#include "cli/network_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/snapshot_option.h"
#include "core/errors.h"
#include "core/text.h"

namespace modlab::cli {
namespace {

models::NetworkFileOptions file_options(const Arguments& arguments) {
  models::NetworkFileOptions options;
  if (arguments.has("tensors")) {
    options.tensors = split_text(arguments.text("tensors"), ',');
  }
  if (arguments.has("sizes")) {
    for (const std::string& text : split_text(arguments.text("sizes"), ',')) {
      const std::optional<long long> size = parse_integer(trim(text));
      if (!size || *size < 1 || *size > std::numeric_limits<int>::max()) {
        throw ConfigError(fmt::format("--sizes takes numbers of units such as 4,24,4, not '{}'", text));
      }
      options.sizes.push_back(static_cast<int>(*size));
    }
  }
  options.inputs_first = arguments.is_on("inputs-first");
  options.last_snapshot = snapshot_name(arguments) == "last";
  return options;
}

void choose(std::vector<models::NamedNetwork>& networks, const std::string& id) {
  std::vector<std::string> ids;
  std::ranges::transform(networks, std::back_inserter(ids), &models::NamedNetwork::id);
  const bool is_whole = std::ranges::find(ids, id) != ids.end();
  std::erase_if(networks, [&](const models::NamedNetwork& named) {
    return is_whole ? named.id != id : named.id.find(id) == std::string::npos;
  });
  if (networks.empty()) {
    const std::string nearest = did_you_mean(id, ids);
    throw ConfigError(fmt::format("none of the {} networks is called '{}'{}", ids.size(), id,
                                  nearest.empty() ? fmt::format("; the first is '{}'", ids.front()) : nearest));
  }
}

}  // namespace

std::vector<Option> network_file_options() {
  return {{"id", Arity::kOne, "TEXT", "only the network of that name, or those whose names contain it", {}},
          {"tensors", Arity::kOne, "A,B", "safetensors, npz: the matrices from the inputs up (default all)", {}},
          {"inputs-first", Arity::kSwitch, "", "matrices are [in][out], not [out][in]", {}},
          {"sizes", Arity::kOne, "4,24,4", "list of edges: units of each layer (default as the edges need)", {}},
          snapshot_option()};
}

std::vector<models::NamedNetwork> networks_from(const Arguments& arguments) {
  if (arguments.positional().empty()) {
    throw ConfigError("name a file of networks, such as DIR/ID.safetensors of `modlab train --save DIR`");
  }
  const models::NetworkFileOptions options = file_options(arguments);
  std::vector<models::NamedNetwork> networks;
  for (const std::string& path : arguments.positional()) {
    std::ranges::move(models::read_layered_networks(path, options), std::back_inserter(networks));
  }
  if (arguments.has("id")) {
    choose(networks, arguments.text("id"));
  }
  return networks;
}

}  // namespace modlab::cli
