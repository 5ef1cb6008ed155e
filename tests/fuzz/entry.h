#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/file.h"

// What each *_fuzz.cc defines. libFuzzer calls it, and so does driver.cc. It catches UserError and nothing else, and
// aborts where what was read is not what it should be.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace modlab::fuzz {

// Real inputs to start from: a few, and small ones, since most of a broken large file is never looked at.
std::vector<std::string> seeds();

inline std::string repository_file(const std::string& name) {
  return io::read_file(std::string(MODLAB_SOURCE_DIR "/") + name, std::size_t{1} << 24);
}

}  // namespace modlab::fuzz
