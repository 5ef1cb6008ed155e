#include "experiments/coin.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/errors.h"
#include "core/parallel.h"
#include "core/random.h"
#include "settings/setting_values.h"
#include "settings/spec_table.h"

namespace modlab::test {
namespace {

using experiments::FinishedRun;
using experiments::Measure;
using experiments::Resources;
using experiments::Result;
using experiments::Run;
using experiments::Sink;
using experiments::Status;
using experiments::Wanted;
using nlohmann::json;
using settings::Setting;

struct CoinSpec {
  double bias = 0.5;
  std::uint64_t seed = 0;
  int throws = 100;
  int pause = 0;  // milliseconds, so that a test can interrupt it
};

const settings::SpecTable<CoinSpec>& coin_settings() {
  using Row = settings::SpecSetting<CoinSpec>;
  static const settings::SpecTable<CoinSpec> kTable({
      Row{Setting{.name = "model", .value = "NAME", .help = "coin", .of = "coin", .role = Setting::Role::kModel},
          [](CoinSpec&, const std::string&) {}, [](const CoinSpec&) { return json("coin"); }, nullptr},
      Row{Setting{
              .name = "bias", .value = "P", .help = "how likely heads are", .of = "coin", .label = "bias of the coin"},
          [](CoinSpec& spec, const std::string& text) {
            spec.bias = settings::read_real("bias", text, 0, 1, "a number between 0 and 1");
          },
          [](const CoinSpec& spec) { return json(spec.bias); }, nullptr},
      Row{Setting{.name = "throws", .value = "N", .help = "how often it is thrown", .of = "coin", .is_tuned = true},
          [](CoinSpec& spec, const std::string& text) {
            spec.throws =
                static_cast<int>(settings::read_integer("throws", text, 1, 1'000'000, "a whole number from 1"));
          },
          [](const CoinSpec& spec) { return json(spec.throws); }, nullptr},
      Row{Setting{.name = "pause", .value = "MS", .help = "milliseconds before a coin is thrown", .of = "coin"},
          [](CoinSpec& spec, const std::string& text) {
            spec.pause = static_cast<int>(settings::read_integer("pause", text, 0, 1000, "a whole number from 0"));
          },
          [](const CoinSpec& spec) { return json(spec.pause); }, nullptr},
      Row{Setting{.name = "seed", .value = "N", .help = "of the throws", .of = "coin", .role = Setting::Role::kSeed},
          [](CoinSpec& spec, const std::string& text) {
            spec.seed = static_cast<std::uint64_t>(
                settings::read_integer("seed", text, 0, 1'000'000'000, "a whole number that is not negative"));
          },
          [](const CoinSpec& spec) { return json(spec.seed); }, nullptr},
  });
  return kTable;
}

CoinSpec spec_of(const Run& run) {
  CoinSpec spec;
  coin_settings().read(run.values, spec);
  return spec;
}

class CoinWork : public experiments::Work {
 public:
  CoinWork(std::span<const Run> runs, int threads) : runs_(runs), threads_(threads) {}

  double estimate_seconds() override { return 1e-5 * static_cast<double>(runs_.size()); }
  void execute(const Sink& sink) override {
    parallel_for(runs_.size(), threads_, [&](std::size_t at) {
      if (!stopped_) {
        sink({{&runs_[at], thrown(spec_of(runs_[at]))}});
        ++done_;
      }
    });
  }
  Status status(double /*seconds*/) const override {
    return {static_cast<double>(done_) / static_cast<double>(runs_.size()), fmt::format("{} coins", done_.load())};
  }
  void stop() override { stopped_ = true; }

 private:
  static Result thrown(const CoinSpec& spec) {
    std::this_thread::sleep_for(std::chrono::milliseconds(spec.pause));
    RandomSequence random(spec.seed, Stream::kMask);
    int heads = 0;
    std::string sequence;
    for (int at = 0; at < spec.throws; ++at) {
      const bool is_heads = random.next_uniform() < spec.bias;
      heads += is_heads ? 1 : 0;
      sequence += is_heads ? 'H' : 'T';
    }
    Result result;
    result.snapshots["best"] = {{"heads", 100.0 * heads / spec.throws},
                                {"fairness", 100 - std::abs(100.0 - 200.0 * heads / spec.throws)}};
    result.blobs["sequence"] = sequence;
    return result;
  }

  std::span<const Run> runs_;
  int threads_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::size_t> done_{0};
};

class Coin : public experiments::Experiment {
 public:
  std::string_view name() const override { return "coin"; }
  std::string_view title() const override { return "Coins"; }
  std::span<const Setting> settings() const override { return coin_settings().settings(); }
  std::span<const Measure> measures() const override {
    static const Measure kMeasures[] = {{"heads", "throws that are heads", "%", false, std::pair{0.0, 100.0}, true, ""},
                                        {"fairness", "how even it is", "%", false, std::pair{0.0, 100.0}, true, ""}};
    return kMeasures;
  }
  experiments::Parts parts() const override { return {"heads", "fairness", "", "", ""}; }
  std::vector<experiments::Column> columns() const override {
    return {{"heads %", "heads", experiments::Column::Show::kMeanAndError}};
  }
  std::string table_title() const override { return "Heads in %"; }
  std::vector<std::string> models() const override { return {"coin"}; }
  std::vector<const Setting*> settings_for(const settings::Given& /*given*/) const override {
    return coin_settings().settings_for({});
  }
  settings::Values resolve(const settings::Given& given) const override {
    CoinSpec spec;
    coin_settings().apply(given, spec);
    if (spec.bias == 0 && spec.throws > 1000) {
      throw ConfigError("a coin without heads need not be thrown so often; lower throws");
    }
    return coin_settings().values(spec);
  }
  std::map<std::string, json> defaults() const override { return coin_settings().by_name({}); }
  const std::map<std::string, json>& name_defaults() const override {
    static const std::map<std::string, json> kDefaults = [] {
      auto defaults = coin_settings().by_name({});
      defaults.erase("model");
      return defaults;
    }();
    return kDefaults;
  }
  std::unique_ptr<experiments::Work> prepare(std::span<const Run> runs, const Resources& resources,
                                             const Wanted& /*wanted*/) const override {
    return std::make_unique<CoinWork>(runs, resources.threads);
  }
};

}  // namespace

const experiments::Experiment& coin() {
  static const Coin kKind;
  return kKind;
}

}  // namespace modlab::test
