# embed_files(target symbol glob...): compiles text files into `target`, so that the program needs nothing beside itself.
# Defined in the generated source: `extern const EmbeddedFile symbol[]` (core/embedded_file.h) and `symbolCount`. A file is
# called by its path below the folder of the first glob, without its ending: `sculpt/4-2-4`.
function(embed_files target symbol)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  list(GET ARGN 0 first_glob)
  cmake_path(GET first_glob PARENT_PATH folder)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(entries "")
  list(LENGTH files count)
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${folder} OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name LAST_ONLY)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
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
