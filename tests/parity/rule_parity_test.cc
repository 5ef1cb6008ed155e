// Ten optimiser steps of networks on rule-based data against PyTorch: make_rule_fixtures.py wrote the batches and what
// PyTorch made of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/safetensors.h"
#include "models/rules/rule_settings.h"
#include "models/rules/train_rules.h"

namespace modlab {
namespace {

std::vector<std::string> rule_fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MODLAB_TEST_DIR "/parity/fixtures")) {
    if (entry.path().stem().string().starts_with("rules-")) {
      names.push_back(entry.path().stem());
    }
  }
  std::ranges::sort(names);
  return names;
}

class RuleParityTest : public testing::TestWithParam<std::string> {
 protected:
  RuleParityTest() : file_(io::read_safetensors(MODLAB_TEST_DIR "/parity/fixtures/" + GetParam() + ".safetensors")) {
    given_ = nlohmann::json::parse(file_.metadata.at("settings"));
    for (const char* name :
         {"task", "model", "task_type", "rules", "modules", "width", "length", "lr", "clip", "dim"}) {
      models::rule_settings().set(spec_, name, settings::setting_text(given_.at(name)));
    }
    spec_ = models::resolve(spec_);
    task_ = tasks::draw_rules(spec_.task);
    shape_ = models::rule_shape(task_.settings, spec_.model, spec_.modules, spec_.width);
  }

  const std::vector<float>& values(const std::string& name) const { return file_.find(name)->values; }

  // A step's batch, in the order of rows that its family has.
  models::RuleBatch batch_of(int step) const {
    models::RuleBatch batch;
    batch.samples = given_.at("samples").get<int>();
    batch.length = spec_.length;
    batch.step_by_step = spec_.task.family == tasks::RuleFamily::kRnn;
    batch.columns = engine::solo::padded(shape_.data_columns);
    batch.outputs = engine::solo::padded(shape_.outputs);
    batch.data.assign(static_cast<std::size_t>(batch.rows()) * batch.columns, 0.0F);
    batch.targets.assign(static_cast<std::size_t>(batch.rows()) * batch.outputs, 0.0F);
    batch.rules.resize(static_cast<std::size_t>(batch.rows()));
    for (int sample = 0; sample < batch.samples; ++sample) {
      for (int token = 0; token < batch.length; ++token) {
        const std::ptrdiff_t from = (static_cast<std::ptrdiff_t>(step) * batch.samples + sample) * batch.length + token;
        const std::ptrdiff_t row = batch.row_of(sample, token);
        std::copy_n(values("data").begin() + from * shape_.data_columns, shape_.data_columns,
                    batch.data.begin() + row * batch.columns);
        std::copy_n(values("targets").begin() + from * shape_.outputs, shape_.outputs,
                    batch.targets.begin() + row * batch.outputs);
        batch.rules[static_cast<std::size_t>(row)] =
            static_cast<std::uint16_t>(values("rules")[static_cast<std::size_t>(from)]);
      }
    }
    batch.said = batch.rules;
    return batch;
  }

  io::TensorFile file_;
  nlohmann::json given_;
  models::RuleSpec spec_;
  tasks::RuleTask task_;
  models::RuleShape shape_;
};

TEST_P(RuleParityTest, TenSteps) {
  ASSERT_EQ(models::rule_layout(shape_).count, values("initial").size());
  for (const std::string& target : engine::supported_targets()) {
    models::RuleStepper stepper(spec_, shape_, engine::kernels_for(target), values("initial"));
    for (std::size_t step = 0; step < values("losses").size(); ++step) {
      const double loss = stepper.step(batch_of(static_cast<int>(step)));
      EXPECT_NEAR(loss, values("losses")[step], 2e-6 * std::max(1.0F, values("losses")[step])) << target << " " << step;
    }
    const std::vector<float> found = stepper.network().parameters().save();
    const std::vector<float>& expected = values("final");
    double largest = 0;
    for (std::size_t place = 0; place < expected.size(); ++place) {
      largest = std::max(largest, static_cast<double>(std::abs(found[place] - expected[place])));
    }
    EXPECT_LT(largest, 2e-5) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleParityTest, testing::ValuesIn(rule_fixture_names()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace modlab
