#include "measures/flops.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/published_flags.h"
#include "cli/run_list.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "models/blueprint.h"
#include "models/population.h"
#include "models/settings.h"
#include "tasks/task_file.h"

namespace modlab::cli {
namespace {

using measures::Counting;
using measures::FlopCount;
using measures::TableOneRow;

const std::vector<Option>& own_flops_options() {
  static const std::vector<Option> kOptions = {
      {"exact", Arity::kSwitch, "", "with --json: what this program computes, instead of the paper's count", {}},
      {"table", Arity::kSwitch, "", "the paper's Table 1, computed from shapes and compared with what is printed", {}},
      {"json", Arity::kSwitch, "", "print one JSON object", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_flops_help() {
  fmt::print(
      "modlab flops: what training a network costs, without training it\n\n"
      "  modlab flops --task depth2 --model modular-shared --ratio 0.5 --batch-size 4 --epochs 100\n"
      "  modlab flops --table\n\n"
      "Takes the settings of `modlab train`, one value each.\n\nSettings\n{}\nOutput\n{}",
      describe_options(setting_options()), describe_options(own_flops_options()));
}

std::string count_json(const FlopCount& count) {
  return fmt::format(R"({{"forward": {:.0f}, "backward": {:.0f}, "update": {:.0f}}})", count.forward, count.backward,
                     count.update);
}

std::string count_columns(const FlopCount& count) {
  return fmt::format("{:>9.0f} {:>9.0f} {:>9.0f}", count.forward, count.backward, count.update);
}

// "3,2 slots of 2-12-1 modules, pool of 2".
std::string network_text(const models::Blueprint& blueprint) {
  const auto joined = [](const std::vector<int>& numbers, const char* separator) {
    std::vector<std::string> words;
    for (const int number : numbers) {
      words.push_back(std::to_string(number));
    }
    return join_text(words, separator);
  };
  if (const auto* mlp = std::get_if<models::MlpShape>(&blueprint.shape)) {
    return "layers " + joined(mlp->widths, "-");
  }
  const auto reader_text = [&](const models::ImageReader& reader) {
    return reader.channels.empty() ? joined(reader.widths, "-")
                                   : fmt::format("convolutions of {} channels, {}", joined(reader.channels, " and "),
                                                 joined(reader.widths, "-"));
  };
  if (const auto* mlp = std::get_if<models::ImageMlpShape>(&blueprint.shape)) {
    return "layers " + reader_text(mlp->reader);
  }
  const auto* images = std::get_if<models::ImageModularShape>(&blueprint.shape);
  const models::ModularShape& shape =
      images != nullptr ? images->bits : std::get<models::ModularShape>(blueprint.shape);
  const std::string below =
      images == nullptr
          ? ""
          : fmt::format("{} image slots, {} of {}; ", images->image_slots,
                        images->image_pool > 0 ? fmt::format("a pool of {}", images->image_pool) : "a module each",
                        reader_text(images->reader));
  const std::string modules = shape.pool > 0
                                  ? fmt::format("{} slots, a pool of {} modules", joined(shape.levels, ","), shape.pool)
                                  : fmt::format("{} modules", joined(shape.levels, ","));
  return fmt::format("{}{} of {}", below, modules, joined(shape.module_widths, "-"));
}

void print_counts(const models::RunSpec& spec, const tasks::TaskSuite& suite) {
  const auto paper = measures::flop_parts(spec, suite, Counting::kPaper);
  const auto exact = measures::flop_parts(spec, suite, Counting::kExact);
  fmt::print("{:<18} {:>29}   {:>29}\n", "", "the paper's count", "what this program computes");
  fmt::print("{:<18} {:>9} {:>9} {:>9}   {:>9} {:>9} {:>9}\n", "weights in use", "forward", "backward", "update",
             "forward", "backward", "update");
  for (std::size_t part = 0; paper.size() > 1 && part < paper.size(); ++part) {
    fmt::print("  {:<16} {}   {}\n", paper[part].name, count_columns(paper[part].count),
               count_columns(exact[part].count));
  }
  fmt::print("{:<18} {}   {}\n\n", paper.size() > 1 ? "together" : "layers",
             count_columns(measures::count_flops(spec, suite, Counting::kPaper)),
             count_columns(measures::count_flops(spec, suite, Counting::kExact)));
}

void print_training(const models::RunSpec& spec, const tasks::TaskSuite& suite) {
  const int rows = models::part_rows(spec, suite).train;
  fmt::print("{} epochs on {} rows (ratio {}) in batches of {}\n", spec.epochs, rows, spec.ratio, spec.batch_size);
  const auto print_row = [&](const char* name, const auto& number) {
    fmt::print("{:<18} {:>29}   {:>29}\n", name, fmt::format("{:.0f}", number(Counting::kPaper)),
               fmt::format("{:.0f}", number(Counting::kExact)));
  };
  print_row("updates", [&](Counting counting) {
    return measures::updates_to_epoch(spec.epochs, rows, spec.batch_size, counting);
  });
  print_row("training FLOPs", [&](Counting counting) {
    return measures::training_flops(measures::count_flops(spec, suite, counting), spec.epochs, rows, spec.batch_size,
                                    counting);
  });
  fmt::print(
      "\nA weight costs 2 FLOPs forward and 4 backward for each row, a parameter 18 for each update (Adam).\n"
      "The paper leaves out biases and has floor(rows / batch) + 1 updates in an epoch; this program has\n"
      "biases, ceil(rows / batch) updates, and gathers instead of products where it selects.\n");
}

// A number, with a star if the paper prints another.
std::string starred(double computed, double printed) {
  return fmt::format("{:.0f}{}", computed, computed == printed ? " " : "*");
}

std::string row_text(const TableOneRow& row) {
  return fmt::format("{:>8} {:>8} {:>8}", starred(row.computed.forward, row.printed.forward),
                     starred(row.computed.backward, row.printed.backward),
                     starred(row.computed.update, row.printed.update));
}

void print_table() {
  const std::vector<TableOneRow> rows = measures::table_one();
  fmt::print("Table 1: weights used forward, used backward, and updated\n\n");
  fmt::print("{:<20} {:<7} {:>7}  {:>7}  {:>7}\n", "architecture", "task", "forward", "backward", "update");
  std::string notes;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const TableOneRow& row = rows[index];
    const bool is_first = index == 0 || rows[index - 1].model != row.model;
    std::string line =
        fmt::format("{:<20} {:<6} {}", is_first ? models::model_name(row.model) : "", row.task, row_text(row));
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    const auto note = [&](const char* column, double computed, double printed) {
      if (computed != printed) {
        notes += fmt::format("* {} on {}, {}: the paper prints {:.0f}, its formula gives {:.0f}.\n",
                             models::model_name(row.model), row.task, column, printed, computed);
      }
    };
    note("forward", row.computed.forward, row.printed.forward);
    note("backward", row.computed.backward, row.printed.backward);
    note("update", row.computed.update, row.printed.update);
  }
  fmt::print("\n{}All other entries are as printed.\n", notes);
}

void print_table_json() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto json_of = [](const FlopCount& count) { return nlohmann::ordered_json::parse(count_json(count)); };
  for (const TableOneRow& row : measures::table_one()) {
    nlohmann::ordered_json object;
    object["model"] = models::model_name(row.model);
    object["task"] = row.task;
    object["computed"] = json_of(row.computed);
    object["printed"] = json_of(row.printed);
    object["agrees"] = object["computed"] == object["printed"];
    rows.push_back(std::move(object));
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"table_one", rows}}.dump());
}

models::RunSpec one_run(const Arguments& arguments) {
  if (!arguments.positional().empty()) {
    throw ConfigError(
        fmt::format("'{}' belongs to no setting; settings begin with --", arguments.positional().front()));
  }
  const std::vector<models::RunSpec> runs = runs_from(arguments);
  if (runs.size() != 1) {
    throw ConfigError(
        fmt::format("flops counts one network, but these settings make {}; give each setting one value", runs.size()));
  }
  return runs.front();
}

}  // namespace

int run_flops(std::span<const std::string> words) {
  std::vector<Option> options = setting_options();
  options.insert(options.end(), own_flops_options().begin(), own_flops_options().end());
  const std::vector<Option> published = published_options();
  options.insert(options.end(), published.begin(), published.end());
  const Arguments arguments(words, options);
  if (arguments.has("help")) {
    print_flops_help();
    return 0;
  }
  const models::RunSpec given = one_run(arguments);
  if (arguments.is_on("table")) {
    arguments.is_on("json") ? print_table_json() : print_table();
    return 0;
  }
  const tasks::TaskSuite suite = tasks::load_task(given.task);
  const models::RunSpec spec = models::resolve(given, suite);
  if (arguments.is_on("json")) {
    const Counting counting = arguments.is_on("exact") ? Counting::kExact : Counting::kPaper;
    fmt::print("{}\n", count_json(measures::count_flops(spec, suite, counting)));
    return 0;
  }
  fmt::print("{} on {}: {}\n\n", models::model_name(spec.model), spec.task,
             network_text(models::make_blueprint(spec, suite)));
  print_counts(spec, suite);
  print_training(spec, suite);
  return 0;
}

}  // namespace modlab::cli
