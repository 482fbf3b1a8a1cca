// A program that may not make any file grow, from the start (an engine that keeps its state in files must not
// mind).
// @limits: fsize=0:
// @exit: 4
// @recorded-differs: the limit on file sizes is the trace's too
// @not-replayed: no trace can be written
#include <unistd.h>

int main(void) { _exit(4); }
