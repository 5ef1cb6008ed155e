#include "report/structure_json.h"

#include <limits>

#include "io/json_text.h"
#include "report/units_from_one.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

ordered_json test_json(const measures::Groups& groups, const measures::Separation& separation, std::size_t group) {
  ordered_json object = {{"inputs", units_from_one(groups.inputs[group])},
                         {"outputs", units_from_one(groups.outputs[group])}};
  const std::optional<measures::WelchTest>& test = separation.tests[group];
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  object["mean_others"] = io::number_or_null(test ? test->mean_first : kNothing);
  object["mean_own"] = io::number_or_null(test ? test->mean_second : kNothing);
  object["t"] = io::number_or_null(test ? test->t : kNothing);
  object["df"] = io::number_or_null(test ? test->df : kNothing);
  object["p"] = io::number_or_null(test ? test->p : kNothing);
  object["smaller"] = test ? ordered_json(measures::is_significant(test)) : ordered_json();
  return object;
}

}  // namespace

ordered_json structure_json(const models::NamedNetwork& named, const measures::Structure& structure) {
  ordered_json output = {{"id", named.id},
                         {"widths", named.network.widths},
                         {"edges", named.network.edge_count()},
                         {"total_edges", named.network.full_edge_count()},
                         {"path_products", structure.products}};
  if (structure.groups) {
    output["tests"] = ordered_json::array();
    for (std::size_t group = 0; group < structure.separation->tests.size(); ++group) {
      output["tests"].push_back(test_json(*structure.groups, *structure.separation, group));
    }
    output["separable"] = structure.separation->is_separable();
  }
  output["percent"] = structure.percent;
  output["units_for_percent"] = structure.shares;
  return output;
}

}  // namespace modlab::report
