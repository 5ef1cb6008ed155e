#include <fmt/format.h>

#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "core/errors.h"
#include "models/learned_routing.h"
#include "models/rules/rule_shape.h"
#include "models/saved_answers.h"
#include "report/network_json.h"
#include "report/network_svg.h"
#include "report/network_text.h"
#include "report/rule_network_text.h"

namespace modlab::python {
namespace {

using models::SavedImageSnapshot;
using models::SavedRuleSnapshot;
using models::SavedSnapshot;
using nlohmann::ordered_json;

ordered_json routing_json(const tasks::Routing& routing) {
  return {{"inputs", routing.inputs}, {"modules", routing.modules}, {"outputs", routing.outputs}};
}

// What differs between networks on bits, on images and on rules.

const engine::Layout& layout_of(const SavedSnapshot& snapshot, engine::Layout& /*room*/) {
  return snapshot.network.blueprint.layout;
}
const engine::Layout& layout_of(const SavedImageSnapshot& snapshot, engine::Layout& /*room*/) {
  return snapshot.network.blueprint.layout;
}
const engine::Layout& layout_of(const SavedRuleSnapshot& snapshot, engine::Layout& room) {
  return room = models::rule_layout(snapshot.network.shape);
}

ordered_json routing_of(const SavedSnapshot& snapshot) {
  const auto* shape = std::get_if<models::ModularShape>(&snapshot.network.blueprint.shape);
  if (shape == nullptr) {
    return nullptr;
  }
  ordered_json tasks = ordered_json::array();
  for (const tasks::Routing& routing : models::learned_routing(*shape, snapshot.parameters())) {
    tasks.push_back(routing_json(routing));
  }
  return tasks.size() == 1 ? tasks.front() : tasks;
}
ordered_json routing_of(const SavedImageSnapshot& snapshot) {
  const auto* shape = std::get_if<models::ImageModularShape>(&snapshot.network.blueprint.shape);
  if (shape == nullptr) {
    return nullptr;
  }
  const models::ImageRouting routing = models::learned_routing(*shape, snapshot.parameters());
  ordered_json json = {{"images", routing.images}, {"image_modules", routing.members}};
  json.update(routing_json(routing.bits));
  return json;
}
ordered_json routing_of(const SavedRuleSnapshot& snapshot) {
  const std::optional<measures::ModuleUse> use = measures::measure_snapshot(snapshot).use;
  if (!use) {
    return nullptr;
  }
  ordered_json rows = ordered_json::array();
  for (int rule = 0; rule < use->rules(); ++rule) {
    rows.push_back(std::vector<double>(use->row(rule).begin(), use->row(rule).end()));
  }
  return {{"use", rows}};
}

std::vector<py::ssize_t> answer_shape(const py::array& inputs, int dimensions, int outputs) {
  std::vector<py::ssize_t> shape(inputs.shape(), inputs.shape() + inputs.ndim() - dimensions);
  shape.push_back(outputs);
  return shape;
}

py::array_t<float> ask(const SavedSnapshot& snapshot, const py::array& inputs, int task) {
  const tasks::TaskSuite& suite = snapshot.network.suite;
  if (task < 0 || task >= static_cast<int>(suite.tasks.size())) {
    throw ConfigError(fmt::format("task is {}; this network has learned {}, counted from 0", task, suite.tasks.size()));
  }
  const std::vector<std::uint32_t> rows =
      as_rows(inputs, suite.inputs(), fmt::format("a network on {} bits", suite.inputs()));
  return as_answers(models::answers(snapshot, task, rows), answer_shape(inputs, 1, suite.outputs()));
}

py::array_t<float> ask(const SavedImageSnapshot& snapshot, const py::array& inputs, int /*task*/) {
  const models::ImageSizes sizes = models::image_sizes(snapshot);
  const bool fits = (inputs.ndim() == 3 || inputs.ndim() == 4) && inputs.shape(inputs.ndim() - 3) == sizes.images &&
                    inputs.shape(inputs.ndim() - 2) == sizes.rows && inputs.shape(inputs.ndim() - 1) == sizes.columns;
  if (!fits) {
    throw ConfigError(fmt::format("this network takes images of shape (samples, {}, {}, {}), not {}", sizes.images,
                                  sizes.rows, sizes.columns, shape_text(inputs)));
  }
  if (!py::isinstance<py::array_t<std::uint8_t>>(inputs)) {
    throw ConfigError(fmt::format("this network takes pixels as bytes from 0 to 255 (numpy.uint8), not {}",
                                  std::string(py::str(py::object(inputs.dtype())))));
  }
  const auto pixels = py::array_t<std::uint8_t, py::array::c_style>::ensure(inputs);
  return as_answers(models::answers(snapshot, std::span(pixels.data(), static_cast<std::size_t>(pixels.size()))),
                    answer_shape(inputs, 3, snapshot.network.suite.outputs()));
}

py::array_t<float> ask(const SavedRuleSnapshot& snapshot, const py::array& inputs, int /*task*/) {
  const models::RuleShape& shape = snapshot.network.shape;
  const bool is_sequence = shape.family != tasks::RuleFamily::kMlp;
  const int columns = shape.data_columns + shape.rules;
  const auto floats = as_floats(inputs, "the input");
  if (floats.ndim() != (is_sequence ? 3 : 2) || floats.shape(floats.ndim() - 1) != columns || floats.size() == 0) {
    throw ConfigError(
        fmt::format("this network takes an array of shape (samples, {}{}), {} numbers and a column for "
                    "each of {} rules, not {}",
                    is_sequence ? "tokens, " : "", columns, shape.data_columns, shape.rules, shape_text(inputs)));
  }
  return as_answers(models::answers(snapshot, std::span(floats.data(), static_cast<std::size_t>(floats.size())),
                                    is_sequence ? static_cast<int>(floats.shape(1)) : 1),
                    answer_shape(inputs, 1, shape.outputs));
}

// Whether answers are logits of bits or classes.
bool says_logits(const SavedSnapshot& /*snapshot*/) { return true; }
bool says_logits(const SavedImageSnapshot& /*snapshot*/) { return true; }
bool says_logits(const SavedRuleSnapshot& snapshot) {
  return snapshot.network.spec.task.output == tasks::RuleOutput::kClassification;
}

// What else is asked by the name of its task. While a network only lies around in Python its task stays out of the way
// of those that are trained meanwhile.
tasks::NamedTasks take_tasks(SavedRuleSnapshot& /*snapshot*/) { return {}; }
template <typename Snapshot>
tasks::NamedTasks take_tasks(Snapshot& snapshot) {
  snapshot.network.tasks = {};
  return {{snapshot.network.spec.task, std::make_shared<const tasks::TaskSuite>(snapshot.network.suite)}};
}

// One snapshot of a saved network.
class Network {
  template <typename Look>
  auto with_task(const Look& look) const {
    const tasks::TasksAtHand at_hand(tasks_);
    return std::visit([&](const auto& one) { return look(one); }, any_);
  }

 public:
  Network(const std::string& bytes, const std::string& name, const std::string& snapshot)
      : any_(models::parse_snapshot(bytes, name, snapshot)),
        tasks_(std::visit([](auto& one) { return take_tasks(one); }, any_)) {
    engine::Layout room;
    layout_ = std::visit([&](const auto& one) { return layout_of(one, room); }, any_);
  }

  py::dict weights(const py::handle& owner) const {
    return std::visit([&](const auto& one) { return tensor_views(layout_, one.parameters(), owner); }, any_);
  }
  ordered_json run() const {
    return std::visit([](const auto& one) { return one.network.run; }, any_);
  }
  bool is_logit() const {
    return std::visit([](const auto& one) { return says_logits(one); }, any_);
  }
  py::array_t<float> answers(const py::array& inputs, int task) const {
    return std::visit([&](const auto& one) { return ask(one, inputs, task); }, any_);
  }
  ordered_json routing() const {
    return with_task([](const auto& one) { return routing_of(one); });
  }
  ordered_json json() const {
    return with_task([](const auto& one) { return report::network_json(one); });
  }
  std::string text() const {
    return with_task([](const auto& one) { return report::network_text(one); });
  }
  std::string svg() const {
    return with_task([](const auto& one) { return report::network_svg(one); });
  }

 private:
  models::AnySavedSnapshot any_;
  tasks::NamedTasks tasks_;
  engine::Layout layout_;
};

}  // namespace

void bind_networks(py::module_& module) {
  py::class_<Network>(module, "Network")
      .def(py::init<const std::string&, const std::string&, const std::string&>(), py::arg("bytes"), py::arg("name"),
           py::arg("snapshot"))
      .def("weights", [](const py::object& self) { return self.cast<const Network&>().weights(self); })
      .def("run", [](const Network& self) { return json_text(self.run()); })
      .def_property_readonly("is_logit", &Network::is_logit)
      .def("answers", &Network::answers, py::arg("inputs"), py::arg("task"))
      .def("routing", [](const Network& self) { return json_text(self.routing()); })
      .def("json", [](const Network& self) { return json_text(self.json()); })
      .def("text", &Network::text)
      .def("svg", &Network::svg);
  module.def("tensors", [](const py::bytes& bytes, const std::string& name) {
    return file_tensors(io::decode_safetensors(bytes, name));
  });
}

}  // namespace modlab::python
