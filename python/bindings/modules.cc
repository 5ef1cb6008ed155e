#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"
#include "core/errors.h"
#include "io/npz.h"
#include "models/layered_network_file.h"
#include "module_look.h"
#include "report/layered_picture.h"
#include "report/module_json.h"
#include "report/module_text.h"

namespace modlab::python {
namespace {

using Arrays = std::vector<std::pair<std::string, py::array>>;

template <typename Choice>
void choose(const char* name, const std::string& text, Choice& choice) {
  if (!text.empty()) {
    choice = methods::read_choice<Choice>(name, text);
  }
}

int whole(const char* name, long long value, int least) {
  constexpr long long kMost = 1'000'000;
  if (value < least || value > kMost) {
    throw ConfigError(fmt::format("{} takes a whole number from {} to {}, not '{}'", name, least, kMost, value));
  }
  return static_cast<int>(value);
}

// Matrices from the inputs up, with biases where there are any, read as the file that they would be.
models::NamedNetwork network_of(const Arrays& arrays, const std::string& name, const std::vector<std::string>& tensors,
                                bool inputs_first) {
  std::vector<io::NamedTensor> list;
  for (const auto& [tensor, array] : arrays) {
    list.push_back(as_tensor(tensor, array, tensor));
  }
  std::vector<models::NamedNetwork> found = models::parse_layered_networks(
      io::encode_npz(list), name + ".npz", {.tensors = tensors, .inputs_first = inputs_first});
  return std::move(found.front());
}

// The matrices of a network, [out][in], and its biases.
py::dict matrices(const models::LayeredNetwork& network) {
  py::dict arrays;
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    const models::Connections& between = network.connections[layer];
    py::array_t<float> weights({network.widths[layer + 1], network.widths[layer]});
    std::fill_n(weights.mutable_data(), weights.size(), 0.0F);
    auto view = weights.mutable_unchecked<2>();
    for (const models::Edge& edge : between.edges) {
      view(edge.to, edge.from) = edge.weight;
    }
    arrays[py::str(fmt::format("layer{}.weight", layer))] = std::move(weights);
    arrays[py::str(fmt::format("layer{}.bias", layer))] =
        as_answers(between.bias, {static_cast<py::ssize_t>(between.bias.size())});
  }
  return arrays;
}

// Logits for any numbers.
py::array_t<float> answers(const models::LayeredNetwork& network, const py::array& inputs) {
  const auto floats = as_floats(inputs, "the input");
  const int width = network.widths.front();
  if (floats.ndim() < 1 || floats.ndim() > 2 || floats.shape(floats.ndim() - 1) != width) {
    throw ConfigError(fmt::format("a network of {} inputs takes an array of shape (samples, {}), not {}", width, width,
                                  shape_text(inputs)));
  }
  std::vector<float> said;
  for (const float* sample = floats.data(); sample != floats.data() + floats.size(); sample += width) {
    const std::vector<std::vector<double>> values =
        models::unit_values(network, std::vector<double>(sample, sample + width));
    said.insert(said.end(), values.back().begin(), values.back().end());
  }
  std::vector<py::ssize_t> shape(inputs.shape(), inputs.shape() + inputs.ndim() - 1);
  shape.push_back(network.widths.back());
  return as_answers(said, shape);
}

}  // namespace

methods::LookSettings LookOptions::settings() const {
  methods::LookSettings look;
  look.detect.threshold = threshold;
  look.detect.merging = merging;
  look.detect.merge_at_equal = merge_at_equal;
  look.detect.weighted = weighted;
  look.detect.hops = whole("hops", hops, 0);
  choose("features", features, look.detect.direction);
  choose("linkage", linkage, look.detect.linkage);
  choose("distance", distance, look.detect.distance);
  choose("index", index, look.detect.index);
  look.lesion = lesion;
  look.null_draws = whole("null", null, 0);
  look.stability = stability;
  look.seed = static_cast<std::uint64_t>(whole("seed", seed, 0));
  return look;
}

Modules::Modules(models::NamedNetwork network, const methods::LookSettings& settings, const std::optional<Task>& task) {
  methods::LookSettings with_task = settings;
  const std::vector<Task> tasks = task ? std::vector{*task} : std::vector<Task>{};
  const tasks::TasksAtHand at_hand(named(tasks));
  with_task.task = task ? task->suite->name : "";
  look_ = std::make_unique<const methods::ModuleLook>(methods::ModuleLooker(with_task).look(std::move(network)));
}

void bind_modules(py::module_& module) {
  py::class_<LookOptions>(module, "LookOptions")
      .def(py::init<>())
      .def_readwrite("threshold", &LookOptions::threshold)
      .def_readwrite("merging", &LookOptions::merging)
      .def_readwrite("merge_at_equal", &LookOptions::merge_at_equal)
      .def_readwrite("features", &LookOptions::features)
      .def_readwrite("weighted", &LookOptions::weighted)
      .def_readwrite("hops", &LookOptions::hops)
      .def_readwrite("linkage", &LookOptions::linkage)
      .def_readwrite("distance", &LookOptions::distance)
      .def_readwrite("index", &LookOptions::index)
      .def_readwrite("lesion", &LookOptions::lesion)
      .def_readwrite("null", &LookOptions::null)
      .def_readwrite("stability", &LookOptions::stability)
      .def_readwrite("seed", &LookOptions::seed);
  py::class_<Modules>(module, "Modules")
      .def_property_readonly("id", [](const Modules& self) { return self.look().named.id; })
      .def("json", [](const Modules& self) { return json_text(report::module_json(self.look())); })
      .def("about", [](const Modules& self) { return json_text(self.look().named.about); })
      .def("text", [](const Modules& self) { return report::module_text(self.look()); })
      .def("svg", [](const Modules& self) { return report::layered_svg(report::module_picture(self.look())); })
      .def("weights", [](const Modules& self) { return matrices(self.look().network()); })
      .def("answers",
           [](const Modules& self, const py::array& inputs) { return answers(self.look().network(), inputs); });
  module.def(
      "detect",
      [](const Arrays& arrays, const std::string& name, const std::vector<std::string>& tensors, bool inputs_first,
         const LookOptions& options, const std::optional<Task>& task) {
        return Modules(network_of(arrays, name, tensors, inputs_first), options.settings(), task);
      },
      py::arg("arrays"), py::arg("name"), py::arg("tensors"), py::arg("inputs_first"), py::arg("options"),
      py::arg("task"));
  module.def(
      "detect_file",
      [](const std::string& path, const std::vector<std::string>& tensors, bool inputs_first, bool last,
         const LookOptions& options, const std::optional<Task>& task) {
        std::vector<Modules> found;
        for (models::NamedNetwork& named : models::read_layered_networks(
                 path, {.tensors = tensors, .inputs_first = inputs_first, .last_snapshot = last})) {
          found.emplace_back(std::move(named), options.settings(), task);
        }
        return found;
      },
      py::arg("path"), py::arg("tensors"), py::arg("inputs_first"), py::arg("last"), py::arg("options"),
      py::arg("task"));
}

}  // namespace modlab::python
