#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/network.h"
#include "models/torch/torch_network.h"

// What kinds whose networks and samples are someone's files have in common.
namespace modlab::experiments {

// A hash of what files hold: a run is known by it, so that a file that has changed makes other runs.
std::string contents_of(const std::vector<std::string>& files);
// Throws ConfigError if they hold something else now.
void check_contents(const std::vector<std::string>& files, const std::string& contents);

// A script whose record, if it has one, was found to be true; a notice where it has none. Throws FormatError.
models::ScriptFile checked_script(const std::string& path);

// The network on samples of a task. Throws FormatError that says, where the two do not fit, what a network is given and
// what it is to say: `answers` is the shape of that for one sample.
std::unique_ptr<models::ScriptedNetwork> open_for_task(const models::ScriptFile& file,
                                                       const std::shared_ptr<const models::GivenSamples>& samples,
                                                       const std::vector<std::size_t>& answers, const std::string& task,
                                                       int threads);

// Parameters by their names, with the run as metadata, for other programs.
std::string weights_file(const engine::Layout& layout, std::span<const float> parameters,
                         const nlohmann::ordered_json& run);

}  // namespace modlab::experiments
