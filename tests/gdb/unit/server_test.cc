// The server over sockets and pipes; the protocol is not the subject here.
#include "gdbstub/net/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/gdb/unit/fake_target.h"

namespace detrec::gdbstub {
namespace {

using asio::ip::tcp;

struct ServerRig {
  asio::io_context io;
  FakeTarget target;
  Server server{io, target};
  std::uint16_t port = 0;

  void listen(std::function<void()> on_gone = {}, std::function<void()> on_refused = {}) {
    Server::ListenOptions options;
    options.port = 0;
    options.on_client_gone = std::move(on_gone);
    options.on_client_refused = std::move(on_refused);
    const auto result = server.listen(std::move(options));
    ASSERT_TRUE(result);
    port = result.value();
  }
  tcp::socket client() {
    tcp::socket socket(io);
    socket.connect({asio::ip::make_address("127.0.0.1"), port});
    return socket;
  }
  /// Lets the server work until `socket` has something or it is over.
  std::string receive(tcp::socket& socket) {
    std::string text(1000, '\0');
    std::size_t count = 0;
    bool done = false;
    socket.async_read_some(asio::buffer(text), [&](const asio::error_code&, std::size_t got) {
      count = got;
      done = true;
    });
    while (!done && io.run_one_for(std::chrono::seconds(10)) != 0) {
    }
    EXPECT_TRUE(done);
    text.resize(count);
    return text;
  }
};

TEST(Server, OneClientAfterTheOther) {
  ServerRig rig;
  int gone = 0;
  rig.listen([&gone] { ++gone; });
  for (int i = 1; i <= 3; ++i) {
    auto client = rig.client();
    asio::write(client, asio::buffer(std::string_view("$qC#b4")));
    auto text = rig.receive(client);
    if (text == "+") text += rig.receive(client);
    EXPECT_EQ(text, "+$QC64#fe");
    client.close();
    while (gone < i) ASSERT_NE(rig.io.run_one_for(std::chrono::seconds(10)), 0u);
  }
}

TEST(Server, SecondClientIsTurnedAway) {
  ServerRig rig;
  int refused = 0;
  rig.listen({}, [&] { ++refused; });
  auto first = rig.client();
  asio::write(first, asio::buffer(std::string_view("$qC#b4")));
  EXPECT_EQ(rig.receive(first).substr(0, 1), "+");
  EXPECT_EQ(refused, 0);
  auto second = rig.client();
  EXPECT_EQ(rig.receive(second), "");
  EXPECT_EQ(refused, 1);
}

TEST(Server, PortsInUseAndBadAddressesAreErrors) {
  ServerRig rig;
  rig.listen();
  Server other(rig.io, rig.target);
  Server::ListenOptions options;
  options.port = rig.port;
  EXPECT_FALSE(other.listen(options));
  options.address = "not an address";
  EXPECT_FALSE(other.listen(options));
}

TEST(Server, StopEndsTheLoop) {
  ServerRig rig;
  rig.listen();
  auto client = rig.client();
  asio::post(rig.io, [&rig] { rig.server.stop(); });
  rig.io.run_for(std::chrono::seconds(10));
  EXPECT_TRUE(rig.io.stopped());
}

TEST(Server, KillEndsTheConnectionOnly) {
  ServerRig rig;
  bool gone = false;
  rig.listen([&gone] { gone = true; });
  auto client = rig.client();
  asio::write(client, asio::buffer(std::string_view("$k#6b")));
  while (!gone) ASSERT_NE(rig.io.run_one_for(std::chrono::seconds(10)), 0u);
  auto next = rig.client();
  asio::write(next, asio::buffer(std::string_view("$?#3f")));
  EXPECT_EQ(rig.receive(next).substr(0, 1), "+");
}

// The loop, and what waits in it, goes last: nothing of that may reach the target.
TEST(Server, DiesBeforeTheTargetAndTheLoop) {
  asio::io_context io;
  tcp::socket client(io);
  {
    FakeTarget target;
    Server server(io, target);
    Server::ListenOptions options;
    options.port = 0;
    const auto port = server.listen(std::move(options));
    ASSERT_TRUE(port);
    client.connect({asio::ip::make_address("127.0.0.1"), port.value()});
    asio::write(client, asio::buffer(std::string_view("$vCont;c#a8")));
    while (target.requests.empty()) ASSERT_NE(io.run_one_for(std::chrono::seconds(10)), 0u);
  }
  io.poll();
  EXPECT_TRUE(io.stopped());
}

TEST(Server, PipesAndOneSocketForBoth) {
  for (const bool pipes : {true, false}) {
    asio::io_context io;
    FakeTarget target;
    Server server(io, target);
    int to[2], from[2];
    if (pipes) {
      ASSERT_EQ(::pipe(to), 0);
      ASSERT_EQ(::pipe(from), 0);
    } else {
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, to), 0);
      from[0] = to[1];
      from[1] = to[0];
    }
    bool ended = false;
    ASSERT_TRUE(server.serve(to[0], from[1], [&ended] { ended = true; }));
    ASSERT_EQ(::write(to[1], "$qC#b4", 6), 6);
    std::string text;
    while (text.size() < 9) {
      ASSERT_NE(io.run_one_for(std::chrono::seconds(10)), 0u);
      if (io.poll() == 0 && text.empty()) continue;
      char buffer[100];
      const auto count = ::read(from[0], buffer, sizeof buffer);
      ASSERT_GT(count, 0);
      text.append(buffer, static_cast<std::size_t>(count));
    }
    EXPECT_EQ(text, "+$QC64#fe");
    ::close(to[1]);
    while (!ended) ASSERT_NE(io.run_one_for(std::chrono::seconds(10)), 0u);
    if (pipes) ::close(from[0]);
  }
}

}  // namespace
}  // namespace detrec::gdbstub
