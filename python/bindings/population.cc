#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "asked.h"
#include "background.h"
#include "bindings.h"
#include "report/comparison_text.h"
#include "report/masked_text.h"
#include "report/run_table.h"
#include "studies/batch.h"
#include "studies/comparison.h"
#include "studies/workbench.h"
#include "task.h"
#include "tasks/task_cache.h"

namespace modlab::python {
namespace {

// Runs of any kind, from their settings to their results.
class Population {
 public:
  Population(const Asked& asked, const std::optional<std::string>& model, const std::vector<Task>& tasks,
             std::optional<long long> threads, bool with_networks)
      : Population(named(tasks), threads) {
    tasks_ = tasks::TasksAtHand(named_);
    prepare(runs_of(asked, model), with_networks);
  }

  // Runs of a study, to the same bits.
  static std::unique_ptr<Population> again(const std::string& folder, const std::vector<std::string>& ids,
                                           std::optional<long long> threads) {
    std::unique_ptr<Population> population(new Population(studies::Store::open(folder).tasks(), threads));
    studies::StoredRuns stored = studies::stored_runs(folder, ids);
    population->tasks_ = std::move(stored.tasks);
    population->prepare(std::move(stored.runs), true);
    return population;
  }

  Background& background() { return background_; }
  const Background& background() const { return background_; }

  std::size_t finished() const { return finished_; }
  std::size_t size() const { return runs_.size(); }
  int threads() const { return threads_; }
  const experiments::Run& run(std::size_t place) const { return runs_.at(place); }
  const experiments::Result& result(std::size_t place) const { return results_.at(place); }

  std::string run_json(std::size_t place) const {
    const tasks::TasksAtHand while_asked(named_);
    return json_text(run(place).kind->run_json(run(place), result(place)));
  }
  std::string csv() const {
    const tasks::TasksAtHand while_asked(named_);
    std::vector<report::RunRow> rows;
    for (std::size_t place = 0; place < runs_.size(); ++place) {
      rows.push_back({&runs_[place], results_[place].diverged, &results_[place].snapshots.at("best")});
    }
    return report::run_table(rows);
  }
  std::string curve_csv(std::size_t place) const {
    const tasks::TasksAtHand while_asked(named_);
    const auto curve = result(place).blobs.find("curve");
    return curve == result(place).blobs.end()
               ? ""
               : run(place).kind->curve_csv(run(place), result(place).snapshots, curve->second, run(place).id());
  }
  // The run that validation chooses, as selection among restarts does: the best validation, then the lowest loss, then
  // the first. Runs without such numbers come last.
  std::size_t best() const {
    const auto number = [&](std::size_t place, const std::string& name, double otherwise) {
      const experiments::Numbers& numbers = result(place).snapshots.at("best");
      const auto found = numbers.find(name);
      return found == numbers.end() || std::isnan(found->second) ? otherwise : found->second;
    };
    const auto rank = [&](std::size_t place) {
      constexpr double kWorst = std::numeric_limits<double>::infinity();
      const experiments::Parts parts = run(place).kind->parts();
      return std::pair(-number(place, parts.validation, -kWorst), number(place, parts.loss, kWorst));
    };
    std::size_t best = 0;
    for (std::size_t place = 1; place < runs_.size(); ++place) {
      best = rank(place) < rank(best) ? place : best;
    }
    return best;
  }
  // Files of a network, by name: "safetensors", or "mask-y0.safetensors" and so on.
  std::vector<std::string> files(std::size_t place) const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : result(place).blobs) {
      if (name.starts_with(kFile)) {
        names.push_back(name.substr(kFile.size()));
      }
    }
    return names;
  }
  py::bytes file(std::size_t place, const std::string& name) const {
    return result(place).blobs.at(std::string(kFile) + name);
  }
  // Differences between values of a setting, each as JSON and in words.
  std::vector<std::pair<std::string, std::string>> compare(const std::string& setting) const {
    const tasks::TasksAtHand while_asked(named_);
    std::vector<studies::ComparedRun> compared;
    for (std::size_t place = 0; place < runs_.size(); ++place) {
      compared.push_back({&runs_[place], &results_[place].snapshots.at("best")});
    }
    std::vector<std::pair<std::string, std::string>> found;
    for (const studies::Comparison& one : studies::compare_runs(compared, setting)) {
      found.emplace_back(json_text(report::comparison_json(one)),
                         fmt::format("{} against {}{}: {}\n  {}", one.value, one.reference,
                                     one.where.empty() ? "" : " (" + one.where + ")", one.measure->label,
                                     report::comparison_text(one)));
    }
    return found;
  }
  // Tables of masked networks, as `modlab mask` prints them: one for networks that differ in splits and seeds alone.
  std::string masked_text(std::optional<std::size_t> place) const {
    const tasks::TasksAtHand while_asked(named_);
    std::vector<std::pair<const settings::Values::Row*, std::vector<nlohmann::ordered_json>>> tables;
    for (std::size_t at = 0; at < runs_.size(); ++at) {
      if (!place || *place == at) {
        if (tables.empty() || tables.back().first != runs_[at].values.row()) {
          tables.push_back({runs_[at].values.row(), {}});
        }
        tables.back().second.push_back(runs_[at].kind->run_json(runs_[at], results_[at]));
      }
    }
    std::string text;
    for (const auto& [row, objects] : tables) {
      const std::string network = objects.front().value("network", "");
      text += fmt::format("{}{}{}: {} network{}\n\n{}", text.empty() ? "" : "\n",
                          objects.front().at("task").get<std::string>(), network.empty() ? "" : ", network " + network,
                          objects.size(), objects.size() == 1 ? "" : "s, mean ± standard deviation of networks",
                          report::masked_text(objects));
    }
    return text;
  }

 private:
  static constexpr std::string_view kFile = "file.";

  Population(tasks::NamedTasks named, std::optional<long long> threads)
      : threads_(thread_count(threads)),
        named_(std::move(named)),
        background_({[this] { execute(); }, [this] { batch_->stop(); },
                     [this](double seconds) { return batch_->status(seconds); }}) {}

  void prepare(std::vector<experiments::Run> runs, bool with_networks) {
    runs_ = std::move(runs);
    results_.resize(runs_.size());
    for (std::size_t place = 0; place < runs_.size(); ++place) {
      place_[runs_[place].number] = place;
    }
    keep_tasks();
    batch_.emplace(runs_, experiments::Resources{threads_, &engine::kernels()},
                   experiments::Wanted{.structure = true, .curve = true, .network_file = with_networks});
  }

  // A file may be another task by the time that these runs are asked something.
  void keep_tasks() {
    std::map<std::string, const experiments::Experiment*> kinds;
    for (const experiments::Run& run : runs_) {
      kinds.emplace(run.values.text("task"), run.kind);
    }
    for (const auto& [name, kind] : kinds) {
      // Kinds whose tasks are their own, or files of samples, have no facts to tell of them.
      if (!name.empty() && experiments::owner_of(name) == nullptr && kind->task_facts(name)) {
        named_[name] = tasks::cached_task(name);
      }
    }
  }

  void execute() {
    // Later, names mean again what they meant before, unless one of these runs is asked something.
    const tasks::TasksAtHand until_the_end = std::exchange(tasks_, {});
    batch_->execute([this](std::vector<experiments::FinishedRun>&& block) {
      const std::lock_guard lock(mutex_);
      for (experiments::FinishedRun& run : block) {
        results_[place_.at(run.run->number)] = std::move(run.result);
        ++finished_;
      }
    });
  }

  int threads_;
  tasks::NamedTasks named_;
  tasks::TasksAtHand tasks_;  // until all runs are trained
  std::vector<experiments::Run> runs_;
  std::unordered_map<std::uint64_t, std::size_t> place_;
  std::optional<studies::Batch> batch_;
  std::mutex mutex_;
  std::vector<experiments::Result> results_;
  std::size_t finished_ = 0;
  Background background_;
};

}  // namespace

void bind_population(py::module_& module) {
  py::class_<Population> population(module, "Population");
  population
      .def(py::init<const Asked&, const std::optional<std::string>&, const std::vector<Task>&, std::optional<long long>,
                    bool>(),
           py::arg("asked"), py::arg("model"), py::arg("tasks"), py::arg("threads"), py::arg("with_networks"),
           py::call_guard<py::gil_scoped_release>())
      .def_static("again", &Population::again, py::arg("folder"), py::arg("ids"), py::arg("threads"),
                  py::call_guard<py::gil_scoped_release>())
      .def("__len__", &Population::size)
      .def_property_readonly("finished", &Population::finished)
      .def_property_readonly("threads", &Population::threads)
      .def_property_readonly("target", [](const Population&) { return std::string(engine::kernels().target); })
      .def("id", [](const Population& self, std::size_t place) { return self.run(place).id(); })
      .def("kind", [](const Population& self, std::size_t place) { return std::string(self.run(place).kind->name()); })
      .def("settings",
           [](const Population& self, std::size_t place) { return json_text(self.run(place).values.to_json()); })
      .def("headline", [](const Population& self, std::size_t place) { return self.run(place).kind->parts().headline; })
      .def("best", &Population::best)
      .def("run_json", &Population::run_json)
      .def("csv", &Population::csv)
      .def("curve_csv", &Population::curve_csv)
      .def("compare", &Population::compare)
      .def("files", &Population::files)
      .def("file", &Population::file)
      .def("masked_text", &Population::masked_text, py::arg("place") = std::nullopt);
  bind_background(population);
}

}  // namespace modlab::python
