#include "torch/script_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/errors.h"
#include "io/npz.h"

namespace modlab::on_torch {
namespace {

constexpr auto kRecord = "check.npz";

torch::Tensor tensor_of(const io::NamedTensor& array) {
  const std::vector<std::int64_t> sizes(array.shape.begin(), array.shape.end());
  torch::Tensor tensor = torch::empty(sizes, torch::kFloat);
  std::ranges::copy(array.values, tensor.data_ptr<float>());
  return tensor;
}

}  // namespace

ScriptModule::ScriptModule(const models::ScriptFile& file, const torch::Device& device)
    : path_(file.path), device_(device) {
  // Its optimiser would run a network several times to see what it could gain, each time with other roundings.
  torch::jit::setGraphExecutorOptimize(false);
  std::istringstream bytes(file.bytes);
  torch::jit::ExtraFilesMap extra = {{kRecord, ""}};
  module_ = torch::jit::load(bytes, torch::kCPU, extra);
  module_.to(torch::kFloat);
  module_.to(device_);
  module_.eval();
  find_members(module_, "");
  find_lists(module_);
  if (parameters_.empty()) {
    throw FormatError(fmt::format(
        "{}: has no parameters; a module that was frozen has made constants of them: save it before torch.jit.freeze",
        path_));
  }
  if (!extra[kRecord].empty()) {
    check_record(extra[kRecord]);
  }
}

void ScriptModule::find_members(const torch::jit::Module& module, const std::string& prefix) {
  const c10::intrusive_ptr<c10::ivalue::Object> object = module._ivalue();
  const auto type = object->type();
  for (std::size_t slot = 0; slot < type->numAttributes(); ++slot) {
    const c10::IValue& value = object->getSlot(slot);
    if (type->is_parameter(slot) && value.isTensor() && value.toTensor().is_floating_point()) {
      const torch::Tensor tensor = value.toTensor().detach();
      // Two members may be one parameter, as an embedding that is the read-out too.
      auto known = std::ranges::find_if(parameters_, [&](const Parameter& other) {
        return other.value.is_same(tensor) ||
               (other.value.data_ptr() == tensor.data_ptr() && other.value.sizes() == tensor.sizes());
      });
      if (known == parameters_.end()) {
        known = parameters_.insert(known, {prefix + type->getAttributeName(slot), tensor});
      }
      members_.push_back({object, slot, static_cast<std::size_t>(known - parameters_.begin())});
    }
  }
  for (const auto& child : module.named_children()) {
    find_members(child.value, prefix + child.name + ".");
  }
}

void ScriptModule::find_lists(const torch::jit::Module& module) {
  const c10::intrusive_ptr<c10::ivalue::Object> object = module._ivalue();
  for (std::size_t slot = 0; slot < object->type()->numAttributes(); ++slot) {
    const c10::IValue& value = object->getSlot(slot);
    if (!value.isTensorList()) {
      continue;
    }
    c10::List<at::Tensor> list = value.toTensorList();
    for (std::size_t at = 0; at < list.size(); ++at) {
      const at::Tensor tensor = list.get(at);
      // In the file the list and the members may be copies of each other.
      const auto own = std::ranges::find_if(members_, [&](const Member& member) {
        const torch::Tensor& other = parameters_[member.parameter].value;
        return member.owner == object && (other.data_ptr() == tensor.data_ptr() || torch::equal(other, tensor));
      });
      if (own != members_.end()) {
        lists_.push_back({list, at, own->parameter});
      }
    }
  }
  for (const auto& child : module.children()) {
    find_lists(child);
  }
}

torch::Tensor ScriptModule::forward(const torch::Tensor& inputs) {
  const c10::IValue said = module_.forward({inputs});
  const c10::IValue& first =
      said.isTuple() && !said.toTupleRef().elements().empty() ? said.toTupleRef().elements()[0] : said;
  if (!first.isTensor()) {
    throw FormatError(fmt::format("{}: its forward gives back no tensor, nor a tuple that begins with one", path_));
  }
  const torch::Tensor outputs = first.toTensor();
  if (outputs.dim() == 0 || outputs.size(0) != inputs.size(0)) {
    throw FormatError(
        fmt::format("{}: says {} things of {} samples; the first dimension of its output must be that of its "
                    "input",
                    path_, outputs.dim() == 0 ? 1 : outputs.size(0), inputs.size(0)));
  }
  return outputs.reshape({outputs.size(0), -1}).to(torch::kFloat);
}

torch::Tensor ScriptModule::run(const torch::Tensor& inputs, const Tensors& parameters) {
  for (const Member& member : members_) {
    member.owner->setSlot(member.slot, parameters[member.parameter]);
  }
  for (const ListPlace& place : lists_) {
    place.list.set(place.at, parameters[place.parameter]);
  }
  return forward(inputs);
}

void ScriptModule::check_record(const std::string& record) {
  constexpr double kRelative = 1e-3;
  constexpr double kAbsolute = 1e-4;
  const std::string source = fmt::format("{}: {}", path_, kRecord);
  torch::Tensor inputs;
  torch::Tensor outputs;
  for (const io::NamedTensor& array : io::decode_npz(record, source)) {
    if (array.name == "inputs") {
      inputs = tensor_of(array);
    } else if (array.name == "outputs") {
      outputs = tensor_of(array);
    }
  }
  if (!inputs.defined() || !outputs.defined() || outputs.dim() == 0) {
    throw FormatError(fmt::format("{} lacks the array `inputs` or `outputs`", source));
  }
  const torch::NoGradGuard no_grad;
  torch::Tensor said;
  try {
    said = forward(inputs.to(device_));
  } catch (const UserError&) {
    throw;
  } catch (const std::exception&) {
    said = forward(inputs.to(device_, torch::kLong));  // such as an embedding takes
  }
  const torch::Tensor right = outputs.reshape({outputs.size(0), -1});
  said = said.to(torch::kCPU);
  if (said.sizes() != right.sizes() || !torch::allclose(said, right, kRelative, kAbsolute)) {
    const std::string apart = said.sizes() == right.sizes()
                                  ? fmt::format("numbers up to {:g} apart", (said - right).abs().max().item<double>())
                                  : fmt::format("{} numbers where {} were recorded", said.numel(), right.numel());
    throw FormatError(fmt::format("{}: does not say here what was recorded when it was saved: {}", path_, apart));
  }
  is_checked_ = true;
}

ScriptNetwork::ScriptNetwork(const models::ScriptFile& file, std::shared_ptr<const models::GivenSamples> samples,
                             const models::TorchPlace& place)
    : NetworkOnTorch(file.path, place), module_(file, device()), samples_(std::move(samples), device()) {
  Tensors values;
  for (const ScriptModule::Parameter& parameter : module_.parameters()) {
    add_parameter(parameter.name, parameter.value);
    values.push_back(parameter.value);
  }
  const torch::NoGradGuard no_grad;
  // Of two samples: of one alone nobody could tell which dimension is that of the samples.
  const torch::Tensor first = torch::arange(std::min<std::int64_t>(2, samples_.count()));
  const auto count_outputs = [&] { outputs_ = static_cast<int>(module_.run(samples_.inputs(first), values).size(1)); };
  try {
    count_outputs();
  } catch (const UserError&) {
    throw;
  } catch (const std::exception&) {
    const std::exception_ptr as_numbers = std::current_exception();
    if (!samples_.take_as_whole()) {
      throw;
    }
    try {
      count_outputs();
    } catch (const std::exception&) {
      std::rethrow_exception(as_numbers);
    }
  }
  samples_.check(outputs_, file.path);
}

std::vector<float> ScriptNetwork::initial() const {
  std::vector<float> all;
  for (const ScriptModule::Parameter& parameter : module_.parameters()) {
    const std::vector<float> values = as_floats(parameter.value);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

torch::Tensor ScriptNetwork::loss(const Tensors& parameters, const models::TorchBatch& batch) {
  const torch::Tensor rows = as_tensor(batch.rows);
  return samples_.loss(module_.run(samples_.inputs(rows), parameters), rows, batch.outputs);
}

torch::Tensor ScriptNetwork::said(const Tensors& parameters, const torch::Tensor& rows) {
  return module_.run(samples_.inputs(rows), parameters);
}

}  // namespace modlab::on_torch
