#include "report/stored_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.h"
#include "experiments/mask/mask_picture.h"
#include "io/json_text.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

constexpr double kMostWeights = 1e12;
constexpr const char* kShares[] = {"iou", "iomin", "iou_chance", "iomin_chance"};

double rounded(double value, double steps) { return std::round(value * steps) / steps; }

// Everything that a store says of one network's masks, checked against itself.
class MaskReader {
 public:
  MaskReader(const experiments::Run& run, const studies::Store& store, const std::string& details,
             const std::optional<std::string>& picture)
      : source_(fmt::format("{}: run {}", store.path(), run.id())),
        details_(io::parse_json(details)),
        has_picture_(picture.has_value()),
        picture_(picture ? io::parse_json(*picture) : ordered_json(nullptr)) {}

  ordered_json read() {
    read_names();
    ordered_json json;
    json["beta"] = number(details_, "beta", 0, std::numeric_limits<double>::max());
    json["targets"] = targets_;
    json["unmasked"] = by_target(member(details_, "unmasked"));
    json["classes"] = class_names();
    json["control"] = has_control_;
    json["masks"] = ordered_json::array();
    for (std::size_t stage = 0; stage < stages().size(); ++stage) {
      json["masks"].push_back(mask_of(stage));
    }
    json["tensors"] = ordered_json::array();
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      json["tensors"].push_back(tensor_of(tensor));
    }
    const ordered_json* sharing = find(details_, "sharing");
    json["sharing"] = sharing == nullptr ? ordered_json(nullptr) : shares_of(member(*sharing, "all"));
    json["exact"] = has_picture_ && is_exact();
    json["betas"] = betas();
    json["warnings"] = warnings();
    return json;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw FormatError(fmt::format("{}: {}; the store is damaged", source_, what));
  }
  void check_that(bool holds, const char* what) const {
    if (!holds) {
      damaged(what);
    }
  }

  static const ordered_json* find(const ordered_json& object, const std::string& name) {
    if (!object.is_object()) {
      return nullptr;
    }
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }
  const ordered_json& member(const ordered_json& object, const std::string& name) const {
    const ordered_json* found = find(object, name);
    if (found == nullptr) {
      damaged(fmt::format("its masks have no '{}'", name));
    }
    return *found;
  }
  const ordered_json& list(const ordered_json& object, const std::string& name, std::size_t size) const {
    const ordered_json& found = member(object, name);
    if (!found.is_array() || found.size() != size) {
      damaged(fmt::format("'{}' of its masks is no list of {}", name, size));
    }
    return found;
  }
  std::string text(const ordered_json& object, const std::string& name) const {
    const ordered_json& found = member(object, name);
    if (!found.is_string()) {
      damaged(fmt::format("'{}' of its masks is no text", name));
    }
    return found.get<std::string>();
  }
  double checked(const ordered_json& value, const std::string& name, double low, double high) const {
    constexpr double kSlack = 1e-6;  // of sums of shares
    if (!value.is_number() || !(value.get<double>() >= low - kSlack && value.get<double>() <= high + kSlack)) {
      damaged(fmt::format("'{}' of its masks cannot be {}", name, value.dump(-1, ' ', true, kReplace)));
    }
    return std::clamp(value.get<double>(), low, high);
  }
  double number(const ordered_json& object, const std::string& name, double low, double high) const {
    return checked(member(object, name), name, low, high);
  }
  double percent(const ordered_json& object, const std::string& name) const {
    return rounded(number(object, name, 0, 100), 100);
  }
  double whole(const ordered_json& value, const std::string& name, double most) const {
    const double found = checked(value, name, 0, most);
    check_that(found == std::floor(found), "a number of weights is not whole");
    return found;
  }

  const ordered_json& stages() const { return details_["stages"]; }

  void read_names() {
    const ordered_json& unmasked = member(details_, "unmasked");
    check_that(unmasked.is_object() && !unmasked.empty(), "its masks have no targets");
    for (const auto& [name, accuracy] : unmasked.items()) {
      targets_.push_back(name);
    }
    const ordered_json& stages = member(details_, "stages");
    has_control_ = !stages.is_array() || stages.size() != targets_.size();
    list(details_, "stages", targets_.size() + (has_control_ ? 1 : 0));
    const ordered_json& weights = member(stages.front(), "weights");
    check_that(weights.is_object() && !weights.empty(), "its masks have no tensors");
    for (const auto& [name, count] : weights.items()) {
      tensors_.push_back(name);
    }
    if (has_picture_) {
      list(picture_, "histograms", stages.size());
      list(picture_, "tensors", tensors_.size());
    }
  }

  // Null where targets follow each other and this one had not been learned yet.
  ordered_json by_target(const ordered_json& object) const {
    ordered_json accuracies = ordered_json::array();
    for (const std::string& target : targets_) {
      const bool is_known = has_control_ || find(object, target) != nullptr;
      accuracies.push_back(is_known ? ordered_json(percent(object, target)) : ordered_json(nullptr));
    }
    return accuracies;
  }

  // [asked for][answered with], the last: with none. Null where operations cannot be told apart.
  ordered_json confusion(const ordered_json& stage, const char* name) const {
    if (find(stage, name) == nullptr) {
      return nullptr;
    }
    ordered_json rows = ordered_json::array();
    for (const ordered_json& row : list(stage, name, targets_.size())) {
      check_that(row.is_array() && row.size() == targets_.size() + 1, "a table of answers has another size");
      ordered_json& made = rows.emplace_back(ordered_json::array());
      for (const ordered_json& share : row) {
        made.push_back(rounded(checked(share, name, 0, 100), 100));
      }
    }
    return rows;
  }

  // [right class][said class]. Null where answers are no classes.
  ordered_json class_confusion(const ordered_json& stage) const {
    constexpr auto kName = "class_confusion";
    const ordered_json* stored = find(stage, kName);
    if (stored == nullptr) {
      return nullptr;
    }
    ordered_json rows = ordered_json::array();
    for (const ordered_json& row : list(stage, kName, stored->size())) {
      check_that(row.is_array() && row.size() == stored->size(), "a table of classes is not square");
      ordered_json& made = rows.emplace_back(ordered_json::array());
      for (const ordered_json& share : row) {
        made.push_back(rounded(checked(share, kName, 0, 100), 100));
      }
    }
    return rows;
  }

  ordered_json class_names() const {
    const ordered_json* names = find(details_, "class_names");
    if (names == nullptr) {
      return nullptr;
    }
    check_that(names->is_array() && std::ranges::all_of(*names, [](const auto& name) { return name.is_string(); }),
               "the names of its classes are no texts");
    return *names;
  }

  ordered_json mask_of(std::size_t at) const {
    const ordered_json& stage = stages()[at];
    const ordered_json* again = find(stage, "again");
    ordered_json json;
    json["name"] = text(stage, "name");
    json["accuracy"] = by_target(member(stage, "accuracy"));
    json["inverse"] = by_target(member(stage, "inverse"));
    json["confusion"] = confusion(stage, "confusion");
    json["inverse_confusion"] = confusion(stage, "inverse_confusion");
    json["class_confusion"] = class_confusion(stage);
    json["ambiguous"] = percent(stage, "ambiguous");
    json["again"] = again == nullptr ? ordered_json(nullptr) : ordered_json(rounded(number(*again, "iou", 0, 1), 1e4));
    json["untrained"] =
        find(stage, "untrained") == nullptr ? ordered_json(nullptr) : ordered_json(percent(stage, "untrained"));
    json["histogram"] = nullptr;
    if (has_picture_) {
      json["histogram"] = ordered_json::array();
      const ordered_json& counts = picture_["histograms"][at];
      check_that(counts.is_array() && counts.size() == experiments::kChanceBins, "a histogram has other bins");
      for (const ordered_json& count : counts) {
        json["histogram"].push_back(whole(count, "histograms", kMostWeights));
      }
    }
    return json;
  }

  ordered_json shares_of(const ordered_json& object) const {
    ordered_json json;
    for (const char* name : kShares) {
      json[name] = rounded(number(object, name, 0, 1), 1e4);
    }
    return json;
  }

  ordered_json tensor_of(std::size_t at) const {
    const std::string& name = tensors_[at];
    const double weights = whole(member(member(stages().front(), "weights"), name), "weights", kMostWeights);
    ordered_json json = {{"name", name}, {"weights", weights}, {"kept", ordered_json::array()}};
    for (const ordered_json& stage : stages()) {
      json["kept"].push_back(whole(member(member(stage, "kept"), name), "kept", weights));
    }
    const ordered_json* sharing = find(details_, "sharing");
    // Masks of targets that follow each other share nothing of tensors that each has for itself.
    const ordered_json* own = sharing == nullptr ? nullptr : find(*sharing, name);
    check_that(sharing == nullptr || own != nullptr || !has_control_, "a tensor's masks are not compared");
    json["sharing"] = own == nullptr ? ordered_json(nullptr) : shares_of(*own);
    json["earlier"] = earlier_of(name);
    json["picture"] = has_picture_ ? picture_of(picture_["tensors"][at], name, weights) : ordered_json(nullptr);
    return json;
  }

  // Of each mask, where targets follow each other: the share of it that earlier ones keep too, and by chance; null of
  // the first one, and of tensors that each target has for itself.
  ordered_json earlier_of(const std::string& name) const {
    if (has_control_) {
      return nullptr;
    }
    ordered_json masks = ordered_json::array();
    for (const ordered_json& stage : stages()) {
      const ordered_json* shared = find(stage, "shared");
      if (shared == nullptr || find(*shared, name) == nullptr) {
        masks.push_back(nullptr);
        continue;
      }
      masks.push_back({{"shared", rounded(number(*shared, name, 0, 1), 1e4)},
                       {"by_chance", rounded(number(member(stage, "shared_chance"), name, 0, 1), 1e4)}});
    }
    return masks;
  }

  bool is_exact() const {
    const ordered_json& exact = member(picture_, "exact");
    check_that(exact.is_boolean(), "its picture does not say what its cells are");
    return exact.get<bool>();
  }

  ordered_json picture_of(const ordered_json& tensor, const std::string& name, double weights) const {
    check_that(text(tensor, "name") == name, "its picture is that of other tensors");
    std::vector<double> sides;
    for (const char* of : {"shape", "cells"}) {
      for (const ordered_json& side : list(tensor, of, 2)) {
        sides.push_back(whole(side, of, kMostWeights));
      }
    }
    const auto most = static_cast<double>(experiments::kMostBlocks);
    check_that(sides[0] * sides[1] >= weights && sides[0] * sides[1] <= kMostWeights,
               "a picture has another number of weights");
    check_that(is_exact() ? sides[2] == sides[0] && sides[3] == sides[1] : sides[2] <= most && sides[3] <= most,
               "a picture has too many cells");
    const std::string letters = text(tensor, "letters");
    const std::size_t per_letter = experiments::kTargetsPerLetter;
    const std::size_t per_cell = is_exact() ? (targets_.size() + per_letter - 1) / per_letter : targets_.size() + 1;
    check_that(static_cast<double>(letters.size()) == sides[2] * sides[3] * static_cast<double>(per_cell),
               "a picture has another number of letters");
    const std::string_view known = experiments::kPictureLetters;
    check_that(letters.find_first_not_of(known) == std::string::npos, "a picture has letters that mean nothing");
    return {{"rows", sides[0]}, {"columns", sides[1]}, {"down", sides[2]}, {"across", sides[3]}, {"letters", letters}};
  }

  ordered_json betas() const {
    const ordered_json* table = find(details_, "betas");
    if (table == nullptr) {
      return nullptr;
    }
    check_that(table->is_array(), "what was tried for beta is no list");
    ordered_json points = ordered_json::array();
    for (const ordered_json& point : *table) {
      points.push_back({{"beta", number(point, "beta", 0, 1e9)},
                        {"kept", percent(point, "kept")},
                        {"accuracy", percent(point, "accuracy")},
                        {"ambiguous", percent(point, "ambiguous")}});
    }
    return points;
  }

  ordered_json warnings() const {
    const ordered_json* stored = find(details_, "warnings");
    if (stored == nullptr) {
      return ordered_json::array();
    }
    check_that(stored->is_array() && std::ranges::all_of(*stored, [](const auto& each) { return each.is_string(); }),
               "its warnings are no texts");
    return *stored;
  }

  static constexpr auto kReplace = ordered_json::error_handler_t::replace;

  std::string source_;
  ordered_json details_;
  bool has_picture_;
  ordered_json picture_;
  bool has_control_ = true;  // the first mask is of everything
  std::vector<std::string> targets_;
  std::vector<std::string> tensors_;
};

}  // namespace

ordered_json stored_masks(const experiments::Run& run, studies::Store& store) {
  const std::optional<std::string> details = store.blob(run.id(), "details");
  if (!details) {
    return nullptr;
  }
  return MaskReader(run, store, *details, store.blob(run.id(), experiments::kMaskPicture)).read();
}

}  // namespace modlab::report
