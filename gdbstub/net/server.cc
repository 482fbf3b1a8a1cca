#include "gdbstub/net/server.h"

#include <unistd.h>

#include <optional>

#include "gdbstub/net/connection.h"
#include "gdbstub/session/session.h"

namespace detrec::gdbstub {

using asio::ip::tcp;
using Descriptor = asio::posix::stream_descriptor;

/// The handlers that wait in the loop may outlive the Target; so they hold this weakly, and it dies with the
/// Server.
class Server::Impl : public std::enable_shared_from_this<Server::Impl> {
 public:
  Impl(asio::io_context& io, Target& target) : io_(io), session_(target) {}
  ~Impl() {
    if (const auto link = link_.lock()) link->cut();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<std::uint16_t> listen(ListenOptions options) {
    asio::error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) return Error{error.value(), error.message(), options.address};
    const tcp::endpoint endpoint(address, options.port);
    acceptor_.emplace(io_);
    acceptor_->open(endpoint.protocol(), error);
    if (!error) acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_->bind(endpoint, error);
    if (!error) acceptor_->listen(tcp::acceptor::max_listen_connections, error);
    if (error) {
      acceptor_.reset();
      return Error{error.value(), error.message(), options.address + " port " + std::to_string(options.port)};
    }
    on_client_gone_ = std::move(options.on_client_gone);
    on_client_refused_ = std::move(options.on_client_refused);
    const auto port = acceptor_->local_endpoint(error).port();
    accept();
    return port;
  }

  Status serve(int in, int out, std::function<void()> on_end) {
    if (session_.connected()) return Error{EBUSY, "a client is being served"};
    asio::error_code error;
    Descriptor input(io_);
    input.assign(in, error);
    if (error) return Error{error.value(), error.message(), "descriptor " + std::to_string(in)};
    // One descriptor can be registered with the loop once only.
    const int out_copy = out == in ? ::dup(out) : out;
    auto output = std::make_unique<Descriptor>(io_);
    output->assign(out_copy, error);
    if (error) return Error{error.value(), error.message(), "descriptor " + std::to_string(out)};
    begin(std::make_shared<net::Connection<Descriptor, Descriptor>>(std::move(input), std::move(output),
                                                                    session_, std::move(on_end)));
    return Done{};
  }

  void stop() {
    asio::error_code ignored;
    if (acceptor_) acceptor_->close(ignored);
    on_client_gone_ = {};
    if (const auto link = link_.lock()) link->close();
  }

 private:
  template <class C>
  void begin(const std::shared_ptr<C>& connection) {
    link_ = connection;
    connection->start();
  }

  void accept() {
    acceptor_->async_accept([weak = weak_from_this()](const asio::error_code& error, tcp::socket socket) {
      const auto self = weak.lock();
      if (!self || error == asio::error::operation_aborted || !self->acceptor_->is_open()) return;
      if (!error) self->welcome(std::move(socket));
      self->accept();
    });
  }

  void welcome(tcp::socket socket) {
    if (session_.connected()) {
      if (on_client_refused_) on_client_refused_();
      return;  // its socket closes here
    }
    asio::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    begin(std::make_shared<net::Connection<tcp::socket, tcp::socket>>(std::move(socket), nullptr, session_,
                                                                      [self = weak_from_this()] {
                                                                        const auto impl = self.lock();
                                                                        if (impl && impl->on_client_gone_)
                                                                          impl->on_client_gone_();
                                                                      }));
  }

  asio::io_context& io_;
  Session session_;
  std::optional<tcp::acceptor> acceptor_;
  std::weak_ptr<net::ClientLink> link_;
  std::function<void()> on_client_gone_;
  std::function<void()> on_client_refused_;
};

Server::Server(asio::io_context& io, Target& target) : impl_(std::make_shared<Impl>(io, target)) {}
Server::~Server() { impl_->stop(); }
Result<std::uint16_t> Server::listen(ListenOptions options) { return impl_->listen(std::move(options)); }
Status Server::serve(int in, int out, std::function<void()> on_end) {
  return impl_->serve(in, out, std::move(on_end));
}
void Server::stop() { impl_->stop(); }

}  // namespace detrec::gdbstub
