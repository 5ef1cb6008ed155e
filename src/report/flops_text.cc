#include "report/flops_text.h"

#include <fmt/format.h>

#include <variant>

#include "core/errors.h"
#include "core/text.h"
#include "experiments/bits/bits.h"
#include "experiments/images/images.h"
#include "measures/flops.h"
#include "models/blueprint.h"
#include "models/images/image_blueprint.h"
#include "models/population.h"
#include "models/training_settings.h"
#include "tasks/task_cache.h"

namespace modlab::report {
namespace {

using measures::Counting;
using measures::FlopCount;
using measures::TableOneRow;

std::string count_columns(const FlopCount& count) {
  return fmt::format("{:>9.0f} {:>9.0f} {:>9.0f}", count.forward, count.backward, count.update);
}

std::string joined(const std::vector<int>& numbers, const char* separator) {
  std::vector<std::string> words;
  for (const int number : numbers) {
    words.push_back(std::to_string(number));
  }
  return join_text(words, separator);
}

// "3,2 slots of 2-12-1 modules, pool of 2".
std::string modules_shape_text(const models::ModularShape& shape) {
  const std::string modules = shape.pool > 0
                                  ? fmt::format("{} slots, a pool of {} modules", joined(shape.levels, ","), shape.pool)
                                  : fmt::format("{} modules", joined(shape.levels, ","));
  return fmt::format("{} of {}", modules, joined(shape.module_widths, "-"));
}

std::string shape_text(const models::Blueprint& blueprint) {
  if (const auto* mlp = std::get_if<models::MlpShape>(&blueprint.shape)) {
    return "layers " + joined(mlp->widths, "-");
  }
  return modules_shape_text(std::get<models::ModularShape>(blueprint.shape));
}

std::string reader_text(const models::ImageReader& reader) {
  return reader.channels.empty() ? joined(reader.widths, "-")
                                 : fmt::format("convolutions of {} channels, {}", joined(reader.channels, " and "),
                                               joined(reader.widths, "-"));
}

std::string shape_text(const models::ImageBlueprint& blueprint) {
  if (const auto* mlp = std::get_if<models::ImageMlpShape>(&blueprint.shape)) {
    return "layers " + reader_text(mlp->reader);
  }
  const auto& shape = std::get<models::ImageModularShape>(blueprint.shape);
  return fmt::format("{} image slots, {} of {}; {}", shape.image_slots,
                     shape.image_pool > 0 ? fmt::format("a pool of {}", shape.image_pool) : "a module each",
                     reader_text(shape.reader), modules_shape_text(shape.bits));
}

template <typename Spec>
std::string counts_text(const Spec& spec, const tasks::TaskSuite& suite) {
  const auto paper = measures::flop_parts(spec, suite, Counting::kPaper);
  const auto exact = measures::flop_parts(spec, suite, Counting::kExact);
  std::string text = fmt::format("{:<18} {:>29}   {:>29}\n", "", "the paper's count", "what this program computes");
  text += fmt::format("{:<18} {:>9} {:>9} {:>9}   {:>9} {:>9} {:>9}\n", "weights in use", "forward", "backward",
                      "update", "forward", "backward", "update");
  for (std::size_t part = 0; paper.size() > 1 && part < paper.size(); ++part) {
    text += fmt::format("  {:<16} {}   {}\n", paper[part].name, count_columns(paper[part].count),
                        count_columns(exact[part].count));
  }
  text += fmt::format("{:<18} {}   {}\n\n", paper.size() > 1 ? "together" : "layers",
                      count_columns(measures::count_flops(spec, suite, Counting::kPaper)),
                      count_columns(measures::count_flops(spec, suite, Counting::kExact)));
  return text;
}

template <typename Spec>
std::string training_text(const Spec& spec, const tasks::TaskSuite& suite) {
  const int rows = models::part_rows(spec, suite).train;
  std::string text =
      fmt::format("{} epochs on {} rows (ratio {}) in batches of {}\n", spec.epochs, rows, spec.ratio, spec.batch_size);
  const auto add_row = [&](const char* name, const auto& number) {
    text += fmt::format("{:<18} {:>29}   {:>29}\n", name, fmt::format("{:.0f}", number(Counting::kPaper)),
                        fmt::format("{:.0f}", number(Counting::kExact)));
  };
  add_row("updates",
          [&](Counting counting) { return measures::updates_to_epoch(spec.epochs, rows, spec.batch_size, counting); });
  add_row("training FLOPs", [&](Counting counting) {
    return measures::training_flops(measures::count_flops(spec, suite, counting), spec.epochs, rows, spec.batch_size,
                                    counting);
  });
  text +=
      "\nA weight costs 2 FLOPs forward and 4 backward for each row, a parameter 18 for each update (Adam).\n"
      "The paper leaves out biases and has floor(rows / batch) + 1 updates in an epoch; this program has\n"
      "biases, ceil(rows / batch) updates, and gathers instead of products where it selects.\n";
  return text;
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

template <typename Spec>
std::string text_of(const Spec& spec) {
  const auto suite = tasks::cached_task(spec.task);
  return fmt::format("{} on {}: {}\n\n", models::model_name(spec.model), spec.task,
                     shape_text(models::make_blueprint(spec, *suite))) +
         counts_text(spec, *suite) + training_text(spec, *suite);
}

template <typename Spec>
measures::FlopCount count_of(const Spec& spec, Counting counting) {
  return measures::count_flops(spec, *tasks::cached_task(spec.task), counting);
}

[[noreturn]] void refuse(const experiments::Run& run) {
  throw ConfigError(
      fmt::format("what a network of model '{}' costs is not counted; flops counts one training on bits or images",
                  run.values.text("model")));
}

}  // namespace

std::string flops_text(const experiments::Run& run) {
  if (run.kind == &experiments::bits()) {
    return text_of(experiments::bit_spec(run.values));
  }
  return run.kind == &experiments::images() ? text_of(experiments::image_spec(run.values)) : (refuse(run), "");
}

measures::FlopCount flops_of(const experiments::Run& run, Counting counting) {
  if (run.kind == &experiments::bits()) {
    return count_of(experiments::bit_spec(run.values), counting);
  }
  return run.kind == &experiments::images() ? count_of(experiments::image_spec(run.values), counting)
                                            : (refuse(run), measures::FlopCount());
}

std::string table_one_text() {
  const std::vector<TableOneRow> rows = measures::table_one();
  std::string text = "Table 1: weights used forward, used backward, and updated\n\n";
  text += fmt::format("{:<20} {:<7} {:>7}  {:>7}  {:>7}\n", "architecture", "task", "forward", "backward", "update");
  std::string notes;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const TableOneRow& row = rows[index];
    const bool is_first = index == 0 || rows[index - 1].model != row.model;
    std::string line =
        fmt::format("{:<20} {:<6} {}", is_first ? models::model_name(row.model) : "", row.task, row_text(row));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
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
  text += fmt::format("\n{}All other entries are as printed.\n", notes);
  return text;
}

}  // namespace modlab::report
