#include "report/mask_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace modlab::report {
namespace {

using measures::MaskOverlap;
using methods::MaskComparison;
using methods::MaskPair;
using nlohmann::ordered_json;

// More masks than a terminal has room for are left to --json.
constexpr int kMostColumns = 12;

double percent(std::size_t part, std::size_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(whole, 1));
}

std::string overlap_row(std::string_view name, int width, const MaskOverlap& overlap) {
  return fmt::format("{:<{}}  {:>9}  {:>8}  {:>8}  {:>8}  {:>6.3f}  {:>6.3f}  {:>6.3f}  {:>6.3f}{}\n", name, width,
                     overlap.weights, overlap.first, overlap.second, overlap.both, overlap.iou(),
                     overlap.iou_by_chance(), overlap.iomin(), overlap.iomin_by_chance(),
                     overlap.is_empty() ? "  nothing is kept" : "");
}

std::string pair_text(const MaskComparison& comparison, const MaskPair& pair) {
  std::size_t width = 11;
  for (const std::string& tensor : comparison.tensors) {
    width = std::max(width, on_one_line(tensor).size());
  }
  const auto columns = static_cast<int>(width);
  std::string text = fmt::format("{} (1) and {} (2)\n", comparison.masks[static_cast<std::size_t>(pair.first)],
                                 comparison.masks[static_cast<std::size_t>(pair.second)]);
  text += fmt::format("{:<{}}  {:>9}  {:>8}  {:>8}  {:>8}  {:>6}  {:>6}  {:>6}  {:>6}\n", "tensor", columns, "weights",
                      "kept (1)", "kept (2)", "by both", "IoU", "chance", "IoMin", "chance");
  for (std::size_t tensor = 0; tensor < comparison.tensors.size(); ++tensor) {
    text += overlap_row(on_one_line(comparison.tensors[tensor]), columns, pair.tensors[tensor]);
  }
  return text + overlap_row("all of them", columns, pair.all);
}

std::string list_of_masks(const MaskComparison& comparison, std::span<const int> order) {
  std::string text = fmt::format("{:>4}  {:>10}  {:>6}  mask\n", "", "kept", "%");
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto mask = static_cast<std::size_t>(order[place]);
    text += fmt::format("{:>4}  {:>10}  {:>6.2f}  {}\n", place + 1, comparison.kept[mask],
                        percent(comparison.kept[mask], comparison.weights), comparison.masks[mask]);
  }
  return text;
}

std::string table_of_pairs(const MaskComparison& comparison, std::span<const int> order) {
  if (std::ssize(order) > kMostColumns) {
    return "The table of all pairs is too wide for a terminal; --json has it.\n";
  }
  std::string text = "IoU, all tensors together; behind the stroke what random masks of these sizes would have\n    ";
  for (std::size_t place = 1; place < order.size(); ++place) {
    text += fmt::format("  {:>11}", place + 1);
  }
  text += "\n";
  for (std::size_t row = 0; row + 1 < order.size(); ++row) {
    text += fmt::format("{:>4}", row + 1);
    for (std::size_t column = 1; column < order.size(); ++column) {
      if (column <= row) {
        text += fmt::format("  {:>11}", "");
        continue;
      }
      const MaskOverlap& overlap = comparison.pair(order[row], order[column]).all;
      text += fmt::format("  {:.3f}/{:.3f}", overlap.iou(), overlap.iou_by_chance());
    }
    text += "\n";
  }
  return text;
}

// Which masks are joined at which similarity, from the most alike on. Masks are called by their places in the list.
std::string joins_text(const MaskComparison& comparison, std::span<const int> order) {
  std::vector<std::size_t> place_of(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    place_of[static_cast<std::size_t>(order[place])] = place + 1;
  }
  std::string text = "Joined by likeness, the most alike first\n";
  for (std::size_t merge = 0; merge < comparison.tree.merges().size(); ++merge) {
    const auto members = [&](int node) {
      std::vector<std::size_t> places;
      for (const int leaf : comparison.tree.leaves_of(node)) {
        places.push_back(place_of[static_cast<std::size_t>(leaf)]);
      }
      std::ranges::sort(places);
      return fmt::format("{}", fmt::join(places, " "));
    };
    const methods::Merge& joined = comparison.tree.merges()[merge];
    text +=
        fmt::format("  IoU {:.3f}  {}  with  {}\n", 1 - joined.distance, members(joined.first), members(joined.second));
  }
  return text;
}

ordered_json overlap_json(const MaskOverlap& overlap) {
  return {{"weights", overlap.weights},    {"kept_first", overlap.first},
          {"kept_second", overlap.second}, {"kept_by_both", overlap.both},
          {"iou", overlap.iou()},          {"iou_chance", overlap.iou_by_chance()},
          {"iomin", overlap.iomin()},      {"iomin_chance", overlap.iomin_by_chance()},
          {"empty", overlap.is_empty()}};
}

}  // namespace

std::string mask_comparison_text(const MaskComparison& comparison, bool by_tensor) {
  if (comparison.masks.size() == 2) {
    return pair_text(comparison, comparison.pairs.front());
  }
  const std::span<const int> order = comparison.tree.leaves_of(comparison.tree.root());
  std::string text =
      fmt::format("{} over {} weights in {}\n\n{}\n{}\n{}", counted(std::ssize(comparison.masks), "mask"),
                  comparison.weights, counted(std::ssize(comparison.tensors), "tensor"),
                  list_of_masks(comparison, order), table_of_pairs(comparison, order), joins_text(comparison, order));
  for (std::size_t pair = 0; by_tensor && pair < comparison.pairs.size(); ++pair) {
    text += "\n" + pair_text(comparison, comparison.pairs[pair]);
  }
  return text;
}

ordered_json mask_comparison_json(const MaskComparison& comparison) {
  ordered_json json = {{"weights", comparison.weights}, {"masks", ordered_json::array()}};
  for (std::size_t mask = 0; mask < comparison.masks.size(); ++mask) {
    json["masks"].push_back({{"name", comparison.masks[mask]}, {"kept", comparison.kept[mask]}});
  }
  json["pairs"] = ordered_json::array();
  for (const MaskPair& pair : comparison.pairs) {
    ordered_json entry = {{"first", comparison.masks[static_cast<std::size_t>(pair.first)]},
                          {"second", comparison.masks[static_cast<std::size_t>(pair.second)]}};
    entry.update(overlap_json(pair.all));
    entry["tensors"] = ordered_json::object();
    for (std::size_t tensor = 0; tensor < comparison.tensors.size(); ++tensor) {
      entry["tensors"][comparison.tensors[tensor]] = overlap_json(pair.tensors[tensor]);
    }
    json["pairs"].push_back(std::move(entry));
  }
  json["joins"] = ordered_json::array();
  for (const methods::Merge& joined : comparison.tree.merges()) {
    const auto names = [&](int node) {
      ordered_json members = ordered_json::array();
      for (const int leaf : comparison.tree.leaves_of(node)) {
        members.push_back(comparison.masks[static_cast<std::size_t>(leaf)]);
      }
      return members;
    };
    json["joins"].push_back(
        {{"iou", 1 - joined.distance}, {"first", names(joined.first)}, {"second", names(joined.second)}});
  }
  return json;
}

}  // namespace modlab::report
