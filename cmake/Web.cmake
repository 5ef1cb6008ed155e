# embed_web(target): bundles web/ with npm and esbuild, and compiles the two results into `target`. Defined in the
# generated source: `extern const WebFile kPageTemplate, kFigureProgram` (report/web_file.h).
find_program(NPM npm REQUIRED)
find_program(NODE node REQUIRED)

function(embed_web target)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/web)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/web_files.cc)

  add_custom_command(
    OUTPUT ${out}/packages.stamp
    COMMAND ${CMAKE_COMMAND} -DNPM=${NPM} -DWEB=${web} -P ${PROJECT_SOURCE_DIR}/cmake/NpmCi.cmake
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
    COMMAND ${CMAKE_COMMAND} -E touch ${out}/packages.stamp
    DEPENDS ${web}/package.json ${web}/package-lock.json ${web}/.npmrc ${PROJECT_SOURCE_DIR}/cmake/NpmCi.cmake
    COMMENT "Installing the packages of web/" VERBATIM)

  file(GLOB sources LIST_DIRECTORIES false CONFIGURE_DEPENDS ${web}/src/* ${web}/src/style/*)
  add_custom_command(
    OUTPUT ${out}/page.html ${out}/figures.mjs
    COMMAND ${NODE} ${web}/build.mjs ${out}
    DEPENDS ${out}/packages.stamp ${web}/build.mjs ${sources}
    COMMENT "Bundling web/" VERBATIM)

  # The assembler copies the files as they are, which takes no time however large they grow.
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[
#include "report/web_file.h"

asm(R"(
  .pushsection .rodata
modlab_page_begin:
  .incbin "@out@/page.html"
modlab_page_end:
modlab_figures_begin:
  .incbin "@out@/figures.mjs"
modlab_figures_end:
  .popsection
)");

// NOLINTNEXTLINE(readability-identifier-naming): an assembler's names
extern "C" const char modlab_page_begin, modlab_page_end, modlab_figures_begin, modlab_figures_end;

namespace modlab::report {
extern const WebFile kPageTemplate{&modlab_page_begin, &modlab_page_end};
extern const WebFile kFigureProgram{&modlab_figures_begin, &modlab_figures_end};
}  // namespace modlab::report
]])
  # By itself: a file that is compiled among others would not be compiled again for a new page.
  set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
    OBJECT_DEPENDS "${out}/page.html;${out}/figures.mjs")
  target_sources(${target} PRIVATE ${generated})
endfunction()
