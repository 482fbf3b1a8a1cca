// A thousand timer ticks at one millisecond while computing, calling and allocating; nothing is lost or
// disturbed.
// @timeout: 60
#include <signal.h>
#include <sys/time.h>

#include "guest.h"

static volatile int ticks;
static volatile uint64_t handler_sum;

static void handler(int number) {
  ticks++;
  for (int i = 0; i < 50; i++) handler_sum += (unsigned)(number * i);
}

static uint64_t hash(const char* text, uint64_t start) {
  while (*text) start = (start ^ (unsigned char)*text++) * 1099511628211u;
  return start;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval timer = {{0, 1000}, {0, 1000}};
  REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  uint64_t expected = 0;
  long rounds = 0;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  while (ticks < 1000) {
    char text[64];
    uint64_t sum = 14695981039346656037u;
    for (int i = 0; i < 200; i++) {
      char* block = malloc(100 + (size_t)i * 10);
      REQUIRE(block != NULL);
      snprintf(text, sizeof text, "%d %x %.3f", i, i * 77, i / 3.0);
      sum = hash(text, sum);
      free(block);
    }
    char byte;
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    if (rounds == 0) expected = sum;
    EXPECT(sum == expected);
    rounds++;
  }
  timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
  setitimer(ITIMER_REAL, &timer, NULL);
  EXPECT_EQ(handler_sum, (uint64_t)ticks * 50 * 49 / 2 * SIGALRM);
  printf("sum %lx\n", expected);
  return guest_result();
}
