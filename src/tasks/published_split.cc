#include "tasks/published_split.h"

#include "core/numpy_random.h"

namespace modlab::tasks {
namespace {

constexpr std::uint32_t kSplitSeed = 0xC1CAFA52;
constexpr double kTestShare = 0.2;

}  // namespace

PublishedSplit published_split(std::size_t images) {
  PublishedSplit split;
  NumpyRandom random(kSplitSeed);
  for (std::uint32_t image = 0; image < images; ++image) {
    (random.uniform() > kTestShare ? split.train : split.test).push_back(image);
  }
  return split;
}

}  // namespace modlab::tasks
