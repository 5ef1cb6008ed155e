#include "report/page.h"

#include <stdexcept>
#include <string_view>

#include "report/web_file.h"

namespace modlab::report {
namespace {

constexpr std::string_view kPlaceholder = "{{report}}";

// JSON that can stand inside an HTML script element: nothing in it can end the element or begin a comment. What is
// escaped can only occur inside strings, where \u means the same.
std::string json_for_html(const nlohmann::ordered_json& report) {
  const std::string json = report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string html;
  html.reserve(json.size() + json.size() / 16);
  for (std::size_t place = 0; place < json.size(); ++place) {
    const std::string_view rest = std::string_view(json).substr(place);
    if (rest[0] == '<') {
      html += "\\u003c";
    } else if (rest[0] == '>') {
      html += "\\u003e";
    } else if (rest[0] == '&') {
      html += "\\u0026";
    } else if (rest.starts_with("\xe2\x80\xa8")) {  // U+2028 ends a line in older JavaScript
      html += "\\u2028";
      place += 2;
    } else if (rest.starts_with("\xe2\x80\xa9")) {
      html += "\\u2029";
      place += 2;
    } else {
      html += rest[0];
    }
  }
  return html;
}

}  // namespace

std::string page(const nlohmann::ordered_json& report) {
  const std::string_view whole = kPageTemplate.text();
  const std::size_t place = whole.find(kPlaceholder);
  if (place == std::string_view::npos) {
    throw std::logic_error("The page template has no place for the report.");
  }
  std::string html(whole.substr(0, place));
  html += json_for_html(report);
  html += whole.substr(place + kPlaceholder.size());
  return html;
}

}  // namespace modlab::report
