#include "report/gallery_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/images/image_details.h"
#include "experiments/images/images.h"
#include "io/json_text.h"
#include "measures/edit_distance.h"
#include "measures/image_wiring.h"
#include "models/images/image_blueprint.h"
#include "models/images/image_samples.h"
#include "models/learned_routing.h"
#include "report/network_view.h"
#include "report/wiring_picture.h"
#include "tasks/task_cache.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t byte = 0; byte < 3; ++byte) {
      word = word << 8U | (byte < count ? bytes[at + byte] : 0U);
    }
    for (std::size_t letter = 0; letter < 4; ++letter) {
      text += letter <= count ? kLetters[word >> (18 - 6 * letter) & 63U] : '=';
    }
  }
  return text;
}

// The images of a study, or nothing where they cannot be had: a report is written all the same.
std::shared_ptr<const tasks::ImageData> images_at_hand(const models::ImageSpec& spec) {
  try {
    return tasks::load_image_data(models::image_files(spec));
  } catch (const UserError&) {
    return nullptr;
  }
}

std::string reads_text(const ordered_json& reads) {
  std::set<int> images;
  for (const auto& image : reads) {
    images.insert(image.get<int>() + 1);
  }
  std::vector<std::string> names;
  for (const int image : images) {
    names.push_back(fmt::format("image {}", image));
  }
  return names.empty() ? "nothing" : join_text(names, " and ");
}

// Nodes and edges of a network on images, under the names they have in the picture.
class ImageDrawing {
 public:
  ImageDrawing(models::ImageRouting learned, const tasks::TaskSuite& suite)
      : task_(suite.tasks.front()), learned_(std::move(learned)) {
    routing_ = measures::with_image_level(learned_.images, values(), learned_.bits);
    try {
      truth_ = measures::true_image_routing(suite);
      matching_ = measures::edit_distance(routing_, *truth_, images()).matching;
    } catch (const ConfigError&) {
      truth_.reset();  // no truth to draw over
    }
  }

  ordered_json json() {
    add_nodes();
    picture_.add_edges(WiringPicture::edges_of(routing_), true_edges());
    return picture_.json();
  }

 private:
  int images() const { return task_.images->images; }
  int values() const { return task_.images->bits; }

  void add_nodes() {
    for (int image = 0; image < images(); ++image) {
      picture_.add_node(WiringPicture::node_id(0, image), "image", 0, image, fmt::format("image {}", image + 1));
    }
    for (int slot = 0; slot < static_cast<int>(learned_.images.size()); ++slot) {
      for (int value = 0; value < values(); ++value) {
        const int index = slot * values() + value;
        ordered_json& node = picture_.add_node(WiringPicture::node_id(1, index), "value", 1, index,
                                               fmt::format("image slot {}, value {}", slot + 1, value + 1));
        if (!learned_.members.empty()) {
          node["pool"] = learned_.members[slot];
        }
        if (const std::optional<int> bit = matched(1, index)) {
          node["gate"] = fmt::format("bit {} of image {}", values() - 1 - *bit % values(), *bit / values() + 1);
        } else if (truth_) {
          node["surplus"] = true;
        }
      }
    }
    const int levels = static_cast<int>(learned_.bits.inputs.size());
    for (int level = 0; level < levels; ++level) {
      for (int slot = 0; slot < static_cast<int>(learned_.bits.inputs[level].size()); ++slot) {
        ordered_json& node = picture_.add_node(WiringPicture::node_id(level + 2, slot), "module", level + 2, slot,
                                               slot_name(level, slot));
        if (!learned_.bits.modules.empty()) {
          node["pool"] = learned_.bits.modules[level][slot];
        }
        if (const std::optional<int> gate = matched(level + 2, slot)) {
          node["gate"] = tasks::gate_text(*task_.graph, task_.graph->levels[level][*gate]);
          picture_.set_needs(WiringPicture::node_id(level + 2, slot), truth_->inputs[level + 1][*gate].size());
        } else if (truth_) {
          node["surplus"] = true;
        }
      }
    }
    for (std::size_t output = 0; output < learned_.bits.outputs.size(); ++output) {
      picture_.add_node(WiringPicture::output_id(static_cast<int>(output)), "output", levels + 2,
                        static_cast<int>(output), task_.output_names[output]);
    }
  }

  // The true node of a level (from 1) that a node stands for.
  std::optional<int> matched(int level, int index) const {
    if (!truth_ || level > static_cast<int>(matching_.size()) || matching_[level - 1][index] < 0) {
      return std::nullopt;
    }
    return matching_[level - 1][index];
  }

  // Edges of the truth between the nodes that stand for its own; nothing where there is no truth.
  std::optional<WiringPicture::Edges> true_edges() const {
    if (!truth_) {
      return std::nullopt;
    }
    return WiringPicture::edges_of(*truth_, [&](int level, int index) -> std::optional<std::string> {
      if (level == 0) {
        return WiringPicture::node_id(0, index);
      }
      const std::vector<int>& gates = matching_[level - 1];
      const auto found = std::ranges::find(gates, index);
      return found == gates.end()
                 ? std::nullopt
                 : std::optional(WiringPicture::node_id(level, static_cast<int>(found - gates.begin())));
    });
  }

  const tasks::Task& task_;
  models::ImageRouting learned_;
  tasks::Routing routing_;  // with the level of image values
  std::optional<tasks::Routing> truth_;
  std::vector<std::vector<int>> matching_;
  WiringPicture picture_;
};

// Null where the store has none.
ordered_json details_of(const studies::Findings& findings, studies::Store& store, const experiments::Run& run) {
  const std::optional<std::string> stored = store.blob(run.id(), "details/" + findings.study().analysis.snapshot);
  ordered_json details = stored ? io::parse_json(*stored) : ordered_json(nullptr);
  return details.is_object() ? details : ordered_json(nullptr);
}

// Image modules, combinations, and samples with their pixels (ImageDetails in web/src/report.ts); without pixels where
// the images are not at hand.
ordered_json images_of(const ordered_json& details, const models::ImageSpec& spec, const tasks::Task& task) {
  const std::shared_ptr<const tasks::ImageData> data = images_at_hand(spec);
  ordered_json json;
  json["digits"] = task.images->digits;
  json["images"] = task.images->images;
  json["outputs"] = task.output_names;
  json["rows"] = data ? data->test.rows : 0;
  json["columns"] = data ? data->test.columns : 0;
  json["modules"] = ordered_json::array();
  const auto& modules = details.at("modules");
  for (std::size_t index = 0; index < modules.size(); ++index) {
    std::string name = fmt::format("image module {}", index + 1);
    if (spec.has_pool()) {
      name = modules.size() == 1 ? "shared image module" : fmt::format("shared image module {}", index + 1);
    }
    json["modules"].push_back({{"name", name},
                               {"reads", reads_text(modules[index].at("reads"))},
                               {"means", modules[index].at("means")},
                               {"specialisation", modules[index].at("specialisation")}});
  }
  json["combinations"] = details.at("combinations");
  json["examples"] = ordered_json::array();
  for (const auto& example : details.at("examples")) {
    ordered_json pixels = ordered_json::array();
    // Validation samples show training images.
    const tasks::ImageSet* set = data == nullptr                      ? nullptr
                                 : example.at("part") == "validation" ? &data->train
                                                                      : &data->test;
    for (const auto& image : example.at("images")) {
      if (set != nullptr && image.get<std::size_t>() < set->count()) {
        pixels.push_back(base64(set->image(image.get<std::size_t>())));
      }
    }
    json["examples"].push_back({{"digits", example.at("digits")},
                                {"part", example.at("part")},
                                {"pixels", std::move(pixels)},
                                {"truth", example.at("truth")},
                                {"says", example.at("says")}});
  }
  return json;
}

// The wiring, drawn over the truth (RoutingGraph): images, the values of image slots, modules. Null for a network
// without modules.
ordered_json graph_of_images(const ordered_json& details, const tasks::TaskSuite& suite) {
  std::optional<models::ImageRouting> routing = experiments::routing_of_details(details, suite);
  return routing ? wiring_of_images(std::move(*routing), suite) : ordered_json(nullptr);
}

void add_images(const studies::Findings& findings, studies::Store& store, const experiments::Run& run,
                ordered_json& json) {
  json["graph"] = nullptr;
  json["images"] = nullptr;
  const ordered_json details = details_of(findings, store, run);
  if (details.is_null()) {
    return;
  }
  const models::ImageSpec spec = experiments::image_spec(run.values);
  const auto suite = tasks::cached_task(spec.task);
  try {
    json["graph"] = graph_of_images(details, *suite);
    json["images"] = images_of(experiments::checked_details(details, *suite), spec, suite->tasks.front());
  } catch (const UserError& error) {
    throw FormatError(
        fmt::format("{}: the image details of run {} are damaged ({}); train it again into another folder",
                    store.path(), run.id(), error.what()));
  } catch (const ordered_json::exception&) {
    throw FormatError(fmt::format("{}: the image details of run {} are damaged; train it again into another folder",
                                  store.path(), run.id()));
  }
}

}  // namespace

ordered_json wiring_of_images(models::ImageRouting learned, const tasks::TaskSuite& suite) {
  return ImageDrawing(std::move(learned), suite).json();
}

ordered_json gallery_images(const studies::Findings& findings, studies::Store& store) {
  return gallery_of_networks(
      findings, store,
      {.kind = &experiments::images(),
       .parts = {"train", "validation", "unseen", "seen"},
       .is_shown = [](const experiments::Run&) { return true; },
       .add = [&](const experiments::Run& run, ordered_json& json) { add_images(findings, store, run, json); }});
}

}  // namespace modlab::report
