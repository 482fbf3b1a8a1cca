// Bytes between a Session and its client, over any Asio stream.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "gdbstub/net/asio.h"
#include "gdbstub/session/session.h"

namespace detrec::gdbstub::net {

/// A Link whose end does not wait.
class ClientLink : public Link {
 public:
  /// Ends the connection at once; the Session is disconnected when this returns, and not used any more.
  virtual void cut() = 0;
};

/// Reads from `In` and writes to `Out` until either ends, then disconnects the Session and calls `on_end`,
/// once. Lives as long as an operation is pending or the Session holds it. The Session must outlive the event
/// loop's run.
template <class In, class Out>
class Connection : public ClientLink, public std::enable_shared_from_this<Connection<In, Out>> {
 public:
  /// `out` null: `in` is written to, too.
  Connection(In in, std::unique_ptr<Out> out, Session& session, std::function<void()> on_end)
      : in_(std::move(in)), out_(std::move(out)), session_(&session), on_end_(std::move(on_end)) {}

  void start() {
    session_->connect(this->shared_from_this());
    read();
  }

  void send(std::string bytes) override {
    if (session_ == nullptr) return;
    queue_.push_back(std::move(bytes));
    if (queue_.size() == 1) write();
  }

  void close() override {
    closing_ = true;
    if (queue_.empty()) end_later();
  }

  void cut() override {
    on_end_ = {};
    end();
  }

 private:
  void read() {
    in_.async_read_some(asio::buffer(buffer_),
                        [self = this->shared_from_this()](const asio::error_code& error, std::size_t count) {
                          if (self->session_ == nullptr) return;
                          if (error) return self->end();
                          self->session_->receive({self->buffer_.data(), count});
                          if (self->session_ != nullptr) self->read();
                        });
  }

  void write() {
    auto done = [self = this->shared_from_this()](const asio::error_code& error, std::size_t) {
      if (self->session_ == nullptr) return;
      if (error) return self->end();
      self->queue_.pop_front();
      if (!self->queue_.empty()) return self->write();
      if (self->closing_) self->end();
    };
    if (out_) {
      asio::async_write(*out_, asio::buffer(queue_.front()), std::move(done));
    } else if constexpr (std::is_same_v<In, Out>) {
      asio::async_write(in_, asio::buffer(queue_.front()), std::move(done));
    }
  }

  void end_later() {
    asio::post(in_.get_executor(), [self = this->shared_from_this()] { self->end(); });
  }

  void end() {
    auto* session = std::exchange(session_, nullptr);
    if (session == nullptr) return;
    asio::error_code ignored;
    in_.close(ignored);
    if (out_) out_->close(ignored);
    session->disconnect();
    if (on_end_) on_end_();
  }

  In in_;
  std::unique_ptr<Out> out_;
  Session* session_;  ///< null after the end
  std::function<void()> on_end_;
  std::array<char, 65536> buffer_;
  std::deque<std::string> queue_;  ///< the front is being written
  bool closing_ = false;
};

}  // namespace detrec::gdbstub::net
