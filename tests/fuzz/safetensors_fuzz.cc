#include "io/safetensors.h"

#include <cstdlib>
#include <cstring>

#include "core/errors.h"
#include "entry.h"

namespace {

using modlab::io::NamedTensor;
using modlab::io::TensorFile;

// By their bits: a tensor may hold what is no number.
bool is_same(const NamedTensor& a, const NamedTensor& b) {
  return a.name == b.name && a.shape == b.shape && a.values.size() == b.values.size() &&
         (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0);
}

bool fills_its_shape(const NamedTensor& tensor) {
  std::size_t count = 1;
  for (const std::size_t extent : tensor.shape) {
    count *= extent;
  }
  return count == tensor.values.size();
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  TensorFile file;
  file.metadata["about"] = "two tensors";
  file.tensors = {{"a.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"a.bias", {2}, {0.5F, -1}}, {"none", {0, 4}, {}}};
  return {io::encode_safetensors(file), io::encode_safetensors({}),
          repository_file("tests/parity/fixtures/modular-shared-batch5.safetensors")};
}

// Any bytes are tensors that fill their shapes and are written and read back as they were, or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  TensorFile file;
  try {
    file = modlab::io::decode_safetensors({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const modlab::UserError&) {
    return 0;
  }
  const TensorFile back = modlab::io::decode_safetensors(modlab::io::encode_safetensors(file), "back");
  if (back.metadata != file.metadata || back.tensors.size() != file.tensors.size()) {
    std::abort();
  }
  for (const NamedTensor& tensor : file.tensors) {
    const NamedTensor* same = back.find(tensor.name);
    if (!fills_its_shape(tensor) || same == nullptr || !is_same(*same, tensor)) {
      std::abort();
    }
  }
  return 0;
}
