// The smallest useful program with relocated data, in every shape the linker makes.
#include "guest.h"

static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; }

typedef int (*Operation)(int, int);
static const Operation kOperations[] = {add, multiply};     // relocated read-only data
static const char* const kNames[] = {"add", "multiply"};    // pointers into strings
static int counter = 41;                                    // data
static int zeroes[5000];                                    // bss across pages
static const char* volatile mutable_name = "data pointer";  // relocated data

int main(int argc, char** argv) {
  EXPECT_EQ(argc, 1);
  EXPECT(argv[1] == NULL);
  counter++;
  for (unsigned i = 0; i < 2; i++) printf("%s: %d\n", kNames[i], kOperations[i](6, 7));
  for (unsigned i = 0; i < 5000; i++) EXPECT_EQ(zeroes[i], 0);
  printf("%d %s\n", counter, mutable_name);
  char* copy = strdup("from the heap");
  REQUIRE(copy != NULL);
  printf("%s\n", copy);
  free(copy);
  return guest_result();
}
