#pragma once

#include <functional>
#include <string>

namespace modlab {

// What a person should hear of and no error is: one line, such as that something is fetched, or that fewer threads run
// than were asked for. Nobody hears it unless the program asks.
using Notice = std::function<void(const std::string& line)>;
void set_notice(Notice notice);
void give_notice(const std::string& line);

}  // namespace modlab
