#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace modlab::cli {
namespace {

// Columns that a terminal needs: of UTF-8, bytes that begin a character.
std::size_t columns(const std::string& text) {
  std::size_t count = 0;
  for (const char byte : text) {
    count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  }
  return count;
}

const std::string kText = "1234 of 5678 networks, 910/s, 3 min 20 s left";

TEST(ProgressLine, LeavesTheLastColumnOfAnyTerminalEmpty) {
  for (std::size_t width = 1; width <= 200; ++width) {
    EXPECT_LT(columns(progress_line(0.25, kText, width)), width) << width;
  }
}

TEST(ProgressLine, TheBarGivesWayBeforeTheNumbers) {
  EXPECT_NE(progress_line(0.25, kText, 120).find("█"), std::string::npos);
  const std::string narrow = progress_line(0.25, kText, 54);
  EXPECT_EQ(narrow.find("█"), std::string::npos);
  EXPECT_EQ(narrow, " 25 %  " + kText);
  EXPECT_EQ(progress_line(0.25, kText, 20), " 25 %  1234 of 5678");
}

TEST(ProgressLine, AsMuchOfTheBarIsFullAsIsDone) {
  const auto full_cells = [](double share) {
    const std::string line = progress_line(share, kText, 0);
    std::size_t cells = 0;
    for (std::size_t at = line.find("█"); at != std::string::npos; at = line.find("█", at + 1)) {
      ++cells;
    }
    return cells;
  };
  EXPECT_EQ(full_cells(0), 0U);
  EXPECT_EQ(full_cells(0.5), 14U);
  EXPECT_EQ(full_cells(1), 28U);
}

TEST(FitHelp, KeepsWithinTheTerminalAndLosesNoWord) {
  const std::string help =
      "modlab verb: a sentence that explains what it does, in some more words than fit\n\n"
      "  modlab verb --task depth2 --model dense,modular,modular-shared --ratio 0.3,0.5,0.7 --seed 0..24\n\n"
      "  --setting VALUE   an explanation of it that is longer than what is left beside its name\n";
  const auto words = [](const std::string& text) {
    std::string kept;
    for (const char letter : text) {
      kept += letter == ' ' || letter == '\n' || letter == '\\' ? "" : std::string(1, letter);
    }
    return kept;
  };
  for (const std::size_t width : {40U, 60U, 80U}) {
    const std::string fitted = fit_help(help, width);
    for (std::size_t begin = 0; begin < fitted.size();) {
      const std::size_t end = fitted.find('\n', begin);
      EXPECT_LE(end - begin, width) << fitted.substr(begin, end - begin);
      begin = end + 1;
    }
    EXPECT_EQ(words(fitted), words(help));
  }
  EXPECT_EQ(fit_help(help, 200), help);
  EXPECT_EQ(fit_help(help, 0), help);
}

}  // namespace
}  // namespace modlab::cli
