# The sources of the system call table, for targets that compile them freestanding (the engine).
set(DETREC_SYSCALLS_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/table.cc)
