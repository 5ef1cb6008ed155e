#include <fmt/format.h>

#include <memory>
#include <utility>

#include "asked.h"
#include "background.h"
#include "bindings.h"
#include "experiments/sculpt/sculpt.h"
#include "experiments/sculpt/trial_files.h"
#include "experiments/sculpt/trial_record.h"
#include "experiments/sculpt/trials.h"
#include "methods/sculpt/sculpt_settings.h"
#include "module_look.h"
#include "report/run_table.h"

namespace modlab::python {
namespace {

// Networks that are pruned: what `modlab sculpt` does.
class Sculpting {
 public:
  Sculpting(const Asked& asked, const std::vector<Task>& tasks, std::optional<long long> threads)
      : threads_(thread_count(threads)),
        named_(named(tasks)),
        tasks_(named_),
        runs_(runs_of(asked, methods::kSculptedModel)),
        trials_(runs_),
        background_({[this] { execute(); }, [this] { trials_.stop(); },
                     [this](double seconds) { return trials_.status(seconds); }}) {}

  Background& background() { return background_; }
  const Background& background() const { return background_; }
  std::size_t size() const { return runs_.size(); }
  std::size_t finished() const { return trials_.finished(); }
  int threads() const { return threads_; }
  long long trainings() const { return trials_.trainings(); }
  std::string id(std::size_t place) const { return runs_.at(place).id(); }

  // As trials.json has it.
  std::string json(std::size_t place) const {
    const tasks::TasksAtHand while_asked(named_);
    const methods::SculptRun& run = trials_.runs().at(place);
    return json_text(experiments::trial_json(
        run, trials_.result(place), methods::judge(trials_.result(place).outcome, trials_.task_of(place), run.detect)));
  }
  // As `modlab train --model sculpted --csv` has it.
  std::string csv() const {
    const tasks::TasksAtHand while_asked(named_);
    std::vector<experiments::Result> results;
    for (std::size_t place = 0; place < runs_.size(); ++place) {
      results.push_back(experiments::record_trial(runs_[place], trials_.runs()[place], trials_.task_of(place),
                                                  trials_.result(place)));
    }
    std::vector<report::RunRow> rows;
    for (std::size_t place = 0; place < runs_.size(); ++place) {
      rows.push_back({&runs_[place], results[place].diverged, &results[place].snapshots.at("best")});
    }
    return report::run_table(rows);
  }
  Modules dense(std::size_t place) const { return look(place, "dense", trials_.result(place).outcome.dense); }
  // Those that are tied for the fewest edges.
  std::vector<Modules> networks(std::size_t place) const {
    std::vector<Modules> found;
    for (const methods::SculptedNetwork& winner : trials_.result(place).outcome.winners) {
      found.push_back(look(place, fmt::format("pu{}/pe{}", winner.unit_step, winner.edge_step), winner.network));
    }
    return found;
  }

 private:
  void execute() {
    const tasks::TasksAtHand until_the_end = std::exchange(tasks_, {});
    trials_.execute({threads_, &engine::kernels()});
  }
  Modules look(std::size_t place, const std::string& name, const methods::PrunedMlp& network) const {
    const methods::SculptRun& run = trials_.runs().at(place);
    methods::LookSettings settings;
    settings.detect = run.detect;
    const Task task{std::make_shared<const tasks::TaskSuite>(trials_.suite_of(place))};
    return {{fmt::format("seed{}/{}", run.seed, name), methods::to_layered(network)}, settings, task};
  }

  int threads_;
  tasks::NamedTasks named_;
  tasks::TasksAtHand tasks_;  // until all trials are done
  std::vector<experiments::Run> runs_;
  experiments::Trials trials_;
  Background background_;
};

}  // namespace

void bind_trials(py::module_& module) {
  py::class_<Sculpting> sculpting(module, "Sculpting");
  sculpting
      .def(py::init<const Asked&, const std::vector<Task>&, std::optional<long long>>(), py::arg("asked"),
           py::arg("tasks"), py::arg("threads"), py::call_guard<py::gil_scoped_release>())
      .def("__len__", &Sculpting::size)
      .def_property_readonly("finished", &Sculpting::finished)
      .def_property_readonly("threads", &Sculpting::threads)
      .def_property_readonly("trainings", &Sculpting::trainings)
      .def("id", &Sculpting::id)
      .def("json", &Sculpting::json)
      .def("csv", &Sculpting::csv)
      .def("dense", &Sculpting::dense)
      .def("networks", &Sculpting::networks);
  bind_background(sculpting);
}

}  // namespace modlab::python
