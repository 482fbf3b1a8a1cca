// Signals, clocks, timers, sleeping.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

Case plain(std::string name, std::function<Call(Arena&)> prepare, std::vector<int> lacking = {}) {
  return {std::move(name), std::move(prepare), "", std::move(lacking)};
}

Call interrupted(Call one) {
  one.expect = -EINTR;
  one.clean_up = [] {
    const itimerval none = {};
    setitimer(ITIMER_REAL, &none, nullptr);
  };
  interrupt_soon();
  return one;
}

// A timer of this process in an hour, gone afterwards.
Case on_timer(std::string name, std::function<Call(Arena&, int)> prepare) {
  return plain(std::move(name), [prepare](Arena& arena) {
    sigevent event = {};
    event.sigev_notify = SIGEV_NONE;
    int timer = -1;
    if (raw(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) std::abort();
    const itimerspec hour{{0, 0}, {3600, 0}};
    raw(SYS_timer_settime, timer, 0, &hour, 0);
    Call one = prepare(arena, timer);
    one.clean_up = [timer] { raw(SYS_timer_delete, timer); };
    return one;
  });
}

struct OneSignal {
  std::uint64_t bits;
};
OneSignal only(int signal) { return {std::uint64_t{1} << (signal - 1)}; }

}  // namespace

std::vector<Case> signal_and_time_cases() {
  return {
      plain("rt_sigaction", [](Arena& a) { return call(SYS_rt_sigaction, SIGTERM, 0, a.out(64), 8); }),
      plain("rt_sigprocmask",
            [](Arena& a) { return call(SYS_rt_sigprocmask, SIG_BLOCK, a.in(OneSignal{0}), a.out(64), 8); }),
      plain("rt_sigpending", [](Arena& a) { return call(SYS_rt_sigpending, a.out(64), 8); }),
      plain("rt_sigtimedwait",
            [](Arena& a) {
              sigset_t set;
              sigemptyset(&set);
              sigaddset(&set, SIGUSR1);
              sigprocmask(SIG_BLOCK, &set, nullptr);
              raise(SIGUSR1);
              Call one = call(SYS_rt_sigtimedwait, a.in(only(SIGUSR1)), a.out(200), a.in(timespec{5, 0}), 8);
              one.clean_up = [set] { sigprocmask(SIG_UNBLOCK, &set, nullptr); };
              return one;
            }),
      plain("rt_sigtimedwait_timeout",
            [](Arena& a) {
              Call one = call(SYS_rt_sigtimedwait, a.in(only(SIGUSR1)), a.out(200), a.in(timespec{0, 1}), 8);
              one.expect = -EAGAIN;
              return one;
            }),
      plain("sigaltstack", [](Arena& a) { return call(SYS_sigaltstack, 0, a.out(64)); }),
      plain("getitimer", [](Arena& a) { return call(SYS_getitimer, ITIMER_VIRTUAL, a.out(64)); }),
      plain("setitimer",
            [](Arena& a) { return call(SYS_setitimer, ITIMER_VIRTUAL, a.in(itimerval{}), a.out(64)); }),
      plain("gettimeofday", [](Arena& a) { return call(SYS_gettimeofday, a.out(64), a.out(64)); }),
      plain("time", [](Arena& a) { return call(SYS_time, a.out(64)); }),
      plain("clock_gettime", [](Arena& a) { return call(SYS_clock_gettime, CLOCK_MONOTONIC, a.out(64)); }),
      plain("clock_gettime_cpu",
            [](Arena& a) { return call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, a.out(64)); }),
      plain("clock_getres", [](Arena& a) { return call(SYS_clock_getres, CLOCK_REALTIME, a.out(64)); }),
      plain("adjtimex",
            [](Arena& a) {
              std::uint8_t* place = a.out(300);
              a.hold(place, 208);  // what is not meant for the caller is copied back
              a.set(place, 0U);    // modes: only ask
              return call(SYS_adjtimex, place);
            }),
      plain("clock_adjtime",
            [](Arena& a) {
              std::uint8_t* place = a.out(300);
              a.hold(place, 208);  // what is not meant for the caller is copied back
              a.set(place, 0U);
              return call(SYS_clock_adjtime, CLOCK_REALTIME, place);
            }),
      plain("timer_create",
            [](Arena& a) {
              sigevent event = {};
              event.sigev_notify = SIGEV_NONE;
              std::uint8_t* place = a.out(16);
              Call one = call(SYS_timer_create, CLOCK_MONOTONIC, a.in(event), place);
              one.clean_up = [place] {
                int timer = -1;
                std::memcpy(&timer, place, sizeof(timer));
                raw(SYS_timer_delete, timer);
              };
              return one;
            }),
      on_timer("timer_gettime",
               [](Arena& a, int timer) { return call(SYS_timer_gettime, timer, a.out(64)); }),
      on_timer("timer_settime",
               [](Arena& a, int timer) {
                 return call(SYS_timer_settime, timer, 0, a.in(itimerspec{}), a.out(64));
               }),
      plain("nanosleep_done",
            [](Arena& a) {
              return call(SYS_nanosleep, a.in(timespec{0, 1000}), a.out(64));
            }),
      plain("nanosleep_interrupted",
            [](Arena& a) {
              return interrupted(call(SYS_nanosleep, a.in(timespec{5, 0}), a.out(64)));
            }),
      plain("clock_nanosleep_interrupted",
            [](Arena& a) {
              return interrupted(
                  call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, a.in(timespec{5, 0}), a.out(64)));
            }),
      plain("clock_nanosleep_absolute_interrupted",
            [](Arena& a) {
              timespec now;
              clock_gettime(CLOCK_MONOTONIC, &now);
              now.tv_sec += 5;
              return interrupted(
                  call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, a.in(now), a.out(64)));
            }),
  };
}

}  // namespace detrec::syscalls::test
