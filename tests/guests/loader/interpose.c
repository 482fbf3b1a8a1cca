// Interposes getenv, for preload.

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

char* getenv(const char* name) {
  if (strcmp(name, "GUEST_PRELOAD_ANSWER") == 0) return (char*)"interposed";
  char* (*next)(const char*) = (char* (*)(const char*))dlsym(RTLD_NEXT, "getenv");
  return next(name);
}
