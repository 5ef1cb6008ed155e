#include "experiments/rules/published_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/errors.h"
#include "core/text.h"
#include "models/rules/rule_settings.h"
#include "models/rules/rule_shape.h"

namespace modlab::experiments {
namespace {

// A flag with another name for one of our settings and the same values.
struct Renamed {
  const char* flag;
  const char* setting;
};

struct Script {
  const char* task;
  const char* width;         // of the encoder
  const char* second_width;  // of other layers
  std::vector<Renamed> renamed;
  std::vector<const char*> others;
};

const std::vector<Script>& scripts() {
  static const std::vector<Renamed> kOfAll = {
      {"gt_rules", "rules"}, {"num_rules", "modules"}, {"data_seed", "task_seed"}};
  const auto renamed = [](std::vector<Renamed> own) {
    own.insert(own.end(), kOfAll.begin(), kOfAll.end());
    return own;
  };
  static const std::vector<Script> kScripts = {
      {"rules-mlp", "encoder_dim", "dim", renamed({}), {"op", "joint"}},
      {"rules-mha",
       "dim",
       "att_dim",
       renamed({{"seq_len", "length"}, {"search_version", "search"}}),
       {"op", "num_heads"}},
      {"rules-rnn", "enc_dim", "h_dim", renamed({{"seq_len", "length"}, {"d_dim", "dim"}}), {"op"}},
  };
  return kScripts;
}

constexpr const char* kModels[] = {"Monolithic", "Modular", "GT_Modular"};

std::vector<std::string> flags_of(const Script& script) {
  std::vector<std::string> flags = {script.width, script.second_width};
  for (const Renamed& renamed : script.renamed) {
    flags.emplace_back(renamed.flag);
  }
  flags.insert(flags.end(), script.others.begin(), script.others.end());
  return flags;
}

std::string shown(std::string flag) {
  std::ranges::replace(flag, '_', '-');
  return "--" + flag;
}

bool has(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

// The values of a flag, which is gone then.
std::vector<std::string> take(Asked& asked, const char* flag) {
  const auto node = asked.extract(flag);
  return node.empty() ? std::vector<std::string>{} : node.mapped();
}

bool is_published(const Asked& asked) {
  const std::vector<PublishedFlag> flags = published_rule_flags();
  const auto models = asked.find("model");
  return std::ranges::any_of(flags, [&](const PublishedFlag& flag) { return asked.contains(flag.name); }) ||
         (models != asked.end() &&
          std::ranges::any_of(kModels, [&](const char* name) { return has(models->second, name); }));
}

const Script& script_of(const Asked& asked) {
  const std::vector<std::string>& tasks = asked.at("task");
  if (tasks.size() != 1) {
    throw ConfigError(fmt::format("the published flags are those of one task; name one of {}", join_text(tasks, ", ")));
  }
  return *std::ranges::find(scripts(), tasks.front(), &Script::task);
}

// Flags of the other scripts mean nothing to this one.
void check_flags(const Script& script, const Asked& asked) {
  const std::vector<std::string> own = flags_of(script);
  for (const PublishedFlag& flag : published_rule_flags()) {
    if (asked.contains(flag.name) && !has(own, flag.name)) {
      throw ConfigError(fmt::format("{} means nothing to task {}; leave it out", shown(flag.name), script.task));
    }
  }
}

void rename(const Renamed& renamed, Asked& asked) {
  const std::vector<std::string> values = take(asked, renamed.flag);
  if (values.empty()) {
    return;
  }
  if (!asked.emplace(renamed.setting, values).second) {
    throw ConfigError(fmt::format("{} is our {}; leave one of them out", shown(renamed.flag), shown(renamed.setting)));
  }
}

long long size_of(const char* flag, const std::string& text) {
  const std::optional<long long> size = parse_integer(text);
  if (!size || *size < 1 || *size > 1'000'000) {
    throw ConfigError(fmt::format("{} takes a whole number from 1, not '{}'", shown(flag), text));
  }
  return *size;
}

void set_width(const Script& script, Asked& asked) {
  const std::vector<std::string> widths = take(asked, script.width);
  const std::vector<std::string> seconds = take(asked, script.second_width);
  std::vector<std::string> width;
  for (std::size_t place = 0; place < std::max(widths.size(), seconds.size()); ++place) {
    if (place >= widths.size()) {
      width.push_back(std::to_string(size_of(script.second_width, seconds[place]) / models::kSecondWidth));
    } else {
      width.push_back(std::to_string(size_of(script.width, widths[place])));
    }
    const long long expected = models::kSecondWidth * *parse_integer(width.back());
    if (!seconds.empty() && (place >= seconds.size() || size_of(script.second_width, seconds[place]) != expected)) {
      throw ConfigError(fmt::format("{} is {} times {} here: {} for {}, not {}", shown(script.second_width),
                                    models::kSecondWidth, shown(script.width), expected, width.back(),
                                    place < seconds.size() ? seconds[place] : "nothing"));
    }
  }
  if (!width.empty() && !asked.emplace("width", width).second) {
    throw ConfigError(fmt::format("{} and {} are our --width; leave one of them out", shown(script.width),
                                  shown(script.second_width)));
  }
}

bool take_switch(Asked& asked, const char* flag) { return take(asked, flag) == std::vector<std::string>{"true"}; }

void set_models(const Script& script, Asked& asked) {
  const bool is_op = take_switch(asked, "op");
  const bool is_joint = take_switch(asked, "joint");
  if (is_op && is_joint) {
    throw ConfigError("--joint and --op are two models; leave one of them out");
  }
  const auto models = asked.find("model");
  if ((is_op || is_joint) && (models == asked.end() || !has(models->second, "Modular"))) {
    throw ConfigError(
        fmt::format("{} says which --model Modular is meant; no other has it", is_op ? "--op" : "--joint"));
  }
  if (models == asked.end()) {
    return;
  }
  // Of the script for sums alone, what is neither is a third model.
  const bool has_scorer = has(flags_of(script), "joint");
  const char* modular = is_op ? "modular-op" : is_joint || !has_scorer ? "modular" : "modular-scorer";
  std::ranges::replace(models->second, std::string("Modular"), std::string(modular));
  std::ranges::replace(models->second, std::string("Monolithic"), std::string("monolithic"));
  std::ranges::replace(models->second, std::string("GT_Modular"), std::string("gt-modular"));
}

// Two for each rule in all, which a mixture counts for one module.
void check_heads(Asked& asked) {
  const auto models = asked.find("model");
  for (const std::string& text : take(asked, "num_heads")) {
    const long long heads = size_of("num_heads", text);
    for (const std::string& model : models == asked.end() ? std::vector<std::string>{} : models->second) {
      if (model != "monolithic") {
        if (heads != 2) {
          throw ConfigError(fmt::format("--num-heads {}: every module of {} has 2 heads here", heads, model));
        }
        continue;
      }
      const auto given = asked.find("rules");
      for (const std::string& rules : given == asked.end() ? std::vector<std::string>{"2"} : given->second) {
        const long long needed = 2 * size_of("gt_rules", rules);
        if (heads != needed) {
          throw ConfigError(fmt::format("--num-heads {}: monolithic has 2 heads for each rule here, so {} for {} rules",
                                        heads, needed, rules));
        }
      }
    }
  }
}

}  // namespace

std::vector<PublishedFlag> published_rule_flags() {
  std::vector<PublishedFlag> flags;
  for (const Script& script : scripts()) {
    for (const std::string& flag : flags_of(script)) {
      const bool is_ours = std::ranges::find(models::rule_settings().settings(), flag, &Setting::name) !=
                           models::rule_settings().settings().end();
      if (!is_ours && std::ranges::find(flags, flag, &PublishedFlag::name) == flags.end()) {
        flags.push_back({flag, flag == "op" || flag == "joint"});
      }
    }
  }
  return flags;
}

Asked published_rules(Asked asked) {
  if (!is_published(asked)) {
    return asked;
  }
  const Script& script = script_of(asked);
  check_flags(script, asked);
  set_width(script, asked);  // first: what one script calls --dim is another's width
  for (const Renamed& renamed : script.renamed) {
    rename(renamed, asked);
  }
  set_models(script, asked);
  check_heads(asked);
  return asked;
}

}  // namespace modlab::experiments
