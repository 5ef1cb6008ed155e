#include "report/flops_json.h"

#include <fmt/format.h>

#include "models/training_settings.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

}  // namespace

std::string flops_json(const measures::FlopCount& count) {
  return fmt::format(R"({{"forward": {:.0f}, "backward": {:.0f}, "update": {:.0f}}})", count.forward, count.backward,
                     count.update);
}

ordered_json table_one_json() {
  ordered_json rows = ordered_json::array();
  const auto json_of = [](const measures::FlopCount& count) { return ordered_json::parse(flops_json(count)); };
  for (const measures::TableOneRow& row : measures::table_one()) {
    ordered_json object;
    object["model"] = models::model_name(row.model);
    object["task"] = row.task;
    object["computed"] = json_of(row.computed);
    object["printed"] = json_of(row.printed);
    object["agrees"] = object["computed"] == object["printed"];
    rows.push_back(std::move(object));
  }
  return {{"table_one", rows}};
}

}  // namespace modlab::report
