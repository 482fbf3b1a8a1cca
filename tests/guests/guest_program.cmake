# How guest programs are built: every one with its own flags, none with the project's (they are what users bring).

set(DETREC_GUESTS_ROOT ${CMAKE_CURRENT_LIST_DIR})
add_custom_target(guests)

# detrec_guest_target(TARGET KIND NAME SOURCES...) - what programs, helpers and libraries share.
function(detrec_guest_target target kind name)
  get_filename_component(theme ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(output ${CMAKE_BINARY_DIR}/guests/${theme})
  if(kind STREQUAL "LIBRARY")
    add_library(${target} SHARED ${ARGN})
  else()
    add_executable(${target} ${ARGN})
  endif()
  # Position independence is the compiler's default (PIE) unless the guest's own options say otherwise.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${output} LIBRARY_OUTPUT_DIRECTORY ${output}
    POSITION_INDEPENDENT_CODE OFF C_STANDARD 17 C_EXTENSIONS ON CXX_EXTENSIONS ON)
  target_include_directories(${target} PRIVATE ${DETREC_GUESTS_ROOT})
  target_compile_options(${target} PRIVATE
    -O1 -g -UNDEBUG
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Werror -Wno-clobbered -Wno-stringop-overflow -Wno-nonnull -D_GNU_SOURCE>
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-infinite-recursion;-Wno-stringop-overread>)
  add_dependencies(guests ${target})
endfunction()

# detrec_guest_source(VARIABLE NAME) - the file NAME.c, NAME.cc or NAME.S of the current folder.
function(detrec_guest_source variable name)
  foreach(ending c cc S)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.${ending})
      set(${variable} ${name}.${ending} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "no source file for guest ${name}")
endfunction()

# detrec_guest(NAME [SOURCE file] [COMPILE option...] [LINK option...] [LIBS library...]) - a program of the manifest.
# SOURCE defaults to NAME.c, NAME.cc or NAME.S; several guests may be built from one source with different options.
function(detrec_guest name)
  cmake_parse_arguments(ARG "" "SOURCE" "COMPILE;LINK;LIBS" ${ARGN})
  if(NOT ARG_SOURCE)
    detrec_guest_source(ARG_SOURCE ${name})
  endif()
  get_filename_component(theme ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target guest_${theme}_${name})
  detrec_guest_target(${target} PROGRAM ${name} ${ARG_SOURCE})
  target_compile_options(${target} PRIVATE ${ARG_COMPILE})
  target_link_options(${target} PRIVATE ${ARG_LINK})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  set_property(GLOBAL APPEND PROPERTY DETREC_GUESTS
    "${theme}/${name}\t$<TARGET_FILE:${target}>\t${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE}")
endfunction()

# detrec_guests(NAME...) - programs that need no options of their own.
function(detrec_guests)
  foreach(name ${ARGN})
    detrec_guest(${name})
  endforeach()
endfunction()

# detrec_guest_helper(NAME [SOURCE file] [COMPILE option...] [LINK option...]) - a program that other guests start;
# it lies beside them and is no test of its own.
function(detrec_guest_helper name)
  cmake_parse_arguments(ARG "" "SOURCE" "COMPILE;LINK" ${ARGN})
  if(NOT ARG_SOURCE)
    detrec_guest_source(ARG_SOURCE ${name})
  endif()
  get_filename_component(theme ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target guest_${theme}_${name})
  detrec_guest_target(${target} PROGRAM ${name} ${ARG_SOURCE})
  target_compile_options(${target} PRIVATE ${ARG_COMPILE})
  target_link_options(${target} PRIVATE ${ARG_LINK})
endfunction()

# detrec_guest_library(NAME [SOURCE file] [COMPILE option...] [LINK option...]) - lib<NAME>.so beside the guests.
function(detrec_guest_library name)
  cmake_parse_arguments(ARG "" "SOURCE" "COMPILE;LINK" ${ARGN})
  if(NOT ARG_SOURCE)
    detrec_guest_source(ARG_SOURCE ${name})
  endif()
  get_filename_component(theme ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target guest_${theme}_lib${name})
  detrec_guest_target(${target} LIBRARY ${name} ${ARG_SOURCE})
  target_compile_options(${target} PRIVATE -fPIC ${ARG_COMPILE})
  target_link_options(${target} PRIVATE ${ARG_LINK})
endfunction()

# detrec_guest_manifest(FILE) - one line a guest: name, program, source, separated by tabs.
function(detrec_guest_manifest file)
  get_property(lines GLOBAL PROPERTY DETREC_GUESTS)
  list(JOIN lines "\n" text)
  file(GENERATE OUTPUT ${file} CONTENT "${text}\n")
endfunction()
