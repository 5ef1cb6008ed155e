#include "report/wiring_picture.h"

#include <fmt/format.h>

namespace modlab::report {

std::string WiringPicture::node_id(int level, int index) {
  return level == 0 ? fmt::format("x{}", index) : fmt::format("m{}.{}", level, index);
}

std::string WiringPicture::output_id(int index) { return fmt::format("y{}", index); }

WiringPicture::Edges WiringPicture::edges_of(const tasks::Routing& routing, const Place& place) {
  Edges edges;
  const auto add = [&](const std::optional<std::string>& from, const std::optional<std::string>& to) {
    if (from && to) {
      edges.emplace(*from, *to);
    }
  };
  const auto levels = static_cast<int>(routing.inputs.size());
  const auto slots = [&](int level) { return static_cast<int>(routing.inputs[level - 1].size()); };
  for (int level = 1; level <= levels; ++level) {
    for (int slot = 0; slot < slots(level); ++slot) {
      for (const int candidate : routing.inputs[level - 1][slot]) {
        add(place(level - 1, candidate), place(level, slot));
      }
    }
  }
  for (std::size_t output = 0; output < routing.outputs.size(); ++output) {
    int slot = routing.outputs[output];
    int level = levels;
    if (routing.outputs_from_all_levels) {
      for (level = 1; slot >= slots(level); ++level) {
        slot -= slots(level);
      }
    }
    add(place(level, slot), output_id(static_cast<int>(output)));
  }
  return edges;
}

WiringPicture::Edges WiringPicture::edges_of(const tasks::Routing& routing) {
  return edges_of(routing, [](int level, int index) { return std::optional(node_id(level, index)); });
}

nlohmann::ordered_json& WiringPicture::add_node(const std::string& id, const char* kind, int level, int index,
                                                const std::string& label) {
  nodes_.push_back({{"id", id},
                    {"kind", kind},
                    {"level", level},
                    {"index", index},
                    {"label", label},
                    {"pool", nullptr},
                    {"gate", nullptr},
                    {"correlation", nullptr},
                    {"surplus", false}});
  return nodes_.back();
}

void WiringPicture::add_edges(const Edges& learned, const std::optional<Edges>& truth) {
  std::map<std::string, std::size_t> reads;
  for (const auto& edge : learned) {
    ++reads[edge.second];
  }
  for (const auto& edge : learned) {
    const bool right = !truth || truth->contains(edge);
    const auto needs = needs_.find(edge.second);
    const bool is_free = !right && needs != needs_.end() && reads[edge.second] > needs->second;
    reads[edge.second] -= is_free ? 1 : 0;
    edges_.push_back({{"from", edge.first},
                      {"to", edge.second},
                      {"state", right     ? "right"
                                : is_free ? "free"
                                          : "wrong"}});
  }
  for (const auto& edge : truth.value_or(Edges{})) {
    if (!learned.contains(edge)) {
      edges_.push_back({{"from", edge.first}, {"to", edge.second}, {"state", "missing"}});
    }
  }
}

}  // namespace modlab::report
