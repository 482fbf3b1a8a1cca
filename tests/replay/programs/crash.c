// Dies of a null pointer after some output.
#include <stdio.h>

int main(int argc, char** argv) {
  (void)argv;
  volatile int* nowhere = (int*)(long)(argc - 1);
  printf("about to crash\n");
  fflush(stdout);
  *nowhere = 1;
  return 0;
}
