// A hard limit that forbids any file to grow also forbids the page that the engine shares with the command line: refused
// with a message.
// @limits: fsize=0
// @exit: 4
// @engine-only-exit: 125
// @differs: the launch page is a file, and a hard limit cannot be raised
#include <unistd.h>

int main(void) { _exit(4); }
