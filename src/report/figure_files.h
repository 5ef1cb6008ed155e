#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace modlab::report {

// A figure with one of its measures.
struct DrawnFigure {
  std::string name;  // "f3-test_accuracy"
  std::string svg;
};
// Every figure of the report, for each of its measures, for a paper: black on white. Needs node; throws ConfigError if
// it is missing.
std::vector<DrawnFigure> draw_figures(const nlohmann::ordered_json& report);

// Draws every figure of the report, for each of its measures, as an SVG and a PNG file for a paper: black on white, PNG
// with 200 dots an inch. Returns the paths. Needs node and rsvg-convert; throws ConfigError if one is missing, before
// anything is written.
std::vector<std::string> write_figure_files(const nlohmann::ordered_json& report, const std::string& folder);

}  // namespace modlab::report
