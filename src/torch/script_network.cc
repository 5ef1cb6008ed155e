#include "torch/script_network.h"

#include <fmt/format.h>

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <mutex>
#include <sstream>

#include "core/errors.h"
#include "io/npz.h"

namespace modlab::on_torch {
namespace {

constexpr auto kRecord = "check.npz";
constexpr auto kGates = "gates";

torch::Tensor tensor_of(const io::NamedTensor& array) {
  const std::vector<std::int64_t> sizes(array.shape.begin(), array.shape.end());
  torch::Tensor tensor = torch::empty(sizes, torch::kFloat);
  std::ranges::copy(array.values, tensor.data_ptr<float>());
  return tensor;
}

// A field of a NamedTuple; none where there is no such name.
c10::IValue field_of(const c10::IValue& said, const std::string& name) {
  if (!said.isTuple()) {
    return {};
  }
  const auto type = said.type()->cast<c10::TupleType>();
  if (type == nullptr || type->schema() == nullptr) {
    return {};
  }
  const std::vector<c10::Argument>& fields = type->schema()->arguments();
  const auto found = std::ranges::find(fields, name, &c10::Argument::name);
  return found == fields.end() ? c10::IValue()
                               : said.toTupleRef().elements()[static_cast<std::size_t>(found - fields.begin())];
}

std::mutex& generator_mutex() {
  static std::mutex mutex;
  return mutex;
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

void ScriptModule::check_rows(const torch::Tensor& found, const torch::Tensor& inputs, const char* what) const {
  if (found.dim() == 0 || found.size(0) != inputs.size(0)) {
    throw FormatError(
        fmt::format("{}: says {} things of {} samples; the first dimension of its {} must be that of its "
                    "input",
                    path_, found.dim() == 0 ? 1 : found.size(0), inputs.size(0), what));
  }
}

ScriptModule::Said ScriptModule::forward(const torch::Tensor& inputs) {
  const c10::IValue said = module_.forward({inputs});
  const c10::IValue& first =
      said.isTuple() && !said.toTupleRef().elements().empty() ? said.toTupleRef().elements()[0] : said;
  if (!first.isTensor()) {
    throw FormatError(fmt::format("{}: its forward gives back no tensor, nor a tuple that begins with one", path_));
  }
  const torch::Tensor outputs = first.toTensor();
  check_rows(outputs, inputs, "output");
  const c10::IValue named = field_of(said, kGates);
  if (!named.isNone() && !named.isTensor()) {
    throw FormatError(fmt::format("{}: its {} are no tensor", path_, kGates));
  }
  torch::Tensor gates;
  if (named.isTensor()) {
    gates = named.toTensor().to(torch::kFloat);
    check_rows(gates, inputs, kGates);
  }
  return {outputs.reshape({outputs.size(0), -1}).to(torch::kFloat), gates};
}

ScriptModule::Said ScriptModule::run(const torch::Tensor& inputs, const Tensors& parameters) {
  for (const Member& member : members_) {
    member.owner->setSlot(member.slot, parameters[member.parameter]);
  }
  for (const ListPlace& place : lists_) {
    place.list.set(place.at, parameters[place.parameter]);
  }
  return forward(inputs);
}

void ScriptModule::use_for_training(bool is_on) {
  if (module_.is_training() != is_on) {
    module_.train(is_on);
  }
}

Tensors ScriptModule::buffers() const {
  Tensors copies;
  for (const torch::Tensor& buffer : module_.buffers()) {
    copies.push_back(buffer.clone());
  }
  return copies;
}

void ScriptModule::set_buffers(const Tensors& buffers) {
  std::size_t at = 0;
  for (torch::Tensor buffer : module_.buffers()) {
    buffer.copy_(buffers[at++]);
  }
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
    said = forward(inputs.to(device_)).answers;
  } catch (const UserError&) {
    throw;
  } catch (const std::exception&) {
    said = forward(inputs.to(device_, torch::kLong)).answers;  // such as an embedding takes
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
  find_outputs(values);
  find_draws(values);
  samples_.check(outputs_, file.path);
}

void ScriptNetwork::find_outputs(const Tensors& parameters) {
  // Of two samples: of one alone nobody could tell which dimension is that of the samples.
  const torch::Tensor first = torch::arange(std::min<std::int64_t>(2, samples_.count()));
  const auto count = [&] {
    outputs_ = static_cast<int>(module_.run(samples_.inputs(first), parameters).answers.size(1));
  };
  try {
    count();
  } catch (const UserError&) {
    throw;
  } catch (const std::exception&) {
    const std::exception_ptr as_numbers = std::current_exception();
    if (!samples_.take_as_whole()) {
      throw;
    }
    try {
      count();
    } catch (const std::exception&) {
      std::rethrow_exception(as_numbers);
    }
  }
}

void ScriptNetwork::find_draws(const Tensors& parameters) {
  constexpr std::int64_t kSome = 16;
  const torch::Tensor some = torch::arange(std::min(kSome, samples_.count()));
  const Tensors buffers = module_.buffers();
  module_.use_for_training(true);
  const std::lock_guard lock(generator_mutex());
  torch::manual_seed(1);
  const torch::Tensor one = module_.run(samples_.inputs(some), parameters).answers;
  module_.set_buffers(buffers);
  torch::manual_seed(2);
  draws_ = !torch::equal(one, module_.run(samples_.inputs(some), parameters).answers);
  module_.set_buffers(buffers);
  module_.use_for_training(false);
}

std::vector<float> ScriptNetwork::buffers() const {
  std::vector<float> all;
  for (const torch::Tensor& buffer : module_.buffers()) {
    const std::vector<float> values = as_floats(buffer);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void ScriptNetwork::set_buffers(std::span<const float> buffers) {
  Tensors tensors = module_.buffers();
  std::size_t first = 0;
  for (torch::Tensor& tensor : tensors) {
    const auto count = static_cast<std::size_t>(tensor.numel());
    torch::Tensor values = torch::empty(tensor.sizes(), torch::kFloat);
    std::ranges::copy(buffers.subspan(first, count), values.data_ptr<float>());
    tensor = values.to(tensor.options());
    first += count;
  }
  module_.set_buffers(tensors);
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
  torch::Tensor inputs = samples_.inputs(rows);
  if (batch.input_noise > 0) {
    const at::Generator generator = at::detail::createCPUGenerator(batch.noise);
    inputs = inputs.clone();
    torch::Tensor noisy = inputs.slice(1, 0, batch.noisy_inputs);
    noisy.add_(torch::randn(noisy.sizes(), generator).to(noisy.device()), batch.input_noise);
  }
  module_.use_for_training(batch.trains_weights);
  std::unique_lock lock(generator_mutex(), std::defer_lock);
  if (batch.trains_weights && draws_) {
    lock.lock();  // networks on other threads draw from the same generator
    torch::manual_seed(batch.noise);
  }
  const torch::Tensor said = module_.run(inputs, parameters).answers;
  samples_.check_columns(said.size(1), source());
  learned_ = as_floats(said);
  return samples_.loss(said, rows, batch.outputs);
}

torch::Tensor ScriptNetwork::said(const Tensors& parameters, const torch::Tensor& rows) {
  module_.use_for_training(false);
  const ScriptModule::Said said = module_.run(samples_.inputs(rows), parameters);
  samples_.check_columns(said.answers.size(1), source());
  if (said.gates.defined()) {
    const auto sizes = said.gates.sizes().slice(1);
    const std::vector<float> values = as_floats(said.gates);
    gates_.are_named = true;
    gates_.shape.assign(sizes.begin(), sizes.end());
    gates_.values.insert(gates_.values.end(), values.begin(), values.end());
  }
  return said.answers;
}

std::vector<float> ScriptNetwork::say(std::span<const float> parameters, std::span<const std::uint32_t> rows) {
  gates_ = {};
  return NetworkOnTorch::say(parameters, rows);
}

void ScriptNetwork::set_samples(std::shared_ptr<const models::GivenSamples> samples) {
  samples_ = LabelledSamples(std::move(samples), device());
}

}  // namespace modlab::on_torch
