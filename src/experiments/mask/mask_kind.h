#pragma once

#include "experiments/experiment.h"
#include "experiments/mask/mask_record.h"
#include "methods/mask/mask_settings.h"

namespace modlab::experiments {

// What kinds whose networks are masked for several targets have in common.
class MaskKind : public Experiment {
 public:
  Parts parts() const override { return {"iou", "control_accuracy", "", "", ""}; }
  std::vector<Column> columns() const override { return mask_columns(); }
  std::string footnote(std::span<const Run> /*runs*/) const override { return mask_footnote(); }
  std::string series_label() const override { return "network"; }
  std::string table_title() const override { return "IoU of two targets' masks, mean ± standard error"; }
  std::vector<std::string> models() const override { return {methods::kMaskedModel}; }
  nlohmann::ordered_json run_json(const Run& run, const Result& result) const override {
    return mask_run_json(Experiment::run_json(run, result), result);
  }
};

}  // namespace modlab::experiments
