#include "trace/syscalls/memory.h"

#include <asm/errno.h>

#include "trace/syscalls/commands.h"
#include "trace/syscalls/nested.h"

namespace detrec::syscalls {
namespace {

constexpr std::uint64_t kIovecSize = 16;
constexpr std::uint64_t kMaxIovecs = 1024;  // UIO_MAXIOV: the kernel refuses more
constexpr std::uint64_t kMmsghdrSize = 64;
constexpr std::uint64_t kMmsghdrLength = 56;  // offset of msg_len
constexpr std::uint64_t kPollfdSize = 8;
constexpr std::uint64_t kPollfdRevents = 6;
constexpr std::uint64_t kMaxPollfds = 1
                                      << 20;  // fs.nr_open: a process cannot have more descriptors, so EINVAL
constexpr std::uint64_t kMaxPath = 4096;
constexpr std::uint64_t kMaxString = 131072;  // MAX_ARG_STRLEN
constexpr std::uint64_t kMaxStrings = 65536;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxCount = std::uint64_t{1}
                                    << 47;  // more than the address space, and does not overflow

constexpr int kClockNanosleep = 230;
constexpr int kTimerAbstime = 1;
constexpr int kSchedSetattr = 314;
constexpr std::uint32_t kFirstSchedAttr = 48;  // SCHED_ATTR_SIZE_VER0, which a size of 0 means

}  // namespace

namespace detail {

std::uint64_t Walk::value_of(int index) const {
  if (index < 0 || index >= kMaxArgs) return 0;
  switch (arg_of(index).kind) {
    case ArgKind::kInt:
    case ArgKind::kUnsigned:
    case ArgKind::kSize32:
    case ArgKind::kCount:
      return static_cast<std::uint32_t>(args_[index]);
    default:
      return args_[index];
  }
}

Arg Walk::arg_of(int index) const {
  const Arg& arg = row_->args[index];
  if (arg.kind != ArgKind::kByCommand || command_ == nullptr) return arg;
  const int place = index - first_command_arg(row_->commands);
  return place >= 0 && place < kMaxCommandArgs ? command_->args[place] : Arg{};
}

bool Walk::written_now(const Arg& arg) const {
  if (goal_ == Goal::kWritable) return true;
  switch (arg.when) {
    case When::kSuccess:
      return result_ >= 0;
    case When::kWithBuffer:
      return result_ >= 0;
    case When::kPositive:
      return result_ > 0;
    case When::kInterrupt:
      if (row_->number == kClockNanosleep && (args_[1] & kTimerAbstime) != 0) return false;
      return result_ == -EINTR;
    case When::kSuccessOrInterrupt:
      return result_ >= 0 || result_ == -EINTR;
    case When::kSuccessOrOverflow:
      return result_ >= 0 || result_ == -EOVERFLOW;
    case When::kTooBig:
      return result_ == -E2BIG;
    case When::kAnyResult:
      return result_ != -EFAULT;
  }
  return false;
}

bool Walk::has_buffer(int length_index) const {
  for (int i = 0; i < kMaxArgs; ++i) {
    const Arg arg = arg_of(i);
    if (arg.length == Length::kPointee && arg.ref == length_index) return args_[i] != 0;
  }
  return true;
}

bool Walk::run() {
  if (row_ == nullptr) return false;
  for (unsigned left = goal_ == Goal::kRead ? row_->reads : row_->writes; left != 0; left &= left - 1)
    walk_arg(__builtin_ctz(left));
  return complete_;
}

void Walk::walk_arg(int index) {
  const Arg arg = arg_of(index);
  if (!arg.is_memory() || args_[index] == 0) return;
  arg_ = index;
  if (goal_ == Goal::kRead) {
    walk_read(index, arg);
    return;
  }
  if (!arg.is_written() || !written_now(arg)) return;
  if (arg.when == When::kWithBuffer && !has_buffer(index)) return;
  walk_write(index, arg);
}

std::uint64_t Walk::length_before(std::uint8_t ref) {
  const std::uint64_t address = args_[ref];
  std::uint32_t length = 0;
  if (address == 0) return 0;
  if (goal_ == Goal::kWritten && before_ != nullptr && before_->captured) return before_->lengths[ref];
  return load(address, length) ? length : 0;
}

std::uint64_t Walk::capacity_of(const Arg& arg, std::uint64_t address) {
  const std::uint64_t count = value_of(arg.ref);
  switch (arg.length) {
    case Length::kFixed:
      return arg.size;
    case Length::kArg:
    case Length::kIfFits:
    case Length::kMinArgResult:
      return arg.header + smaller(count, kMaxCount) * arg.size;
    case Length::kPointee:
      return length_before(arg.ref) * (arg.size == 0 ? 1 : arg.size);
    case Length::kFdSet:
      return static_cast<std::int32_t>(count) > 0 ? (count + 63) / 64 * 8 : 0;
    case Length::kNodeMask:
      return count == 0 ? 0 : (smaller(count, kMaxCount) + 62) / 64 * 8;
    case Length::kPages:
      return (smaller(count, kMaxCount) + kPage - 1) / kPage;
    case Length::kRequest:
      return ioctl_size(args_[1]);
    case Length::kExternal:
      return before_ != nullptr ? before_->external_count * arg.size : 0;
    case Length::kSelfSize: {
      if (arg.ref != kNoArg) return count;
      std::uint32_t size = 0;
      if (!load(address, size)) return 0;
      return size == 0 && row_->number == kSchedSetattr ? kFirstSchedAttr : size;
    }
    case Length::kFileHandle: {
      std::uint32_t bytes = 0;
      return load(address, bytes) ? 8 + std::uint64_t{bytes} : 0;
    }
    default:
      return 0;
  }
}

std::uint64_t Walk::written_size(const Arg& arg, std::uint64_t address) {
  const std::uint64_t capacity = capacity_of(arg, address);
  if (goal_ == Goal::kWritable) return capacity;
  const std::uint64_t result = result_ > 0 ? static_cast<std::uint64_t>(result_) : 0;
  switch (arg.length) {
    case Length::kMinArgResult: {
      const std::uint64_t elements = smaller(value_of(arg.ref), result);
      return arg.header + elements * arg.size;
    }
    case Length::kPointee: {
      std::uint32_t after = 0;
      if (args_[arg.ref] == 0 || !load(args_[arg.ref], after)) return 0;
      return smaller(capacity, std::uint64_t{after} * (arg.size == 0 ? 1 : arg.size));
    }
    case Length::kIfFits:
      return result <= capacity ? result : 0;
    case Length::kRequest:
      return result > 0 ? smaller(capacity, result) : capacity;
    case Length::kSelfSize: {
      std::uint32_t size = 0;
      return load(address, size) ? smaller(capacity, size) : 0;
    }
    case Length::kFileHandle:
      return result_ < 0 ? 8 : capacity;
    default:
      return capacity;
  }
}

void Walk::walk_write(int index, const Arg& arg) {
  const std::uint64_t address = args_[index];
  if (arg.when == When::kTooBig) return emit(address, 4);
  switch (arg.length) {
    case Length::kIovec:
      return walk_iovecs(address, value_of(arg.ref), transferred());
    case Length::kMsghdr:
      return write_message(address, transferred(), 0);
    case Length::kMmsghdr:
      return write_messages(address, value_of(arg.ref), arg.kind == ArgKind::kMmsghdrOut);
    case Length::kPollfd: {
      const std::uint64_t count = smaller(value_of(arg.ref), kMaxPollfds);
      for (std::uint64_t i = 0; i < count; ++i) emit(address + i * kPollfdSize + kPollfdRevents, 2);
      return;
    }
    case Length::kSiginfoWait:
      emit(address, 12);       // si_signo, si_errno, si_code
      emit(address + 16, 12);  // si_pid, si_uid, si_status
      return;
    case Length::kXattrArgs: {
      std::uint64_t value = 0;
      std::uint32_t size = 0;
      if (load(address, value) && load(address + 8, size)) emit(value, smaller(size, transferred()));
      return;
    }
    case Length::kNested:
      return write_nested(*this, index);
    case Length::kRequest:
      if (arg.kind == ArgKind::kByRequest && !ioctl_writes(args_[1])) return;
      break;
    default:
      break;
  }
  emit(address, written_size(arg, address));
}

void Walk::walk_read(int index, const Arg& arg) {
  const std::uint64_t address = args_[index];
  switch (arg.kind) {
    case ArgKind::kPath:
      return read_string(address, kMaxPath);
    case ArgKind::kString:
      return read_string(address, kMaxString);
    case ArgKind::kStringArray:
      return read_strings(address);
    case ArgKind::kIovecIn:
      emit(address, smaller(value_of(arg.ref), kMaxIovecs) * kIovecSize);
      return walk_iovecs(address, value_of(arg.ref), ~std::uint64_t{0});
    case ArgKind::kIovecOut:
      return emit(address, smaller(value_of(arg.ref), kMaxIovecs) * kIovecSize);
    case ArgKind::kMsghdrIn:
      return read_message(address, true);
    case ArgKind::kMsghdrOut:
      return read_message(address, false);
    case ArgKind::kMmsghdrIn:
    case ArgKind::kMmsghdrOut: {
      const std::uint64_t count = smaller(value_of(arg.ref), kMaxMessages);
      for (std::uint64_t i = 0; i < count; ++i) {
        read_message(address + i * kMmsghdrSize, arg.kind == ArgKind::kMmsghdrIn);
      }
      return;
    }
    case ArgKind::kLengthInOut:
      return emit(address, 4);
    case ArgKind::kByRequest:
      if (ioctl_reads(args_[1])) emit(address, ioctl_size(args_[1]));
      return;
    case ArgKind::kIn:
    case ArgKind::kInOut:
    case ArgKind::kSigsetIn:
      break;
    default:
      return;
  }
  switch (arg.length) {
    case Length::kPollfd:
      return emit(address, value_of(arg.ref) * kPollfdSize);
    case Length::kXattrArgs:
      return emit(address, value_of(arg.ref));
    case Length::kNested:
      return read_nested(*this, index);
    default:
      return emit(address, capacity_of(arg, address));
  }
}

std::uint64_t Walk::transferred() const {
  if (goal_ == Goal::kWritable) return ~std::uint64_t{0};
  return result_ > 0 ? static_cast<std::uint64_t>(result_) : 0;
}

void Walk::walk_iovecs(std::uint64_t address, std::uint64_t count, std::uint64_t bytes) {
  if (count > kMaxIovecs) return;
  for (std::uint64_t i = 0; i < count && bytes > 0; ++i) {
    std::uint64_t iovec[2];
    if (!load(address + i * kIovecSize, iovec)) return;
    const std::uint64_t here = smaller(iovec[1], bytes);
    emit(iovec[0], here);
    bytes -= here;
  }
}

// struct user_msghdr: name 0, namelen 8, iov 16, iovlen 24, control 32, controllen 40, flags 48.
void Walk::write_message(std::uint64_t address, std::uint64_t bytes, std::size_t message) {
  MessageHeader header;
  if (!load(address, header)) return;
  if (header.name != 0) {
    std::uint64_t size = header.name_length;
    if (goal_ == Goal::kWritten && before_ != nullptr && before_->captured) {
      size = smaller(size, before_->name_lengths[message]);
    }
    emit(header.name, size);
    emit(address + 8, 4);
  }
  walk_iovecs(header.iov, header.iov_count, bytes);
  if (goal_ == Goal::kWritable) {
    if (header.control != 0) emit(header.control, header.control_length);
  } else {
    write_control(header.control, header.control_length);
  }
  emit(address + 40, 8);
  emit(address + 48, 4);
}

// Control messages, without the gaps that align them: cmsghdr has its length in its first 8 bytes.
void Walk::write_control(std::uint64_t address, std::uint64_t length) {
  std::uint64_t offset = 0;
  while (address != 0 && offset + 16 <= length) {
    std::uint64_t size = 0;
    if (!load(address + offset, size) || size < 16) return;
    emit(address + offset, smaller(size, length - offset));
    const std::uint64_t step = (size + 7) & ~std::uint64_t{7};
    if (step < size || step > length - offset) return;
    offset += step;
  }
}

void Walk::write_messages(std::uint64_t address, std::uint64_t count, bool received) {
  count = smaller(count, kMaxMessages);
  if (goal_ == Goal::kWritten) count = smaller(count, transferred());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t message = address + i * kMmsghdrSize;
    if (received) {
      std::uint64_t bytes = ~std::uint64_t{0};
      if (goal_ == Goal::kWritten) {
        std::uint32_t length = 0;
        if (!load(message + kMmsghdrLength, length)) return;
        bytes = length;
      }
      write_message(message, bytes, i);
    }
    emit(message + kMmsghdrLength, 4);
  }
}

void Walk::read_message(std::uint64_t address, bool sent) {
  MessageHeader header;
  emit(address, sizeof(header));
  if (!load(address, header)) return;
  emit(header.iov, smaller(header.iov_count, kMaxIovecs) * kIovecSize);
  if (!sent) return;
  if (header.name != 0) emit(header.name, header.name_length);
  if (header.control != 0) emit(header.control, header.control_length);
  walk_iovecs(header.iov, header.iov_count, ~std::uint64_t{0});
}

void Walk::read_string(std::uint64_t address, std::uint64_t limit) {
  constexpr std::uint64_t kChunk =
      64;  // divides a page: no read crosses into one that the string does not reach
  char chunk[kChunk];
  std::uint64_t length = 0;
  while (length < limit) {
    const std::uint64_t size = kChunk - (address + length) % kChunk;
    if (!reader_.read(reader_.context, address + length, chunk, size)) {
      complete_ = false;
      break;
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      if (chunk[i] == 0) return emit(address, length + i + 1);
    }
    length += size;
  }
  emit(address, smaller(length, limit));
}

void Walk::read_strings(std::uint64_t address) {
  std::uint64_t count = 0;
  for (; count < kMaxStrings; ++count) {
    std::uint64_t string = 0;
    if (!load(address + count * 8, string)) break;
    if (string == 0) {
      ++count;
      break;
    }
    read_string(string, kMaxString);
  }
  emit(address, count * 8);
}

void Walk::emit(std::uint64_t address, std::uint64_t size) {
  if (address == 0 || size == 0) return;
  visitor_.visit(visitor_.context, Range{address, size, arg_});
}

bool Walk::load_bytes(std::uint64_t address, void* to, std::size_t size) {
  if (reader_.read(reader_.context, address, to, size)) return true;
  complete_ = false;
  return false;
}

}  // namespace detail

namespace {

using detail::Goal;
using detail::Walk;

const CommandRow* command_of(const SyscallRow* row, const std::uint64_t (&args)[kMaxArgs]) {
  if (row == nullptr || row->commands == Commands::kNone) return nullptr;
  const CommandRow* command = find_command(*row, args);
  return command != nullptr ? command : guessed_command(row->commands);
}

bool walk(Goal goal, int nr, const std::uint64_t (&args)[kMaxArgs], std::int64_t result, const Before* before,
          const Reader& reader, const Visitor& visitor) {
  const SyscallRow* row = find(nr);
  return Walk(goal, row, command_of(row, args), args, result, before, reader, visitor).run();
}

}  // namespace

bool capture_before(int nr, const std::uint64_t (&args)[kMaxArgs], const Reader& reader, Before& before) {
  before.captured = false;
  const SyscallRow* row = find(nr);
  if (row == nullptr) return false;
  auto load = [&](std::uint64_t address, std::uint32_t& value) {
    return address != 0 && reader.read(reader.context, address, &value, sizeof(value));
  };
  bool complete = true;
  for (unsigned left = row->reads & row->writes; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Arg& arg = row->args[i];
    before.lengths[i] = 0;
    if (args[i] == 0) continue;
    if (arg.kind == ArgKind::kLengthInOut) complete &= load(args[i], before.lengths[i]);
    if (arg.kind == ArgKind::kInOut && arg.length == Length::kNested)
      complete &= load(args[i], before.header_word);
    if (arg.kind != ArgKind::kMsghdrOut && arg.kind != ArgKind::kMmsghdrOut) continue;
    const bool one = arg.kind == ArgKind::kMsghdrOut;
    const std::uint64_t given = one ? 1 : static_cast<std::uint32_t>(args[arg.ref]);
    const std::uint64_t count = given < kMaxMessages ? given : kMaxMessages;
    for (std::uint64_t message = 0; message < count; ++message) {
      std::uint32_t length = 0;
      complete &= load(args[i] + message * kMmsghdrSize + 8, length);
      before.name_lengths[message] = static_cast<std::uint8_t>(length < 255 ? length : 255);
    }
  }
  before.captured = complete;
  return complete;
}

bool for_each_read(int nr, const std::uint64_t (&args)[kMaxArgs], const Reader& reader,
                   const Visitor& visitor, const Before* before) {
  return walk(Goal::kRead, nr, args, 0, before, reader, visitor);
}

bool for_each_writable(int nr, const std::uint64_t (&args)[kMaxArgs], const Reader& reader,
                       const Visitor& visitor, const Before* before) {
  return walk(Goal::kWritable, nr, args, 0, before, reader, visitor);
}

bool for_each_written(int nr, const std::uint64_t (&args)[kMaxArgs], std::int64_t result,
                      const Before* before, const Reader& reader, const Visitor& visitor) {
  return walk(Goal::kWritten, nr, args, result, before, reader, visitor);
}

}  // namespace detrec::syscalls
