#include "tasks/svg_text.h"

#include <cctype>
#include <string_view>

#include "core/text.h"

namespace modlab::tasks {

std::string escape_xml(const std::string& text) {
  std::string escaped;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

double text_width(const std::string& text, double size, bool bold) {
  double width = 0;
  for (const unsigned char letter : text) {
    if ((letter & 0xC0U) == 0x80U) {
      continue;  // the rest of a UTF-8 character
    }
    const bool narrow = std::string_view("ijltfr.,:;'!|()[] -I").find(static_cast<char>(letter)) != std::string::npos;
    const bool wide = std::string_view("mwMW@%").find(static_cast<char>(letter)) != std::string::npos;
    width += narrow ? 0.34 : wide ? 0.9 : letter >= 0x80U ? 1.0 : std::isupper(letter) != 0 ? 0.74 : 0.57;
  }
  return width * size * (bold ? 1.06 : 1);
}

}  // namespace modlab::tasks
