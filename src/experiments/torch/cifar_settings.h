#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "methods/flat_optimizer.h"
#include "methods/mask/mask_spec.h"
#include "models/torch/colour_network.h"
#include "settings/spec_table.h"

// What a run on images in colour is made of: masked_cifar.h.
namespace modlab::experiments {

inline constexpr auto kCifarTask = "cifar10";

// Masks are for everything but a class, or for two classes alone.
enum class ClassTargets { kRemoved, kPairs };

// As the CNN was published.
struct CifarMaskingSpec {
  std::string images;  // a file; empty: CIFAR-10
  models::ColourShape shape;
  std::uint64_t seed = 0;
  int train_images = 0;  // 0: all
  int test_images = 0;
  int steps = 20'000;
  int batch_size = 128;
  methods::FlatOptimizerSpec optimizer = {.kind = methods::FlatOptimizerKind::kAdam, .lr = 1e-3, .clip = 1};
  std::vector<int> lr_drops = {};  // steps at which the learning rate becomes a tenth
  ClassTargets targets = ClassTargets::kRemoved;
  std::string classes = "all";  // that are removed, by name
  bool only_present = false;
  bool keep_last = true;
  int pairs = 10;
  bool cosine = false;
  bool controls = false;
  std::string_view device = "cpu";
  methods::MaskSpec mask = {.lr = 1e-3, .beta = 3e-4, .exclude = {}};

  bool is_cnn() const { return shape.kind == models::ColourNetworkKind::kCnn; }
  bool removes() const { return targets == ClassTargets::kRemoved; }
};

const settings::SpecTable<CifarMaskingSpec>& cifar_settings();
// Settings whose defaults follow from the network.
inline constexpr std::array<std::string_view, 13> kByNetwork = {
    "channels",   "augment",    "steps",   "optimizer", "lr",      "lr_drops",    "clip",
    "mask_steps", "mask_batch", "mask_lr", "beta",      "dropout", "weight_decay"};

// What a run of this network is published with.
CifarMaskingSpec cifar_start(const settings::Given& given);
CifarMaskingSpec cifar_spec(const settings::Values& values);
// Throws ConfigError for what does not go together.
void check_cifar(const CifarMaskingSpec& spec);

// The numbers of the classes that a list of names removes. Throws ConfigError for a name that none has.
std::vector<int> removed_classes(const std::string& classes, const std::vector<std::string>& names);

}  // namespace modlab::experiments
