#pragma once

#include <string>

namespace modlab {

// A function of a library that lies beside the program, and is loaded here: the program without it does all that does
// not need it. `what` begins the sentence if it cannot be had ("mpi"), and `build` says how to make it. Throws
// ConfigError. Also found from a folder or two below, where Python's part and the tests are.
void* function_of_companion(const char* library, const char* function, const std::string& what,
                            const std::string& build);
// Whether it is there.
bool has_companion(const char* library);

}  // namespace modlab
