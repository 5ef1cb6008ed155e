#include "report/galleries.h"

#include <algorithm>

#include "experiments/mask/masked_bits.h"
#include "experiments/mask/masked_digits.h"
#include "experiments/mask/masked_images.h"
#include "experiments/mask/masked_sculpted.h"
#include "experiments/torch/masked_cifar.h"
#include "experiments/torch/masked_script.h"
#include "experiments/torch/masked_sequences.h"
#include "report/gallery_bits.h"
#include "report/gallery_images.h"
#include "report/gallery_masks.h"
#include "report/gallery_rules.h"
#include "report/gallery_sculpted.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

// What the kinds of masked networks show is the same.
template <const experiments::Experiment& (*kKind)()>
ordered_json masks_of_kind(const studies::Findings& findings, studies::Store& store) {
  return gallery_masks(kKind(), findings, store);
}

// A gallery for each kind that has something to draw.
struct KindGallery {
  std::string_view kind;
  const char* section;
  ordered_json (*make)(const studies::Findings& findings, studies::Store& store);
};
constexpr KindGallery kGalleries[] = {{"bits", "gallery", &gallery_bits},
                                      {"images", "gallery", &gallery_images},
                                      {"sculpt", "sculpted", &gallery_sculpted},
                                      {"rules", "mixtures", &gallery_rules},
                                      {"trained-script-rules", "mixtures", &gallery_rules},
                                      {"masked-bits", "masks", &masks_of_kind<&experiments::masked_bits>},
                                      {"masked-digits", "masks", &masks_of_kind<&experiments::masked_digits>},
                                      {"masked-images", "masks", &masks_of_kind<&experiments::masked_images>},
                                      {"masked-sculpted", "masks", &masks_of_kind<&experiments::masked_sculpted>},
                                      {"masked-cifar", "masks", &masks_of_kind<&experiments::masked_cifar>},
                                      {"masked-sequences", "masks", &masks_of_kind<&experiments::masked_sequences>},
                                      {"masked-script", "masks", &masks_of_kind<&experiments::masked_script>}};

}  // namespace

ordered_json galleries(const studies::Findings& findings, studies::Store& store) {
  ordered_json sections = {
      {"gallery", ordered_json::array()}, {"sculpted", nullptr}, {"mixtures", nullptr}, {"masks", nullptr}};
  std::vector<decltype(KindGallery::make)> made;  // one may show the networks of several kinds side by side
  for (const experiments::Experiment* kind : findings.plan().kinds) {
    const auto found = std::ranges::find(kGalleries, kind->name(), &KindGallery::kind);
    if (found == std::end(kGalleries) || std::ranges::find(made, found->make) != made.end()) {
      continue;
    }
    made.push_back(found->make);
    ordered_json& section = sections[found->section];
    section = section.is_null() ? ordered_json::array() : section;
    for (ordered_json& entry : found->make(findings, store)) {
      section.push_back(std::move(entry));
    }
  }
  return sections;
}

}  // namespace modlab::report
