#include "gdbstub/agent/evaluate.h"

#include <array>
#include <cerrno>
#include <optional>

#include "gdbstub/agent/opcodes.h"

namespace detrec::gdbstub::agent {

namespace {

constexpr std::size_t kMaxStack = 256;

Error malformed(const char* why) { return {EINVAL, std::string("agent expression: ") + why}; }

std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// One evaluation. Every function of a step sets error_ instead of returning one.
class Evaluation {
 public:
  Evaluation(std::span<const std::uint8_t> code, Machine& machine) : code_(code), machine_(machine) {}

  Result<std::uint64_t> run() {
    for (std::size_t count = 0; count < kMaxInstructions && !error_ && !value_; ++count) {
      step(static_cast<Opcode>(immediate(1)));
    }
    if (error_) return *error_;
    if (!value_) return malformed("it does not end");
    return *value_;
  }

 private:
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  /// A big-endian operand from the code.
  std::uint64_t immediate(std::size_t size) {
    std::uint64_t value = 0;
    if (code_.size() - pc_ < size) {
      fail(malformed("it ends inside an instruction"));
      return 0;
    }
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | code_[pc_++];
    return value;
  }

  void push(std::uint64_t value) {
    if (depth_ == kMaxStack) return fail(malformed("the stack is full"));
    stack_[depth_++] = value;
  }
  std::uint64_t pop() {
    if (depth_ == 0) {
      fail(malformed("the stack is empty"));
      return 0;
    }
    return stack_[--depth_];
  }
  void push_result(Result<std::uint64_t> result) {
    if (!result) return fail(result.error());
    push(result.value());
  }

  void jump(std::uint64_t target) {
    if (target >= code_.size()) return fail(malformed("a jump leaves it"));
    pc_ = static_cast<std::size_t>(target);
  }

  /// Replaces an address by what lies there, little endian.
  void load(std::size_t size) {
    std::array<std::uint8_t, 8> bytes{};
    const auto status = machine_.read_memory({pop()}, std::span(bytes).first(size));
    if (!status) return fail(status.error());
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
    push(value);
  }

  void extend(bool is_signed) {
    const auto bits = immediate(1);
    if (bits == 0 || bits > 64) return fail(malformed("a width is not 1 to 64"));
    const auto shift = 64 - bits;
    const auto up = pop() << shift;
    push(is_signed ? static_cast<std::uint64_t>(as_signed(up) >> shift) : up >> shift);
  }

  void divide(Opcode opcode) {
    const auto b = pop();
    const auto a = pop();
    if (b == 0) return fail(malformed("division by zero"));
    const bool by_minus_one = b == ~std::uint64_t{0};  // INT64_MIN / -1 would trap
    switch (opcode) {
      case Opcode::kDivSigned:
        return push(by_minus_one ? 0 - a : static_cast<std::uint64_t>(as_signed(a) / as_signed(b)));
      case Opcode::kRemSigned:
        return push(by_minus_one ? 0 : static_cast<std::uint64_t>(as_signed(a) % as_signed(b)));
      case Opcode::kDivUnsigned:
        return push(a / b);
      default:
        return push(a % b);
    }
  }

  void shift(Opcode opcode) {
    const auto count = pop();
    const auto value = pop();
    const bool all = count >= 64;
    switch (opcode) {
      case Opcode::kLsh:
        return push(all ? 0 : value << count);
      case Opcode::kRshUnsigned:
        return push(all ? 0 : value >> count);
      default:
        return push(static_cast<std::uint64_t>(as_signed(value) >> (all ? 63 : count)));
    }
  }

  void binary(Opcode opcode) {
    const auto b = pop();
    const auto a = pop();
    switch (opcode) {
      case Opcode::kAdd:
        return push(a + b);
      case Opcode::kSub:
        return push(a - b);
      case Opcode::kMul:
        return push(a * b);
      case Opcode::kBitAnd:
        return push(a & b);
      case Opcode::kBitOr:
        return push(a | b);
      case Opcode::kBitXor:
        return push(a ^ b);
      case Opcode::kEqual:
        return push(a == b);
      case Opcode::kLessSigned:
        return push(as_signed(a) < as_signed(b));
      default:
        return push(a < b);  // kLessUnsigned
    }
  }

  void rearrange(Opcode opcode) {
    const auto c = pop();
    switch (opcode) {
      case Opcode::kPop:
        return;
      case Opcode::kDup:
        push(c);
        return push(c);
      case Opcode::kSwap: {
        const auto b = pop();
        push(c);
        return push(b);
      }
      default: {  // kRot: a b c -> c a b
        const auto b = pop();
        const auto a = pop();
        push(c);
        push(a);
        return push(b);
      }
    }
  }

  void pick() {
    const auto index = immediate(1);
    if (index >= depth_) return fail(malformed("a pick goes below the stack"));
    push(stack_[depth_ - 1 - index]);
  }

  void step(Opcode opcode) {
    if (error_) return;
    switch (opcode) {
      case Opcode::kAdd:
      case Opcode::kSub:
      case Opcode::kMul:
      case Opcode::kBitAnd:
      case Opcode::kBitOr:
      case Opcode::kBitXor:
      case Opcode::kEqual:
      case Opcode::kLessSigned:
      case Opcode::kLessUnsigned:
        return binary(opcode);
      case Opcode::kDivSigned:
      case Opcode::kDivUnsigned:
      case Opcode::kRemSigned:
      case Opcode::kRemUnsigned:
        return divide(opcode);
      case Opcode::kLsh:
      case Opcode::kRshSigned:
      case Opcode::kRshUnsigned:
        return shift(opcode);
      case Opcode::kLogNot:
        return push(pop() == 0);
      case Opcode::kBitNot:
        return push(~pop());
      case Opcode::kExt:
        return extend(true);
      case Opcode::kZeroExt:
        return extend(false);
      case Opcode::kRef8:
        return load(1);
      case Opcode::kRef16:
        return load(2);
      case Opcode::kRef32:
        return load(4);
      case Opcode::kRef64:
        return load(8);
      case Opcode::kIfGoto: {
        const auto target = immediate(2);
        if (pop() != 0) jump(target);
        return;
      }
      case Opcode::kGoto:
        return jump(immediate(2));
      case Opcode::kConst8:
        return push(immediate(1));
      case Opcode::kConst16:
        return push(immediate(2));
      case Opcode::kConst32:
        return push(immediate(4));
      case Opcode::kConst64:
        return push(immediate(8));
      case Opcode::kReg:
        return push_result(machine_.read_register({static_cast<std::uint32_t>(immediate(2))}));
      case Opcode::kDup:
      case Opcode::kPop:
      case Opcode::kSwap:
      case Opcode::kRot:
        return rearrange(opcode);
      case Opcode::kPick:
        return pick();
      case Opcode::kEnd:
        value_ = pop();
        return;
      default:
        return fail(malformed("an instruction that conditions do not have"));
    }
  }

  std::span<const std::uint8_t> code_;
  Machine& machine_;
  std::size_t pc_ = 0;
  std::array<std::uint64_t, kMaxStack> stack_{};
  std::size_t depth_ = 0;
  std::optional<Error> error_;
  std::optional<std::uint64_t> value_;
};

}  // namespace

Result<std::uint64_t> evaluate(std::span<const std::uint8_t> bytecode, Machine& machine) {
  return Evaluation(bytecode, machine).run();
}

}  // namespace detrec::gdbstub::agent
