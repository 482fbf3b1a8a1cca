// A library whose answer tells which copy of it was loaded.
#ifndef ANSWER
#define ANSWER 1
#endif
int library_answer(void) { return ANSWER; }
