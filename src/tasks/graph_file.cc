#include "tasks/graph_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/errors.h"
#include "core/text.h"
#include "io/yaml_file.h"
#include "tasks/image_keys.h"
#include "tasks/module_keys.h"

namespace modlab::tasks {
namespace {

using io::place_of;
using io::quote_for_message;

constexpr std::size_t kMaxLevels = 64;
constexpr std::size_t kMaxGates = 1024;
constexpr std::size_t kMaxFanIn = 256;
constexpr std::size_t kMaxNameLength = 32;

// Where things are defined, for wiring by name and for messages.
struct GatePlace {
  Wire wire;
  std::string place;  // file and line
  std::string text;   // what is right of the colon
};

struct Names {
  std::string source;
  std::map<std::string, Wire> known;
  std::vector<std::string> words;  // the keys of `known`, for the nearest one
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

void add_name(Names& names, const std::string& name, const Wire& wire, const std::string& place) {
  if (!names.known.emplace(name, wire).second) {
    throw ConfigError(
        fmt::format("{}: the name '{}' is used twice; give each input and each gate its own", place, name));
  }
  names.words.push_back(name);
}

const YAML::Node& required(const TaskKeys& keys, const std::string& key, const std::string& source,
                           const std::string& example) {
  const auto found = keys.find(key);
  if (found == keys.end()) {
    throw ConfigError(fmt::format("{}: '{}' is missing; add a line such as '{}'", source, key, example));
  }
  return found->second;
}

std::vector<std::string> numbered_names(const std::string& letter, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t number = 0; number < count; ++number) {
    names.push_back(fmt::format("{}{}", letter, number));
  }
  return names;
}

std::vector<std::string> parse_input_names(const TaskKeys& keys, const std::string& source) {
  const YAML::Node& node = required(keys, "inputs", source, "inputs: [x0, x1]");
  const auto check_count = [&](long long count) {
    if (count < 1 || count > kMaxInputs) {
      throw ConfigError(fmt::format("{}: {} inputs; a task has 1 to {}", place_of(node, source), count, kMaxInputs));
    }
  };
  if (node.IsSequence()) {
    check_count(static_cast<long long>(node.size()));
    std::vector<std::string> inputs;
    for (const YAML::Node& item : node) {
      inputs.push_back(read_name(item, "an input", source));
    }
    return inputs;
  }
  const std::optional<long long> count = parse_integer(scalar_text(node).value_or(""));
  if (!count) {
    throw FormatError(
        fmt::format("{}: 'inputs' is neither a number nor a list of names; write 'inputs: 6' or 'inputs: "
                    "[x0, x1]'",
                    place_of(node, source)));
  }
  check_count(*count);
  return numbered_names("x", static_cast<std::size_t>(*count));
}

std::vector<std::string> parse_inputs(const TaskKeys& keys, const std::optional<ImageInputs>& images,
                                      const std::string& source) {
  if (!images) {
    return parse_input_names(keys, source);
  }
  std::vector<std::string> names = bit_names(*images);
  if (!keys.contains("inputs")) {
    return names;
  }
  const std::size_t needed = names.size();
  names = parse_input_names(keys, source);
  if (names.size() != needed) {
    throw ConfigError(fmt::format(
        "{}: {} inputs, but {} images of {} digits have {} bits each, which makes {}; name as many or leave "
        "'inputs' out",
        place_of(keys.at("inputs"), source), names.size(), images->images, images->digits, images->bits, needed));
  }
  return names;
}

// Words between blanks, commas and parentheses, so that 'XOR(x0, x1)' and 'XOR x0 x1' are the same; a leading '!' is a
// word of its own.
std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char letter : text) {
    if (letter == '!') {
      words.emplace_back("!");
      in_word = false;
    } else if (std::isspace(static_cast<unsigned char>(letter)) != 0 || letter == ',' || letter == '(' ||
               letter == ')') {
      in_word = false;
    } else if (in_word) {
      words.back() += letter;
    } else {
      words.emplace_back(1, letter);
      in_word = true;
    }
  }
  return words;
}

std::vector<Wire> parse_wires(const std::vector<std::string>& words, const std::string& reader, const Names& names,
                              const std::string& place) {
  std::vector<Wire> wires;
  bool negated = false;
  bool pending = false;
  for (const std::string& word : words) {
    if (word == "!" || lower_case(word) == "not") {
      negated = !negated;
      pending = true;
      continue;
    }
    const auto found = names.known.find(word);
    if (found == names.known.end()) {
      throw ConfigError(fmt::format("{}: {} reads {}, which is neither an input nor a gate{}", place, reader,
                                    quote_for_message(word),
                                    did_you_mean(word.substr(0, kMaxNameLength), names.words)));
    }
    Wire wire = found->second;
    wire.negated = negated;
    wires.push_back(wire);
    negated = false;
    pending = false;
  }
  if (pending) {
    throw ConfigError(fmt::format("{}: {} ends with a negation of nothing; write '!x0'", place, reader));
  }
  return wires;
}

Gate parse_gate(const std::string& name, const GatePlace& at, const Names& names) {
  const std::string reader = fmt::format("gate '{}'", name);
  std::vector<std::string> words = split_words(at.text);
  // 'NOT x0' is 'ID !x0'.
  if (!words.empty() && (words.front() == "!" || lower_case(words.front()) == "not")) {
    words.insert(words.begin(), "ID");
  }
  const std::optional<Op> op = words.empty() ? std::nullopt : op_from_name(words.front());
  if (!op) {
    const std::vector<std::string> known = op_names();
    std::string upper = words.empty() ? "" : words.front().substr(0, kMaxNameLength);
    std::ranges::transform(upper, upper.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    throw ConfigError(fmt::format("{}: {} has the unknown operation {}{} (known: {})", at.place, reader,
                                  quote_for_message(words.empty() ? "" : words.front()), did_you_mean(upper, known),
                                  join_text(known, ", ")));
  }
  words.erase(words.begin());
  Gate gate{name, *op, parse_wires(words, reader, names, at.place)};
  if (*op == Op::kId && gate.inputs.size() != 1) {
    throw ConfigError(
        fmt::format("{}: {} is an ID with {} inputs; ID passes on exactly one", at.place, reader, gate.inputs.size()));
  }
  if (*op != Op::kId && gate.inputs.size() < 2) {
    throw ConfigError(fmt::format("{}: {} is an {} with {} inputs; give it two or more, or use ID for one", at.place,
                                  reader, op_name(*op), gate.inputs.size()));
  }
  if (gate.inputs.size() > kMaxFanIn) {
    throw ConfigError(
        fmt::format("{}: {} has {} inputs; at most {} are possible", at.place, reader, gate.inputs.size(), kMaxFanIn));
  }
  return gate;
}

// [level][gate] with names but not yet wired, because a gate may name one that comes later by mistake, and the message
// shall say so.
std::vector<std::vector<std::pair<std::string, GatePlace>>> collect_gates(const YAML::Node& node, Names& names) {
  const std::string& source = names.source;
  if (!node.IsSequence() || node.size() == 0) {
    throw FormatError(
        fmt::format("{}: 'levels' is not a list of levels; write '- a0: XOR x0 x1' below it", place_of(node, source)));
  }
  if (node.size() > kMaxLevels) {
    throw ConfigError(
        fmt::format("{}: {} levels; at most {} are possible", place_of(node, source), node.size(), kMaxLevels));
  }
  std::vector<std::vector<std::pair<std::string, GatePlace>>> levels;
  std::size_t gate_total = 0;
  for (const YAML::Node& level : node) {
    const int number = static_cast<int>(levels.size()) + 1;
    if (!level.IsMap() || level.size() == 0) {
      throw FormatError(fmt::format("{}: level {} is not a map of gates; write lines such as 'a0: XOR x0 x1'",
                                    place_of(level, source), number));
    }
    gate_total += level.size();
    if (gate_total > kMaxGates) {
      throw ConfigError(fmt::format("{}: more than {} gates; that is the limit", place_of(level, source), kMaxGates));
    }
    auto& gates = levels.emplace_back();
    for (const auto& entry : level) {
      const std::string name = read_name(entry.first, "a gate", source);
      const std::string place = place_of(entry.first, source);
      const std::optional<std::string> text = scalar_text(entry.second);
      if (!text) {
        throw FormatError(fmt::format("{}: gate '{}' has no operation; write '{}: XOR x0 x1'", place, name, name));
      }
      const Wire wire{number, static_cast<int>(gates.size()), false};
      add_name(names, name, wire, place);
      gates.push_back({name, {wire, place, *text}});
    }
  }
  return levels;
}

// The names on a cycle through gates, first name repeated at the end, or nothing.
std::vector<std::string> find_cycle(const FunctionGraph& graph) {
  enum class State { kNew, kOpen, kDone };
  std::vector<std::vector<State>> states;
  for (const std::vector<Gate>& level : graph.levels) {
    states.emplace_back(level.size(), State::kNew);
  }
  std::vector<Wire> path;
  std::vector<std::string> cycle;
  const auto visit = [&](const auto& self, const Wire& wire) -> bool {
    State& state = states[wire.level - 1][wire.index];
    if (state == State::kDone) {
      return false;
    }
    if (state == State::kOpen) {
      const auto begin = std::ranges::find(path, wire);
      for (auto step = begin; step != path.end(); ++step) {
        cycle.push_back(wire_text(graph, *step));
      }
      cycle.push_back(wire_text(graph, wire));
      return true;
    }
    state = State::kOpen;
    path.push_back(wire);
    for (const Wire& read : graph.levels[wire.level - 1][wire.index].inputs) {
      if (read.level > 0 && self(self, {read.level, read.index, false})) {
        return true;
      }
    }
    path.pop_back();
    state = State::kDone;
    return false;
  };
  for (int level = 0; level < static_cast<int>(graph.levels.size()); ++level) {
    for (int gate = 0; gate < static_cast<int>(graph.levels[level].size()); ++gate) {
      if (visit(visit, {level + 1, gate, false})) {
        return cycle;
      }
    }
  }
  return {};
}

void check_order(const FunctionGraph& graph, const std::vector<std::vector<std::pair<std::string, GatePlace>>>& places,
                 const std::string& source) {
  const auto each_wire = [&](const auto& check) {
    for (std::size_t level = 0; level < graph.levels.size(); ++level) {
      for (std::size_t gate = 0; gate < graph.levels[level].size(); ++gate) {
        for (const Wire& wire : graph.levels[level][gate].inputs) {
          check(graph.levels[level][gate].name, places[level][gate].second, wire);
        }
      }
    }
  };
  each_wire([](const std::string& name, const GatePlace& at, const Wire& wire) {
    if (wire.level == at.wire.level && wire.index == at.wire.index) {
      throw ConfigError(
          fmt::format("{}: gate '{}' reads itself; a gate may read only inputs and lower levels", at.place, name));
    }
  });
  const std::vector<std::string> cycle = find_cycle(graph);
  if (!cycle.empty()) {
    std::string path = cycle.front();
    for (std::size_t step = 1; step < std::min<std::size_t>(cycle.size(), 8); ++step) {
      path += " reads " + cycle[step];
    }
    throw ConfigError(fmt::format("{}: the graph has a cycle: {}{}; a gate may read only inputs and lower levels",
                                  source, path, cycle.size() > 8 ? " reads ..." : ""));
  }
  each_wire([&](const std::string& name, const GatePlace& at, const Wire& wire) {
    const std::string read = wire_text(graph, {wire.level, wire.index, false});
    if (wire.level == at.wire.level) {
      throw ConfigError(fmt::format("{}: gate '{}' reads '{}' of its own level {}; move '{}' to a later level",
                                    at.place, name, read, wire.level, name));
    }
    if (wire.level > at.wire.level) {
      throw ConfigError(
          fmt::format("{}: gate '{}' of level {} reads '{}' of the later level {}; move '{}' to a level after it",
                      at.place, name, at.wire.level, read, wire.level, name));
    }
  });
}

Wire parse_output(const YAML::Node& node, const std::string& name, const Names& names) {
  const std::string place = place_of(node, names.source);
  const std::string reader = fmt::format("output '{}'", name);
  const std::optional<std::string> text = scalar_text(node);
  if (!text) {
    throw FormatError(fmt::format("{}: {} does not name a gate; write 'outputs: [b0, b1]'", place, reader));
  }
  const std::vector<Wire> wires = parse_wires(split_words(*text), reader, names, place);
  if (wires.size() != 1) {
    throw ConfigError(fmt::format("{}: {} reads {} values; an output reads exactly one", place, reader, wires.size()));
  }
  return wires.front();
}

void check_output_count(const YAML::Node& node, std::size_t count, const std::string& source) {
  if (count < 1 || count > kMaxOutputs) {
    throw ConfigError(fmt::format("{}: {} outputs; a task has 1 to {}", place_of(node, source), count, kMaxOutputs));
  }
}

// Names of a map's keys, which stand for outputs.
std::vector<std::string> parse_output_names(const YAML::Node& node, const std::string& source) {
  std::vector<std::string> output_names;
  for (const auto& entry : node) {
    const std::string name = read_name(entry.first, "an output", source);
    if (std::ranges::find(output_names, name) != output_names.end()) {
      throw ConfigError(fmt::format("{}: the output '{}' is there twice; give each its own name",
                                    place_of(entry.first, source), name));
    }
    output_names.push_back(name);
  }
  return output_names;
}

// What outputs are called that the file only lists: gates called y1 or out_a keep their names, others are numbered.
std::vector<std::string> listed_output_names(const FunctionGraph& graph) {
  std::vector<std::string> own;
  for (const Wire& wire : graph.outputs) {
    own.push_back(wire_text(graph, wire));
    const bool is_repeated = std::find(own.begin(), own.end() - 1, own.back()) != own.end() - 1;
    if (wire.level == 0 || is_repeated || !is_output_name(own.back())) {
      return numbered_names("y", graph.outputs.size());
    }
  }
  return own;
}

void parse_outputs(const YAML::Node& node, const Names& names, FunctionGraph& graph) {
  if (node.IsMap()) {
    check_output_count(node, node.size(), names.source);
    graph.output_names = parse_output_names(node, names.source);
    for (const auto& entry : node) {
      graph.outputs.push_back(parse_output(entry.second, graph.output_names[graph.outputs.size()], names));
    }
    return;
  }
  const std::size_t count = node.IsSequence() ? node.size() : 1;
  check_output_count(node, count, names.source);
  const auto add = [&](const YAML::Node& item) {
    graph.outputs.push_back(parse_output(item, fmt::format("y{}", graph.outputs.size()), names));
  };
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      add(item);
    }
  } else {
    add(node);
  }
  graph.output_names = listed_output_names(graph);
}

FunctionGraph parse_graph(const TaskKeys& keys, std::vector<std::string> inputs, const std::string& source) {
  FunctionGraph graph;
  graph.inputs = std::move(inputs);
  Names names{source, {}, {}};
  const auto listed = keys.find("inputs");
  const std::string place = listed == keys.end() ? source : place_of(listed->second, source);
  for (std::size_t input = 0; input < graph.inputs.size(); ++input) {
    add_name(names, graph.inputs[input], {0, static_cast<int>(input), false}, place);
  }
  const auto places = collect_gates(keys.at("levels"), names);
  for (const auto& level : places) {
    std::vector<Gate>& gates = graph.levels.emplace_back();
    for (const auto& [name, at] : level) {
      gates.push_back(parse_gate(name, at, names));
    }
  }
  check_order(graph, places, source);
  parse_outputs(required(keys, "outputs", source, "outputs: [a0, a1]"), names, graph);
  return graph;
}

void parse_hex_word(const YAML::Node& node, const std::string& name, int output, const std::string& source,
                    TruthTable& table) {
  std::string word = lower_case(scalar_text(node).value_or(""));
  if (word.starts_with("0x")) {
    word.erase(0, 2);
  }
  const std::size_t digits = (table.rows.size() + 3) / 4;
  if (word.size() != digits) {
    throw ConfigError(
        fmt::format("{}: output '{}' has {} hexadecimal digits; {} inputs need {} (one bit a row, row 0 "
                    "first)",
                    place_of(node, source), name, word.size(), table.inputs, digits));
  }
  const int row_count = static_cast<int>(table.rows.size());
  for (std::size_t digit = 0; digit < digits; ++digit) {
    const std::size_t value = std::string_view("0123456789abcdef").find(word[digit]);
    if (value == std::string_view::npos) {
      throw ConfigError(fmt::format("{}: output '{}' contains {}, which is no hexadecimal digit",
                                    place_of(node, source), name, quote_for_message(word.substr(digit, 1))));
    }
    for (int bit = 0; bit < 4; ++bit) {
      // Right-aligned: with fewer than four rows the first bits of the digit belong to no row.
      const int row = row_count - 4 * static_cast<int>(digits - digit) + bit;
      if (row >= 0) {
        table.rows[row] |= static_cast<std::uint32_t>((value >> (3 - bit)) & 1U) << output;
      } else if (((value >> (3 - bit)) & 1U) != 0) {
        throw ConfigError(fmt::format("{}: output '{}' sets bits beyond its {} rows; use a smaller digit",
                                      place_of(node, source), name, row_count));
      }
    }
  }
}

Task parse_table(const TaskKeys& keys, std::vector<std::string> inputs, const std::string& source) {
  Task task;
  task.input_names = std::move(inputs);
  const YAML::Node& node = keys.at("table");
  if (!node.IsMap() && !node.IsSequence()) {
    throw FormatError(fmt::format("{}: 'table' is not a map of outputs; write 'table: {{y0: 4f562f00aecbc2df}}'",
                                  place_of(node, source)));
  }
  check_output_count(node, node.size(), source);
  task.output_names = node.IsMap() ? parse_output_names(node, source) : numbered_names("y", node.size());
  task.table.inputs = static_cast<int>(task.input_names.size());
  task.table.outputs = static_cast<int>(task.output_names.size());
  task.table.rows.assign(std::size_t{1} << task.table.inputs, 0);
  int output = 0;
  for (const auto& entry : node) {
    const YAML::Node word = node.IsMap() ? entry.second : YAML::Node(entry);
    parse_hex_word(word, task.output_names[output], output, source, task.table);
    ++output;
  }
  return task;
}

}  // namespace

std::string read_name(const YAML::Node& node, const std::string& what, const std::string& source) {
  const std::optional<std::string> name = scalar_text(node);
  if (!name) {
    throw FormatError(fmt::format("{}: {} needs a plain name, such as a0", place_of(node, source), what));
  }
  const auto is_name_letter = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '.' || letter == '-';
  };
  const bool starts_well = std::isalpha(static_cast<unsigned char>(name->front())) != 0 || name->front() == '_';
  if (!starts_well || !std::ranges::all_of(*name, is_name_letter) || name->size() > kMaxNameLength ||
      lower_case(*name) == "not") {
    throw ConfigError(
        fmt::format("{}: {} cannot be called {}; a name is a letter, then at most {} letters, digits or "
                    "one of _ . -, and not the word 'not'",
                    place_of(node, source), what, quote_for_message(*name), kMaxNameLength - 1));
  }
  return *name;
}

bool is_output_name(std::string_view name) {
  const std::string lower = lower_case(std::string(name));
  return lower.starts_with("y") || lower.starts_with("out");
}

std::optional<std::string> scalar_text(const YAML::Node& node) {
  if (!node.IsDefined() || node.IsSequence() || node.IsMap()) {
    return std::nullopt;
  }
  const std::string& tag = node.Tag();
  // A plain value has the tag "?", a quoted one "!"; standard types start with "tag:".
  std::string text = tag.size() > 1 && tag.front() == '!' ? tag + " " : "";
  if (node.IsScalar()) {
    text += node.Scalar();
  }
  text = std::string(trim(text));
  return text.empty() ? std::nullopt : std::optional(text);
}

Task parse_single_task(const TaskKeys& keys, const std::string& source) {
  const std::optional<ImageInputs> images = parse_image_keys(keys, source);
  if (keys.contains("table")) {
    for (const char* other : {"levels", "outputs", "modules"}) {
      if (keys.contains(other)) {
        throw ConfigError(fmt::format("{}: '{}' beside 'table'; a task is either gates or a table, so remove one",
                                      place_of(keys.at(other), source), other));
      }
    }
    Task task = parse_table(keys, parse_inputs(keys, images, source), source);
    task.images = images;
    return task;
  }
  if (!keys.contains("levels")) {
    throw ConfigError(
        fmt::format("{}: no 'levels', no 'table' and no 'tasks'; a task needs one of them (see "
                    "tasks/README.md)",
                    source));
  }
  FunctionGraph graph = parse_graph(keys, parse_inputs(keys, images, source), source);
  Task task;
  task.images = images;
  task.table = truth_table(graph);
  task.input_names = graph.inputs;
  task.output_names = graph.output_names;
  task.graph = std::move(graph);
  if (const auto modules = keys.find("modules"); modules != keys.end()) {
    task.modules = parse_modules(modules->second, *task.graph, source);
  }
  return task;
}

}  // namespace modlab::tasks
