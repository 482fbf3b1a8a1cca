// dlopen, dlsym, dlclose: constructors, reference counts, fresh data after a reload, many copies one after
// the other (each likely at the address of the one before), errors.
#include <dlfcn.h>
#include <fcntl.h>

#include "guest.h"

static void copy_file(const char* from, const char* to) {
  FILE* in = fopen(from, "rb");
  FILE* out = fopen(to, "wb");
  REQUIRE(in != NULL && out != NULL);
  char buffer[4096];
  size_t count;
  while ((count = fread(buffer, 1, sizeof buffer, in)) > 0) REQUIRE(fwrite(buffer, 1, count, out) == count);
  fclose(in);
  fclose(out);
}

static int (*function(void* library, const char* name))(void) {
  int (*result)(void) = (int (*)(void))dlsym(library, name);
  REQUIRE(result != NULL);
  return result;
}

int main(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s", beside_me("libplugin.so"));

  EXPECT(dlopen("./no-such-library.so", RTLD_NOW) == NULL);
  EXPECT(dlerror() != NULL);
  EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);

  void* library = dlopen(path, RTLD_LAZY);
  REQUIRE(library != NULL);
  EXPECT_EQ(function(library, "plugin_count")(), 1);
  EXPECT_EQ(function(library, "plugin_count")(), 2);
  EXPECT(dlopen(path, RTLD_NOW) == library);
  EXPECT_EQ(dlclose(library), 0);
  EXPECT_EQ(function(library, "plugin_count")(), 3);
  EXPECT_EQ(dlclose(library), 0);
  EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);

  library = dlopen(path, RTLD_NOW);
  REQUIRE(library != NULL);
  EXPECT_EQ(function(library, "plugin_count")(), 1);
  EXPECT(dlsym(library, "no_such_function") == NULL);
  EXPECT_EQ(dlclose(library), 0);

  char other[4096];
  snprintf(other, sizeof other, "%s", beside_me("libplugin2.so"));
  for (int i = 0; i < 40; i++) {
    // Two different libraries in turn: code at an address changes from one to the other.
    void* one = dlopen(i % 2 ? path : other, RTLD_NOW);
    REQUIRE(one != NULL);
    EXPECT_EQ(function(one, "plugin_identity")(), i % 2 ? 1 : 2);
    EXPECT_EQ(dlclose(one), 0);
  }

  for (int i = 0; i < 10; i++) {
    char name[64];
    snprintf(name, sizeof name, "./copy-%d.so", i);
    copy_file(path, name);
    void* one = dlopen(name, RTLD_NOW);
    if (one == NULL) printf("%s\n", dlerror());
    REQUIRE(one != NULL);
    EXPECT_EQ(function(one, "plugin_count")(), 1);
    unlink(name);
  }
  return guest_result();
}
