#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/kernels.h"
#include "experiments/measure.h"
#include "settings/setting.h"
#include "tasks/tasks_at_hand.h"

// What differs between kinds of experiment stands behind this interface. Grids, stores, selection, claims, tables and
// reports know a run by it alone.
namespace modlab::experiments {

using settings::Given;
using settings::Setting;
using settings::Values;

class Experiment;

struct Run {
  const Experiment* kind = nullptr;
  Values values;             // resolved
  std::uint64_t number = 0;  // its name: see RunNames

  std::string id() const { return settings::id_text(number); }
};

// What became of a run. The store writes it unread.
struct Result {
  std::map<std::string, Numbers> snapshots;  // "best", "last"
  std::map<std::string, std::string> blobs;  // "curve", "weights/best", "details": in the kind's own encoding
  bool diverged = false;
  double seconds = 0;  // of one thread
};

struct FinishedRun {
  const Run* run = nullptr;
  Result result;
};

// Which blobs a result is to have.
struct Wanted {
  bool structure = true;  // measures and details that need a look at the trained network itself
  bool curve = false;
  bool best_weights = false;
  bool last_weights = false;
  bool epoch_table = false;   // "epochs.csv": every epoch, for people
  bool network_file = false;  // "file.EXTENSION": the network for other programs
};

struct Resources {
  int threads = 1;
  const engine::Kernels<float>* kernels = &engine::kernels();
  std::string unfinished = {};  // a folder for parts of runs that take long, so that they can go on; or none
};

// Takes finished runs from any thread, no lock held.
using Sink = std::function<void(std::vector<FinishedRun>&& finished)>;

// How far the work is: a share from 0 to 1, and what it has come to in words.
struct Status {
  double share = 0;
  std::string text;
};

// Runs ready to be carried out: every mistake in the settings has come to light.
class Work {
 public:
  virtual ~Work() = default;

  // In seconds, from a small piece of the work itself.
  virtual double estimate_seconds() = 0;
  // A run either reaches the sink or leaves no trace. Throws what the sink throws.
  virtual void execute(const Sink& sink) = 0;
  // From any thread, while it is carried out.
  virtual Status status(double seconds) const = 0;
  // Ends execute() early, from any thread.
  virtual void stop() = 0;
  // What there is to say besides the results; may be empty.
  virtual std::string remark() const { return ""; }
};

// The measures with a part to play, by name; empty where a kind has none.
struct Parts {
  std::string headline;    // what tables show
  std::string validation;  // what selection may look at, and what decides where it is tied
  std::string loss;
  std::string cost;
  std::string trainings;  // how many trainings a run stands for
};

// A column of the table that `modlab train` prints.
struct Column {
  enum class Show { kMeanAndError, kMean, kWhole, kAtFull };  // the last: how many runs have 100 %
  std::string heading;
  std::string measure;
  Show show = Show::kMean;
  int digits = 2;  // behind the point
};

struct OwnTask {
  std::string name;
  std::string about;
};

// A flag of the script that experiments were published with, where it is no setting of ours.
struct PublishedFlag {
  std::string name;
  bool is_switch = false;  // "true" or "false"
};
// Values of settings and of such flags, by name.
using Asked = std::map<std::string, std::vector<std::string>>;

// What stands beside trained networks in figures without being one: numbers that follow from a run's settings.
struct Reference {
  std::string label;  // "random gates"
  Numbers numbers;    // of some measures, by name
};

// A task as reports show it.
struct TaskFacts {
  std::string name;
  std::string fingerprint;            // what makes it the task it is: runs of another one must not get its name
  tasks::TaskText text;               // what it was read from
  nlohmann::ordered_json page;        // web/src/report.ts, Task
  std::optional<double> always_zero;  // accuracy, in percent
};

// What Experiment::side_by_side() is of networks in lanes: as many as the widest target has, which all others divide.
inline constexpr int kMostLanes = 16;

class Experiment {
 public:
  virtual ~Experiment() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view title() const = 0;  // above its settings in help
  virtual std::span<const Setting> settings() const = 0;
  virtual std::span<const Measure> measures() const = 0;
  virtual Parts parts() const = 0;
  virtual std::vector<Column> columns() const = 0;
  // Below that table: what its numbers mean.
  virtual std::string footnote(std::span<const Run> /*runs*/) const { return ""; }
  // What its series are called in pictures.
  virtual std::string series_label() const { return "series"; }
  // What was drawn before training, in words: "split" for the split of the data.
  virtual std::string split_word() const { return "split"; }
  // Above the table of a study.
  virtual std::string table_title() const = 0;
  // The setting that a study's table has columns for: results are averaged over all others.
  virtual std::string table_axis() const { return "task"; }

  // A kind is chosen by model and task: the first one that has the model and takes the task.
  virtual std::vector<std::string> models() const = 0;
  // Whether a model is its own: one of these, or of those that no list could name, such as files.
  virtual bool has_model(const std::string& model) const;
  virtual bool takes(const std::string& /*task*/) const { return true; }
  // Tasks that no other kind has: names instead of files, and what they are; empty if its tasks are files.
  virtual std::vector<OwnTask> own_tasks() const { return {}; }
  // Flags of its published script, and what was asked for with them in our words. Settings in our words stay as they
  // are. Throws ConfigError for what the script could do and we cannot, and for what makes no sense.
  virtual std::vector<PublishedFlag> published_flags() const { return {}; }
  virtual Asked in_our_words(Asked asked) const { return asked; }
  // The settings that mean something to a run, which its task and its model decide.
  virtual std::vector<const Setting*> settings_for(const Given& given) const = 0;
  // Fills in what was left open and checks that the whole makes sense; what it returns resolves to itself. Throws
  // ConfigError.
  virtual Values resolve(const Given& given) const = 0;
  // What settings are where nothing is said of them, by name; null, empty or 0 where the task decides.
  virtual std::map<std::string, nlohmann::json> defaults() const = 0;
  // Values with which a setting is left out of a run's name.
  virtual const std::map<std::string, nlohmann::json>& name_defaults() const = 0;
  // Whether a run gives the same bits on any machine; otherwise on the same one, with as many threads.
  virtual bool is_replayable() const { return true; }
  // Runs with equal keys share most of their work.
  virtual std::uint64_t share_key(const Run& run) const { return run.number; }
  // So many runs that differ in free settings alone (Setting::is_free) are trained at once, and take about as long as
  // one of them.
  virtual int side_by_side() const { return 1; }
  // How much work a run is, compared with others: roughly its floating-point operations. Follows from the settings
  // alone, so that all machines agree on how to divide a study; runs that differ in splits and seeds alone are alike.
  virtual double effort(const Run& /*run*/) const { return 1; }

  virtual std::unique_ptr<Work> prepare(std::span<const Run> runs, const Resources& resources,
                                        const Wanted& wanted) const = 0;
  // The same with networks that were trained elsewhere, in the place of those runs that they are of.
  virtual std::unique_ptr<Work> judge(std::span<const Run> runs, const std::vector<std::string>& files) const;

  // Of a task that runs of this kind may have; nothing if it has no tasks.
  virtual std::optional<TaskFacts> task_facts(const std::string& /*task*/) const { return std::nullopt; }
  // What resolve() has to know of files besides the task: with it at hand, runs can be planned where they are not.
  virtual tasks::FileFacts file_facts(const Values& /*values*/) const { return {}; }
  // One run as `--json` prints it.
  virtual nlohmann::ordered_json run_json(const Run& run, const Result& result) const;
  // How large its network is, by name, without training it; empty for kinds whose cost `modlab flops` counts in full.
  virtual Numbers size_of(const Run& /*run*/) const { return {}; }
  // Accuracies of a stored run by epoch: a header line and a line for each epoch; nothing if there are none.
  virtual std::string curve_csv(const Run& /*run*/, const std::map<std::string, Numbers>& /*snapshots*/,
                                const std::string& /*curve*/, const std::string& /*source*/) const {
    return "";
  }
  // The numbers of a point of a stored curve: first the one that says where on the curve it is, then what was measured.
  virtual std::span<const Measure> curve_measures() const { return {}; }
  // The points of a stored curve by these names. Throws FormatError, naming `source`, where it is damaged.
  virtual std::vector<Numbers> curve_points(const std::string& /*curve*/, const std::string& /*source*/) const {
    return {};
  }
  // Nothing where there is no such thing.
  virtual Reference reference(const Run& /*run*/) const { return {}; }
  // Completes what an older store has of a run.
  virtual void upgrade(const Values& /*values*/, Result& /*result*/) const {}
};

// All kinds, in the order in which they are asked whether a run is theirs.
std::span<const Experiment* const> all();
const Experiment* find_kind(std::string_view name);

// The kind whose own task this is; null for tasks from files, which several kinds may have.
const Experiment* owner_of(const std::string& task);
// The names of a kind's own tasks.
std::vector<std::string> own_task_names(const Experiment& kind);
// The kind of a run with these settings. Throws ConfigError for a model that no kind has.
const Experiment& kind_for(const Given& given);
// A run of given settings, resolved.
Run make_run(const Given& given);
// A run as a store or a saved network has it. Throws FormatError, naming `source`.
Run run_from_json(const std::string& kind_name, const nlohmann::ordered_json& object, const std::string& source);

// All settings of that name (dashes or underscores), one for each kind that has it.
std::vector<const Setting*> find_settings(const std::string& name);
// The first of them, or null.
const Setting* find_setting(const std::string& name);
std::vector<std::string> setting_names();
// A value in its one form, as the first kind that understands it reads it. Throws ConfigError.
std::string canonical_value(const std::string& name, const std::string& text);

// The measures of all kinds, each name once.
std::span<const Measure> all_measures();
const Measure* find_measure(std::string_view name);
std::vector<std::string> measure_names();
// Of points of curves, of all kinds.
const Measure* find_curve_measure(std::string_view name);
std::vector<std::string> curve_measure_names();

}  // namespace modlab::experiments
