#include "report/module_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/text.h"
#include "report/module_evidence_text.h"
#include "report/module_writer.h"

namespace modlab::report {
namespace {

using methods::LayerDecision;
using methods::ModuleLook;

constexpr std::size_t kMaxValues = 10;  // of the index
constexpr std::size_t kMaxCrossing = 20;
constexpr std::size_t kMaxLinks = 200;
constexpr std::size_t kMaxClusters = 8;

std::string z_text(double z) { return fmt::format("{:.2f}", rounded(z, 0.01)); }
const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

class Describer : public ModuleWriter {
 public:
  explicit Describer(const ModuleLook& look) : ModuleWriter(look) {
    for (std::size_t module = 0; module < look.hierarchy.modules.size(); ++module) {
      place_of_id_[look.hierarchy.modules[module].id] = module;
    }
  }

  std::string text() {
    add_finding();
    add_heading();
    add_layers();
    add_merging();
    add_modules();
    add_hierarchy();
    add_crossing();
    return take();
  }

 private:
  std::string module_of_id(int id) const { return look_.module_name(place_of_id_.at(id)); }

  // "{x1 x2 | y1}": what a module reads from outside and gives to it; hidden units are only counted.
  std::string ends_text(const methods::Module& module) const {
    std::vector<std::string> parts;
    for (const int layer : {0, layers_ - 1}) {
      if (!module.units[layer].empty()) {
        parts.push_back(units_text(layer, module.units[layer]));
      }
    }
    if (parts.empty()) {
      std::size_t hidden = 0;
      for (const std::vector<int>& units : module.units) {
        hidden += units.size();
      }
      parts.push_back(counted(hidden, "hidden unit"));
    }
    return "{" + join_text(parts, " | ") + "}";
  }

  // What was found, in one line.
  void add_finding() {
    const std::vector<methods::Module>& modules = look_.hierarchy.modules;
    if (look_.detection.live.front().empty()) {
      add("{}: no modules, since no input reaches an output\n\n", look_.named.id);
      return;
    }
    int levels = 0;
    std::vector<std::string> shown;
    for (const methods::Module& module : modules) {
      levels = std::max(levels, module.level + 1);
      if (shown.size() < kMaxClusters) {
        shown.push_back(ends_text(module));
      }
    }
    if (shown.size() < modules.size()) {
      shown.emplace_back("..");
    }
    std::string truth;
    if (look_.task && look_.task->agreement) {
      truth = fmt::format("; {} the modules of {}", look_.task->agreement->all.exact ? "these are" : "these are not",
                          look_.task->task->name);
    }
    add("{}: {} on {}: {}{}\n\n", look_.named.id, counted(modules.size(), "module"), counted(levels, "level"),
        join_text(shown, " "), truth);
  }

  void add_heading() {
    const models::LayeredNetwork& network = look_.network();
    const int edges = network.edge_count();
    const int live = look_.live_edges();
    add("  units     {}, of which live: {}\n", methods::sizes_text(network.widths),
        methods::sizes_text(methods::live_sizes(look_.detection)));
    add("  edges     {} of {} possible ({:.3g} %){}\n", edges, network.full_edge_count(),
        100.0 * edges / network.full_edge_count(),
        live == edges ? "" : fmt::format(", {} of them at dead units", edges - live));
    if (look_.task) {
      add("  task      {}; {:.2f} % of the bits of its truth table are right\n", look_.task->task->name,
          100 * look_.task->accuracy);
    } else if (!look_.no_task.empty()) {
      add("  task      none: {}\n", look_.no_task);
    }
    if (!look_.constants.empty()) {
      add("  constant  {}: no input reaches {}, but a bias keeps {} active; left out of the modules\n",
          units_text(look_.constants), look_.constants.size() == 1 ? "it" : "them",
          look_.constants.size() == 1 ? "it" : "them");
    }
    add_unreached();
  }

  // Inputs that reach nothing, outputs that nothing reaches.
  void add_unreached() {
    std::vector<int> unread;
    for (int input = 0; input < look_.network().widths.front(); ++input) {
      if (!std::ranges::binary_search(look_.detection.live.front(), input)) {
        unread.push_back(input);
      }
    }
    if (!unread.empty()) {
      add("  unread    {}: {} no output\n", units_text(0, unread), unread.size() == 1 ? "it reaches" : "they reach");
    }
    std::set<int> fed;
    for (const methods::Join& join : look_.detection.joins) {
      if (join.layer + 1 == layers_ && join.edges > 0) {
        fed.insert(look_.detection.live.back()[join.cluster]);
      }
    }
    std::vector<int> unfed;
    std::ranges::copy_if(look_.detection.live.back(), std::back_inserter(unfed),
                         [&](int output) { return !fed.contains(output); });
    if (!unfed.empty()) {
      add("  unfed     {}: no input reaches {}\n", units_text(layers_ - 1, unfed), unfed.size() == 1 ? "it" : "them");
    }
  }

  // Why the tests are asked, or are not.
  std::string why_consulted(const LayerDecision& decision) const {
    if (decision.units == 2) {
      return "with two units the index has no say";
    }
    const int best = decision.clusters_by_index;
    if (!decision.consulted) {
      return fmt::format("the index decides for {}", best);
    }
    if (best == 2 || best == decision.units - 1) {
      return fmt::format("the index is best at {}, the {} it can judge", best, best == 2 ? "fewest" : "most");
    }
    return fmt::format("the index is best at {}, but weaker than {}", best, -look_.settings.threshold);
  }

  std::string tests_text(const LayerDecision& decision) const {
    std::string text = fmt::format(
        "the two most similar units are {} wired separately (z {}),\n"
        "            the two halves are {} wired as one (z {})",
        decision.separate ? "indeed" : "not", z_text(decision.z_separate), decision.single ? "indeed" : "not",
        z_text(decision.z_single));
    if (!decision.verdict) {
      return text + ": no verdict, so the index holds";
    }
    const bool is_one = *decision.verdict == methods::Verdict::kOne;
    return text + (is_one ? ": all units are one cluster" : ": each unit is a cluster");
  }

  // Once, before the first layer on which they are asked.
  void add_tests_explained() {
    if (std::ranges::any_of(look_.detection.decisions, &LayerDecision::consulted)) {
      add("  Where the index cannot tell, two tests may: if even the two most similar units reach no more common\n"
          "  units than chance would have it, each unit is a cluster; if even the two most different halves reach\n"
          "  at least as many, all are one. z counts standard deviations from chance in favour of a test.\n");
    }
  }

  std::string index_text(const LayerDecision& decision) const {
    std::string text;
    for (std::size_t place = 0; place < decision.index.size(); ++place) {
      const int clusters = static_cast<int>(place) + 2;
      const bool is_best = clusters == decision.clusters_by_index;
      if (place < kMaxValues || is_best) {
        text += fmt::format("{}M({}) {:.4f}{}", text.empty() ? "" : "  ", clusters,
                            rounded(decision.index[place], 1e-4), is_best ? "*" : "");
      } else if (place == kMaxValues) {
        text += "  ..";
      }
    }
    return text;
  }

  std::string clusters_text(int layer) const {
    std::map<int, std::vector<int>> clusters;
    for (std::size_t place = 0; place < look_.detection.live[layer].size(); ++place) {
      clusters[look_.detection.clusters[layer][place]].push_back(look_.detection.live[layer][place]);
    }
    // By their first units, as people read.
    std::vector<std::vector<int>> groups;
    for (const auto& [label, units] : clusters) {
      groups.push_back(units);
    }
    std::ranges::sort(groups);
    std::vector<std::string> texts;
    for (const std::vector<int>& units : groups) {
      if (texts.size() == kMaxClusters) {
        texts.emplace_back("..");
        break;
      }
      texts.push_back("{" + units_text(layer, units) + "}");
    }
    return join_text(texts, " ");
  }

  void add_layers() {
    add("\nClusters (M: {}, the lower the better, * best)\n", methods::name_of(look_.settings.index));
    add_tests_explained();
    for (int layer = 0; layer < layers_; ++layer) {
      const bool is_output = layer + 1 == layers_;
      const std::size_t live = look_.detection.live[layer].size();
      if (live == 0) {
        add("  {:<9} no live units\n", layer_text(layer));
        continue;
      }
      const int clusters = is_output ? static_cast<int>(live) : look_.detection.decisions[layer].clusters;
      add("  {:<9} {} in {}: {}\n", layer_text(layer), counted(live, "unit"), counted(clusters, "cluster"),
          clusters_text(layer));
      if (is_output) {
        add("            each output is a cluster of its own\n");
        continue;
      }
      const LayerDecision& decision = look_.detection.decisions[layer];
      if (!decision.index.empty()) {
        add("            {}\n", index_text(decision));
      }
      if (decision.units > 1) {
        add("            {}{}\n", why_consulted(decision), decision.consulted ? "; the tests:" : "");
        if (decision.consulted) {
          add("            {}\n", tests_text(decision));
        }
      }
    }
  }

  // What a cluster does, without its name, so that outputs that do the same are said once.
  std::string join_description(const methods::Join& join, bool is_output) const {
    if (join.module < 0) {
      return "without edges, on its own";
    }
    const std::string shares = is_output
                                   ? fmt::format("{} of its edges", percent_text(join.cluster_share))
                                   : fmt::format("{} of its edges, {} of the module's",
                                                 percent_text(join.cluster_share), percent_text(join.module_share));
    return join.joined ? fmt::format("joins {} ({})", module_of_id(join.module), shares)
                       : fmt::format("on its own; nearest is {} ({})", module_of_id(join.module), shares);
  }

  void add_merging() {
    add("\nMerging (a cluster joins a module with {} {} of the edges of both; an output, of its own)\n",
        look_.settings.merge_at_equal ? "at least" : "more than", percent_text(look_.settings.merging));
    for (int layer = 1; layer < layers_; ++layer) {
      // Clusters that do the same, in order of appearance.
      std::vector<std::pair<std::string, std::vector<int>>> lines;
      for (const methods::Join& join : look_.detection.joins) {
        if (join.layer != layer) {
          continue;
        }
        const bool is_output = layer + 1 == layers_;
        const std::string description = join_description(join, is_output);
        auto line = std::ranges::find(lines, description, [](const auto& pair) { return pair.first; });
        if (line == lines.end() || !is_output) {
          line = lines.insert(lines.end(), {description, {}});
        }
        for (std::size_t place = 0; place < look_.detection.live[layer].size(); ++place) {
          if (look_.detection.clusters[layer][place] == join.cluster) {
            line->second.push_back(look_.detection.live[layer][place]);
          }
        }
      }
      for (const auto& [description, units] : lines) {
        add("  {:<9} {}: {}\n", layer_text(layer), units_text(layer, units), description);
      }
    }
  }

  void add_modules() {
    const std::vector<double> shares = methods::inside_shares(look_.hierarchy);
    add("\nModules\n");
    for (std::size_t number = 0; number < look_.hierarchy.modules.size(); ++number) {
      const methods::Module& module = look_.hierarchy.modules[number];
      std::vector<std::string> parts;
      for (int layer = 0; layer < layers_; ++layer) {
        if (!module.units[layer].empty()) {
          parts.push_back(units_text(layer, module.units[layer]));
        }
      }
      add("  {:<9} level {}: {}\n", look_.full_module_name(number), module.level + 1, join_text(parts, " | "));
      add("            {} inside, {} of those at its units\n", counted(look_.hierarchy.inside_edges[number], "edge"),
          percent_text(shares[number]));
    }
  }

  void add_hierarchy() {
    add("\nHierarchy\n");
    if (look_.hierarchy.edges.empty()) {
      add("  {}\n", look_.hierarchy.modules.size() == 1 ? "a single module" : "no edge leads from module to module");
    }
    for (std::size_t place = 0; place < std::min(look_.hierarchy.edges.size(), kMaxLinks); ++place) {
      const methods::ModuleEdge& edge = look_.hierarchy.edges[place];
      add("  {:<3} -> {:<3}  {}\n", look_.module_name(edge.from), look_.module_name(edge.to),
          counted(edge.edges, "edge"));
    }
    add_rest(look_.hierarchy.edges.size(), kMaxLinks);
  }

  void add_crossing() {
    add("\nCross edges (between modules that go on beside each other)\n");
    if (look_.crossing.empty()) {
      add("  none\n");
    }
    for (std::size_t place = 0; place < std::min(look_.crossing.size(), kMaxCrossing); ++place) {
      const methods::CrossEdge& cross = look_.crossing[place];
      add("  {:<6} -> {:<6} weight {:.3g} ({} -> {})\n", look_.names.of({cross.layer, cross.edge.from}),
          look_.names.of({cross.layer + 1, cross.edge.to}), cross.edge.weight, look_.module_name(cross.from),
          look_.module_name(cross.to));
    }
    add_rest(look_.crossing.size(), kMaxCrossing);
  }

  void add_rest(std::size_t count, std::size_t shown) {
    if (count > shown) {
      add("  and {} more; --json lists them all\n", count - shown);
    }
  }

  std::map<int, std::size_t> place_of_id_;
};

std::string criteria_text(const ModuleLook& look) {
  if (!look.task) {
    return "";
  }
  std::vector<std::string> met;
  for (const methods::Criterion& criterion : look.task->criteria) {
    if (criterion.met) {
      met.push_back(criterion.name);
    }
  }
  return look.task->criteria.empty() ? "" : met.empty() ? "none" : join_text(met, " ");
}

// The lines below the title of a drawing.
std::vector<std::string> picture_captions(const ModuleLook& look) {
  const models::LayeredNetwork& network = look.network();
  std::vector<std::string> captions;
  captions.push_back(fmt::format("{}{}, live {}; {} edges, density {:.3g} %; {} module{}",
                                 look.task ? look.task->task->name + ": " : "", methods::sizes_text(network.widths),
                                 methods::sizes_text(methods::live_sizes(look.detection)), network.edge_count(),
                                 100.0 * network.edge_count() / network.full_edge_count(),
                                 look.hierarchy.modules.size(), plural(look.hierarchy.modules.size())));
  std::vector<std::string> settings;
  for (const char* key : {"lr", "batch", "batch_size", "epochs", "seed", "p_u", "p_e"}) {
    if (const auto found = look.named.about.find(key); found != look.named.about.end() && found->is_number()) {
      settings.push_back(fmt::format("{} {:g}", key, found->get<double>()));
    }
  }
  if (!settings.empty()) {
    captions.push_back(join_text(settings, ", "));
  }
  return captions;
}

}  // namespace

std::string module_text(const ModuleLook& look) { return Describer(look).text() + module_evidence_text(look); }

std::string module_table(std::span<const ModuleLook> looks) {
  std::size_t id_width = 7;
  std::size_t live_width = 4;
  for (const ModuleLook& look : looks) {
    id_width = std::max(id_width, look.named.id.size());
    live_width = std::max(live_width, methods::sizes_text(methods::live_sizes(look.detection)).size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  edges  modules  bits right  criteria met\n", "network", id_width,
                                 "live", live_width);
  std::map<std::string, std::pair<int, int>> counts;  // met, of
  for (const ModuleLook& look : looks) {
    const std::string line =
        fmt::format("{:<{}}  {:<{}}  {:>5}  {:>7}  {:>10}  {}", look.named.id, id_width,
                    methods::sizes_text(methods::live_sizes(look.detection)), live_width, look.live_edges(),
                    look.hierarchy.modules.size(), look.task ? fmt::format("{:.1f} %", 100 * look.task->accuracy) : "",
                    criteria_text(look));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    for (const methods::Criterion& criterion : look.task ? look.task->criteria : std::vector<methods::Criterion>()) {
      auto& [met, of] = counts[criterion.name];
      met += criterion.met ? 1 : 0;
      ++of;
    }
  }
  text += fmt::format("\n{} networks; --id shows one of them in full\n", looks.size());
  for (const auto& [name, count] : counts) {
    text += fmt::format("  {:<20} met by {} of {}\n", name, count.first, count.second);
  }
  return text;
}

LayeredPicture module_picture(const ModuleLook& look) {
  LayeredPicture picture{look.network(), look.hierarchy, look.names, look.named.id, picture_captions(look), {}};
  for (std::size_t module = 0; module < look.hierarchy.modules.size(); ++module) {
    picture.modules.push_back(look.full_module_name(module));
  }
  return picture;
}

}  // namespace modlab::report
