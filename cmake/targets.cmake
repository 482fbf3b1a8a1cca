# Helpers that give every target of the tree the same language level, warnings and include root.

option(DETREC_SANITIZE "Build the hosted parts with AddressSanitizer and UBSan" OFF)

add_library(detrec_options INTERFACE)
target_compile_options(detrec_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-align -Wunused -Wconversion
  -Wno-sign-conversion -Werror)
target_include_directories(detrec_options INTERFACE ${PROJECT_SOURCE_DIR})

add_library(detrec_sanitizers INTERFACE)
if(DETREC_SANITIZE)
  target_compile_options(detrec_sanitizers INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(detrec_sanitizers INTERFACE -fsanitize=address,undefined)
endif()

# detrec_library(NAME SOURCES... ) - a hosted static library.
function(detrec_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC detrec_options detrec_sanitizers)
endfunction()

# detrec_test(NAME LIBS lib... SOURCES file...) - a GoogleTest executable, registered with ctest.
find_package(GTest REQUIRED)
include(GoogleTest)
function(detrec_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;SOURCES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE detrec_options detrec_sanitizers ${ARG_LIBS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
