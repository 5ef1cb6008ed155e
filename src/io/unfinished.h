#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace modlab::io {

// Parts of a long piece of work that are done before all of it is: each a file, so that work that was interrupted goes
// on where it was. A part that is damaged or has another size is as good as none, and one that cannot be written is
// done without.
class Unfinished {
 public:
  Unfinished() = default;  // keeps nothing
  // Parts are FOLDER/NAME.PART. The folder is made when it is needed, if the one that it lies in is there.
  Unfinished(std::string folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}

  std::optional<std::vector<float>> find(const std::string& part, std::size_t count) const;
  void keep(const std::string& part, std::span<const float> numbers) const;
  // The work is finished: its parts go, and the folder if nothing else is in it.
  void clear() const;

 private:
  std::string path_of(const std::string& part) const { return folder_ + "/" + name_ + "." + part; }

  std::string folder_;
  std::string name_;
};

}  // namespace modlab::io
