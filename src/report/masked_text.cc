#include "report/masked_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "core/text.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

// Columns beyond these do not fit a terminal.
constexpr std::size_t kMostStages = 6;

struct Numbers {
  std::vector<double> values;

  double mean() const {
    double sum = 0;
    for (const double value : values) {
      sum += value;
    }
    return sum / static_cast<double>(values.size());
  }
  // Of single networks.
  double deviation() const {
    double squares = 0;
    for (const double value : values) {
      squares += (value - mean()) * (value - mean());
    }
    return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, values.size() - 1)));
  }
  std::string text(int digits) const {
    if (values.empty()) {
      return "-";
    }
    return values.size() == 1 ? fmt::format("{:.{}f}", mean(), digits)
                              : fmt::format("{:.{}f} ± {:.{}f}", mean(), digits, deviation(), digits);
  }
};

class MaskedText {
 public:
  explicit MaskedText(std::span<const ordered_json> networks) : networks_(networks), first_(networks.front()) {}

  std::string write() {
    if (stages() == 0) {
      accuracies();
      text_ += "Trained and not masked.\n";
      return text_;
    }
    if (!has_control()) {
      tasks_in_order();
    } else {
      accuracies();
    }
    kept();
    taken_over();
    sharing();
    controls();
    confusion();
    betas();
    warnings();
    return text_;
  }

 private:
  using Path = std::function<const ordered_json*(const ordered_json&)>;

  // The number at one place of every network; those that have none there are left out.
  Numbers of_all(const Path& place, double factor = 1) const {
    Numbers numbers;
    for (const ordered_json& network : networks_) {
      if (const ordered_json* found = place(network); found != nullptr && found->is_number()) {
        numbers.values.push_back(factor * found->get<double>());
      }
    }
    return numbers;
  }
  static const ordered_json* at(const ordered_json* object, const std::string& name) {
    if (object == nullptr) {
      return nullptr;
    }
    const auto found = object->find(name);
    return found == object->end() ? nullptr : &*found;
  }
  static const ordered_json* stage_of(const ordered_json& network, std::size_t stage) {
    return &network.at("stages").at(stage);
  }
  std::size_t stages() const { return first_.at("stages").size(); }
  std::string stage_name(std::size_t stage) const {
    return on_one_line(first_.at("stages").at(stage).at("name").get<std::string>());
  }

  // Whether there is a mask on everything beside those of the targets. Where there is none, targets are tasks that were
  // learned one after the other.
  bool has_control() const { return stages() > first_.at("unmasked").size(); }

  void tasks_in_order() {
    std::vector<std::vector<std::string>> rows = {{"accuracy %", "unmasked", "its mask", "all but its mask"}};
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      const std::string name = first_.at("stages").at(stage).at("name").get<std::string>();
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(on_one_line(name));
      row.push_back(of_all([&](const ordered_json& network) { return at(at(&network, "unmasked"), name); }).text(1));
      for (const char* which : {"accuracy", "inverse"}) {
        row.push_back(
            of_all([&](const ordered_json& network) { return at(at(stage_of(network, stage), which), name); }).text(1));
      }
    }
    table(rows);
    text_ += "Each task when it was learned; --json has the earlier ones too.\n";
  }

  // What the mask of each task takes over from earlier ones.
  void taken_over() {
    const ordered_json* tensors = at(stage_of(first_, stages() - 1), "shared");
    if (tensors == nullptr) {
      return;
    }
    std::vector<std::vector<std::string>> rows = {{"kept by earlier masks too"}};
    for (const auto& [tensor, share] : tensors->items()) {
      if (tensor.ends_with(".weight")) {
        rows[0].push_back(on_one_line(tensor));
        rows[0].emplace_back("by chance");
      }
    }
    for (std::size_t stage = 1; stage < stages(); ++stage) {
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(stage_name(stage));
      for (const auto& [tensor, share] : tensors->items()) {
        for (const char* which : {"shared", "shared_chance"}) {
          if (tensor.ends_with(".weight")) {
            row.push_back(of_all([&, name = tensor](const ordered_json& network) {
                            return at(at(stage_of(network, stage), which), name);
                          }).text(3));
          }
        }
      }
    }
    text_ += "\n";
    table(rows);
    text_ += "Of what a mask keeps; by chance: a random mask that keeps as much.\n";
  }

  void accuracies() {
    std::vector<std::vector<std::string>> rows = {{"accuracy %", "unmasked"}};
    const std::size_t shown = std::min(stages(), kMostStages);
    for (std::size_t stage = 0; stage < shown; ++stage) {
      rows[0].push_back(stage_name(stage));
      if (stage > 0) {
        rows[0].push_back("not " + stage_name(stage));
      }
    }
    const auto add_rows = [&](const char* unmasked, const char* under_mask, const char* without_mask) {
      const ordered_json tests = first_.value(unmasked, ordered_json::object());
      for (const auto& test : tests.items()) {
        const std::string& target = test.key();
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(on_one_line(target));
        row.push_back(of_all([&](const ordered_json& network) { return at(at(&network, unmasked), target); }).text(1));
        for (std::size_t stage = 0; stage < shown; ++stage) {
          for (const char* which : {under_mask, without_mask}) {
            if (stage > 0 || which == under_mask) {
              row.push_back(of_all([&](const ordered_json& network) {
                              return at(at(stage_of(network, stage), which), target);
                            }).text(1));
            }
          }
        }
      }
    };
    add_rows("unmasked", "accuracy", "inverse");
    add_rows("unmasked_other_tests", "other_tests", "");
    table(rows);
    if (shown < stages()) {
      text_ += fmt::format("Of {} masks the first {} are shown; --json has all.\n", stages(), shown);
    }
  }

  void kept() {
    std::vector<std::vector<std::string>> rows = {{"kept weights", "of"}};
    const std::size_t shown = std::min(stages(), kMostStages);
    for (std::size_t stage = 0; stage < shown; ++stage) {
      rows[0].push_back(stage_name(stage));
      if (first_.at("stages").at(stage).contains("live")) {
        rows[0].push_back("live");
      }
    }
    for (const auto& item : first_.at("stages").at(0).at("weights").items()) {
      const std::string& tensor = item.key();
      const ordered_json& weights = item.value();
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(on_one_line(tensor));
      // Sparse networks need not have as many each.
      const bool is_same = std::ranges::all_of(networks_, [&](const ordered_json& network) {
        return *at(at(stage_of(network, 0), "weights"), tensor) == weights;
      });
      row.push_back(is_same ? std::to_string(weights.get<long long>())
                            : of_all([&](const ordered_json& network) {
                                return at(at(stage_of(network, 0), "weights"), tensor);
                              }).text(0));
      for (std::size_t stage = 0; stage < shown; ++stage) {
        for (const char* which : {"kept", "live"}) {
          if (first_.at("stages").at(stage).contains(which)) {
            row.push_back(of_all([&](const ordered_json& network) {
                            return at(at(stage_of(network, stage), which), tensor);
                          }).text(0));
          }
        }
      }
    }
    text_ += "\n";
    table(rows);
    if (first_.at("stages").at(0).contains("live")) {
      text_ += "Live weights lie on a path from an input to an output of the target.\n";
    }
  }

  void sharing() {
    if (!first_.contains("sharing")) {
      return;
    }
    std::vector<std::vector<std::string>> rows = {{"shared by two masks", "IoU", "by chance", "IoMin", "by chance"}};
    for (const auto& item : first_.at("sharing").items()) {
      const std::string& tensor = item.key();
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(tensor == "all" ? "all of them" : on_one_line(tensor));
      for (const char* share : {"iou", "iou_chance", "iomin", "iomin_chance"}) {
        row.push_back(of_all([&](const ordered_json& network) {
                        return at(at(at(&network, "sharing"), tensor), share);
                      }).text(3));
      }
    }
    text_ += "\n";
    table(rows);
    if (first_.contains("pairs") && first_.at("pairs").size() > 1) {
      text_ += fmt::format("Means of {} pairs of targets; --json has each.\n", first_.at("pairs").size());
    }
  }

  void controls() {
    std::vector<std::vector<std::string>> rows = {
        {"controls", "shares with itself, trained again", "accuracy on the untrained network"}};
    for (std::size_t stage = 1; stage < stages(); ++stage) {
      const Numbers again =
          of_all([&](const ordered_json& network) { return at(at(stage_of(network, stage), "again"), "iou"); });
      const Numbers untrained =
          of_all([&](const ordered_json& network) { return at(stage_of(network, stage), "untrained"); });
      if (!again.values.empty() || !untrained.values.empty()) {
        rows.push_back({stage_name(stage), again.text(3), untrained.text(1)});
      }
    }
    if (rows.size() > 1) {
      text_ += "\n";
      table(rows);
    }
    const Numbers ambiguous =
        of_all([&](const ordered_json& network) { return at(stage_of(network, 0), "ambiguous"); });
    text_ += fmt::format("\nUndecided logits of the {} mask (chance to keep from 5 to 95 %): {} %. beta {}.\n",
                         has_control() ? "control" : "first", ambiguous.text(1), beta_text());
  }

  std::string beta_text() const {
    const Numbers betas = of_all([&](const ordered_json& network) {
      const ordered_json* used = at(&network, "beta_used");
      return used == nullptr ? at(&network, "beta") : used;
    });
    const auto [low, high] = std::ranges::minmax(betas.values);
    return low == high ? fmt::format("{:g}", low) : fmt::format("{:g} to {:g}", low, high);
  }

  void confusion() {
    for (std::size_t stage = 0; stage < stages(); ++stage) {
      const ordered_json* matrix = at(stage_of(first_, stage), "confusion");
      if (matrix == nullptr) {
        continue;
      }
      std::vector<std::vector<std::string>> rows = {{fmt::format("answers under {}, %", stage_name(stage))}};
      std::vector<std::string> names;
      for (const auto& [target, unmasked] : first_.at("unmasked").items()) {
        names.push_back(on_one_line(target));
        rows[0].push_back("as " + names.back());
      }
      rows[0].push_back("none");
      for (std::size_t truth = 0; truth < matrix->size(); ++truth) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back("asked " + names[truth]);
        for (std::size_t said = 0; said < matrix->at(truth).size(); ++said) {
          row.push_back(of_all([&](const ordered_json& network) {
                          return &at(stage_of(network, stage), "confusion")->at(truth).at(said);
                        }).text(1));
        }
      }
      text_ += "\n";
      table(rows);
    }
  }

  void betas() {
    if (!first_.contains("betas")) {
      return;
    }
    std::vector<std::vector<std::string>> rows = {{"beta", "kept %", "accuracy %", "undecided %"}};
    for (std::size_t point = 0; point < first_.at("betas").size(); ++point) {
      const auto column = [&](const char* name) {
        return of_all([&](const ordered_json& network) { return &network.at("betas").at(point).at(name); }).text(1);
      };
      rows.push_back({fmt::format("{:g}", first_.at("betas").at(point).at("beta").get<double>()), column("kept"),
                      column("accuracy"), column("ambiguous")});
    }
    text_ += "\nMasks on everything; the largest beta that keeps 95 % of the accuracy is taken.\n";
    table(rows);
  }

  // Each once, in the order in which networks have them, with how many do; the first few of them.
  void warnings() {
    constexpr std::size_t kShown = 6;
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const ordered_json& network : networks_) {
      if (network.contains("warnings")) {
        for (const ordered_json& warning : network.at("warnings")) {
          const auto text = warning.get<std::string>();
          const auto known = std::ranges::find(counts, text, &std::pair<std::string, std::size_t>::first);
          if (known == counts.end()) {
            counts.emplace_back(text, 1);
          } else {
            ++known->second;
          }
        }
      }
    }
    for (std::size_t at = 0; at < std::min(kShown, counts.size()); ++at) {
      const auto& [text, networks] = counts[at];
      text_ += fmt::format("{}Careful{}: {}.\n", at == 0 ? "\n" : "",
                           networks_.size() == 1 ? "" : fmt::format(" ({} of {} networks)", networks, networks_.size()),
                           on_one_line(text));
    }
    if (counts.size() > kShown) {
      text_ += fmt::format("Careful: {} more of these; --json has all.\n", counts.size() - kShown);
    }
  }

  // The first column to the left, the others to the right.
  void table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t column = 0; column < row.size(); ++column) {
        widths[column] = std::max(widths[column], shown_width(row[column]));
      }
    }
    for (const std::vector<std::string>& row : rows) {
      std::string line;
      for (std::size_t column = 0; column < row.size(); ++column) {
        const std::string pad(widths[column] - shown_width(row[column]), ' ');
        line += column == 0 ? row[column] + pad : "  " + pad + row[column];
      }
      text_ += line + "\n";
    }
  }

  // Letters of a text in UTF-8.
  static std::size_t shown_width(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U; }));
  }

  std::span<const ordered_json> networks_;
  const ordered_json& first_;
  std::string text_;
};

}  // namespace

std::string masked_text(std::span<const ordered_json> networks) { return MaskedText(networks).write(); }

}  // namespace modlab::report
