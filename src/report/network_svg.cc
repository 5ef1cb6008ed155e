#include "report/network_svg.h"

#include <fmt/format.h>

#include <memory>

#include "core/errors.h"
#include "measures/rule_network.h"
#include "methods/detect/module_look.h"
#include "models/layered_network.h"
#include "models/learned_routing.h"
#include "models/training_settings.h"
#include "report/gallery_bits.h"
#include "report/gallery_images.h"
#include "report/module_text.h"
#include "report/module_use_text.h"
#include "report/wiring_svg.h"

namespace modlab::report {
namespace {

// "depth2, modular-shared, split 40, seed 0".
std::string title_of(const nlohmann::ordered_json& settings) {
  std::string title = settings.at("task").get<std::string>() + ", " + settings.at("model").get<std::string>();
  for (const char* name : {"split_seed", "seed"}) {
    if (const auto found = settings.find(name); found != settings.end()) {
      title += fmt::format(", {} {}", std::string(name) == "seed" ? "seed" : "split", found->dump());
    }
  }
  return title;
}

std::string layers_svg(const models::SavedSnapshot& snapshot, const std::vector<int>& widths,
                       const std::string& title) {
  std::vector<models::DenseLayer> layers;
  auto next = snapshot.parameters().begin();
  const auto take = [&](std::size_t count) {
    const auto first = next;
    next += static_cast<std::ptrdiff_t>(count);
    return std::vector<float>(first, next);
  };
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    models::DenseLayer& dense = layers.emplace_back();
    dense.in = widths[layer];
    dense.out = widths[layer + 1];
    dense.weights = take(static_cast<std::size_t>(dense.in) * static_cast<std::size_t>(dense.out));
    dense.bias = take(static_cast<std::size_t>(dense.out));
  }
  methods::LookSettings settings;
  const tasks::TaskSuite& suite = snapshot.network.suite;
  const tasks::TasksAtHand at_hand({{snapshot.network.spec.task, std::make_shared<const tasks::TaskSuite>(suite)}});
  if (suite.tasks.size() == 1) {
    settings.task = snapshot.network.spec.task;  // inputs and outputs then have their names
  }
  methods::ModuleLooker looker(settings);
  return layered_svg(module_picture(looker.look({title, models::from_matrices(layers, title)})));
}

}  // namespace

std::string network_svg(const models::SavedSnapshot& snapshot) {
  const models::SavedNetwork& network = snapshot.network;
  const std::string title = title_of(models::bit_settings().values(network.spec).to_json());
  if (const auto* mlp = std::get_if<models::MlpShape>(&network.blueprint.shape)) {
    return layers_svg(snapshot, mlp->widths, title);
  }
  return wiring_svg(wiring_of_bits(network.blueprint, network.suite, snapshot.parameters()), title);
}

std::string network_svg(const models::SavedImageSnapshot& snapshot) {
  const models::SavedImageNetwork& network = snapshot.network;
  const auto* shape = std::get_if<models::ImageModularShape>(&network.blueprint.shape);
  if (shape == nullptr) {
    throw ConfigError("a network on images without modules has no wiring to draw; one with modules has");
  }
  return wiring_svg(wiring_of_images(models::learned_routing(*shape, snapshot.parameters()), network.suite),
                    title_of(models::image_settings().values(network.spec).to_json()));
}

std::string network_svg(const models::SavedRuleSnapshot& snapshot) {
  const measures::RuleNetworkMeasures measured = measures::measure_snapshot(snapshot);
  if (!measured.use) {
    throw ConfigError("this network on rules has no modules, or gates that are no numbers: there is nothing to draw");
  }
  return module_use_svg(look_at_use("module use", *measured.use, {}, {}));
}

}  // namespace modlab::report
