#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "cli/arguments.h"
#include "cli/planning_note.h"
#include "cli/progress_bar.h"
#include "cli/run_list.h"
#include "cli/snapshot_option.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/notice.h"
#include "core/text.h"
#include "experiments/mask/given_masks.h"
#include "io/file.h"
#include "methods/mask/mask_settings.h"
#include "models/saved_snapshot.h"
#include "report/masked_text.h"
#include "studies/batch.h"

namespace modlab::cli {
namespace {

const std::vector<Option>& own_mask_options() {
  static const std::vector<Option> kOptions = {
      {"from",
       Arity::kMany,
       "FILE",
       "mask networks that are trained: of `modlab train --save` or `modlab sculpt`, or layers",
       {}},
      {"data",
       Arity::kOne,
       "FILE",
       "the same as --task, for samples of one's own: inputs and labels of numpy.savez",
       {}},
      snapshot_option(),
      {"save",
       Arity::kOne,
       "DIR",
       "write networks, logits, masks and masked networks as safetensors, settings as JSON",
       {}},
      {"threads", Arity::kOne, "N", "threads to train on; default: all cores", {}},
      {"json", Arity::kSwitch, "", "print one JSON object instead of tables", {}},
      {"help", Arity::kOptional, "all", "this text, for the task at hand; or for all", {}},
  };
  return kOptions;
}

void print_mask_help(const Arguments& arguments) {
  print_help(
      "modlab mask: which weights of a trained network do what\n\n"
      "  modlab mask --task depth2 --network dense --seed 0..9\n"
      "  modlab mask --task add-mul --hidden 400,400,200 --seed 0..9 --steps 10000 --mask-steps 10000\n"
      "  modlab mask --task permuted-mnist --hidden 200,200,64 --seed 0..9 --mask-steps 5000\n"
      "  modlab mask --from nets/*.safetensors --targets outputs\n"
      "  modlab mask --from sculpted/dense.jsonl --task sculpt/4-2-4\n"
      "  modlab mask --task cifar10 --network cnn --classes cat,dog --mask-steps 5000\n"
      "  modlab mask --model net.pt --data samples.npz --targets outputs\n\n"
      "A network is trained, or read from files, and frozen; for each target a binary mask over its weights is "
      "trained\n"
      "that keeps what the target needs. What two masks share is reused, what they do not share is specialised: "
      "beside\n"
      "it stands what random masks that keep as much would share.\n\n{}\nOutput\n{}",
      describe_settings(arguments, arguments.text("help") == "all", methods::kMaskedModel),
      describe_options(own_mask_options()));
}

// Saved as ID.network.safetensors and so on, with the run itself in ID.json.
void save_network(const std::string& folder, const nlohmann::ordered_json& run,
                  const std::map<std::string, std::string>& blobs) {
  constexpr std::string_view kFile = "file";
  const std::string id = run.at("id").get<std::string>();
  for (const auto& [name, bytes] : blobs) {
    if (name.starts_with("file.")) {
      io::write_file(fmt::format("{}/{}{}", folder, id, name.substr(kFile.size())), bytes);
    }
  }
  // The last: where it is, all are.
  io::write_file(folder + "/" + id + ".json", run.dump(2) + "\n");
}

// What an earlier call saved of the same run, if it got so far.
std::optional<nlohmann::ordered_json> saved_run(const std::string& folder, const experiments::Run& run) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  const std::string path = folder + "/" + run.id() + ".json";
  if (folder.empty() || !std::filesystem::exists(path)) {
    return std::nullopt;
  }
  nlohmann::ordered_json saved = nlohmann::ordered_json::parse(io::read_file(path, kMostBytes), nullptr, false);
  const bool is_it = saved.is_object() && saved.value("id", "") == run.id() && saved.contains("stages");
  return is_it ? std::optional(std::move(saved)) : std::nullopt;
}

// Networks that differ in nothing but what was drawn are one table.
std::string table_key(const experiments::Run& run) {
  std::string key;
  for (std::size_t place = 0; place < run.values.size(); ++place) {
    const settings::Setting& setting = run.values.setting_at(place);
    if (!setting.is_replicate() && run.values.speaks_at(place)) {
      key += setting.name + " " + run.values.text_at(place) + "\n";
    }
  }
  return key;
}

struct Table {
  std::string heading;
  std::vector<nlohmann::ordered_json> networks;
};

std::string heading_of(const experiments::Run& run) {
  std::string heading = run.values.text("task");
  const auto defaults = run.kind->defaults();
  for (std::size_t place = 0; place < run.values.size(); ++place) {
    const settings::Setting& setting = run.values.setting_at(place);
    const auto otherwise = defaults.find(setting.name);
    const bool is_default = otherwise != defaults.end() && otherwise->second == run.values.value_at(place);
    if (setting.role == settings::Setting::Role::kPlain && run.values.speaks_at(place) &&
        (setting.name == "network" || !is_default)) {
      heading += fmt::format(", {} {}", setting.name, run.values.text_at(place));
    }
  }
  return heading;
}

void print_tables(const std::vector<Table>& tables) {
  for (std::size_t table = 0; table < tables.size(); ++table) {
    fmt::print("{}{}: {} network{}\n\n{}", table == 0 ? "" : "\n\n", tables[table].heading,
               tables[table].networks.size(),
               tables[table].networks.size() == 1 ? "" : "s, mean ± standard deviation of networks",
               report::masked_text(tables[table].networks));
  }
}

void finish(const std::vector<Table>& tables, const std::vector<nlohmann::ordered_json>& runs, bool as_json,
            double seconds, int threads) {
  const char* target = engine::kernels().target;
  if (as_json) {
    const nlohmann::ordered_json output = {
        {"runs", runs}, {"seconds", seconds}, {"threads", threads}, {"target", target}};
    fmt::print("{}\n", output.dump());
    return;
  }
  print_tables(tables);
  fmt::print("\n{} network{} in {:.1f} s ({}, {} thread{}).\n", runs.size(), runs.size() == 1 ? "" : "s", seconds,
             target, threads, threads == 1 ? "" : "s");
}

int mask_trained(const Arguments& arguments, int threads) {
  const std::string folder = arguments.text("save");
  experiments::Resources resources{threads, &engine::kernels()};
  if (!folder.empty()) {
    resources.unfinished = folder + "/unfinished";
  }
  const experiments::Wanted wanted{.network_file = !folder.empty()};
  const std::vector<experiments::Run> runs =
      while_planning([&] { return runs_from(arguments, methods::kMaskedModel); });
  std::map<std::uint64_t, nlohmann::ordered_json> finished;
  std::vector<experiments::Run> missing;
  for (const experiments::Run& run : runs) {
    if (std::optional<nlohmann::ordered_json> saved = saved_run(folder, run)) {
      finished[run.number] = std::move(*saved);
    } else {
      missing.push_back(run);
    }
  }
  if (!finished.empty()) {
    give_notice(fmt::format("{} of {} networks are in {} already", finished.size(), runs.size(), folder));
  }
  studies::Batch batch = while_planning([&] { return studies::Batch(missing, resources, wanted); });
  if (!folder.empty()) {
    io::prepare_folder(folder);
  }
  std::mutex mutex;
  double seconds = 0;
  {
    const ProgressBar bar(watched(batch), arguments.is_on("json"));
    batch.execute([&](std::vector<experiments::FinishedRun>&& block) {
      const std::lock_guard lock(mutex);
      for (const experiments::FinishedRun& run : block) {
        nlohmann::ordered_json object = run.run->kind->run_json(*run.run, run.result);
        if (!folder.empty()) {
          save_network(folder, object, run.result.blobs);
        }
        finished[run.run->number] = std::move(object);
      }
    });
    seconds = bar.seconds();
  }
  if (finished.size() < runs.size()) {
    throw Interrupted(fmt::format(
        "Stopped: {} of {} networks are done{}.", finished.size(), runs.size(),
        folder.empty() ? "; nothing was written" : " and saved in " + folder + "; the same command goes on"));
  }
  std::vector<Table> tables;
  std::map<std::string, std::size_t> place;
  std::vector<nlohmann::ordered_json> objects;
  for (const experiments::Run& run : runs) {
    const auto [found, is_new] = place.emplace(table_key(run), tables.size());
    if (is_new) {
      tables.push_back({heading_of(run), {}});
    }
    tables[found->second].networks.push_back(finished.at(run.number));
    objects.push_back(finished.at(run.number));
  }
  finish(tables, objects, arguments.is_on("json"), seconds, threads);
  return 0;
}

int mask_given(const Arguments& arguments, int threads) {
  experiments::GivenMasksRequest request;
  request.files = arguments.words("from");
  request.snapshot = arguments.text("snapshot", "best");
  models::check_snapshot_name(request.snapshot);
  for (const std::string& name : experiments::setting_names()) {
    if (arguments.has(name)) {
      request.settings[name] = join_text(arguments.words(name), ",");
    }
  }
  experiments::GivenMasks masks = while_planning([&] { return experiments::GivenMasks(request, engine::kernels()); });
  const std::string folder = arguments.text("save");
  if (!folder.empty()) {
    io::prepare_folder(folder);
  }
  double seconds = 0;
  {
    const ProgressBar bar(watched(masks), arguments.is_on("json"));
    masks.execute(threads);
    seconds = bar.seconds();
  }
  if (masks.is_stopped()) {
    throw Interrupted("Stopped; nothing was written.");
  }
  std::vector<Table> tables;
  std::vector<nlohmann::ordered_json> objects;
  for (const experiments::GivenMasks::Finished& finished : masks.finished()) {
    if (!folder.empty()) {
      save_network(folder, finished.run, finished.blobs);
    }
    objects.push_back(finished.run);
    const auto table = std::ranges::find(tables, finished.shape, &Table::heading);
    if (table == tables.end()) {
      tables.push_back({finished.shape, {finished.run}});
    } else {
      table->networks.push_back(finished.run);
    }
  }
  finish(tables, objects, arguments.is_on("json"), seconds, threads);
  return 0;
}

// A network of one's own is called --model FILE and its samples --data FILE; to a run they are what every mask has, its
// network and its task.
std::vector<std::string> in_words_of_masks(std::span<const std::string> words) {
  std::vector<std::string> said(words.begin(), words.end());
  for (std::size_t at = 0; at < said.size(); ++at) {
    const bool is_apart = said[at] == "--model" && at + 1 < said.size();
    const std::string model = is_apart ? said[at + 1] : said[at].starts_with("--model=") ? said[at].substr(8) : "";
    if (!model.empty() && model != methods::kMaskedModel) {
      said[at] = is_apart ? "--network" : "--network=" + model;
    } else if (said[at] == "--data") {
      said[at] = "--task";
    } else if (said[at].starts_with("--data=")) {
      said[at] = "--task=" + said[at].substr(7);
    }
  }
  return said;
}

}  // namespace

int run_mask(std::span<const std::string> words) {
  const std::vector<std::string> said = in_words_of_masks(words);
  std::vector<Option> options = setting_options();
  options.insert(options.end(), own_mask_options().begin(), own_mask_options().end());
  const Arguments arguments(said, options);
  if (arguments.has("help")) {
    print_mask_help(arguments);
    return 0;
  }
  if (!arguments.positional().empty()) {
    throw ConfigError(
        fmt::format("'{}' belongs to no setting; settings begin with --", arguments.positional().front()));
  }
  if (arguments.text("network").ends_with(".pt") && !arguments.has("task")) {
    throw ConfigError("a network of one's own needs samples: --data FILE, as numpy.savez writes it");
  }
  const int threads = thread_count(arguments);
  return arguments.has("from") ? mask_given(arguments, threads) : mask_trained(arguments, threads);
}

}  // namespace modlab::cli
