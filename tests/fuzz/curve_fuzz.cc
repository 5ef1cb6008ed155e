#include <cstdlib>

#include "core/errors.h"
#include "entry.h"
#include "experiments/training/curve.h"
#include "experiments/training/training_text.h"
#include "io/compress.h"

namespace {

constexpr int kEpochs = 45;  // beyond 40 losses lie apart
constexpr std::size_t kParts = 3;

const modlab::experiments::Run& a_run() {
  static const modlab::experiments::Run kRun =
      modlab::experiments::make_run({{"task", "depth1"}, {"model", "dense"}, {"epochs", std::to_string(kEpochs)}});
  return kRun;
}

}  // namespace

std::vector<std::string> modlab::fuzz::seeds() {
  // Right bits that stand still and grow, and losses: as many numbers as such a curve has.
  const std::size_t points = experiments::loss_points(kEpochs).size();
  std::string still(4 * kParts * (kEpochs + points), '\0');
  std::string growing = still;
  for (std::size_t at = 0; at < growing.size() / 2; at += 4) {
    growing[at] = 1;
  }
  return {still, growing, still.substr(4)};
}

// Whatever numbers stand in a valid stream, they are accuracies from 0 to 100 or a UserError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string stream = modlab::io::compress({reinterpret_cast<const char*>(data), size});
  const std::map<std::string, modlab::experiments::Numbers> snapshots = {
      {"best", {{"train_rows", 32}, {"validation_rows", 16}, {"test_rows", 16}}}};
  try {
    for (const std::vector<double>& part :
         modlab::experiments::stored_accuracies(a_run(), snapshots, stream, kParts, "test", "fuzz").parts) {
      for (const double accuracy : part) {
        if (!(accuracy >= 0 && accuracy <= 100)) {
          std::abort();
        }
      }
    }
  } catch (const modlab::UserError&) {
  }
  return 0;
}
