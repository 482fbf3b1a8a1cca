# The sources of the system call table, for targets that compile them freestanding (the engine).
set(DETREC_SYSCALLS_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/table.cc
  ${CMAKE_CURRENT_LIST_DIR}/commands.cc
  ${CMAKE_CURRENT_LIST_DIR}/ioctl_rows.cc
  ${CMAKE_CURRENT_LIST_DIR}/socket_rows.cc
  ${CMAKE_CURRENT_LIST_DIR}/process_rows.cc
  ${CMAKE_CURRENT_LIST_DIR}/ipc_rows.cc
  ${CMAKE_CURRENT_LIST_DIR}/memory.cc
  ${CMAKE_CURRENT_LIST_DIR}/nested.cc)
