#pragma once

#include <string>

#include "methods/detect/module_look.h"

namespace modlab::report {

// What speaks for the modules of a network: what they compute, agreement with true ones, what fails without them, what
// chance gives, what other thresholds give. As far as it was looked at.
std::string module_evidence_text(const methods::ModuleLook& look);

}  // namespace modlab::report
