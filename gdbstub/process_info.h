// What a Target tells about its processes and threads. The stub makes /proc files and qXfer documents of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gdbstub/ids.h"

namespace detrec::gdbstub {

struct ThreadInfo {
  ThreadRef id;
  std::string name;        ///< as in /proc/PID/task/TID/comm
  std::uint32_t core = 0;  ///< the cpu it was last on
  std::string extra = {};  ///< for `info threads`: "blocked in futex"; may be empty
};

/// One line of /proc/PID/maps.
struct Mapping {
  AddressRange range;
  bool readable = false, writable = false, executable = false, shared = false;
  std::uint64_t offset = 0;  ///< bytes into the file
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
  std::string path = {};  ///< also "[stack]", "[heap]", "[vdso]"; empty if anonymous
};

struct ProcessInfo {
  ProcessId id;
  ProcessId parent;
  std::string name;                    ///< comm
  std::vector<std::string> arguments;  ///< argv
  std::vector<std::string> environment = {};
  std::string working_directory = {};
  std::string executable = {};  ///< absolute path, as recorded
  std::vector<Mapping> mappings;
};

/// One entry of the dynamic linker's list, in its order; see libraries-svr4 in gdb's manual.
struct Library {
  std::string path;
  Address link_map;         ///< of the struct link_map
  Address load_bias;        ///< l_addr: what is added to the file's addresses
  Address dynamic_section;  ///< l_ld
};

struct LibraryList {
  Address main_link_map;  ///< the executable's own entry; 0 if there is none
  std::vector<Library> libraries = {};
};

}  // namespace detrec::gdbstub
