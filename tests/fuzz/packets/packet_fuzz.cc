// Feeds the gdb stub, over a toy target, with packets that are nearly right and with bytes that are not.
//
//   packet_fuzz [INPUTS [SEED]]     prints what it did; stops at the first input after which the stub is
//   wrong
//
// After each input the stub must have sent nothing but well-formed packets, not more stop replies than there
// were resumes, and must answer a harmless packet. Also a libFuzzer target: LLVMFuzzerTestOneInput.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gdbstub/packet/framer.h"
#include "gdbstub/session/session.h"
#include "tests/gdb/toy/toy_target.h"

namespace {

using namespace detrec::gdbstub;

/// Twenty instructions, each of which changes a byte.
toy::Recording small_recording() {
  toy::Recording recording;
  recording.process = {{100}, {1}, "toy", {"toy"}, {}, "/", "/proc/self/exe", {}};
  const Mapping code{{{0x400000}, {0x401000}}, true, false, true};
  const Mapping data{{{0x500000}, {0x502000}}, true, true, false};
  const Mapping hidden{{{0x600000}, {0x601000}}};
  recording.process.mappings = {code, data, hidden};
  recording.regions = {{code, std::vector<std::uint8_t>(0x1000, 0x90)},
                       {data, std::vector<std::uint8_t>(0x2000)},
                       {hidden, {}}};
  recording.auxv.resize(64);
  for (std::uint64_t i = 0; i < 20; ++i) {
    toy::Step step;
    step.registers.rip = 0x400000 + i % 7;
    step.registers[Gpr::kRsp] = 0x500800;
    step.writes = {
        {{0x500000 + i % 3}, {static_cast<std::uint8_t>(i / 3)}, {static_cast<std::uint8_t>(i / 3 + 1)}}};
    step.traps = i == 15;
    recording.steps.push_back(step);
  }
  return recording;
}

constexpr std::string_view kPackets[] = {"qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386",
                                         "QStartNoAckMode",
                                         "?",
                                         "!",
                                         "g",
                                         "p10",
                                         "P10=0000000000000000",
                                         "G00",
                                         "m400000,10",
                                         "m500ff0,2000",
                                         "x500000,ffffffff",
                                         "M500000,2:0102",
                                         "X500000,4:ab#}",
                                         "Hgp64.65",
                                         "Hgp0.0",
                                         "Hc-1",
                                         "Tp64.64",
                                         "qC",
                                         "qfThreadInfo",
                                         "qsThreadInfo",
                                         "qThreadExtraInfo,p64.65",
                                         "vCont?",
                                         "vCont;c",
                                         "vCont;s:p64.64;c",
                                         "vCont;r400000,400004:p64.64;c:p64.-1",
                                         "vCont;C05:p64.64",
                                         "vCont;t",
                                         "c",
                                         "s",
                                         "C05",
                                         "S0b;400001",
                                         "bc",
                                         "bs",
                                         "Z0,400003,1",
                                         "z0,400003,1",
                                         "Z0,400002,1;X7,26001022012027",
                                         "Z1,400001,1",
                                         "Z2,500001,1",
                                         "z2,500001,1",
                                         "Z3,500000,3",
                                         "Z4,500000,1000",
                                         "Z2,ffffffffffffffff,1",
                                         "QPassSignals:e;10;14",
                                         "QProgramSignals:0;1",
                                         "qXfer:features:read:target.xml:0,1fff",
                                         "qXfer:threads:read::0,1fff",
                                         "qXfer:libraries-svr4:read::0,1fff",
                                         "qXfer:auxv:read::0,1000",
                                         "qXfer:exec-file:read:64:0,100",
                                         "qXfer:siginfo:read::0,80",
                                         "qXfer:siginfo:write::0:abcd",
                                         "qXfer:auxv:read::ffffffffffffffff,10",
                                         "vFile:setfs:0",
                                         "vFile:setfs:64",
                                         "vFile:open:2f70726f632f3130302f6d617073,0,0",
                                         "vFile:open:2f6465762f7a65726f,0,0",
                                         "vFile:pread:0,100,0",
                                         "vFile:pread:1,ffffffffff,5",
                                         "vFile:fstat:0",
                                         "vFile:close:0",
                                         "vFile:readlink:2f70726f632f3130302f657865",
                                         "vFile:pwrite:0,0,abc",
                                         "qRcmd,7768656e",
                                         "qRcmd,7365656b2035",
                                         "qRcmd,7365656b20313939",

                                         "qSearch:memory:500000;1000;ab",
                                         "qMemoryRegionInfo:500000",
                                         "D;64",
                                         "k",
                                         "vKill;64",
                                         "vRun;",
                                         "R00",
                                         "QNonStop:1",
                                         "qHostInfo",
                                         "qProcessInfo",
                                         "QThreadSuffixSupported",
                                         "vMustReplyEmpty",
                                         "qTStatus",
                                         "qSymbol::",
                                         "qAttached:64"};

/// Collects what is sent and looks at its form.
class CheckedLink : public Link {
 public:
  void send(std::string bytes) override { sent_ += bytes; }
  void close() override { closed_ = true; }
  bool closed() const { return closed_; }

  /// Takes the packets out; false if there was anything but packets and acknowledgements.
  bool take(std::vector<std::string>& payloads) {
    auto text = std::exchange(sent_, {});
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '+' || text[at] == '-') {
        ++at;
        continue;
      }
      const auto hash = text.find('#', at);
      if (text[at] != '$' || hash == std::string::npos || hash + 2 >= text.size()) return false;
      const auto payload = text.substr(at + 1, hash - at - 1);
      if (payload.size() > packet::kMaxPacket || packet::frame(payload) != text.substr(at, hash + 3 - at))
        return false;
      payloads.push_back(payload);
      at = hash + 3;
    }
    return true;
  }

 private:
  std::string sent_;
  bool closed_ = false;
};

class Stub {
 public:
  Stub() { connect(); }

  /// Null if all is well, else what is wrong.
  const char* feed(std::string_view input, std::mt19937_64& random) {
    while (!input.empty()) {
      const auto count = std::min<std::size_t>(input.size(), 1 + random() % 64);
      if (session_.connected()) session_.receive(input.substr(0, count));
      input.remove_prefix(count);
      if (random() % 4 == 0) io_.poll_one();
    }
    settle();
    if (link_->closed()) reconnect();
    return probe();
  }

  void reconnect() {
    session_.disconnect();
    settle();
    connect();
  }

  std::size_t replies() const { return replies_; }

 private:
  void connect() {
    link_ = std::make_shared<CheckedLink>();
    session_.connect(link_);
  }

  void settle() {
    io_.restart();
    // A run of the toy is short; what does not end here never does.
    for (int i = 0; i < 10'000 && io_.poll() != 0; ++i) io_.restart();
  }

  const char* probe() {
    std::vector<std::string> before;
    if (!link_->take(before)) return "malformed output";
    replies_ += before.size();
    // Ends a packet that was cut off, of which it may be a part, and what that starts.
    session_.receive("#00");
    settle();
    if (link_->closed()) reconnect();
    std::vector<std::string> between;
    if (!link_->take(between)) return "malformed output";
    session_.receive(packet::frame("vMustReplyEmpty"));
    std::vector<std::string> answer;
    if (!link_->take(answer)) return "malformed output";
    return answer.size() == 1 && answer[0].empty() ? nullptr : "no answer any more";
  }

  asio::io_context io_;
  toy::ToyTarget target_{io_, small_recording(), {}};
  Session session_{target_};
  std::shared_ptr<CheckedLink> link_;
  std::size_t replies_ = 0;
};

std::string mutate(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kInteresting = "#$}*:;,.-+\x03=0fpXr";
  for (auto count = random() % 4; count > 0 && !text.empty(); --count) {
    const auto at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 4);
        break;
      case 2:
        text.insert(at, 1, kInteresting[random() % kInteresting.size()]);
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 20));
        break;
      default:
        text.insert(at, random() % 20, "0f8-"[random() % 4]);
        break;
    }
  }
  return text;
}

std::string one_packet(std::mt19937_64& random) {
  auto payload = std::string(kPackets[random() % std::size(kPackets)]);
  if (random() % 2 == 0) payload = mutate(std::move(payload), random);
  auto text = packet::frame(random() % 4 == 0 ? payload : packet::escape(payload));
  if (random() % 16 == 0) text = mutate(std::move(text), random);
  if (random() % 16 == 0) text += '\x03';
  return text;
}

std::string one_input(std::mt19937_64& random) {
  std::string text;
  if (random() % 16 == 0) {
    text.resize(random() % 200);
    for (auto& c : text) c = static_cast<char>(random());
    return text;
  }
  for (auto count = 1 + random() % 6; count > 0; --count) text += one_packet(random);
  return text;
}

void print_bytes(std::string_view bytes) {
  for (const char c : bytes) {
    const bool plain = c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
    std::printf(plain ? "%c" : "\\x%02x", plain ? c : static_cast<unsigned char>(c));
  }
  std::printf("\n");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::mt19937_64 random(size);
  Stub stub;
  if (stub.feed({reinterpret_cast<const char*>(data), size}, random) != nullptr) std::abort();
  return 0;
}

#ifndef DETREC_LIBFUZZER
int main(int argc, char** argv) {
  const auto inputs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::mt19937_64 random(seed);
  auto stub = std::make_unique<Stub>();
  std::size_t replies = 0;
  for (unsigned long long i = 0; i < inputs; ++i) {
    // One connection gets many inputs, one stub many connections.
    if (random() % 50 == 0) stub->reconnect();
    if (random() % 500 == 0) {
      replies += stub->replies();
      stub = std::make_unique<Stub>();
    }
    const auto input = one_input(random);
    if (const auto* wrong = stub->feed(input, random)) {
      std::printf("input %llu of seed %llu: %s\n", i, seed, wrong);
      print_bytes(input);
      return 1;
    }
  }
  replies += stub->replies();
  std::printf("%llu inputs, seed %llu: %zu packets answered\n", inputs, seed, replies);
  return replies > inputs / 2 ? 0 : 1;
}
#endif
