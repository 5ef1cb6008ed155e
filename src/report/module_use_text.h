#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measures/module_use.h"
#include "measures/pool_use.h"

namespace modlab::report {

// A matrix of module use with the names of its rules and modules, and what was measured of it.
struct UseLook {
  std::string name;
  measures::ModuleUse use;
  measures::UseMeasures measured;
  std::vector<std::string> rules;
  std::vector<std::string> modules;
};

// Names that are not given are numbers, from 1.
UseLook look_at_use(std::string name, measures::ModuleUse use, std::vector<std::string> rules,
                    std::vector<std::string> modules);

// Of a shared pool: its operations by its members.
UseLook look_at_pool(const measures::PoolUse& pool);

// As `modlab collapse` prints it, with a heat map.
std::string module_use_text(const UseLook& look);
nlohmann::ordered_json module_use_json(const UseLook& look);
std::string module_use_svg(const UseLook& look);

}  // namespace modlab::report
