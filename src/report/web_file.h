#pragma once

#include <string_view>

namespace modlab::report {

// A bundle of web/ that cmake/Web.cmake put into the program.
struct WebFile {
  const char* begin;
  const char* end;

  std::string_view text() const { return {begin, end}; }
};

extern const WebFile kPageTemplate;   // the page, with {{report}} where its data go
extern const WebFile kFigureProgram;  // for node: draws the figures of a report

}  // namespace modlab::report
