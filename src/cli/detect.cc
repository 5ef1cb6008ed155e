#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/arguments.h"
#include "cli/network_files.h"
#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "methods/detect/module_look.h"
#include "report/layered_picture.h"
#include "report/module_json.h"
#include "report/module_text.h"

namespace modlab::cli {
namespace {

template <typename Choice>
std::string choices() {
  return join_text(methods::choice_names<Choice>(), ", ");
}

// The names of the published program are understood too.
std::vector<Option> detector_options() {
  const auto one = [](const char* name, const char* value, const std::string& help,
                      const std::vector<std::string>& aliases) {
    return Option{name, Arity::kOne, value, help, aliases};
  };
  return {
      one("threshold", "T", "tests decide where the cluster index is weaker than this (0.2)", {"mm-threshold"}),
      one("merging", "SHARE", "of edges, beyond which clusters are one module (0.9)", {"cluster-merging-threshold"}),
      {"merge-at-equal", Arity::kSwitch, "", "also at exactly that share, as the paper writes", {}},
      one("features", "WORD", "units that a unit is known by: " + choices<methods::Direction>(), {"feature-direction"}),
      {"weighted", Arity::kSwitch, "", "features are products of weights along paths", {"feature-weighted"}},
      one("hops", "N", "layers that features look ahead (0: all)", {"feature-step-size", "clusterability-step-size"}),
      one("linkage", "WORD", "how clusters are compared: " + choices<methods::Linkage>(), {"clustering-linkage"}),
      one("distance", "WORD", "how units are compared: " + choices<methods::Distance>(),
          {"clustering-distance-measure"}),
      one("index", "WORD", "what says how many clusters: " + choices<methods::ClusterIndex>(), {"stopping-criteria"}),
  };
}

const std::vector<Option>& detect_options() {
  static const std::vector<Option> kOptions = [] {
    std::vector<Option> all = {
        {"json", Arity::kSwitch, "", "print one JSON object a line", {}},
        {"svg", Arity::kOne, "FILE", "draw the network and its modules into FILE", {}},
        {"dot", Arity::kOne, "FILE", "write them into FILE in the language of Graphviz", {}},
        {"task", Arity::kOne, "TASK", "what the networks have learned, if the file does not name it", {}},
        {"lesion", Arity::kSwitch, "", "which outputs fail when a module is cut", {}},
        {"null", Arity::kOne, "N", "are the modules better than those of N random networks, such as 200?", {}},
        {"stability", Arity::kSwitch, "", "would other thresholds and unit orders give the same modules?", {}},
        {"seed", Arity::kOne, "N", "of random networks and orders (0)", {}},
    };
    std::ranges::move(detector_options(), std::back_inserter(all));
    std::ranges::move(network_file_options(), std::back_inserter(all));
    all.push_back({"help", Arity::kFlag, "", "this text", {}});
    return all;
  }();
  return kOptions;
}

void print_detect_help() {
  print_help(
      "modlab detect: the modules of a sparse layered network\n\n"
      "  modlab train --task depth2 --model sparse --seed 0 --save sparse\n"
      "  modlab detect sparse/*.safetensors\n\n"
      "Reads networks of layers: what `modlab train --save` wrote, other safetensors, npz and\n"
      "TorchScript files with a matrix for each layer, CSV with layer,from,to,weight, and JSON, one a line or\n"
      "an array; all also compressed with gzip.\n"
      "Without --json, many networks are a line each, and one is explained in full.\n\n{}",
      describe_options(detect_options()));
}

double real_value(const Arguments& arguments, const std::string& name, double otherwise) {
  if (!arguments.has(name)) {
    return otherwise;
  }
  const std::optional<double> value = parse_real(arguments.text(name));
  if (!value) {
    throw ConfigError(fmt::format("--{} takes a number, not '{}'", arguments.given_as(name), arguments.text(name)));
  }
  return *value;
}

int whole_value(const Arguments& arguments, const std::string& name, int least, int otherwise) {
  constexpr int kMost = 1'000'000;
  if (!arguments.has(name)) {
    return otherwise;
  }
  const std::optional<long long> value = parse_integer(arguments.text(name));
  if (!value || *value < least || *value > kMost) {
    throw ConfigError(fmt::format("--{} takes a whole number from {} to {}, not '{}'", arguments.given_as(name), least,
                                  kMost, arguments.text(name)));
  }
  return static_cast<int>(*value);
}

template <typename Choice>
Choice choice(const Arguments& arguments, const std::string& name, Choice otherwise) {
  return arguments.has(name) ? methods::read_choice<Choice>("--" + arguments.given_as(name), arguments.text(name))
                             : otherwise;
}

methods::LookSettings look_settings(const Arguments& arguments) {
  methods::LookSettings settings;
  methods::DetectSettings& detect = settings.detect;
  detect.threshold = real_value(arguments, "threshold", detect.threshold);
  detect.merging = real_value(arguments, "merging", detect.merging);
  detect.merge_at_equal = arguments.is_on("merge-at-equal");
  detect.direction = choice(arguments, "features", detect.direction);
  detect.weighted = arguments.is_on("weighted");
  detect.hops = whole_value(arguments, "hops", 0, detect.hops);
  detect.linkage = choice(arguments, "linkage", detect.linkage);
  detect.distance = choice(arguments, "distance", detect.distance);
  detect.index = choice(arguments, "index", detect.index);
  settings.stability = arguments.is_on("stability");
  settings.null_draws = whole_value(arguments, "null", 1, 0);
  settings.lesion = arguments.is_on("lesion");
  settings.seed = static_cast<std::uint64_t>(whole_value(arguments, "seed", 0, 0));
  settings.task = arguments.text("task");
  return settings;
}

void write_pictures(const Arguments& arguments, const methods::ModuleLook& look) {
  const report::LayeredPicture picture = report::module_picture(look);
  // Both before either is written.
  const std::string svg = arguments.has("svg") ? report::layered_svg(picture) : "";
  const std::string dot = arguments.has("dot") ? report::layered_dot(picture) : "";
  if (arguments.has("svg")) {
    io::write_file(arguments.text("svg"), svg);
  }
  if (arguments.has("dot")) {
    io::write_file(arguments.text("dot"), dot);
  }
}

// What takes a picture or a page for itself cannot be had of many at once.
void refuse_for_many(const Arguments& arguments, std::size_t networks) {
  for (const char* name : {"svg", "dot"}) {
    if (arguments.has(name)) {
      throw ConfigError(fmt::format("--{} draws one network, but there are {}; choose one with --id", name, networks));
    }
  }
  for (const char* name : {"lesion", "null", "stability"}) {
    if (arguments.has(name) && !arguments.is_on("json")) {
      throw ConfigError(fmt::format(
          "--{} is shown for one network, but there are {}; choose one with --id, or take --json", name, networks));
    }
  }
}

}  // namespace

int run_detect(std::span<const std::string> words) {
  const Arguments arguments(words, detect_options());
  if (arguments.has("help")) {
    print_detect_help();
    return 0;
  }
  methods::ModuleLooker looker(look_settings(arguments));
  std::vector<models::NamedNetwork> networks = networks_from(arguments);
  if (networks.size() > 1) {
    refuse_for_many(arguments, networks.size());
  }
  std::vector<methods::ModuleLook> looks;
  for (models::NamedNetwork& named : networks) {
    looks.push_back(looker.look(std::move(named)));
  }
  if (looks.size() == 1) {
    write_pictures(arguments, looks.front());
  }
  if (arguments.is_on("json")) {
    for (const methods::ModuleLook& look : looks) {
      fmt::print("{}\n",
                 report::module_json(look).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }
  } else {
    fmt::print("{}", looks.size() == 1 ? report::module_text(looks.front()) : report::module_table(looks));
  }
  // Not on standard output, which may be JSON for another program.
  for (const char* name : {"svg", "dot"}) {
    if (arguments.has(name)) {
      say(fmt::format("Wrote {}\n", arguments.text(name)));
    }
  }
  return 0;
}

}  // namespace modlab::cli
