# The decoder's sources, for every target that compiles them: the hosted library here and the freestanding engine.
set(DETREC_DECODE_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/decode.cc
  ${CMAKE_CURRENT_LIST_DIR}/implicit.cc
  ${CMAKE_CURRENT_LIST_DIR}/plain.cc
  ${CMAKE_CURRENT_LIST_DIR}/tables/tables.cc
  ${CMAKE_CURRENT_LIST_DIR}/vector.cc)
