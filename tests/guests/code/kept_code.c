// Code of files, mapped at the same two pages again and again, each time with something else in one of them:
// a translation that is kept must not be used for other code, nor when code elsewhere that it relies on is
// other. With a file's name as argument: only what is in that file, which others change between two such
// runs.
#include <fcntl.h>
#include <sys/mman.h>

#include "code/jit.h"

static unsigned char* const kFirst = (unsigned char*)0x30000000;
static unsigned char* const kSecond = (unsigned char*)0x30001000;

// cmp edi, edi; jmp kFirst: a counted jump to code that may or may not read the flags
static const unsigned char kJump[] = {0x39, 0xff, 0xe9, 0xf9, 0xef, 0xff, 0xff};
// xor eax, eax; mov eax, 1; ret
static const unsigned char kIgnoresFlags[] = {0x31, 0xc0, 0xb8, 1, 0, 0, 0, 0xc3};
// setz al; movzx eax, al; add eax, 10; ret
static const unsigned char kReadsFlags[] = {0x0f, 0x94, 0xc0, 0x0f, 0xb6, 0xc0, 0x83, 0xc0, 10, 0xc3};
// mov ecx, 100; xor eax, eax; add eax, edi; dec ecx; jnz back; ret
static const unsigned char kLoop[] = {0xb9, 100,  0,    0,    0,    0x31, 0xc0,
                                      0x01, 0xf8, 0xff, 0xc9, 0x75, 0xfa, 0xc3};

static void write_code(const char* name, const unsigned char* code, size_t bytes) {
  unsigned char page[kPage] = {0};
  memcpy(page, code, bytes);
  int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0700);
  REQUIRE(file >= 0 && write(file, page, sizeof page) == kPage && close(file) == 0);
}

static void map_file(unsigned char* at, const char* name) {
  int file = open(name, O_RDONLY);
  REQUIRE(file >= 0);
  REQUIRE(mmap(at, kPage, kReadExecute, MAP_PRIVATE | MAP_FIXED, file, 0) == at && close(file) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    map_file(kFirst, argv[1]);
    printf("%d\n", ((Code)kFirst)(3));
    return guest_result();
  }
  write_code("jump", kJump, sizeof kJump);
  write_code("ignores", kIgnoresFlags, sizeof kIgnoresFlags);
  write_code("reads", kReadsFlags, sizeof kReadsFlags);
  write_code("loop", kLoop, sizeof kLoop);
  for (int i = 0; i < 20; i++) {
    map_file(kFirst, i % 2 == 0 ? "ignores" : "reads");
    map_file(kSecond, "jump");
    EXPECT_EQ(((Code)kSecond)(3), i % 2 == 0 ? 1 : 11);
    map_file(kSecond, "loop");
    EXPECT_EQ(((Code)kSecond)(i), 100 * i);
    map_file(kFirst, "loop");
    EXPECT_EQ(((Code)kFirst)(i), 100 * i);
    // The same file, other content.
    unsigned char code[6] = {0xb8, i, 0, 0, 0, 0xc3};  // mov eax, i; ret
    REQUIRE(munmap(kFirst, kPage) == 0);
    write_code("changing", code, sizeof code);
    map_file(kFirst, "changing");
    EXPECT_EQ(((Code)kFirst)(3), i);
  }
  printf("done\n");
  return guest_result();
}
