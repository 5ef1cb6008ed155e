#include "report/module_evidence_text.h"

#include <algorithm>

#include "core/text.h"
#include "report/module_writer.h"

namespace modlab::report {
namespace {

using methods::Change;
using methods::TaskLook;
using methods::UnitPlace;

class EvidenceWriter : public ModuleWriter {
 public:
  using ModuleWriter::ModuleWriter;

  std::string text() {
    if (look_.task) {
      add_functions();
      add_truth();
      add_lesions();
    }
    add_null_model();
    add_stability();
    return take();
  }

 private:
  std::string function_text(const methods::UnitFunction& function) const {
    const int rows = static_cast<int>(look_.task->task->table.rows.size());
    if (function.ones == 0 || function.ones == rows) {
      return function.ones == 0 ? "never active" : "always active";
    }
    std::vector<std::string> parts;
    // The lowest gate: outputs that copy it say nothing more.
    if (!function.matches.empty()) {
      const methods::NodeMatch& match = function.matches.front();
      parts.push_back((match.negated ? "!" : "") + match.name);
    }
    for (const std::string& formula : {function.formula, function.local_formula}) {
      if (!formula.empty() && std::ranges::find(parts, formula) == parts.end()) {
        parts.push_back(formula);
      }
    }
    std::string found = join_text(parts, " = ");
    if (!function.matches.empty()) {
      return found;
    }
    return fmt::format("{}no gate of the task; 1 on {} of {} rows, by {}", found.empty() ? "" : found + ", ",
                       function.ones, rows, units_text(0, function.depends_on));
  }

  // An output that is wrong somewhere says so.
  std::string rightness_text(const methods::UnitFunction& function) const {
    if (function.unit.layer + 1 != layers_) {
      return "";
    }
    const tasks::Task& task = *look_.task->task;
    const std::string& own = task.output_names[function.unit.unit];
    const bool is_right = std::ranges::any_of(
        function.matches, [&](const methods::NodeMatch& match) { return match.name == own && !match.negated; });
    return is_right ? "" : "; wrong";
  }

  void add_functions() {
    add("\nWhat the modules compute (a unit is 1 where it is active)\n");
    for (std::size_t number = 0; number < look_.task->functions.size(); ++number) {
      const methods::ModuleFunction& function = look_.task->functions[number];
      std::vector<std::string> computes;
      for (const int truth : function.computes) {
        computes.push_back(look_.task->task->modules[truth].name);
      }
      add("  {:<9} reads {}{}\n", look_.module_name(number),
          function.reads.empty() ? "nothing" : units_text(function.reads),
          computes.empty() ? "" : "; computes " + join_text(computes, ", "));
      std::vector<std::pair<std::string, std::vector<UnitPlace>>> lines;
      for (const methods::UnitFunction& unit : function.gives) {
        // Inputs are what they are.
        const std::string text = unit.unit.layer == 0 ? "as it is" : function_text(unit) + rightness_text(unit);
        if (lines.empty() || lines.back().first != text) {
          const auto known = std::ranges::find(lines, text, [](const auto& pair) { return pair.first; });
          if (known != lines.end()) {
            known->second.push_back(unit.unit);
            continue;
          }
          lines.push_back({text, {}});
        }
        lines.back().second.push_back(unit.unit);
      }
      for (const auto& [text, units] : lines) {
        add("            {}: {}\n", units_text(units), text);
      }
    }
  }

  void add_agreement(const char* name, const methods::Agreement& agreement) {
    add("  {:<9} {}, adjusted Rand {:.3f}, mutual information {:.3f}\n", name,
        agreement.exact ? "the same" : "different", rounded(agreement.adjusted_rand, 1e-3),
        agreement.mutual_information);
  }

  void add_truth() {
    const TaskLook& found = *look_.task;
    if (found.agreement) {
      add("\nAgreement with the true modules\n");
      add_agreement("inputs", found.agreement->inputs);
      add_agreement("outputs", found.agreement->outputs);
      add_agreement("both", found.agreement->all);
    } else {
      add("\nTask {} names no modules to compare with.\n", found.task->name);
    }
    if (!found.criteria.empty()) {
      add("\nCriteria\n");
    }
    for (const methods::Criterion& criterion : found.criteria) {
      add("  {:<9} {}\n", criterion.met ? "met" : "not met", criterion.name);
    }
  }

  void add_lesions() {
    if (!look_.task->lesions) {
      return;
    }
    add("\nLesions (share of rows on which an output is still right)\n");
    for (std::size_t number = 0; number < look_.task->lesions->lesions.size(); ++number) {
      const methods::Lesion& lesion = look_.task->lesions->lesions[number];
      // Outputs that fail alike are said together, in order of appearance.
      std::vector<std::pair<double, std::vector<int>>> groups;
      for (const int output : lesion.failing) {
        const double accuracy = lesion.accuracy[static_cast<std::size_t>(output)];
        auto group = std::ranges::find(groups, accuracy, [](const auto& pair) { return pair.first; });
        if (group == groups.end()) {
          group = groups.insert(groups.end(), {accuracy, {}});
        }
        group->second.push_back(output);
      }
      std::vector<std::string> failing;
      for (const auto& [accuracy, outputs] : groups) {
        failing.push_back(fmt::format("{} {}", units_text(layers_ - 1, outputs), percent_text(accuracy)));
      }
      add("  without {:<4} ({}): {}\n", look_.module_name(number), methods::text_of(lesion.cut),
          failing.empty() ? "no output fails" : join_text(failing, ", "));
    }
  }

  void add_draws(const char* what, const methods::NullDraws& draws) {
    if (draws.different == 0) {
      add("  {}: all {} draws are the network itself, so that it is no evidence (p = 1)\n", what, draws.draws);
      return;
    }
    add("  {}: mean {:.3f}, deviation {:.3f}; {} of {} reach it, p = {:.4f}\n", what, rounded(draws.mean, 1e-3),
        draws.deviation, draws.at_least, draws.draws, draws.p);
  }

  void add_null_model() {
    if (!look_.null_model) {
      return;
    }
    add("\nNull model (edges inside modules beyond what is expected, as a share of all)\n");
    add("  this network: {:.3f}\n", rounded(look_.null_model->statistic, 1e-3));
    add_draws("networks with the same degrees", look_.null_model->rewired);
    if (look_.null_model->reweighted) {
      add_draws("the same edges with shuffled weights", *look_.null_model->reweighted);
    } else {
      add("  shuffled weights cannot change modules that do not depend on weights\n");
    }
  }

  void add_stability() {
    if (!look_.stability) {
      return;
    }
    add("\nStability\n");
    for (const auto& [change, name] : {std::pair{Change::kThreshold, "threshold"},
                                       {Change::kMerging, "merging"},
                                       {Change::kRenumbering, "unit order"}}) {
      std::vector<std::string> same;
      std::vector<std::string> other;
      for (const methods::Variation& variation : look_.stability->variations) {
        if (variation.change == change) {
          (variation.same ? same : other).push_back(fmt::format("{:g}", variation.value));
        }
      }
      if (change == Change::kRenumbering) {
        add("  {:<11} the same modules in {} of {} random orders\n", name, same.size(), same.size() + other.size());
      } else {
        add("  {:<11} the same modules at {}{}\n", name, same.empty() ? "no other" : join_text(same, " "),
            other.empty() ? "" : "; others at " + join_text(other, " "));
      }
    }
    for (const methods::CloseDecision& close : look_.stability->close) {
      add("  close call  {}: {}{}\n", layer_text(close.layer), methods::text_of(close.call),
          close.margin > 0 ? fmt::format(" (by {:.3f})", close.margin) : "");
    }
  }
};

}  // namespace

std::string module_evidence_text(const methods::ModuleLook& look) { return EvidenceWriter(look).text(); }

}  // namespace modlab::report
