#include "report/figure_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/errors.h"
#include "io/file.h"
#include "temporary_folder.h"

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kEnough = std::size_t{1} << 24;

ordered_json small_report() {
  return ordered_json::parse(R"({
    "study": "small", "title": "Small", "figures": [
      {"id": "F3", "paper": "Figure 3", "title": "A & B", "about": "", "kind": "lines",
       "x": {"name": "ratio", "label": "ratio", "ordinal": false}, "y": null, "panel": null, "row": null,
       "series": {"name": "series", "label": "architecture", "ordinal": true}, "baseline": [],
       "measures": [
         {"name": "test_accuracy", "label": "test accuracy", "unit": "%", "log": false, "domain": [0, 100],
          "higher_is_better": true},
         {"name": "../flops", "label": "cost", "unit": "FLOPs", "log": true, "domain": null,
          "higher_is_better": false}],
       "rows": [
         {"x": 0.1, "series": "<dense>", "values": {"test_accuracy": {"mean": 60, "within": 2, "between": null, "n": 9},
                                                    "../flops": {"mean": 1000, "within": 10, "between": 20, "n": 9}}},
         {"x": 0.2, "series": "<dense>", "values": {"test_accuracy": {"mean": 80, "within": 2, "between": null, "n": 9},
                                                    "../flops": {"mean": 9000, "within": 10, "between": 20, "n": 9}}}]},
      {"id": "T1", "paper": "Table 1", "title": "", "about": "", "kind": "table", "x": null, "y": null, "panel": null,
       "row": null, "series": null, "measures": [], "baseline": [], "rows": [],
       "table": {"columns": ["a"], "rows": [["1"]], "notes": []}}]})");
}

// A search path for as long as it lives.
class Path {
 public:
  explicit Path(const std::string& folders) : before_(std::getenv("PATH")) { setenv("PATH", folders.c_str(), 1); }
  ~Path() { setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string before_;
};

std::string message_without(const std::string& folders, const std::string& out) {
  const Path path(folders);
  try {
    write_figure_files(small_report(), out);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FigureFiles, AreDrawnForEachFigureAndMeasure) {
  const test::TemporaryFolder folder;
  const std::string out = folder.file("figures");
  const std::vector<std::string> paths = write_figure_files(small_report(), out);
  ASSERT_EQ(paths, (std::vector<std::string>{out + "/f3-test-accuracy.svg", out + "/f3-test-accuracy.png",
                                             out + "/f3-flops.svg", out + "/f3-flops.png"}));
  const std::string svg = io::read_file(paths[0], kEnough);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_NE(svg.find("&lt;dense&gt;"), std::string::npos);
  const std::string png = io::read_file(paths[1], kEnough);
  EXPECT_TRUE(png.starts_with("\x89PNG"));
  // Bytes 16 to 19 are the width: more than 4 inches at 200 dots an inch.
  const int width = static_cast<unsigned char>(png.at(18)) * 256 + static_cast<unsigned char>(png.at(19));
  EXPECT_GT(width, 800);
  EXPECT_LT(width, 1500);
}

TEST(FigureFiles, AreNoneForAnEmptyReport) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(write_figure_files(ordered_json::object(), folder.file("figures")).empty());
}

TEST(FigureFiles, SayWhatToInstall) {
  const test::TemporaryFolder folder;
  const std::string out = folder.file("figures");
  const std::filesystem::path programs = folder.path() / "programs";
  std::filesystem::create_directory(programs);
  EXPECT_NE(message_without(programs, out).find("apt-get install librsvg2-bin"), std::string::npos);

  io::write_file(programs / "rsvg-convert", "#!/bin/sh\n");
  std::filesystem::permissions(programs / "rsvg-convert", std::filesystem::perms::owner_all);
  EXPECT_NE(message_without(programs, out).find("apt-get install nodejs"), std::string::npos);

  io::write_file(programs / "node", "#!/bin/sh\necho 'SyntaxError: too old' >&2\nexit 3\n");
  std::filesystem::permissions(programs / "node", std::filesystem::perms::owner_all);
  const std::string message = message_without(programs, out);
  EXPECT_NE(message.find("SyntaxError: too old"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(out)) << "nothing is written before everything is drawn";
}

}  // namespace
}  // namespace modlab::report
