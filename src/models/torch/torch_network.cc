#include "models/torch/torch_network.h"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "core/companion_library.h"
#include "core/errors.h"
#include "core/notice.h"
#include "io/file.h"
#include "io/npz.h"

namespace modlab::models {
namespace {

constexpr std::size_t kMostScriptBytes = std::size_t{1} << 32U;

}  // namespace

double TorchNetwork::mask_gradient(const MaskDraws& /*draws*/, std::span<const TorchBatch> /*batches*/,
                                   std::span<const std::uint8_t> /*wanted*/, std::span<float> /*gradients*/) {
  throw std::logic_error("a network that draws no masks was asked to");
}

bool is_torch_script(std::string_view bytes) {
  // Its code lies in a folder of the zip, and torch.save writes none.
  return io::is_zip(bytes) && bytes.find("/code/") != std::string_view::npos &&
         bytes.find("/constants.pkl") != std::string_view::npos;
}

ScriptFile script_from(std::string bytes, const std::string& path) {
  if (is_torch_script(bytes)) {
    static std::once_flag said;
    std::call_once(said,
                   [&] { give_notice(fmt::format("{} is a program as well: to load it is to run its code", path)); });
    return {path, std::move(bytes)};
  }
  constexpr auto kWay = "write the network with torch.jit.save(torch.jit.script(network), FILE)";
  // How PyTorch ends its files: a record of 22 bytes.
  constexpr std::string_view kEndOfZip = "PK\x05\x06";
  constexpr std::size_t kEndBytes = 22;
  const bool is_whole =
      bytes.size() >= kEndBytes && std::string_view(bytes).substr(bytes.size() - kEndBytes).starts_with(kEndOfZip);
  if (io::is_zip(bytes) && !is_whole) {
    throw FormatError(fmt::format("{}: is cut off; {}", path, kWay));
  }
  if (io::is_zip(bytes) || bytes.starts_with('\x80')) {
    throw FormatError(fmt::format(
        "{}: holds Python objects (a pickle), which could run any program and are never read; {}", path, kWay));
  }
  throw FormatError(fmt::format("{}: is no TorchScript; {}", path, kWay));
}

ScriptFile read_script_file(const std::string& path) {
  return script_from(io::read_file(path, kMostScriptBytes), path);
}

const TorchLibrary& torch_library() {
  // Threads of libtorch that have nothing to do wait, instead of asking for it all the time. Whoever knows better says
  // so in the environment.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  constexpr auto kLibrary = "libmodlab_torch.so";
  // In a clone `./modlab` says what builds it.
  static std::once_flag once;
  std::call_once(once, [&] {
    const char* build = std::getenv("MODLAB_BUILD_TORCH");
    if (build != nullptr && !has_companion(kLibrary) && std::system(fmt::format("'{}' >&2", build).c_str()) != 0) {
      throw ConfigError("libtorch could not be had: what was tried and why it failed stands above");
    }
  });
  using Open = const TorchLibrary* (*)();
  static const TorchLibrary& library = *reinterpret_cast<Open>(
      function_of_companion(kLibrary, "modlab_torch_library", "libtorch, which networks of PyTorch's run on",
                            "`./modlab --torch` in the clone"))();
  return library;
}

}  // namespace modlab::models
