# costateAddModel.cmake - costate_add_model, for costateConfig.cmake and for costate's own CMakeLists.txt.
# COSTATE_MODEL is the program costate-model.

# costate_add_model(TARGET FILE.eq): compiles what costate-model makes of an equation file (or of a mechanism, FILE.def)
# into TARGET, which is linked with costate::costate.  The header is called as the file, with the suffix .h.
# costate_add_model(TARGET FILE.eq LANES): also maps that treat several members of an ensemble side by side, which are
# compiled with -O3.
# costate_add_model(TARGET FILE.eq ... OPTIONS -O1 ...): further options of the compiler, the last ones for this file.
function(costate_add_model target file)
  cmake_parse_arguments(PARSE_ARGV 2 costate_model "LANES" "" "OPTIONS")
  if(costate_model_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "costate_add_model: unknown arguments ${costate_model_UNPARSED_ARGUMENTS}")
  endif()
  set(options "")
  if(costate_model_LANES)
    set(options --lanes)
  endif()
  get_filename_component(name "${file}" NAME_WE)
  get_filename_component(source "${file}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/costate-models")
  file(MAKE_DIRECTORY "${folder}")
  find_program(COSTATE_MODEL costate-model REQUIRED)
  add_custom_command(OUTPUT "${folder}/${name}.c" "${folder}/${name}.h"
    COMMAND "${COSTATE_MODEL}" "${source}" -o "${folder}/${name}.c" ${options}
    DEPENDS "${source}" COMMENT "equations of ${file}" VERBATIM)
  if(costate_model_LANES AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    # Loops over lanes are vectorised; contracted operations would have other bits.
    set_property(SOURCE "${folder}/${name}.c" APPEND PROPERTY COMPILE_OPTIONS
      -O3 -fopenmp-simd -ffp-contract=off -fno-math-errno)
  endif()
  if(costate_model_OPTIONS)
    set_property(SOURCE "${folder}/${name}.c" APPEND PROPERTY COMPILE_OPTIONS ${costate_model_OPTIONS})
  endif()
  target_sources(${target} PRIVATE "${folder}/${name}.c")
  target_include_directories(${target} PRIVATE "${folder}")
  # By properties: target_link_libraries would forbid the caller one of its two forms, with PRIVATE and without.  What
  # is linked with a static library needs costate, too.
  set(needed costate::costate)
  if(UNIX)
    list(APPEND needed m)           # exp, log, ... of equations
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${needed})
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" OR kind STREQUAL "OBJECT_LIBRARY")
    foreach(library ${needed})
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:${library}>")
    endforeach()
  endif()
endfunction()
