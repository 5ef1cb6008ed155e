#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "studies/study.h"

namespace modlab::studies {

// All combinations of what someone asks for, in a program or in another language. A setting of `asked` that none of the
// runs has would change nothing without a word: it is a ConfigError, in which `written` gives the name as the person
// wrote it.
std::vector<experiments::Run> asked_runs(const std::vector<Choices>& choices, const std::vector<std::string>& asked,
                                         const std::function<std::string(const std::string& name)>& written);

}  // namespace modlab::studies
