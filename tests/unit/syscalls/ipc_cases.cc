// Message queues, semaphores, shared memory segments, keys, the kernel's log.
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

const std::vector<int> kNoIpc = {ENOSYS, EINVAL, EPERM};

Case on_messages(std::string name, std::function<Call(Arena&, int)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            const int queue = msgget(IPC_PRIVATE, 0600);
            struct {
              long type = 5;
              char text[20] = "nineteen letters...";
            } message;
            msgsnd(queue, &message, sizeof(message.text), 0);
            Call one = prepare(arena, queue);
            one.clean_up = [queue] { msgctl(queue, IPC_RMID, nullptr); };
            return one;
          },
          "", kNoIpc};
}

Case on_semaphores(std::string name, std::function<Call(Arena&, int)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            const int set = semget(IPC_PRIVATE, 5, 0600);
            Call one = prepare(arena, set);
            one.external_count = 5;
            one.clean_up = [set] { semctl(set, 0, IPC_RMID); };
            return one;
          },
          "", kNoIpc};
}

Case on_segment(std::string name, std::function<Call(Arena&, int)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            const int segment = shmget(IPC_PRIVATE, 4096, 0600);
            Call one = prepare(arena, segment);
            one.clean_up = [segment] { shmctl(segment, IPC_RMID, nullptr); };
            return one;
          },
          "", kNoIpc};
}

Case on_posix_queue(std::string name, std::function<Call(Arena&, int)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            const std::string queue_name = "/detrec-syscalls-" + std::to_string(getpid());
            mq_attr attributes = {};
            attributes.mq_maxmsg = 2;
            attributes.mq_msgsize = 100;
            const mqd_t queue = mq_open(queue_name.c_str(), O_RDWR | O_CREAT, 0600, &attributes);
            if (queue >= 0) mq_send(queue, "message", 7, 3);
            Call one = prepare(arena, queue);
            one.clean_up = [=] {
              mq_close(queue);
              mq_unlink(queue_name.c_str());
            };
            return one;
          },
          "",
          {EBADF}};
}

constexpr int kProcessKeyring = -2;

Case on_keys(std::string name, std::function<Call(Arena&, std::int64_t)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            return prepare(arena, syscall(SYS_add_key, "user", "detrec:one", "payload", 7, kProcessKeyring));
          },
          "",
          {ENOSYS, EPERM, EACCES, EOPNOTSUPP, ENOKEY, EDQUOT}};
}

Case with_slack(Case one, std::string why) {
  one.slack = std::move(why);
  return one;
}

}  // namespace

std::vector<Case> ipc_cases() {
  return {
      on_messages("msgrcv",
                  [](Arena& a, int queue) { return call(SYS_msgrcv, queue, a.out(200), 100, 0, 0); }),
      on_messages("msgrcv_cut",
                  [](Arena& a, int queue) { return call(SYS_msgrcv, queue, a.out(200), 7, 0, MSG_NOERROR); }),
      on_messages("msgctl_stat",
                  [](Arena& a, int queue) { return call(SYS_msgctl, queue, IPC_STAT, a.out(200)); }),
      on_messages("msgctl_info", [](Arena& a, int queue) { return call(SYS_msgctl, queue, 3, a.out(200)); }),
      on_messages("msgctl_msg_info",
                  [](Arena& a, int queue) { return call(SYS_msgctl, queue, 12, a.out(200)); }),
      on_semaphores("semctl_stat",
                    [](Arena& a, int set) { return call(SYS_semctl, set, 0, IPC_STAT, a.out(200)); }),
      on_semaphores("semctl_getall",
                    [](Arena& a, int set) { return call(SYS_semctl, set, 0, GETALL, a.out(200)); }),
      on_semaphores("semctl_getval",
                    [](Arena& a, int set) { return call(SYS_semctl, set, 1, GETVAL, a.out(200)); }),
      on_semaphores("semctl_info", [](Arena& a, int set) { return call(SYS_semctl, set, 0, 3, a.out(200)); }),
      on_semaphores("semctl_sem_info",
                    [](Arena& a, int set) { return call(SYS_semctl, set, 0, 19, a.out(200)); }),
      on_segment("shmctl_stat",
                 [](Arena& a, int segment) { return call(SYS_shmctl, segment, IPC_STAT, a.out(200)); }),
      on_segment("shmctl_info",
                 [](Arena& a, int segment) { return call(SYS_shmctl, segment, 3, a.out(200)); }),
      on_segment("shmctl_shm_info",
                 [](Arena& a, int segment) { return call(SYS_shmctl, segment, 14, a.out(200)); }),
      on_posix_queue("mq_timedreceive",
                     [](Arena& a, int queue) {
                       return call(SYS_mq_timedreceive, queue, a.out(200), 200, a.out(16), 0);
                     }),
      on_posix_queue("mq_getsetattr",
                     [](Arena& a, int queue) { return call(SYS_mq_getsetattr, queue, 0, a.out(200)); }),
      on_keys("keyctl_describe",
              [](Arena& a, std::int64_t key) { return call(SYS_keyctl, 6, key, a.out(300), 300); }),
      on_keys("keyctl_describe_too_small",
              [](Arena& a, std::int64_t key) { return call(SYS_keyctl, 6, key, a.out(300), 3); }),
      with_slack(on_keys("keyctl_read_too_small",
                         [](Arena& a, std::int64_t key) { return call(SYS_keyctl, 11, key, a.out(300), 2); }),
                 "new kernels write nothing then, old ones what fits"),
      on_keys("keyctl_read",
              [](Arena& a, std::int64_t key) { return call(SYS_keyctl, 11, key, a.out(300), 300); }),
      on_keys("keyctl_get_security",
              [](Arena& a, std::int64_t key) { return call(SYS_keyctl, 17, key, a.out(300), 300); }),
      on_keys("keyctl_capabilities",
              [](Arena& a, std::int64_t) { return call(SYS_keyctl, 31, a.out(300), 20); }),
      {"syslog_read_all",
       [](Arena& a) { return call(SYS_syslog, 3, a.out(1000), 1000); },
       "",
       {EPERM, ENOSYS}},
      {"syslog_size", [](Arena&) { return call(SYS_syslog, 10, 0, 0); }, "", {EPERM, ENOSYS}},
  };
}

}  // namespace detrec::syscalls::test
