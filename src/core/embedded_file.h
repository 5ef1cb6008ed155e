#pragma once

#include <cstddef>

namespace modlab {

// A text file that cmake/EmbedFiles.cmake compiled into the program.
struct EmbeddedFile {
  const char* name;  // without its ending, with the folder where it lies in one of its own
  const char* text;
};

}  // namespace modlab
