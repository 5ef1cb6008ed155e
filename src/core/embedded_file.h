#pragma once

#include <cstddef>

namespace modlab {

// A text file that cmake/EmbedFiles.cmake compiled into the program.
struct EmbeddedFile {
  const char* name;  // without folder and ending
  const char* text;
};

}  // namespace modlab
