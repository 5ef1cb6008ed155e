# embed_files(target symbol glob...): compiles text files into `target`, so that the program needs nothing beside itself.
# Defined in the generated source: `extern const EmbeddedFile symbol[]` (core/embedded_file.h) and `symbolCount`.
function(embed_files target symbol)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(entries "")
  list(LENGTH files count)
  foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND entries "    {\"${stem}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"#include \"core/embedded_file.h\"
namespace modlab {
extern const EmbeddedFile @symbol@[] = {
@entries@    {nullptr, nullptr}};
extern const std::size_t @symbol@Count = @count@;
}  // namespace modlab
")
  target_sources(${target} PRIVATE ${generated})
endfunction()
