/* Makes functions at run time, changes them, and has one that changes its own next instruction. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int (*function)(void);
unsigned char* code;
volatile int results[8];

static void make(unsigned char value) {
  const unsigned char text[] = {0xb8, value, 0, 0, 0, 0xc3};  // mov $value, %eax; ret
  memcpy(code, text, sizeof text);
}

int main(void) {
  // movb $77, 1(%rip); mov $1, %eax; ret: the byte that is stored is the next instruction's.
  const unsigned char itself[] = {0xc6, 0x05, 1, 0, 0, 0, 77, 0xb8, 1, 0, 0, 0, 0xc3};
  code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  memcpy(code + 64, itself, sizeof itself);  // made
  for (int i = 0; i < 4; ++i) {
    make((unsigned char)(10 + i));
    results[i] = ((function)code)();  // call
  }
  results[4] = ((function)(code + 64))();  // changes itself
  for (int i = 0; i < 5; ++i) printf("%d\n", results[i]);
  return 0;  // end
}
