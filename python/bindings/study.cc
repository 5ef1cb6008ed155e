#include <memory>
#include <utility>

#include "background.h"
#include "bindings.h"
#include "report/figure_files.h"
#include "report/page.h"
#include "report/report_data.h"
#include "report/tables.h"
#include "studies/workbench.h"
#include "task.h"

namespace modlab::python {
namespace {

using nlohmann::ordered_json;

// A study as Python names it. `text` is the study itself, as YAML or JSON; without it `name` is built in or the path of
// a file.
struct Named {
  std::string name;
  std::optional<std::string> text;
  std::string preset;
  std::string folder;
  std::vector<std::string> overrides;
  std::vector<Task> tasks;

  studies::StudyRequest request() const {
    const tasks::NamedTasks given = named(tasks);
    const tasks::TasksAtHand while_reading(given);
    studies::Study study = text ? studies::parse_study(*text, name, "(study " + name + ")") : studies::load_study(name);
    return studies::make_request(std::move(study), given, overrides, preset, folder);
  }
};

// A study on its way into its store.
class StudyRun {
 public:
  StudyRun(const Named& study, std::optional<long long> threads)
      : work_(std::make_unique<studies::StudyInWork>(
            study.request(), experiments::Resources{thread_count(threads), &engine::kernels()})),
        background_({[this] { execute(); }, [this] { work_->batch().stop(); },
                     [this](double seconds) { return work_->batch().status(seconds); }}) {}

  Background& background() { return background_; }
  const Background& background() const { return background_; }
  std::string folder() const { return work_->folder(); }
  std::string changes() const { return work_->changes(); }
  // Lets go of the store, so that others can have it though Python still knows of this run.
  void close() { work_.reset(); }

 private:
  void execute() {
    if (work_->missing() > 0) {
      work_->execute();
    }
    if (!work_->batch().is_stopped()) {
      work_->finish();
    }
  }

  std::unique_ptr<studies::StudyInWork> work_;
  Background background_;
};

// What a folder's store has, for as long as one thing is asked of it.
class StudyFolder {
 public:
  explicit StudyFolder(const std::string& folder) : opened_(folder) {}

  std::string runs() { return report::runs_csv(opened_.findings()); }
  std::string means() { return report::means_csv(opened_.findings()); }
  std::string chosen() { return report::chosen_csv(opened_.findings()); }
  std::string claims() { return report::claims_csv(claim_results()); }
  std::string page() { return report::page(data()); }
  std::string data_json() { return json_text(data()); }
  std::string facts() {
    const studies::Study& study = opened_.study();
    const std::size_t finished = opened_.store().finished().size() - opened_.other_runs();
    ordered_json figures = ordered_json::array();
    for (const studies::Figure& figure : study.figures) {
      figures.push_back({{"id", figure.id}, {"paper", figure.paper}, {"title", figure.title}});
    }
    return json_text({{"name", study.name},
                      {"title", study.title},
                      {"about", study.about},
                      {"preset", opened_.store().study().preset},
                      {"planned", studies::different_runs(opened_.plan())},
                      {"finished", finished},
                      {"figures", figures}});
  }

 private:
  std::vector<studies::ClaimResult> claim_results() { return studies::evaluate_claims(opened_.findings()); }
  ordered_json data() { return report::report_data(opened_.findings(), claim_results(), opened_.store()); }

  studies::OpenedStudy opened_;
};

// The charts of one figure of a report, one for each measure: its name and SVG. Of the others the series stay, since a
// series looks the same in all figures of a report.
std::vector<std::pair<std::string, std::string>> draw(const std::string& report_json, std::size_t figure) {
  ordered_json report = ordered_json::parse(report_json);
  for (std::size_t other = 0; other < report.at("figures").size(); ++other) {
    ordered_json& one = report["figures"][other];
    if (other == figure) {
      continue;
    }
    if (one.at("series").is_object()) {
      ordered_json order = one["series"].value("order", ordered_json::array());
      for (const ordered_json& row : one.at("rows")) {
        if (row.contains("series")) {
          order.push_back(row["series"]);
        }
      }
      one["series"]["order"] = std::move(order);
    }
    one["rows"] = ordered_json::array();
  }
  std::vector<std::pair<std::string, std::string>> drawn;
  for (report::DrawnFigure& chart : report::draw_figures(report)) {
    drawn.emplace_back(std::move(chart.name), std::move(chart.svg));
  }
  return drawn;
}

}  // namespace

void bind_studies(py::module_& module) {
  using Release = py::call_guard<py::gil_scoped_release>;
  py::class_<Named>(module, "NamedStudy")
      .def(py::init([](std::string name, std::optional<std::string> text, std::string preset, std::string folder,
                       std::vector<std::string> overrides, std::vector<Task> tasks) {
             return Named{std::move(name),   std::move(text),      std::move(preset),
                          std::move(folder), std::move(overrides), std::move(tasks)};
           }),
           py::arg("name"), py::arg("text"), py::arg("preset"), py::arg("folder"), py::arg("overrides"),
           py::arg("tasks"))
      // Its folder and preset, also where nobody names them; says what is wrong with the study.
      .def(
          "place",
          [](const Named& self) {
            const studies::StudyRequest request = self.request();
            return std::pair(request.folder, request.preset);
          },
          Release());
  py::class_<StudyRun> run(module, "StudyRun");
  run.def(py::init<const Named&, std::optional<long long>>(), py::arg("study"), py::arg("threads"), Release())
      .def_property_readonly("folder", &StudyRun::folder)
      .def_property_readonly("changes", &StudyRun::changes)
      .def("close", &StudyRun::close, Release());
  bind_background(run);
  py::class_<StudyFolder>(module, "StudyFolder")
      .def(py::init<const std::string&>(), Release())
      .def("runs", &StudyFolder::runs, Release())
      .def("means", &StudyFolder::means, Release())
      .def("chosen", &StudyFolder::chosen, Release())
      .def("claims", &StudyFolder::claims, Release())
      .def("page", &StudyFolder::page, Release())
      .def("data", &StudyFolder::data_json, Release())
      .def("facts", &StudyFolder::facts, Release());
  module.def("draw", &draw, py::arg("report"), py::arg("figure"), Release());
  module.def("study_names", &studies::builtin_study_names);
}

}  // namespace modlab::python
