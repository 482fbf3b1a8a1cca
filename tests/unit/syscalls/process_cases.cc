// Processes, identities, limits, scheduling, memory.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

constexpr long kLsmGetSelfAttr = 459;
constexpr long kLsmListModules = 461;
constexpr std::size_t kPage = 4096;

Case plain(std::string name, std::function<Call(Arena&)> prepare, std::vector<int> lacking = {}) {
  return {std::move(name), std::move(prepare), "", std::move(lacking)};
}

Call failing(Call one, int error) {
  one.expect = -error;
  return one;
}

Call capability(Arena& arena, std::uint32_t version, bool with_data) {
  __user_cap_header_struct header{version, 0};
  return call(SYS_capget, arena.in(header), with_data ? arena.out(64) : nullptr);
}

Call reaped_by(Call one, pid_t child) {
  one.clean_up = [child] { waitpid(child, nullptr, 0); };
  return one;
}

}  // namespace

std::vector<Case> process_cases() {
  return {
      plain("wait4",
            [](Arena& a) {
              const pid_t child = exited_child(3);
              return reaped_by(call(SYS_wait4, child, a.out(16), 0, a.out(200)), child);
            }),
      {"wait4_nothing",
       [](Arena& a) {
         const pid_t child = fork();
         if (child == 0) {
           pause();
           _exit(0);
         }
         Call one = call(SYS_wait4, child, a.out(16), WNOHANG, a.out(200));
         one.clean_up = [child] {
           kill(child, SIGKILL);
           waitpid(child, nullptr, 0);
         };
         return one;
       },
       "",
       {}},
      plain("wait4_no_child",
            [](Arena& a) { return failing(call(SYS_wait4, 1, a.out(16), 0, a.out(200)), ECHILD); }),
      plain("waitid",
            [](Arena& a) {
              const pid_t child = exited_child(3);
              return reaped_by(call(SYS_waitid, P_PID, child, a.out(128), WEXITED, a.out(200)), child);
            }),
      {"waitid_nothing",
       [](Arena& a) {
         const pid_t child = fork();
         if (child == 0) {
           pause();
           _exit(0);
         }
         Call one = call(SYS_waitid, P_PID, child, a.out(128), WEXITED | WNOHANG, 0);
         one.clean_up = [child] {
           kill(child, SIGKILL);
           waitpid(child, nullptr, 0);
         };
         return one;
       },
       "",
       {}},
      plain("getrlimit", [](Arena& a) { return call(SYS_getrlimit, RLIMIT_NOFILE, a.out(64)); }),
      plain("prlimit64", [](Arena& a) { return call(SYS_prlimit64, 0, RLIMIT_STACK, 0, a.out(64)); }),
      plain("getrusage", [](Arena& a) { return call(SYS_getrusage, RUSAGE_SELF, a.out(200)); }),
      plain("getrusage_invalid",
            [](Arena& a) { return failing(call(SYS_getrusage, 77, a.out(200)), EINVAL); }),
      plain("sysinfo", [](Arena& a) { return call(SYS_sysinfo, a.out(200)); }),
      plain("times", [](Arena& a) { return call(SYS_times, a.out(64)); }),
      plain("uname", [](Arena& a) { return call(SYS_uname, a.out(500)); }),
      plain("getgroups", [](Arena& a) { return call(SYS_getgroups, 100, a.out(400)); }),
      plain("getgroups_count_only", [](Arena& a) { return call(SYS_getgroups, 0, a.out(400)); }),
      plain("getresuid", [](Arena& a) { return call(SYS_getresuid, a.out(16), a.out(16), a.out(16)); }),
      plain("getresgid", [](Arena& a) { return call(SYS_getresgid, a.out(16), a.out(16), a.out(16)); }),
      plain("capget_3", [](Arena& a) { return capability(a, _LINUX_CAPABILITY_VERSION_3, true); }),
      plain("capget_1", [](Arena& a) { return capability(a, _LINUX_CAPABILITY_VERSION_1, true); }),
      plain("capget_version_query", [](Arena& a) { return capability(a, 0, false); }),
      plain("capget_unknown_version", [](Arena& a) { return failing(capability(a, 1, true), EINVAL); }),
      plain("sched_getparam", [](Arena& a) { return call(SYS_sched_getparam, 0, a.out(16)); }),
      plain("sched_rr_get_interval", [](Arena& a) { return call(SYS_sched_rr_get_interval, 0, a.out(64)); }),
      plain("sched_getaffinity", [](Arena& a) { return call(SYS_sched_getaffinity, 0, 2048, a.out(2048)); }),
      plain("sched_getattr", [](Arena& a) { return call(SYS_sched_getattr, 0, a.out(100), 56, 0); }),
      plain("sched_getattr_first_version",
            [](Arena& a) { return call(SYS_sched_getattr, 0, a.out(100), 48, 0); }),
      plain("sched_setattr_too_big",
            [](Arena& a) {
              struct Attributes {
                std::uint32_t size = 200;
                std::uint8_t rest[196] = {};
              } attributes;
              attributes.rest[195] = 1;
              return failing(call(SYS_sched_setattr, 0, a.in(attributes), 0), E2BIG);
            }),
      plain("getcpu", [](Arena& a) { return call(SYS_getcpu, a.out(16), a.out(16), 0); }),
      plain("get_robust_list", [](Arena& a) { return call(SYS_get_robust_list, 0, a.out(16), a.out(16)); }),
      plain("get_mempolicy",
            [](Arena& a) { return call(SYS_get_mempolicy, a.out(16), a.out(256), 1025, 0, 0); },
            {ENOSYS, EPERM}),
      plain("move_pages_status",
            [](Arena& a) {
              struct Three {
                std::uint64_t each[3];
              };
              const Three pages{{a.address(), a.address() + kPage, 0}};
              return call(SYS_move_pages, 0, 3, a.in(pages), 0, a.out(64), 0);
            },
            {ENOSYS, EPERM}),
      plain("mincore", [](Arena& a) { return call(SYS_mincore, a.address(), 10 * kPage + 1, a.out(64)); }),
      {"process_vm_readv",
       [](Arena& a) {
         struct Two {
           iovec each[2];
         };
         const Two local{{{a.out(30), 30}, {a.out(100), 100}}};
         const iovec remote{const_cast<char*>(data_path().data()), 20};
         return call(SYS_process_vm_readv, getpid(), a.in(local), 2, a.in(remote), 1, 0);
       },
       "",
       {EPERM, ENOSYS}},
      plain("getrandom", [](Arena& a) { return call(SYS_getrandom, a.out(256), 256, 0); }),
      plain("prctl_get_name", [](Arena& a) { return call(SYS_prctl, PR_GET_NAME, a.out(64)); }),
      plain("prctl_set_name", [](Arena& a) { return call(SYS_prctl, PR_SET_NAME, a.text("name")); }),
      plain("prctl_get_pdeathsig", [](Arena& a) { return call(SYS_prctl, PR_GET_PDEATHSIG, a.out(64)); }),
      plain("prctl_get_child_subreaper",
            [](Arena& a) { return call(SYS_prctl, PR_GET_CHILD_SUBREAPER, a.out(64), 0, 0, 0); }),
      plain("prctl_get_tsc", [](Arena& a) { return call(SYS_prctl, PR_GET_TSC, a.out(64)); }),
      plain("prctl_get_tid_address", [](Arena& a) { return call(SYS_prctl, PR_GET_TID_ADDRESS, a.out(64)); },
            {EINVAL}),
      plain("prctl_get_auxv", [](Arena& a) { return call(SYS_prctl, 0x41555856, a.out(100), 100, 0, 0); },
            {EINVAL}),
      plain("prctl_get_dumpable", [](Arena& a) { return call(SYS_prctl, PR_GET_DUMPABLE, a.out(64)); }),
      plain("arch_prctl_get_fs", [](Arena& a) { return call(SYS_arch_prctl, 0x1003, a.out(64)); }),
      plain("arch_prctl_get_gs", [](Arena& a) { return call(SYS_arch_prctl, 0x1004, a.out(64)); }),
      plain("arch_prctl_get_cpuid", [](Arena& a) { return call(SYS_arch_prctl, 0x1011, a.out(64)); }),
      plain("arch_prctl_xcomp_supp", [](Arena& a) { return call(SYS_arch_prctl, 0x1021, a.out(64)); },
            {EINVAL}),
      plain("futex_wake", [](Arena& a) { return call(SYS_futex, a.in(0), FUTEX_WAKE, 1, 0, 0, 0); }),
      plain("futex_wake_op",
            [](Arena& a) {
              // Sets the second word to 5.
              const int operation = FUTEX_OP(FUTEX_OP_SET, 5, FUTEX_OP_CMP_EQ, 1);
              std::uint8_t* second = a.out(16);
              return call(SYS_futex, a.in(0), FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 1, 1, second, operation);
            }),
      plain("futex_wait_changed",
            [](Arena& a) { return failing(call(SYS_futex, a.in(1), FUTEX_WAIT, 2, 0, 0, 0), EAGAIN); }),
      plain("lsm_list_modules",
            [](Arena& a) { return call(kLsmListModules, a.out(200), a.in(std::uint32_t{200}), 0); },
            {ENOSYS}),
      plain("lsm_get_self_attr",
            [](Arena& a) { return call(kLsmGetSelfAttr, 100, a.out(1000), a.in(std::uint32_t{1000}), 0); },
            {ENOSYS, EOPNOTSUPP}),
  };
}

}  // namespace detrec::syscalls::test
