#include "cli/snapshot_option.h"

#include "core/errors.h"
#include "models/saved_snapshot.h"

namespace modlab::cli {

Option snapshot_option() {
  return {"snapshot", Arity::kOne, "best|last", "the first best validation epoch (default) or the last epoch", {}};
}

std::string snapshot_name(const Arguments& arguments) {
  std::string name = arguments.text("snapshot", "best");
  models::check_snapshot_name(name);
  if (arguments.positional().empty()) {
    throw ConfigError("name a network that `modlab train --save DIR` wrote, such as DIR/ID.safetensors");
  }
  return name;
}

}  // namespace modlab::cli
