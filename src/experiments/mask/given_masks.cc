#include "experiments/mask/given_masks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/mask/mask_files.h"
#include "experiments/mask/mask_record.h"
#include "methods/mask/mask_settings.h"
#include "settings/setting_values.h"

namespace modlab::experiments {
namespace {

std::string text_or(const Given& given, const char* name, const char* otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : found->second;
}

void check_names(const Given& given) {
  for (const auto& [name, text] : given) {
    const auto masks = methods::mask_settings().settings();
    const bool is_known = name == "task" || name == "seed" || name == "targets" || name == "controls" ||
                          std::ranges::find(masks, name, &Setting::name) != masks.end();
    if (!is_known) {
      throw ConfigError(fmt::format("--{} says how networks are trained; those of --from are", name));
    }
  }
}

// "depth2, dense network of 6-36-36-2 units".
std::string shape_text(const GivenToMask& given) {
  const std::string network =
      fmt::format("{}, {}{}network of", given.suite->name, given.model, given.model.empty() ? "" : " ");
  if (const auto* mlp = std::get_if<models::MlpShape>(&given.blueprint.shape)) {
    return fmt::format("{} {} units", network, fmt::join(mlp->widths, "-"));
  }
  const auto& modular = std::get<models::ModularShape>(given.blueprint.shape);
  return fmt::format("{} {} slots{}", network, fmt::join(modular.levels, "-"),
                     modular.pool > 0 ? fmt::format(" and {} shared modules", modular.pool) : "");
}

}  // namespace

GivenMasks::GivenMasks(const GivenMasksRequest& request, const engine::Kernels<float>& kernels) : kernels_(kernels) {
  check_names(request.settings);
  methods::MaskSpec spec = small_masks();
  methods::mask_settings().apply(request.settings, spec);
  methods::check(spec);
  const bool controls = settings::read_truth("controls", text_or(request.settings, "controls", "true"));
  const std::string targets = text_or(request.settings, "targets", "outputs");
  const auto seed = static_cast<std::uint64_t>(settings::read_integer(
      "seed", text_or(request.settings, "seed", "0"), 0, 1LL << 62U, "one whole number that is not negative"));
  for (const std::string& file : request.files) {
    for (GivenToMask& given :
         read_networks_to_mask(file, text_or(request.settings, "task", ""), request.snapshot, kernels)) {
      given.network.seed = seed;
      networks_.push_back(std::move(given));
    }
  }
  if (networks_.empty()) {
    throw ConfigError("--from needs a file of networks");
  }
  settings_ = methods::mask_settings().values(spec).to_json();
  settings_["targets"] = targets;
  settings_["controls"] = controls;
  settings_["seed"] = seed;
  for (const GivenToMask& given : networks_) {
    maskings_.push_back({.blueprint = &given.blueprint,
                         .whole = methods::whole_target(*given.suite),
                         .targets = methods::mask_targets(targets, *given.suite),
                         .spec = spec,
                         .controls = controls});
    methods::masked_parameters(given.blueprint.layout, spec);  // says what does not fit
    total_steps_ += static_cast<std::int64_t>(methods::mask_count(maskings_.back())) * spec.steps;
  }
}

void GivenMasks::execute(int threads) {
  for (std::size_t at = 0; at < networks_.size(); ++at) {
    const GivenToMask& given = networks_[at];
    const std::vector<methods::MaskOutcome> outcomes =
        methods::mask_networks(maskings_[at], {given.network}, threads, kernels_, progress_);
    if (outcomes.empty()) {
      return;
    }
    Finished& finished = finished_.emplace_back();
    finished.shape = shape_text(given);
    nlohmann::ordered_json run = {{"task", given.suite->name}, {"id", on_one_line(given.id)}};
    run.update(settings_);
    Result result;
    const std::vector<bool> related = methods::need_common_gate(maskings_[at].targets, *given.suite);
    result.snapshots["best"] =
        mask_numbers(outcomes.front(), related, std::holds_alternative<models::MlpShape>(given.blueprint.shape));
    result.blobs["details"] = mask_json(outcomes.front()).dump();
    run["best"] = result.snapshots["best"];
    finished.run = mask_run_json(std::move(run), result);
    const methods::MaskedParameters masked = methods::masked_parameters(given.blueprint.layout, maskings_[at].spec);
    add_mask_files(given.blueprint.layout, masked, given.network.weights, outcomes.front(), finished.run,
                   finished.blobs);
  }
}

Status GivenMasks::status(double /*seconds*/) const {
  const auto done = static_cast<double>(progress_.steps.load());
  return {done / static_cast<double>(std::max<std::int64_t>(1, total_steps_)),
          fmt::format("{} networks", networks_.size())};
}

}  // namespace modlab::experiments
