#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "report/mask_text.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& overlap_options() {
  static const std::vector<Option> kOptions = {
      {"nonzero", Arity::kFlag, "", "files are weights of pruned networks: all but zeros are kept", {}},
      {"logits", Arity::kFlag, "", "files are logits: what is above zero is kept", {}},
      {"by-tensor", Arity::kFlag, "", "of more than two masks: also show the tensors of every pair", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

models::Keeping keeping_of(const Arguments& arguments) {
  if (arguments.has("nonzero") && arguments.has("logits")) {
    throw ConfigError("--nonzero and --logits exclude each other");
  }
  return arguments.has("nonzero")  ? models::Keeping::kNonzero
         : arguments.has("logits") ? models::Keeping::kPositive
                                   : models::Keeping::kOne;
}

}  // namespace

int run_overlap(std::span<const std::string> words) {
  const Arguments arguments(words, overlap_options());
  if (arguments.has("help")) {
    print_help(
        "modlab overlap: which weights masks share, beside what chance would\n\n"
        "  modlab overlap add.safetensors mul.safetensors\n"
        "  modlab overlap masks/*.npz --json\n"
        "  modlab overlap --nonzero pruned-0.safetensors pruned-1.safetensors pruned-2.safetensors\n\n"
        "Each file is one mask: tensors of the same names and shapes, 1 where a weight is kept and 0 where it is not.\n"
        "IoU is what both keep of what any keeps, IoMin of what the smaller mask keeps; chance is what two random\n"
        "masks would share that keep as many weights of each tensor.\n"
        "\n{}",
        describe_options(overlap_options()));
    return 0;
  }
  if (arguments.positional().size() < 2) {
    throw ConfigError("name two files of masks or more, such as `modlab overlap add.safetensors mul.safetensors`");
  }
  const models::Keeping keeping = keeping_of(arguments);
  std::vector<models::WeightMask> masks;
  for (const std::string& path : arguments.positional()) {
    masks.push_back(models::read_weight_mask(path, keeping));
  }
  const methods::MaskComparison comparison = methods::compare_masks(masks);
  if (arguments.is_on("json")) {
    fmt::print("{}\n", report::mask_comparison_json(comparison).dump());
  } else {
    fmt::print("{}", report::mask_comparison_text(comparison, arguments.has("by-tensor")));
  }
  return 0;
}

}  // namespace modlab::cli
