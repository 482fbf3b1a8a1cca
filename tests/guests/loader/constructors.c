// Constructors by priority with main's arguments, destructors, atexit and their order.
// @args: argument
#include "guest.h"

static int order;
static int constructor_argc;
static char** constructor_argv;

__attribute__((constructor(101))) static void first(int argc, char** argv, char** envp) {
  EXPECT_EQ(order++, 0);
  constructor_argc = argc;
  constructor_argv = argv;
  EXPECT(envp == argv + argc + 1);
}
__attribute__((constructor(102))) static void second(void) { EXPECT_EQ(order++, 1); }
__attribute__((constructor)) static void third(void) { EXPECT_EQ(order++, 2); }
__attribute__((destructor)) static void last_but_one(void) { printf("destructor\n"); }
__attribute__((destructor(101))) static void last(void) { printf("last destructor\n"); }
static void at_exit_first(void) { printf("atexit, registered first\n"); }
static void at_exit_second(void) { printf("atexit, registered second\n"); }
static void on_exit_handler(int status, void* argument) {
  printf("on_exit %d %s\n", status, (char*)argument);
}

int main(int argc, char** argv) {
  EXPECT_EQ(order, 3);
  EXPECT_EQ(constructor_argc, argc);
  EXPECT(constructor_argv == argv);
  atexit(at_exit_first);
  atexit(at_exit_second);
  on_exit(on_exit_handler, "with argument");
  return guest_result();
}
