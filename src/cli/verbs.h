#pragma once

#include <span>
#include <string>

// Each verb takes the words after its name and returns the program's exit code. A UserError thrown by a verb becomes
// one line on standard error and exit code 2 (see main.cc).
namespace modlab::cli {

int run_bench(std::span<const std::string> words);
int run_collapse(std::span<const std::string> words);
int run_data(std::span<const std::string> words);
int run_detect(std::span<const std::string> words);
int run_export(std::span<const std::string> words);
int run_flops(std::span<const std::string> words);
int run_graph(std::span<const std::string> words);
int run_mask(std::span<const std::string> words);
int run_measure(std::span<const std::string> words);
int run_overlap(std::span<const std::string> words);
int run_report(std::span<const std::string> words);
int run_sculpt(std::span<const std::string> words);
int run_show(std::span<const std::string> words);
int run_structure(std::span<const std::string> words);
int run_study(std::span<const std::string> words);
int run_train(std::span<const std::string> words);

}  // namespace modlab::cli
