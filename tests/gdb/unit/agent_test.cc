// Agent expressions.
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "gdbstub/agent/condition.h"
#include "gdbstub/agent/evaluate.h"
#include "tests/gdb/unit/fake_target.h"

namespace detrec::gdbstub::agent {
namespace {

class TestMachine : public Machine {
 public:
  std::map<std::uint32_t, std::uint64_t> registers;
  std::map<std::uint64_t, std::uint8_t> memory;

  Result<std::uint64_t> read_register(RegisterNumber number) override {
    if (!registers.contains(number.value)) return Error{EINVAL, "no such register"};
    return registers[number.value];
  }
  Status read_memory(Address address, std::span<std::uint8_t> out) override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!memory.contains(address.value + i)) return Error{EFAULT, "not mapped"};
      out[i] = memory[address.value + i];
    }
    return Done{};
  }
};

std::uint64_t value_of(const Bytecode& code, TestMachine machine = {}) {
  const auto value = evaluate(code, machine);
  if (!value) {
    ADD_FAILURE() << to_string(value.error());
    return 0xdead;
  }
  return value.value();
}

int error_of(const Bytecode& code) {
  TestMachine machine;
  const auto value = evaluate(code, machine);
  return value ? 0 : value.error().code;
}

constexpr std::uint64_t kMinusTwo = ~std::uint64_t{1};
// Constants are zero-extended: const8 0xfe, ext 8 is -2.
#define MINUS_TWO 0x22, 0xfe, 0x16, 8

TEST(Evaluate, Constants) {
  EXPECT_EQ(value_of({0x22, 0xff, 0x27}), 0xffu);
  EXPECT_EQ(value_of({0x23, 0x12, 0x34, 0x27}), 0x1234u);
  EXPECT_EQ(value_of({0x24, 0x12, 0x34, 0x56, 0x78, 0x27}), 0x12345678u);
  EXPECT_EQ(value_of({0x25, 1, 2, 3, 4, 5, 6, 7, 8, 0x27}), 0x0102030405060708u);
  EXPECT_EQ(value_of({MINUS_TWO, 0x27}), kMinusTwo);
  EXPECT_EQ(value_of({MINUS_TWO, 0x2a, 16, 0x27}), 0xfffeu);
}

TEST(Evaluate, Arithmetic) {
  const auto binary = [](std::uint8_t opcode) { return value_of({MINUS_TWO, 0x22, 7, opcode, 0x27}); };
  EXPECT_EQ(binary(0x02), 5u);
  EXPECT_EQ(binary(0x03), static_cast<std::uint64_t>(-9));
  EXPECT_EQ(binary(0x04), static_cast<std::uint64_t>(-14));
  EXPECT_EQ(binary(0x05), 0u);
  EXPECT_EQ(binary(0x06), kMinusTwo / 7);
  EXPECT_EQ(binary(0x07), kMinusTwo);
  EXPECT_EQ(binary(0x08), kMinusTwo % 7);
  EXPECT_EQ(binary(0x09), kMinusTwo << 7);
  EXPECT_EQ(binary(0x0a), ~std::uint64_t{0});
  EXPECT_EQ(binary(0x0b), kMinusTwo >> 7);
  EXPECT_EQ(binary(0x0f), 6u);
  EXPECT_EQ(binary(0x10), ~std::uint64_t{0});
  EXPECT_EQ(binary(0x11), ~std::uint64_t{6});
  EXPECT_EQ(binary(0x13), 0u);
  EXPECT_EQ(binary(0x14), 1u);
  EXPECT_EQ(binary(0x15), 0u);
  EXPECT_EQ(value_of({0x22, 0, 0x0e, 0x27}), 1u);
  EXPECT_EQ(value_of({0x22, 5, 0x0e, 0x27}), 0u);
  EXPECT_EQ(value_of({0x22, 0, 0x12, 0x27}), ~std::uint64_t{0});
  EXPECT_EQ(value_of({0x22, 1, 0x22, 200, 0x09, 0x27}), 0u);
  EXPECT_EQ(value_of({MINUS_TWO, 0x22, 200, 0x0a, 0x27}), ~std::uint64_t{0});
}

TEST(Evaluate, TheSmallestNumberByMinusOne) {
  const Bytecode quotient{0x25, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x22, 0xff, 0x16, 8, 0x05, 0x27};
  EXPECT_EQ(value_of(quotient), std::uint64_t{1} << 63);
  auto remainder = quotient;
  remainder[13] = 0x07;
  EXPECT_EQ(value_of(remainder), 0u);
}

TEST(Evaluate, Stack) {
  EXPECT_EQ(value_of({0x22, 1, 0x28, 0x02, 0x27}), 2u);
  EXPECT_EQ(value_of({0x22, 1, 0x22, 2, 0x29, 0x27}), 1u);
  EXPECT_EQ(value_of({0x22, 1, 0x22, 2, 0x2b, 0x03, 0x27}), 1u);
  EXPECT_EQ(value_of({0x22, 9, 0x22, 2, 0x32, 1, 0x27}), 9u);
  // 1 2 3 rot: 3 1 2
  EXPECT_EQ(value_of({0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x27}), 2u);
  EXPECT_EQ(value_of({0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x29, 0x27}), 1u);
  EXPECT_EQ(value_of({0x22, 1, 0x22, 2, 0x22, 3, 0x33, 0x29, 0x29, 0x27}), 3u);
}

TEST(Evaluate, Jumps) {
  // if (1) 5 else 6
  EXPECT_EQ(value_of({0x22, 1, 0x20, 0, 8, 0x22, 6, 0x27, 0x22, 5, 0x27}), 5u);
  EXPECT_EQ(value_of({0x22, 0, 0x20, 0, 8, 0x22, 6, 0x27, 0x22, 5, 0x27}), 6u);
  EXPECT_EQ(value_of({0x21, 0, 4, 0x27, 0x22, 5, 0x27}), 5u);
}

TEST(Evaluate, RegistersAndMemory) {
  TestMachine machine;
  machine.registers = {{6, 0x100}};
  for (std::uint8_t i = 0; i < 8; ++i) machine.memory[0x100 + i] = static_cast<std::uint8_t>(0x11 * (i + 1));
  EXPECT_EQ(value_of({0x26, 0, 6, 0x17, 0x27}, machine), 0x11u);
  EXPECT_EQ(value_of({0x26, 0, 6, 0x18, 0x27}, machine), 0x2211u);
  EXPECT_EQ(value_of({0x26, 0, 6, 0x19, 0x27}, machine), 0x44332211u);
  EXPECT_EQ(value_of({0x26, 0, 6, 0x1a, 0x27}, machine), 0x8877665544332211u);
}

TEST(Evaluate, Errors) {
  EXPECT_EQ(error_of({}), EINVAL);
  EXPECT_EQ(error_of({0x27}), EINVAL);                          // an empty stack
  EXPECT_EQ(error_of({0x22, 1}), EINVAL);                       // no end
  EXPECT_EQ(error_of({0x25, 1}), EINVAL);                       // a cut operand
  EXPECT_EQ(error_of({0x22, 1, 0x22, 0, 0x05, 0x27}), EINVAL);  // division by zero
  EXPECT_EQ(error_of({0x22, 1, 0x22, 0, 0x08, 0x27}), EINVAL);
  EXPECT_EQ(error_of({0x21, 0, 0}), EINVAL);           // for ever
  EXPECT_EQ(error_of({0x22, 1, 0x21, 0, 0}), EINVAL);  // for ever, with a growing stack
  EXPECT_EQ(error_of({0x21, 0, 9, 0x27}), EINVAL);     // out of it
  EXPECT_EQ(error_of({0x22, 1, 0x16, 0, 0x27}), EINVAL);
  EXPECT_EQ(error_of({0x22, 1, 0x16, 65, 0x27}), EINVAL);
  EXPECT_EQ(error_of({0x22, 1, 0x32, 1, 0x27}), EINVAL);
  EXPECT_EQ(error_of({0x34}), EINVAL);
  EXPECT_EQ(error_of({0x01}), EINVAL);
  EXPECT_EQ(error_of({0x22, 1, 0x17, 0x27}), EFAULT);
  EXPECT_EQ(error_of({0x26, 0, 1, 0x27}), EINVAL);
}

TEST(ShouldStop, AnyConditionOrNone) {
  TestMachine machine;
  const Bytecode no{0x22, 0, 0x27}, yes{0x22, 1, 0x27}, broken{0x27};
  const auto stops = [&machine](const std::vector<Bytecode>& conditions) {
    return should_stop(conditions, machine);
  };
  EXPECT_TRUE(stops({}));
  EXPECT_FALSE(stops({no}));
  EXPECT_TRUE(stops({no, yes}));
  EXPECT_TRUE(stops({broken}));
}

TEST(TargetMachine, ReadsGdbsRegisterNumbers) {
  FakeTarget target;
  target.memory[4] = 77;
  const registers::Layout layout(VectorLevel::kSse);
  Registers values;
  values[Gpr::kRbp] = 0x1004;
  values.rflags = 0x100000246;
  TargetMachine machine(target, {100}, layout, values);
  EXPECT_EQ(evaluate(Bytecode{0x26, 0, 6, 0x17, 0x27}, machine).value(), 77u);
  EXPECT_EQ(machine.read_register({17}).value(), 0x246u);
  EXPECT_FALSE(machine.read_register({40}));  // xmm0 does not fit
  EXPECT_FALSE(machine.read_register({999}));
  values.known.general = false;
  EXPECT_FALSE(machine.read_register({6}));
  std::array<std::uint8_t, 8> out{};
  EXPECT_FALSE(machine.read_memory({0x1ffc}, out));
}

}  // namespace
}  // namespace detrec::gdbstub::agent
