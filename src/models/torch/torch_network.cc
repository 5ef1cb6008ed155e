#include "models/torch/torch_network.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/companion_library.h"
#include "core/errors.h"
#include "core/notice.h"
#include "io/file.h"
#include "io/npz.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMostScriptBytes = std::size_t{1} << 32U;

}  // namespace

bool is_torch_script(std::string_view bytes) {
  // Its code lies in a folder of the zip, and torch.save writes none.
  return io::is_zip(bytes) && bytes.find("/code/") != std::string_view::npos &&
         bytes.find("/constants.pkl") != std::string_view::npos;
}

ScriptFile read_script_file(const std::string& path) {
  ScriptFile file{path, io::read_file(path, kMostScriptBytes)};
  if (is_torch_script(file.bytes)) {
    return file;
  }
  constexpr auto kWay = "write the network with torch.jit.save(torch.jit.script(network), FILE)";
  if (io::is_zip(file.bytes) || file.bytes.starts_with('\x80')) {
    throw FormatError(fmt::format(
        "{}: holds Python objects (a pickle), which could run any program and are never read; {}", path, kWay));
  }
  throw FormatError(fmt::format("{}: is no TorchScript, or is cut off; {}", path, kWay));
}

const TorchLibrary& torch_library() {
  // Threads of libtorch that have nothing to do wait, instead of asking for it all the time. Whoever knows better says
  // so in the environment.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  using Open = const TorchLibrary* (*)();
  static const TorchLibrary& kLibrary = *reinterpret_cast<Open>(
      function_of_companion("libmodlab_torch.so", "modlab_torch_library",
                            "libtorch, which networks of PyTorch's run on", "`./modlab --torch` in the clone"))();
  return kLibrary;
}

}  // namespace modlab::models
