#include "report/page.h"

#include <gtest/gtest.h>

#include <string>

namespace modlab::report {
namespace {

using nlohmann::ordered_json;

// What stands between the data element's tags.
std::string data_of(const std::string& html) {
  const std::string open = R"(<script type="application/json" id="report">)";
  const std::size_t begin = html.find(open) + open.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

TEST(Page, HoldsTheReport) {
  const ordered_json report = {
      {"title", "Ünïcode"}, {"overview", {{"planned", 3}}}, {"figures", ordered_json::array()}};
  const std::string html = page(report);
  EXPECT_EQ(ordered_json::parse(data_of(html)), report);
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_NE(html.find("Content-Security-Policy"), std::string::npos);
  EXPECT_EQ(html.find("{{report}}"), std::string::npos);
}

TEST(Page, KeepsHtmlInNamesFromBecomingHtml) {
  const ordered_json report = {{"title", "</script><!--<script> & \xe2\x80\xa8\xe2\x80\xa9 \" \\"}};
  const std::string data = data_of(page(report));
  EXPECT_EQ(data.find_first_of("<>&"), std::string::npos) << data;
  EXPECT_EQ(data.find("\xe2\x80"), std::string::npos) << data;
  EXPECT_EQ(ordered_json::parse(data), report);
}

TEST(Page, BearsBytesThatAreNoText) {
  const ordered_json report = {{"title", "caf\xe9"}};
  EXPECT_EQ(ordered_json::parse(data_of(page(report)))["title"], "caf\xef\xbf\xbd");
}

TEST(Page, HasNothingInPlaceOfNumbersThatAreNone) {
  const ordered_json report = {{"mean", std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_TRUE(ordered_json::parse(data_of(page(report)))["mean"].is_null());
}

}  // namespace
}  // namespace modlab::report
