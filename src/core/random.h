#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace modlab {

// Threefry-4x32 with 13 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): a number is a pure
// function of key and counter, so a lane's numbers depend neither on its neighbours nor on the order of drawing.
// Adds, rotations and exclusive-ors only: the same few instructions on every vector width.
inline constexpr int kThreefryRounds = 13;
inline constexpr std::uint32_t kThreefryParity = 0x1BD11BDA;
inline constexpr int kThreefryRotations[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5},
                                                 {6, 20},  {17, 11}, {25, 10}, {18, 20}};

using Words4 = std::array<std::uint32_t, 4>;

inline Words4 threefry(const Words4& counter, const Words4& key) {
  const std::array<std::uint32_t, 5> schedule = {key[0], key[1], key[2], key[3],
                                                 kThreefryParity ^ key[0] ^ key[1] ^ key[2] ^ key[3]};
  Words4 x;
  for (std::size_t word = 0; word < 4; ++word) {
    x[word] = counter[word] + schedule[word];
  }
  for (int round = 0; round < kThreefryRounds; ++round) {
    const int* rotation = kThreefryRotations[round % 8];
    // Odd rounds mix crosswise: word 1 and word 3 change places.
    const std::size_t first = round % 2 == 0 ? 1 : 3;
    const std::size_t second = 4 - first;
    x[0] += x[first];
    x[first] = std::rotl(x[first], rotation[0]) ^ x[0];
    x[2] += x[second];
    x[second] = std::rotl(x[second], rotation[1]) ^ x[2];
    if (round % 4 == 3) {
      const auto injection = static_cast<std::uint32_t>(round / 4 + 1);
      for (std::size_t word = 0; word < 4; ++word) {
        x[word] += schedule[(injection + word) % 5];
      }
      x[3] += injection;
    }
  }
  return x;
}

// What a run's random numbers are for. Each purpose has a stream of its own, so that switching one on or off leaves the
// others as they were.
enum class Stream : std::uint32_t {
  kInitialWeights = 1,
  kMask = 2,
  kBatchOrder = 3,
  kInputNoise = 4,
  kGumbel = 5,
  kBootstrap = 6,
  kTrainings = 7,
  kSamples = 8,        // what a sample shows
  kSampleRules = 9,    // which rule it follows
  kRoutes = 10,        // which module an oracle that knows nothing takes
  kMaskNoise = 11,     // which weights a sample of a mask keeps
  kMaskRows = 12,      // which rows it is trained on
  kNetworkNoise = 13,  // what a network on libtorch draws for itself: dropout, augmentation
};

inline Words4 stream_key(std::uint64_t seed, Stream stream) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(stream),
          0};
}

// A sequence of numbers from one stream, for work that is done once a run (initial weights, masks).
class RandomSequence {
 public:
  // `part`: a seed has as many sequences of a stream as one likes.
  RandomSequence(std::uint64_t seed, Stream stream, std::uint32_t part = 0) : key_(stream_key(seed, stream)) {
    key_[3] = part;
  }

  std::uint32_t next_word();
  // In [0, 1), 53 random bits.
  double next_uniform() {
    const std::uint64_t high = next_word() >> 5;
    const std::uint64_t low = next_word() >> 6;
    return static_cast<double>((high << 26) | low) * 0x1p-53;
  }
  double next_normal();

 private:
  Words4 key_;
  Words4 words_{};
  std::uint32_t next_block_ = 0;
  std::size_t used_ = 4;
};

}  // namespace modlab
