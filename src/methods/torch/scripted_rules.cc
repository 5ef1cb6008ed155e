#include "methods/torch/scripted_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/errors.h"
#include "methods/torch/table_training.h"
#include "methods/torch/torch_training.h"

namespace modlab::methods {

using engine::solo::padded;
using models::RuleBatch;

void fill_rule_samples(const RuleBatch& batch, const tasks::RuleTaskSettings& task, models::GivenSamples& samples) {
  const auto columns = static_cast<std::size_t>(task.data_columns());
  const auto inputs = static_cast<std::size_t>(task.inputs());
  const auto outputs = static_cast<std::size_t>(task.outputs());
  const auto length = static_cast<std::size_t>(batch.length);
  const bool is_sequence = task.family != tasks::RuleFamily::kMlp;
  samples.shape = is_sequence ? std::vector{length, inputs} : std::vector{inputs};
  samples.kind = task.output == tasks::RuleOutput::kRegression ? models::LabelKind::kNear : models::LabelKind::kBits;
  samples.columns = static_cast<int>(length * outputs);
  samples.inputs.assign(static_cast<std::size_t>(batch.rows()) * inputs, 0.0F);
  samples.labels.resize(static_cast<std::size_t>(batch.rows()) * outputs);
  samples.learned = static_cast<std::size_t>(batch.samples);
  std::size_t to = 0;
  for (int sample = 0; sample < batch.samples; ++sample) {
    for (int token = 0; token < batch.length; ++token, ++to) {
      const auto row = static_cast<std::size_t>(batch.row_of(sample, token));
      float* here = samples.inputs.data() + to * inputs;
      std::copy_n(batch.data.data() + row * batch.columns, columns, here);
      here[columns + batch.said[row]] = 1;
      std::copy_n(batch.targets.data() + row * batch.outputs, outputs, samples.labels.data() + to * outputs);
    }
  }
}

std::vector<std::size_t> rule_answer_shape(const tasks::RuleTaskSettings& task, int length) {
  const auto outputs = static_cast<std::size_t>(task.outputs());
  return task.family == tasks::RuleFamily::kMlp ? std::vector{outputs}
                                                : std::vector{static_cast<std::size_t>(length), outputs};
}

ScriptedRules::ScriptedRules(models::ScriptedNetwork& network, const models::RuleSpec& spec, std::string source)
    : network_(network),
      spec_(spec),
      source_(std::move(source)),
      parameters_(initial_for_seed(network, spec.seed)),
      gradients_(parameters_.size()),
      optimizer_(parameters_.size(), {.lr = spec.lr, .clip = spec.clip}),
      samples_(std::make_shared<models::GivenSamples>()) {}

void ScriptedRules::give(const RuleBatch& batch) {
  fill_rule_samples(batch, spec_.task, *samples_);
  network_.set_samples(samples_);
  rows_.resize(static_cast<std::size_t>(batch.samples));
  std::iota(rows_.begin(), rows_.end(), 0U);
}

void ScriptedRules::step(const RuleBatch& batch) {
  give(batch);
  network_.gradient(parameters_,
                    {.rows = rows_, .trains_weights = true, .noise = noise_of_step(spec_.seed, kWeightStage, steps_++)},
                    {}, gradients_);
  optimizer_.step(parameters_, gradients_);
}

std::vector<float> ScriptedRules::parameters() {
  std::vector<float> all = parameters_;
  const std::vector<float> buffers = network_.buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  return all;
}

void ScriptedRules::load(std::span<const float> parameters) {
  std::ranges::copy(parameters.first(parameters_.size()), parameters_.begin());
  network_.set_buffers(parameters.subspan(parameters_.size()));
}

const float* ScriptedRules::forward(const RuleBatch& batch) {
  give(batch);
  const std::vector<float> said = network_.say(parameters_, rows_);
  const auto outputs = static_cast<std::size_t>(spec_.task.outputs());
  said_.assign(static_cast<std::size_t>(batch.rows()) * batch.outputs, 0.0F);
  for (int sample = 0; sample < batch.samples; ++sample) {
    for (int token = 0; token < batch.length; ++token) {
      const auto from = static_cast<std::size_t>(sample) * batch.length + token;
      std::copy_n(said.data() + from * outputs, outputs,
                  said_.data() + static_cast<std::size_t>(batch.row_of(sample, token)) * batch.outputs);
    }
  }
  take_gates(batch);
  return said_.data();
}

void ScriptedRules::take_gates(const RuleBatch& batch) {
  const models::NamedGates& named = network_.gates();
  if (modules_ > 0 && !named.are_named) {
    throw FormatError(fmt::format("{}: names its gates once and then no more", source_));
  }
  gates_.clear();
  if (!named.are_named) {
    return;
  }
  const bool is_sequence = spec_.task.family != tasks::RuleFamily::kMlp;
  const auto length = static_cast<std::size_t>(batch.length);
  const bool fits = is_sequence ? named.shape.size() == 2 && named.shape[0] == length : named.shape.size() == 1;
  if (!fits || named.shape.back() == 0 || named.shape.back() > tasks::kMaxRules) {
    throw FormatError(
        fmt::format("{}: its gates have the shape (samples{}{}) where (samples, {}modules) is wanted, "
                    "with 1 to {} modules",
                    source_, named.shape.empty() ? "" : ", ", fmt::join(named.shape, ", "),
                    is_sequence ? fmt::format("{}, ", length) : "", tasks::kMaxRules));
  }
  const auto modules = static_cast<int>(named.shape.back());
  if (modules_ != 0 && modules != modules_) {
    throw FormatError(fmt::format("{}: names gates of {} modules once and of {} then", source_, modules_, modules));
  }
  modules_ = modules;
  if (std::ranges::any_of(named.values, [](float gate) { return gate < 0; })) {
    throw FormatError(fmt::format(
        "{}: its gates are negative in places; they say how much each module counts, from 0, as a softmax does",
        source_));
  }
  gates_.assign(static_cast<std::size_t>(batch.rows()) * padded(modules), 0.0F);
  for (int sample = 0; sample < batch.samples; ++sample) {
    for (int token = 0; token < batch.length; ++token) {
      const auto from = static_cast<std::size_t>(sample) * length + static_cast<std::size_t>(token);
      std::copy_n(named.values.data() + from * named.shape.back(), modules,
                  gates_.data() + static_cast<std::size_t>(batch.row_of(sample, token)) * padded(modules));
    }
  }
}

models::RuleShape ScriptedRules::find_shape(const std::vector<int>& lengths, const tasks::RuleTask& task,
                                            const engine::Kernels<float>& kernels) {
  constexpr int kAsked = 64;
  models::RuleSampler sampler(task, engine::solo::kernels_for(kernels.target), spec_.seed);
  RuleBatch batch;
  for (const int length : lengths) {
    sampler.draw({.use = models::SampleUse::kExport, .samples = kAsked, .length = length}, batch);
    forward(batch);
  }
  models::RuleShape shape;
  shape.family = spec_.task.family;
  shape.model = modules_ > 0 ? models::RuleModel::kModular : models::RuleModel::kMonolithic;
  shape.rules = spec_.task.rules;
  shape.modules = modules_;
  shape.data_columns = spec_.task.data_columns();
  shape.outputs = spec_.task.outputs();
  return shape;
}

}  // namespace modlab::methods
