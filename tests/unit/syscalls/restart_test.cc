// The table's restart rules against this machine's kernel: calls that wait are interrupted by a handler with
// and without SA_RESTART, and by a stop.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"
#include "trace/syscalls/table.h"

namespace detrec::syscalls::test {
namespace {

/// A call that waits until `release` is called.
struct Waiter {
  std::function<std::int64_t()> make;
  std::function<void()> release = [] {};  ///< runs in a signal handler
};

using Prepare = std::function<Waiter()>;  // runs in a child process

struct RestartCase {
  std::string name;
  std::string call;
  Restart rule;  ///< of the call as it is made: where a timeout makes the difference, with or without one
  Prepare prepare;
};

void PrintTo(const RestartCase& one, std::ostream* stream) { *stream << one.name; }

enum class Outcome { kInterrupted, kRestarted, kLacking };

std::function<void()>* release_now = nullptr;
volatile sig_atomic_t alarms = 0;

// The first signals interrupt; a later one ends the wait, should the call have been restarted.
void on_alarm(int) {
  alarms = alarms + 1;
  if (alarms == 4 && release_now != nullptr) (*release_now)();
}

int exit_code(std::int64_t result) {
  if (result == -EINTR) return 1;
  if (result == -ENOSYS) return 3;
  return 2;
}

// In a child: waits, is interrupted, and tells by its exit status what came of it.
Outcome interrupt(const Prepare& prepare, int flags) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // whatever happens, no process stays
    Waiter waiter = prepare();
    release_now = &waiter.release;
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, nullptr);
    // Sent by another thread with pauses, so that some come while the call waits.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    const pthread_t waiting = pthread_self();
    std::thread sender([waiting, set] {
      pthread_sigmask(SIG_BLOCK, &set, nullptr);
      for (;;) {
        usleep(20000);
        pthread_kill(waiting, SIGUSR1);
      }
    });
    _exit(exit_code(waiter.make()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "the call was not released";
  switch (WEXITSTATUS(status)) {
    case 1:
      return Outcome::kInterrupted;
    case 3:
      return Outcome::kLacking;
    default:
      return Outcome::kRestarted;
  }
}

// The state letter of /proc/pid/stat.
char state_of(pid_t process) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? '?' : text[end + 2];
}

// In a child: waits, is stopped and continued, without any handler.
Outcome stop(const Prepare& prepare) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const Waiter waiter = prepare();
    _exit(exit_code(waiter.make()));
  }
  int status = 0;
  for (int i = 0; i < 2000 && state_of(child) != 'S'; ++i) usleep(1000);
  usleep(20000);  // preparing may sleep too
  kill(child, SIGSTOP);
  waitpid(child, &status, WUNTRACED);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 3 ? Outcome::kLacking : Outcome::kInterrupted;
  kill(child, SIGCONT);
  // A call that fails ends the child soon; one that goes on waiting does not end it at all.
  for (int i = 0; i < 100; ++i) {
    usleep(2000);
    if (waitpid(child, &status, WNOHANG) == child) {
      return WEXITSTATUS(status) == 1 ? Outcome::kInterrupted : Outcome::kLacking;
    }
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return Outcome::kRestarted;
}

struct Scratch {
  alignas(64) std::uint8_t bytes[4096];
};
Scratch& memory() {
  static Scratch scratch;
  return scratch;
}

void write_byte(int fd) { [[maybe_unused]] const ssize_t ignored = write(fd, "x", 1); }

// A process that is gone when this one is.
template <typename Run>
pid_t companion(Run run) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(20);
  run();
  for (;;) pause();
}

Prepare on_pipe(std::function<std::int64_t(const Pipe&)> make) {
  return [=] {
    const Pipe pipe;
    return Waiter{[=] { return make(pipe); }, [pipe] { write_byte(pipe.write_end); }};
  };
}

Prepare on_full_pipe(std::function<std::int64_t(const Pipe&)> make) {
  return [=] {
    const Pipe pipe;
    fcntl(pipe.write_end, F_SETFL, O_NONBLOCK);
    while (write(pipe.write_end, memory().bytes, sizeof(Scratch)) > 0) {
    }
    fcntl(pipe.write_end, F_SETFL, 0);
    return Waiter{[=] { return make(pipe); },
                  [pipe] {
                    for (int i = 0; i < 4; ++i) {
                      [[maybe_unused]] const ssize_t ignored =
                          read(pipe.read_end, memory().bytes, sizeof(Scratch));
                    }
                  }};
  };
}

Prepare on_socket(std::function<std::int64_t(const Connection&)> make) {
  return [=] {
    const Connection connection(AF_UNIX);
    return Waiter{[=] { return make(connection); }, [connection] { write_byte(connection.client); }};
  };
}

Prepare on_word(std::function<std::int64_t(std::uint32_t*)> make) {
  return [=] {
    auto* word = reinterpret_cast<std::uint32_t*>(memory().bytes);
    return Waiter{[=] { return make(word); },
                  [word] {
                    *word = 1;
                    raw(SYS_futex, word, FUTEX_WAKE, 1);
                  }};
  };
}

Prepare endless(std::function<std::int64_t()> make) {
  return [=] { return Waiter{make}; };
}

// A lock that another process holds.
Prepare on_lock(std::function<void(int)> hold, std::function<std::int64_t(int)> wait) {
  return [=] {
    const std::string path = scratch() + "/lock-" + std::to_string(getpid());
    close(open(path.c_str(), O_RDWR | O_CREAT, 0600));
    const Pipe ready;
    const pid_t holder = companion([&] {
      hold(open(path.c_str(), O_RDWR));
      write_byte(ready.write_end);
    });
    char byte;
    if (read(ready.read_end, &byte, 1) != 1) std::abort();
    const int fd = open(path.c_str(), O_RDWR);
    return Waiter{[=] { return wait(fd); }, [holder] { kill(holder, SIGKILL); }};
  };
}

// A FIFO that nobody has opened yet.
Prepare on_fifo(std::function<std::int64_t(const char*)> make) {
  return [=] {
    const std::string path = scratch() + "/fifo-" + std::to_string(getpid());
    mkfifo(path.c_str(), 0600);
    return Waiter{[=] { return make(path.c_str()); }, [path] { open(path.c_str(), O_RDWR | O_NONBLOCK); }};
  };
}

Prepare on_child(std::function<std::int64_t(pid_t)> make) {
  return [=] {
    const pid_t child = companion([] {});
    return Waiter{[=] { return make(child); }, [child] { kill(child, SIGKILL); }};
  };
}

// System V objects are removed by the test, not by the child, which may be killed.
int message_queue() {
  static const int queue = msgget(IPC_PRIVATE, 0600);
  return queue;
}
int semaphore() {
  static const int set = semget(IPC_PRIVATE, 1, 0600);
  return set;
}

std::vector<RestartCase> restart_cases() {
  static const timespec long_time{60, 0};
  static std::uint64_t no_signals = 0;
  static iovec one_buffer{memory().bytes, 64};
  const auto poll_set = [](int fd) {
    auto* set = reinterpret_cast<pollfd*>(memory().bytes);
    *set = {fd, POLLIN, 0};
    return set;
  };
  const auto select_set = [](int fd) {
    auto* set = reinterpret_cast<fd_set*>(memory().bytes);
    FD_ZERO(set);
    FD_SET(fd, set);
    return set;
  };
  const auto epoll_on = [](int fd) {
    const int epoll = epoll_create1(0);
    epoll_event event = {};
    event.events = EPOLLIN;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    return epoll;
  };
  const auto receive_timeout = [](int fd) {
    const timeval timeout{60, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    return fd;
  };
  constexpr Restart kSa = Restart::kWithSaRestart;
  constexpr Restart kSaNoTimeout = Restart::kWithSaRestartNoTimeout;
  std::vector<RestartCase> all;
  const auto add = [&all](const char* call, Restart rule, Prepare prepare, const char* variant = "") {
    all.push_back({std::string(call) + variant, call, rule, std::move(prepare)});
  };

  add("read", kSa, on_pipe([](const Pipe& p) { return raw(SYS_read, p.read_end, memory().bytes, 10); }));
  add("readv", kSa, on_pipe([](const Pipe& p) { return raw(SYS_readv, p.read_end, &one_buffer, 1); }));
  add("write", kSa,
      on_full_pipe([](const Pipe& p) { return raw(SYS_write, p.write_end, memory().bytes, 4096); }));
  add("writev", kSa,
      on_full_pipe([](const Pipe& p) { return raw(SYS_writev, p.write_end, &one_buffer, 1); }));
  add("splice", kSa, on_pipe([](const Pipe& p) {
        const Pipe to;
        return raw(SYS_splice, p.read_end, 0, to.write_end, 0, 10, 0);
      }));
  add("tee", kSa, on_pipe([](const Pipe& p) {
        const Pipe to;
        return raw(SYS_tee, p.read_end, to.write_end, 10, 0);
      }));
  add("vmsplice", kSa,
      on_pipe([](const Pipe& p) { return raw(SYS_vmsplice, p.read_end, &one_buffer, 1, 0); }));
  add("poll", Restart::kRestartBlock,
      on_pipe([=](const Pipe& p) { return raw(SYS_poll, poll_set(p.read_end), 1, -1); }));
  add("ppoll", Restart::kNoHandler,
      on_pipe([=](const Pipe& p) { return raw(SYS_ppoll, poll_set(p.read_end), 1, 0, 0, 0); }));
  add("select", Restart::kNoHandler, on_pipe([=](const Pipe& p) {
        return raw(SYS_select, p.read_end + 1, select_set(p.read_end), 0, 0, 0);
      }));
  add("pselect6", Restart::kNoHandler, on_pipe([=](const Pipe& p) {
        return raw(SYS_pselect6, p.read_end + 1, select_set(p.read_end), 0, 0, 0, 0);
      }));
  add("epoll_wait", Restart::kNever, on_pipe([=](const Pipe& p) {
        return raw(SYS_epoll_wait, epoll_on(p.read_end), memory().bytes, 1, -1);
      }));
  add("epoll_pwait", Restart::kNever, on_pipe([=](const Pipe& p) {
        return raw(SYS_epoll_pwait, epoll_on(p.read_end), memory().bytes, 1, -1, 0, 0);
      }));
  add("epoll_pwait2", Restart::kNever,
      on_pipe([=](const Pipe& p) { return raw(441, epoll_on(p.read_end), memory().bytes, 1, 0, 0, 0); }));
  add("recvfrom", kSaNoTimeout, on_socket([](const Connection& c) {
        return raw(SYS_recvfrom, c.server, memory().bytes, 10, 0, 0, 0);
      }));
  add("recvmsg", kSaNoTimeout, on_socket([](const Connection& c) {
        msghdr message = {};
        message.msg_iov = &one_buffer;
        message.msg_iovlen = 1;
        return raw(SYS_recvmsg, c.server, &message, 0);
      }));
  add("recvfrom", Restart::kNever, on_socket([=](const Connection& c) {
        return raw(SYS_recvfrom, receive_timeout(c.server), memory().bytes, 10, 0, 0, 0);
      }),
      "_timeout");
  add("accept", kSaNoTimeout, [] {
    static sockaddr_storage address;
    static socklen_t length = sizeof(address);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr automatic{AF_UNIX, {}};
    bind(listener, &automatic, sizeof(automatic.sa_family));
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
    return Waiter{[listener] { return raw(SYS_accept, listener, 0, 0); },
                  [] {
                    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
                    connect(client, reinterpret_cast<sockaddr*>(&address), length);
                  }};
  });
  add("open", kSa, on_fifo([](const char* path) { return raw(SYS_open, path, O_RDONLY); }));
  add("openat", kSa, on_fifo([](const char* path) { return raw(SYS_openat, AT_FDCWD, path, O_RDONLY); }));
  add("flock", kSa,
      on_lock([](int fd) { flock(fd, LOCK_EX); }, [](int fd) { return raw(SYS_flock, fd, LOCK_EX); }));
  add("fcntl", kSa,
      on_lock(
          [](int fd) {
            struct flock lock = {};
            lock.l_type = F_WRLCK;
            fcntl(fd, F_SETLK, &lock);
          },
          [](int fd) {
            struct flock lock = {};
            lock.l_type = F_WRLCK;
            return raw(SYS_fcntl, fd, F_SETLKW, &lock);
          }),
      "_setlkw");
  add("wait4", kSa, on_child([](pid_t child) { return raw(SYS_wait4, child, 0, 0, 0); }));
  add("waitid", kSa, on_child([](pid_t child) { return raw(SYS_waitid, P_PID, child, 0, WEXITED, 0); }));
  add("futex", kSaNoTimeout,
      on_word([](std::uint32_t* word) { return raw(SYS_futex, word, FUTEX_WAIT, 0, 0, 0, 0); }), "_wait");
  add("futex", Restart::kRestartBlock,
      on_word([](std::uint32_t* word) { return raw(SYS_futex, word, FUTEX_WAIT, 0, &long_time, 0, 0); }),
      "_wait_timeout");
  add("futex_waitv", kSa, on_word([](std::uint32_t* word) {
        struct Wait {
          std::uint64_t value, address;
          std::uint32_t flags, reserved;
        };
        const Wait one{0, reinterpret_cast<std::uint64_t>(word), 2 /* FUTEX_32 */, 0};
        return raw(449, &one, 1, 0, 0, CLOCK_MONOTONIC);
      }));
  add("nanosleep", Restart::kRestartBlock, endless([] { return raw(SYS_nanosleep, &long_time, 0); }));
  add("clock_nanosleep", Restart::kRestartBlock,
      endless([] { return raw(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, 0); }));
  add("pause", Restart::kNoHandler, endless([] { return raw(SYS_pause); }));
  add("rt_sigsuspend", Restart::kNoHandler, endless([] { return raw(SYS_rt_sigsuspend, &no_signals, 8); }));
  add("rt_sigtimedwait", Restart::kNever, endless([] {
        const std::uint64_t set = std::uint64_t{1} << (SIGUSR2 - 1);
        return raw(SYS_rt_sigtimedwait, &set, 0, 0, 8);
      }));
  add("msgrcv", Restart::kNoHandler,
      endless([] { return raw(SYS_msgrcv, message_queue(), memory().bytes, 10, 0, 0); }));
  add("msgsnd", Restart::kNoHandler, endless([] {
        static struct {
          long type = 1;
          char text[8000] = {};
        } message;
        while (raw(SYS_msgsnd, message_queue(), &message, sizeof(message.text), IPC_NOWAIT) == 0) {
        }
        return raw(SYS_msgsnd, message_queue(), &message, sizeof(message.text), 0);
      }));
  add("semop", Restart::kNever, endless([] {
        sembuf down{0, -1, 0};
        return raw(SYS_semop, semaphore(), &down, 1);
      }));
  add("semtimedop", Restart::kNever, endless([] {
        sembuf down{0, -1, 0};
        return raw(SYS_semtimedop, semaphore(), &down, 1, &long_time);
      }));
  add("mq_timedreceive", kSa, [] {
    const std::string name = "/detrec-restart-" + std::to_string(getpid());
    mq_attr attributes = {};
    attributes.mq_maxmsg = 1;
    attributes.mq_msgsize = 100;
    const mqd_t queue = mq_open(name.c_str(), O_RDWR | O_CREAT, 0600, &attributes);
    mq_unlink(name.c_str());
    return Waiter{[queue] { return raw(SYS_mq_timedreceive, queue, memory().bytes, 100, 0, 0); },
                  [queue] { mq_send(queue, "x", 1, 0); }};
  });
  return all;
}

// What a rule says.
bool restarted_with_sa_restart(Restart rule) {
  return rule == Restart::kWithSaRestart || rule == Restart::kWithSaRestartNoTimeout ||
         rule == Restart::kAlways;
}
bool restarted_after_stop(Restart rule) { return rule != Restart::kNever; }

int number_of(const std::string& name) {
  for (std::size_t i = 0; i < row_count(); ++i) {
    if (name == row_at(i).name) return row_at(i).number;
  }
  return -1;
}

class RestartRule : public testing::TestWithParam<RestartCase> {
 protected:
  static void SetUpTestSuite() {
    scratch();
    message_queue();
    semaphore();
  }
  static void TearDownTestSuite() {
    msgctl(message_queue(), IPC_RMID, nullptr);
    semctl(semaphore(), 0, IPC_RMID);
  }
  void TearDown() override {
    while (raw(SYS_msgrcv, message_queue(), memory().bytes, 8, 0, IPC_NOWAIT | MSG_NOERROR) >= 0) {
    }
  }
};

TEST_P(RestartRule, IsTheKernels) {
  const RestartCase& one = GetParam();
  const Outcome plain = interrupt(one.prepare, 0);
  if (plain == Outcome::kLacking) GTEST_SKIP() << "not available here";
  EXPECT_EQ(plain, Outcome::kInterrupted) << "without SA_RESTART";
  EXPECT_EQ(interrupt(one.prepare, SA_RESTART) == Outcome::kRestarted, restarted_with_sa_restart(one.rule))
      << "with SA_RESTART";
  EXPECT_EQ(stop(one.prepare) == Outcome::kRestarted, restarted_after_stop(one.rule)) << "after a stop";

  const Restart in_table = find(number_of(one.call))->restart;
  if (in_table == Restart::kWithSaRestartNoTimeout) {
    EXPECT_EQ(one.rule != in_table, one.name.find("_timeout") != std::string::npos);
  } else {
    EXPECT_EQ(in_table, one.rule);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernel, RestartRule, testing::ValuesIn(restart_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace detrec::syscalls::test
