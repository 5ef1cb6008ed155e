#pragma once

#include <string>

namespace modlab::tasks {

std::string escape_xml(const std::string& text);

// Helvetica's widths, roughly and on the wide side: enough to make boxes fit whatever sans-serif font is there.
double text_width(const std::string& text, double size, bool bold);

}  // namespace modlab::tasks
