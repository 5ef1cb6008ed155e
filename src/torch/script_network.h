#pragma once

#include <torch/script.h>

#include <memory>

#include "torch/labelled_samples.h"
#include "torch/network_on_torch.h"

namespace modlab::on_torch {

// A module of TorchScript whose parameters can be anything: where its code looks a parameter up, it finds what was last
// put there, with the gradient that leads to it.
class ScriptModule {
 public:
  ScriptModule(const models::ScriptFile& file, const torch::Device& device);

  struct Parameter {
    std::string name;
    torch::Tensor value;  // as the file has it
  };
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // Whether the file says how the network answers some inputs, and it does so here; it has not been loaded otherwise.
  bool is_checked() const { return is_checked_; }

  // Dropout and statistics of batches as they are in training, or as the network is used.
  void use_for_training(bool is_on);
  // What training changes besides the parameters, such as the means of batches: copies, and back.
  Tensors buffers() const;
  void set_buffers(const Tensors& buffers);
  struct Said {
    torch::Tensor answers;  // [row][output]
    torch::Tensor gates;    // [row]...; undefined where it names none
  };
  // With these in the place of its parameters.
  Said run(const torch::Tensor& inputs, const Tensors& parameters);

 private:
  // Where a parameter is looked up: a member of a submodule, or a place in one of its lists of tensors, as those of
  // LSTM and GRU are.
  struct Member {
    c10::intrusive_ptr<c10::ivalue::Object> owner;
    std::size_t slot;
    std::size_t parameter;
  };
  struct ListPlace {
    c10::List<at::Tensor> list;
    std::size_t at;
    std::size_t parameter;
  };

  void find_members(const torch::jit::Module& module, const std::string& prefix);
  void find_lists(const torch::jit::Module& module);
  void check_record(const std::string& record);
  Said forward(const torch::Tensor& inputs);
  void check_rows(const torch::Tensor& found, const torch::Tensor& inputs, const char* what) const;

  std::string path_;
  torch::jit::Module module_;
  torch::Device device_;
  std::vector<Parameter> parameters_;
  std::vector<Member> members_;
  std::vector<ListPlace> lists_;
  bool is_checked_ = false;
};

class ScriptNetwork : public NetworkOnTorch, public models::ScriptedNetwork {
 public:
  ScriptNetwork(const models::ScriptFile& file, std::shared_ptr<const models::GivenSamples> samples,
                const models::TorchPlace& place);

  std::vector<float> initial() const override;
  std::vector<float> buffers() const override;
  void set_buffers(std::span<const float> buffers) override;
  int answers() const override { return outputs_; }
  void set_samples(std::shared_ptr<const models::GivenSamples> samples) override;
  const std::vector<float>& said_while_learning() const override { return learned_; }
  const models::NamedGates& gates() const override { return gates_; }
  std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) override;

 protected:
  torch::Tensor loss(const Tensors& parameters, const models::TorchBatch& batch) override;
  torch::Tensor said(const Tensors& parameters, const torch::Tensor& rows) override;

 private:
  void find_outputs(const Tensors& parameters);
  void find_draws(const Tensors& parameters);

  ScriptModule module_;
  LabelledSamples samples_;
  int outputs_ = 0;
  std::vector<float> learned_;
  models::NamedGates gates_;
  bool draws_ = false;  // in training, as dropout does: from libtorch's one generator
};

}  // namespace modlab::on_torch
