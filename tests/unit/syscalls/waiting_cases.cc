// Calls that wait for descriptors: poll, select, epoll, and the descriptors that are read for events.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

struct TwoPolls {
  pollfd each[2];
};

// One descriptor that is ready and one that is not; the results keep the filling.
pollfd* two_polls(Arena& arena, const Pipe& pipe) {
  std::uint8_t* place = arena.out(sizeof(TwoPolls));
  for (int i = 0; i < 2; ++i) {
    arena.set(place + 8 * i, i == 0 ? pipe.read_end : pipe.write_end);
    arena.set(place + 8 * i + 4, static_cast<short>(i == 0 ? POLLIN : POLLPRI));
  }
  return reinterpret_cast<pollfd*>(place);
}

Case with_ready_pipe(std::string name, std::function<Call(Arena&, const Pipe&)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            const Pipe pipe("ready");
            Call one = prepare(arena, pipe);
            one.clean_up = [pipe] { pipe.close(); };
            return one;
          },
          "",
          {}};
}

// A set of as many words as the kernel looks at for one descriptor more than `fd`; the words behind keep the
// filling.
std::uint8_t* set_of(Arena& arena, int fd) {
  std::uint8_t* place = arena.out(128);
  for (int i = 0; i <= fd / 64; ++i) arena.set(place + 8 * i, i == fd / 64 ? std::uint64_t{1} << fd % 64 : 0);
  return place;
}

Call epoll_call(Arena& arena, long nr, bool ready) {
  const Pipe pipe(ready ? "ready" : "");
  const int epoll = epoll_create1(0);
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = 0x1122334455667788;
  epoll_ctl(epoll, EPOLL_CTL_ADD, pipe.read_end, &event);
  Call one = nr == 441 ? call(nr, epoll, arena.out(120), 10, arena.in(timespec{0, 1}), 0, 0)
                       : call(nr, epoll, arena.out(120), 10, 1, 0, 0);
  one.clean_up = [=] {
    pipe.close();
    close(epoll);
  };
  return one;
}

Call interrupted(Call one) {
  one.expect = -EINTR;
  const auto clean_up = one.clean_up;
  one.clean_up = [clean_up] {
    alarm(0);
    if (clean_up) clean_up();
  };
  interrupt_soon();
  return one;
}

Call timer_call(Arena& arena, long nr) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec hour{{1, 0}, {3600, 0}};
  timerfd_settime(timer, 0, &hour, nullptr);
  Call one = nr == SYS_timerfd_gettime ? call(nr, timer, arena.out(64))
                                       : call(nr, timer, 0, arena.in(hour), arena.out(64));
  one.clean_up = [timer] { close(timer); };
  return one;
}

}  // namespace

std::vector<Case> waiting_cases() {
  return {
      with_ready_pipe("poll",
                      [](Arena& a, const Pipe& pipe) { return call(SYS_poll, two_polls(a, pipe), 2, 0); }),
      {"poll_interrupted",
       [](Arena& a) {
         const Pipe pipe;
         Call one = call(SYS_poll, two_polls(a, pipe), 2, 5000);
         one.clean_up = [pipe] { pipe.close(); };
         return interrupted(one);
       },
       "",
       {}},
      with_ready_pipe(
          "ppoll",
          [](Arena& a, const Pipe& pipe) {
            return call(SYS_ppoll, two_polls(a, pipe), 2, a.in(timespec{5, 0}), a.in(sigset_t{}), 8);
          }),
      with_ready_pipe("select",
                      [](Arena& a, const Pipe& pipe) {
                        return call(SYS_select, pipe.write_end + 1, set_of(a, pipe.read_end),
                                    set_of(a, pipe.write_end), set_of(a, pipe.read_end), a.in(timeval{5, 0}));
                      }),
      {"select_interrupted",
       [](Arena& a) {
         const Pipe pipe;
         Call one = call(SYS_select, pipe.write_end + 1, set_of(a, pipe.read_end), 0, 0, a.in(timeval{5, 0}));
         one.clean_up = [pipe] { pipe.close(); };
         return interrupted(one);
       },
       "",
       {}},
      with_ready_pipe("pselect6",
                      [](Arena& a, const Pipe& pipe) {
                        struct Mask {
                          std::uint64_t address, size;
                        };
                        return call(SYS_pselect6, pipe.write_end + 1, set_of(a, pipe.read_end), 0, 0,
                                    a.in(timespec{5, 0}), a.in(Mask{word(a.in(std::uint64_t{0})), 8}));
                      }),
      {"epoll_wait", [](Arena& a) { return epoll_call(a, SYS_epoll_wait, true); }, "", {}},
      {"epoll_wait_timeout", [](Arena& a) { return epoll_call(a, SYS_epoll_wait, false); }, "", {}},
      {"epoll_pwait", [](Arena& a) { return epoll_call(a, SYS_epoll_pwait, true); }, "", {}},
      {"epoll_pwait2", [](Arena& a) { return epoll_call(a, 441, true); }, "", {ENOSYS}},
      {"timerfd_gettime", [](Arena& a) { return timer_call(a, SYS_timerfd_gettime); }, "", {}},
      {"timerfd_settime", [](Arena& a) { return timer_call(a, SYS_timerfd_settime); }, "", {}},
      {"read_timerfd",
       [](Arena& a) {
         const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
         const itimerspec now{{0, 0}, {0, 1}};
         timerfd_settime(timer, 0, &now, nullptr);
         Call one = call(SYS_read, timer, a.out(64), 64);
         one.clean_up = [timer] { close(timer); };
         return one;
       },
       "",
       {}},
      {"read_eventfd",
       [](Arena& a) {
         const int event = eventfd(7, 0);
         Call one = call(SYS_read, event, a.out(64), 64);
         one.clean_up = [event] { close(event); };
         return one;
       },
       "",
       {}},
      {"read_signalfd",
       [](Arena& a) {
         sigset_t set;
         sigemptyset(&set);
         sigaddset(&set, SIGUSR2);
         sigprocmask(SIG_BLOCK, &set, nullptr);
         const int signals = signalfd(-1, &set, 0);
         raise(SIGUSR2);
         Call one = call(SYS_read, signals, a.out(400), 400);
         one.clean_up = [signals, set] {
           close(signals);
           sigprocmask(SIG_UNBLOCK, &set, nullptr);
         };
         return one;
       },
       "",
       {}},
      with_ready_pipe(
          "read_pipe",
          [](Arena& a, const Pipe& pipe) { return call(SYS_read, pipe.read_end, a.out(64), 64); }),
      {"read_interrupted",
       [](Arena& a) {
         const Pipe pipe;
         Call one = call(SYS_read, pipe.read_end, a.out(64), 64);
         one.clean_up = [pipe] { pipe.close(); };
         return interrupted(one);
       },
       "",
       {}},
  };
}

}  // namespace detrec::syscalls::test
