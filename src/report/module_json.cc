#include "report/module_json.h"

namespace modlab::report {
namespace {

using methods::Change;
using methods::ModuleLook;
using methods::TaskLook;
using nlohmann::ordered_json;

// Adding zero turns -0 into 0.
double plain_zero(double value) { return value + 0.0; }

ordered_json verdict_json(const std::optional<methods::Verdict>& verdict) {
  if (!verdict) {
    return nullptr;
  }
  return *verdict == methods::Verdict::kOne ? "one" : "all";
}

// Of a single unit the published records ask nothing.
ordered_json decision_json(const methods::LayerDecision& decision) {
  const bool has_tests = decision.units > 1;
  const auto if_tested = [&](const ordered_json& value) { return has_tests ? value : ordered_json(); };
  ordered_json index = ordered_json::object();
  for (std::size_t place = 0; place < decision.index.size(); ++place) {
    index[std::to_string(place + 2)] = plain_zero(decision.index[place]);
  }
  return {{"K", decision.clusters},
          {"K_metric", decision.clusters_by_index},
          {"M", std::move(index)},
          {"consulted", if_tested(decision.consulted)},
          {"verdict", verdict_json(decision.verdict)},
          {"z_sep", if_tested(plain_zero(decision.z_separate))},
          {"z_sin", if_tested(plain_zero(decision.z_single))},
          {"sep", if_tested(decision.separate)},
          {"sin", if_tested(decision.single)}};
}

ordered_json place_json(const methods::UnitPlace& place) { return {place.layer, place.unit}; }

ordered_json places_json(const std::vector<methods::UnitPlace>& places) {
  ordered_json list = ordered_json::array();
  for (const methods::UnitPlace& place : places) {
    list.push_back(place_json(place));
  }
  return list;
}

ordered_json hierarchy_json(const ModuleLook& look) {
  const std::vector<double> shares = methods::inside_shares(look.hierarchy);
  ordered_json modules = ordered_json::array();
  for (std::size_t number = 0; number < look.hierarchy.modules.size(); ++number) {
    const methods::Module& module = look.hierarchy.modules[number];
    modules.push_back({{"name", look.module_name(number)},
                       {"id", module.id},
                       {"level", module.level},
                       {"layers", {module.first_layer, module.last_layer}},
                       {"units", module.units},
                       {"inputs", module.units.front()},
                       {"outputs", module.units.back()},
                       {"inside_edges", look.hierarchy.inside_edges[number]},
                       {"inside_share", shares[number]}});
  }
  ordered_json edges = ordered_json::array();
  for (const methods::ModuleEdge& edge : look.hierarchy.edges) {
    edges.push_back({{"from", edge.from}, {"to", edge.to}, {"edges", edge.edges}});
  }
  ordered_json crossing = ordered_json::array();
  for (const methods::CrossEdge& cross : look.crossing) {
    crossing.push_back({{"layer", cross.layer},
                        {"edge", {cross.edge.from, cross.edge.to, cross.edge.weight}},
                        {"from", cross.from},
                        {"to", cross.to}});
  }
  ordered_json joins = ordered_json::array();
  for (const methods::Join& join : look.detection.joins) {
    joins.push_back({{"layer", join.layer},
                     {"cluster", join.cluster},
                     {"module_id", join.module < 0 ? ordered_json() : ordered_json(join.module)},
                     {"edges", join.edges},
                     {"module_share", join.module_share},
                     {"cluster_share", join.cluster_share},
                     {"joined", join.joined}});
  }
  return {{"modules", std::move(modules)},
          {"edges", std::move(edges)},
          {"cross_edges", std::move(crossing)},
          {"joins", std::move(joins)}};
}

ordered_json agreement_json(const methods::Agreement& agreement) {
  return {{"exact", agreement.exact},
          {"adjusted_rand", agreement.adjusted_rand},
          {"mutual_information", agreement.mutual_information}};
}

ordered_json unit_function_json(const methods::UnitFunction& function) {
  ordered_json equals = ordered_json::array();
  ordered_json negates = ordered_json::array();
  for (const methods::NodeMatch& match : function.matches) {
    (match.negated ? negates : equals).push_back(match.name);
  }
  const auto text_or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
  return {{"unit", place_json(function.unit)},
          {"ones", function.ones},
          {"depends_on", function.depends_on},
          {"equals", std::move(equals)},
          {"negates", std::move(negates)},
          {"formula", text_or_null(function.formula)},
          {"local_table", function.local_table ? ordered_json(*function.local_table) : ordered_json()},
          {"local_formula", text_or_null(function.local_formula)}};
}

ordered_json functions_json(const TaskLook& found) {
  ordered_json functions = ordered_json::array();
  for (const methods::ModuleFunction& function : found.functions) {
    ordered_json computes = ordered_json::array();
    for (const int truth : function.computes) {
      computes.push_back(found.task->modules[truth].name);
    }
    ordered_json gives = ordered_json::array();
    for (const methods::UnitFunction& unit : function.gives) {
      gives.push_back(unit_function_json(unit));
    }
    functions.push_back(
        {{"reads", places_json(function.reads)}, {"computes", std::move(computes)}, {"gives", std::move(gives)}});
  }
  return functions;
}

ordered_json lesions_json(const methods::LesionTest& test) {
  ordered_json lesions = ordered_json::array();
  for (const methods::Lesion& lesion : test.lesions) {
    lesions.push_back(
        {{"cut", methods::text_of(lesion.cut)}, {"accuracy", lesion.accuracy}, {"failing", lesion.failing}});
  }
  return {{"accuracy", test.accuracy}, {"modules", std::move(lesions)}};
}

void add_task(const ModuleLook& look, ordered_json& json) {
  if (!look.task) {
    json["task"] = nullptr;
    if (!look.no_task.empty()) {
      json["no_task"] = look.no_task;
    }
    return;
  }
  const TaskLook& found = *look.task;
  json["task"] = found.task->name;
  json["accuracy"] = found.accuracy;
  json["criteria"] = ordered_json::object();
  for (const methods::Criterion& criterion : found.criteria) {
    json["criteria"][criterion.name] = criterion.met;
  }
  if (found.agreement) {
    json["agreement"] = {{"inputs", agreement_json(found.agreement->inputs)},
                         {"outputs", agreement_json(found.agreement->outputs)},
                         {"all", agreement_json(found.agreement->all)}};
  }
  json["functions"] = functions_json(found);
  if (found.lesions) {
    json["lesions"] = lesions_json(*found.lesions);
  }
}

ordered_json stability_json(const methods::Stability& stability) {
  ordered_json variations = ordered_json::array();
  for (const methods::Variation& variation : stability.variations) {
    const char* const change = variation.change == Change::kThreshold ? "threshold"
                               : variation.change == Change::kMerging ? "merging"
                                                                      : "renumbering";
    variations.push_back({{"change", change}, {"value", variation.value}, {"same", variation.same}});
  }
  ordered_json close = ordered_json::array();
  for (const methods::CloseDecision& decision : stability.close) {
    close.push_back({{"call", methods::text_of(decision.call)},
                     {"layer", decision.layer},
                     {"cluster", decision.cluster < 0 ? ordered_json() : ordered_json(decision.cluster)},
                     {"margin", decision.margin}});
  }
  return {{"all_same", stability.all_same()}, {"variations", std::move(variations)}, {"close", std::move(close)}};
}

ordered_json draws_json(const methods::NullDraws& draws) {
  return {{"draws", draws.draws}, {"different", draws.different}, {"at_least", draws.at_least},
          {"mean", draws.mean},   {"deviation", draws.deviation}, {"p", draws.p}};
}

}  // namespace

ordered_json module_json(const ModuleLook& look) {
  ordered_json layers = ordered_json::array();
  for (const methods::LayerDecision& decision : look.detection.decisions) {
    layers.push_back(decision_json(decision));
  }
  ordered_json json = {{"id", look.named.id},
                       {"live", look.detection.live},
                       {"clusters", look.detection.clusters},
                       {"modules", look.detection.modules},
                       {"layers", std::move(layers)},
                       {"hierarchy", hierarchy_json(look)},
                       {"constants", places_json(look.constants)}};
  add_task(look, json);
  if (look.stability) {
    json["stability"] = stability_json(*look.stability);
  }
  if (look.null_model) {
    json["null_model"] = {
        {"statistic", look.null_model->statistic},
        {"rewired", draws_json(look.null_model->rewired)},
        {"reweighted", look.null_model->reweighted ? draws_json(*look.null_model->reweighted) : ordered_json()}};
  }
  return json;
}

}  // namespace modlab::report
