#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/mask/given_to_mask.h"

// Masks over networks from files: what `modlab mask --from` does.
namespace modlab::experiments {

struct GivenMasksRequest {
  std::vector<std::string> files;
  std::string snapshot = "best";
  Given settings;  // task, seed, targets, controls, and those of masks
};

class GivenMasks {
 public:
  struct Finished {
    nlohmann::ordered_json run;                // as a run of the kind would be printed
    std::map<std::string, std::string> blobs;  // "file.NAME": for other programs
    std::string shape;                         // of the network, in words: those of one shape are one table
  };

  // Reads and checks everything. Throws ConfigError for a setting that says how networks are trained, or FormatError.
  GivenMasks(const GivenMasksRequest& request, const engine::Kernels<float>& kernels);

  void execute(int threads);
  // From any thread.
  Status status(double seconds) const;
  void stop() { progress_.stop = true; }

  bool is_stopped() const { return progress_.stop; }
  const std::vector<Finished>& finished() const { return finished_; }

 private:
  const engine::Kernels<float>& kernels_;
  nlohmann::ordered_json settings_;  // of the masks, as runs have them
  std::vector<GivenToMask> networks_;
  std::vector<methods::BitsMasking> maskings_;
  methods::MaskProgress progress_;
  std::int64_t total_steps_ = 0;
  std::vector<Finished> finished_;
};

}  // namespace modlab::experiments
