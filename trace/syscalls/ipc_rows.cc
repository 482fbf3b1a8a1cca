// Commands of shmctl, semctl, msgctl, quotactl and keyctl.
#include "trace/syscalls/build_commands.h"

namespace detrec::syscalls {
namespace {

using namespace build;

// shmctl(2), include/uapi/linux/shm.h: shmid64_ds 112 bytes, shminfo64 72, shm_info 48.
constexpr CommandRow kShmctlRows[] = {
    pass(0, "IPC_RMID"),
    pass(1, "IPC_SET", {in(112)}),
    pass(2, "IPC_STAT", {out(112)}),
    pass(3, "IPC_INFO", {out(72)}),
    pass(11, "SHM_LOCK"),
    pass(12, "SHM_UNLOCK"),
    pass(13, "SHM_STAT", {out(112)}),
    pass(14, "SHM_INFO", {out(48)}),
    pass(15, "SHM_STAT_ANY", {out(112)}),
};
constexpr Sorted kShmctl = sorted(kShmctlRows);
static_assert(!kShmctl.has_duplicates());

// semctl(2), include/uapi/linux/sem.h: semid64_ds 104 bytes, seminfo 40. A set's values are 16 bits each.
constexpr CommandRow kSemctlRows[] = {
    pass(0, "IPC_RMID"),
    pass(1, "IPC_SET", {in(104)}),
    pass(2, "IPC_STAT", {out(104)}),
    pass(3, "IPC_INFO", {out(40)}),
    pass(11, "GETPID"),
    pass(12, "GETVAL"),
    pass(13, "GETALL", {memory(ArgKind::kOut, Length::kExternal, 2)}),
    pass(14, "GETNCNT"),
    pass(15, "GETZCNT"),
    pass(16, "SETVAL", {kInt}),
    pass(17, "SETALL", {memory(ArgKind::kIn, Length::kExternal, 2)}),
    pass(18, "SEM_STAT", {out(104)}),
    pass(19, "SEM_INFO", {out(40)}),
    pass(20, "SEM_STAT_ANY", {out(104)}),
};
constexpr Sorted kSemctl = sorted(kSemctlRows);
static_assert(!kSemctl.has_duplicates());

// msgctl(2), include/uapi/linux/msg.h: msqid64_ds 120 bytes, msginfo 32.
constexpr CommandRow kMsgctlRows[] = {
    pass(0, "IPC_RMID"),
    pass(1, "IPC_SET", {in(120)}),
    pass(2, "IPC_STAT", {out(120)}),
    pass(3, "IPC_INFO", {out(32)}),
    pass(11, "MSG_STAT", {out(120)}),
    pass(12, "MSG_INFO", {out(32)}),
    pass(13, "MSG_STAT_ANY", {out(120)}),
};
constexpr Sorted kMsgctl = sorted(kMsgctlRows);
static_assert(!kMsgctl.has_duplicates());

// quotactl(2), include/uapi/linux/quota.h (if_dqblk 72 bytes, if_dqinfo 24, if_nextdqblk 72), dqblk_xfs.h.
// The XFS set is refused with what other file systems answer.
constexpr CommandRow kQuotactlRows[] = {
    pass(0x800001, "Q_SYNC"),
    pass(0x800002, "Q_QUOTAON", {kPath}),
    pass(0x800003, "Q_QUOTAOFF"),
    pass(0x800004, "Q_GETFMT", {out(4)}),
    pass(0x800005, "Q_GETINFO", {out(24)}),
    pass(0x800006, "Q_SETINFO", {in(24)}),
    pass(0x800007, "Q_GETQUOTA", {out(72)}),
    pass(0x800008, "Q_SETQUOTA", {in(72)}),
    pass(0x800009, "Q_GETNEXTQUOTA", {out(72)}),
    refuse(ENOSYS, 0x5801, "Q_XQUOTAON", {in(4)}),
    refuse(ENOSYS, 0x5802, "Q_XQUOTAOFF", {in(4)}),
    refuse(ENOSYS, 0x5803, "Q_XGETQUOTA", {out(112)}),
    refuse(ENOSYS, 0x5804, "Q_XSETQLIM", {in(112)}),
    refuse(ENOSYS, 0x5805, "Q_XGETQSTAT", {out(80)}),
    refuse(ENOSYS, 0x5806, "Q_XQUOTARM", {in(4)}),
    refuse(ENOSYS, 0x5807, "Q_XQUOTASYNC"),
    refuse(ENOSYS, 0x5808, "Q_XGETQSTATV", {inout(160)}),
    refuse(ENOSYS, 0x5809, "Q_XGETNEXTQUOTA", {out(112)}),
};
constexpr Sorted kQuotactl = sorted(kQuotactlRows);
static_assert(!kQuotactl.has_duplicates());

// keyctl(2), include/uapi/linux/keyctl.h. The results of reads are whole lengths, what does not fit is left
// out.
constexpr CommandRow kKeyctlRows[] = {
    pass(0, "KEYCTL_GET_KEYRING_ID", {kInt, kInt}),
    pass(1, "KEYCTL_JOIN_SESSION_KEYRING", {kString}),
    pass(2, "KEYCTL_UPDATE", {kInt, in_by(3), kSize}),
    pass(3, "KEYCTL_REVOKE", {kInt}),
    pass(4, "KEYCTL_CHOWN", {kInt, kUserId, kUserId}),
    pass(5, "KEYCTL_SETPERM", {kInt, kFlags}),
    pass(6, "KEYCTL_DESCRIBE", {kInt, memory(ArgKind::kOut, Length::kIfFits, 1, 3), kSize}),
    pass(7, "KEYCTL_CLEAR", {kInt}),
    pass(8, "KEYCTL_LINK", {kInt, kInt}),
    pass(9, "KEYCTL_UNLINK", {kInt, kInt}),
    pass(10, "KEYCTL_SEARCH", {kInt, kString, kString, kInt}),
    pass(11, "KEYCTL_READ", {kInt, out_up_to(3), kSize}),
    pass(12, "KEYCTL_INSTANTIATE", {kInt, in_by(3), kSize, kInt}),
    pass(13, "KEYCTL_NEGATE", {kInt, kUnsigned, kInt}),
    pass(14, "KEYCTL_SET_REQKEY_KEYRING", {kInt}),
    pass(15, "KEYCTL_SET_TIMEOUT", {kInt, kUnsigned}),
    pass(16, "KEYCTL_ASSUME_AUTHORITY", {kInt}),
    pass(17, "KEYCTL_GET_SECURITY", {kInt, out_up_to(3), kSize}),
    pass(18, "KEYCTL_SESSION_TO_PARENT"),
    pass(19, "KEYCTL_REJECT", {kInt, kUnsigned, kUnsigned, kInt}),
    pass(20, "KEYCTL_INSTANTIATE_IOV", {kInt, iovec_in(3), kWord, kInt}),
    pass(21, "KEYCTL_INVALIDATE", {kInt}),
    pass(22, "KEYCTL_GET_PERSISTENT", {kUserId, kInt}),
    pass(23, "KEYCTL_DH_COMPUTE", {in(12), out_up_to(3), kSize, kAddress}),
    pass(24, "KEYCTL_PKEY_QUERY", {kInt, kWord, kString, out(56)}),
    pass(25, "KEYCTL_PKEY_ENCRYPT", {in(40), kString, kAddress, out_as(Length::kNested)}),
    pass(26, "KEYCTL_PKEY_DECRYPT", {in(40), kString, kAddress, out_as(Length::kNested)}),
    pass(27, "KEYCTL_PKEY_SIGN", {in(40), kString, kAddress, out_as(Length::kNested)}),
    pass(28, "KEYCTL_PKEY_VERIFY", {in(40), kString, kAddress, kAddress}),
    pass(29, "KEYCTL_RESTRICT_KEYRING", {kInt, kString, kString}),
    pass(30, "KEYCTL_MOVE", {kInt, kInt, kInt, kFlags}),
    pass(31, "KEYCTL_CAPABILITIES", {out_by(2), kSize}),
    pass(32, "KEYCTL_WATCH_KEY", {kInt, kFd, kInt}),
};
constexpr Sorted kKeyctl = sorted(kKeyctlRows);
static_assert(!kKeyctl.has_duplicates());

}  // namespace

CommandTable shmctl_commands() { return kShmctl.table(); }
CommandTable semctl_commands() { return kSemctl.table(); }
CommandTable msgctl_commands() { return kMsgctl.table(); }
CommandTable quotactl_commands() { return kQuotactl.table(); }
CommandTable keyctl_commands() { return kKeyctl.table(); }

}  // namespace detrec::syscalls
