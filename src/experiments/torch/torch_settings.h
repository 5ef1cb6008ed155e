#pragma once

#include <string_view>

#include "methods/mask/mask_spec.h"
#include "models/training_settings-inl.h"

// What all networks on libtorch have among their settings.
namespace modlab::experiments {

inline constexpr settings::Word<std::string_view> kTorchDevices[] = {{"cpu", "cpu"}, {"cuda", "cuda"}};

template <typename Spec>
settings::SpecSetting<Spec> device_row() {
  return models::row<Spec>(
      "device", "cpu|cuda", "where libtorch computes", models::kPlain,
      [](Spec& spec, const std::string& text) { spec.device = settings::read_word("device", text, kTorchDevices); },
      [](const Spec& spec) { return nlohmann::json(std::string(spec.device)); });
}

// Throws ConfigError for what masks over such networks cannot be.
void check_torch_masks(const methods::MaskSpec& spec);

}  // namespace modlab::experiments
