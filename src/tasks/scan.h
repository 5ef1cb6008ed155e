#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// SCAN (Lake and Baroni, ICML 2018): commands in thirteen words, and the sequences of actions that they mean.
namespace modlab::tasks {

// A token's number is its place here. As published, frequent ones come first, counted over the training and test sets
// of all four splits; where words are equally frequent the published order is that of the official files, and ours need
// not be.
inline constexpr std::array<std::string_view, 13> kScanWords = {
    "left", "right", "twice", "thrice", "opposite", "around", "and", "after", "jump", "walk", "look", "run", "turn"};
inline constexpr std::array<std::string_view, 6> kScanActions = {"I_TURN_LEFT", "I_TURN_RIGHT", "I_JUMP",
                                                                 "I_WALK",      "I_RUN",        "I_LOOK"};

struct ScanCommand {
  std::vector<std::uint8_t> words;
  std::vector<std::uint8_t> actions;
};

// All 20,910, in the order of the grammar: one phrase alone, then two with `and`, then two with `after`.
const std::vector<ScanCommand>& scan_commands();

// "IN: jump twice OUT: I_JUMP I_JUMP", as in the official files.
std::string scan_line(const ScanCommand& command);

enum class ScanSplit { kSimple, kLength, kJump, kTurnLeft };

// Places in scan_commands(). A command that is learned in isolation is in `train` many times.
struct ScanSets {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> test;
};

// Length: what takes more than 22 actions is tested. Jump and turn left: every command with this word, or with
// these two side by side, is tested, but for the bare one, which is a tenth of the training set. Simple: four fifths
// of all, drawn by `seed`, since no rule says what the official files have.
ScanSets scan_sets(ScanSplit split, std::uint32_t seed);

// What the files of an official split have. Every line must be a command of the grammar and say what it means, and no
// command may be in both.
ScanSets read_scan_sets(const std::string& train_path, const std::string& test_path);
// The same for their texts; the paths stand in messages.
struct ScanFile {
  std::string path;
  std::string text;
};
ScanSets parse_scan_sets(const ScanFile& train, const ScanFile& test);

}  // namespace modlab::tasks
