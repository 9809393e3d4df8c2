#include "client/gate/http_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"

namespace curator::gate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using Stream = beast::basic_stream<asio::generic::stream_protocol>;
using Response = http::response<http::span_body<const char>>;
using Acceptor = std::variant<asio::ip::tcp::acceptor, asio::local::stream_protocol::acceptor>;

constexpr char kUnix[] = "unix:";
constexpr char kLoopback[] = "127.0.0.1:";
constexpr std::chrono::minutes kLongestWrite(10);
// Of what a client still sends after the last answer.
constexpr std::chrono::seconds kLongestDrop(1);
constexpr size_t kMostDropped = size_t{1} << 20;
constexpr size_t kDroppedAtOnce = size_t{16} << 10;

HttpRequest ToRequest(http::request<http::string_body> message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  const std::string target(message.target());
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  for (const auto& field : message) {
    request.headers.emplace_back(absl::AsciiStrToLower(std::string(field.name_string())),
                                 std::string(field.value()));
  }
  request.body = std::move(message.body());
  return request;
}

// Refers to the body.
Response ToResponse(const HttpResponse& response, bool keeps_alive) {
  Response message(static_cast<http::status>(response.status), 11);
  for (const auto& [name, value] : response.headers) message.insert(name, value);
  const std::string_view body = response.constant.empty() ? response.body : response.constant;
  message.body() = {body.data(), body.size()};
  message.keep_alive(keeps_alive);
  message.prepare_payload();
  return message;
}

std::string EventsHead(const HttpHeaders& headers) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
  for (const auto& [name, value] : headers) absl::StrAppend(&head, name, ": ", value, "\r\n");
  return head + "\r\n";
}

// A function that another thread may set after what it waits for has happened: it is called once all the
// same.
class OnceCalled {
 public:
  void Set(std::function<void()> function) {
    {
      const absl::MutexLock lock(&mutex_);
      if (!has_happened_) {
        function_ = std::move(function);
        return;
      }
    }
    function();
  }
  void Happen() {
    std::function<void()> function;
    {
      const absl::MutexLock lock(&mutex_);
      has_happened_ = true;
      function = std::exchange(function_, nullptr);
    }
    if (function != nullptr) function();
  }
  // What it waits for will not happen any more.
  void Forget() {
    const absl::MutexLock lock(&mutex_);
    function_ = nullptr;
  }

 private:
  absl::Mutex mutex_;
  bool has_happened_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> function_ ABSL_GUARDED_BY(mutex_);
};

// One connection of a client, with the loop's thread alone, but for the functions that post to it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, const HttpHandler& handler, const HttpLimits& limits,
             std::function<void(Connection*)> on_end)
      : stream_(std::move(socket)),
        posted_(stream_.get_executor()),
        heartbeat_(stream_.get_executor()),
        handler_(handler),
        limits_(limits),
        on_end_(std::move(on_end)) {}

  void ReadRequest() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(limits_.header_bytes));
    parser_->body_limit(limits_.body_bytes);
    // The wait for the first byte may take longer than the rest.
    stream_.expires_after(
        absl::ToChronoNanoseconds(buffer_.size() == 0 ? limits_.idle_time : limits_.request_time));
    http::async_read_header(
        stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) {
          if (error) return self->RefuseRequest(error);
          self->stream_.expires_after(absl::ToChronoNanoseconds(self->limits_.request_time));
          http::async_read(self->stream_, self->buffer_, *self->parser_, [self](error_code failure, size_t) {
            if (failure) return self->RefuseRequest(failure);
            self->Handle();
          });
        });
  }

  // From any thread.
  void PostResponse(uint64_t number, HttpResponse response) {
    Post([number, response = std::move(response)](Connection& self) mutable {
      if (number == self.handled_) self.Write(std::move(response), self.keeps_alive_);
    });
  }
  void PostEventsHead(uint64_t number, HttpHeaders headers, std::shared_ptr<OnceCalled> on_closed) {
    Post([number, headers = std::move(headers), on_closed = std::move(on_closed)](Connection& self) mutable {
      if (number == self.handled_ && self.state_ == State::kHandling) {
        self.BeginEvents(headers, std::move(on_closed));
      } else {
        on_closed->Happen();
      }
    });
  }
  void PostEvent(std::string text) {
    Post([text = std::move(text)](Connection& self) { self.SendEvent(text); });
  }
  void PostEndOfEvents() {
    Post([](Connection& self) {
      self.ends_events_ = true;
      if (self.state_ == State::kEvents && !self.is_writing_) self.Close();
    });
  }

  void Close() {
    if (state_ == State::kClosed) return;
    const State before = std::exchange(state_, State::kClosed);
    heartbeat_.cancel();
    stream_.cancel();
    error_code ignored;
    stream_.socket().shutdown(Socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
    if (before == State::kHandling && on_left_ != nullptr) on_left_->Happen();
    if (on_closed_ != nullptr) on_closed_->Happen();
    on_end_(this);
  }

 private:
  enum class State : uint8_t { kReading, kHandling, kWriting, kEvents, kClosed };
  class Waiting;
  class Events;

  template <typename Work>
  void Post(Work work) {
    asio::post(posted_, [self = shared_from_this(), work = std::move(work)]() mutable { work(*self); });
  }

  // A client that only left gets no answer.
  void RefuseRequest(error_code error) {
    if (error == http::error::body_limit) return Refuse(413, "the body is too large");
    if (error == http::error::header_limit) return Refuse(431, "the headers are too large");
    if (error.category() == make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return Refuse(400, "this is no request of HTTP/1.1");
    }
    Close();
  }
  void Refuse(int status, std::string_view message) {
    Write(
        {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = std::string(message) + "\n"},
        /*keeps_alive=*/false);
  }

  void RefuseHead() {
    on_left_ = nullptr;
    Write({.status = 405}, /*keeps_alive=*/false);
  }

  void Handle();
  void WatchForLeaving();

  void Write(HttpResponse response, bool keeps_alive) {
    if (state_ == State::kClosed || state_ == State::kWriting || state_ == State::kEvents) return;
    state_ = State::kWriting;
    ++handled_;
    if (on_left_ != nullptr) on_left_->Forget();
    answer_ = std::move(response);
    response_.emplace(ToResponse(answer_, keeps_alive));
    serializer_.emplace(*response_);
    write_end_ = std::chrono::steady_clock::now() + kLongestWrite;
    WriteSome(keeps_alive);
  }

  // A slow client has time for each piece, and not for ever for all of them.
  void WriteSome(bool keeps_alive) {
    const auto piece_end =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               absl::ToChronoNanoseconds(limits_.request_time));
    stream_.expires_at(std::min(piece_end, write_end_));
    http::async_write_some(stream_, *serializer_,
                           [self = shared_from_this(), keeps_alive](error_code error, size_t) {
                             if (error || self->state_ == State::kClosed) return self->Close();
                             if (!self->serializer_->is_done()) return self->WriteSome(keeps_alive);
                             self->EndWrite(keeps_alive);
                           });
  }

  void EndWrite(bool keeps_alive) {
    serializer_.reset();
    response_.reset();
    answer_ = {};
    if (!keeps_alive) return CloseAfterReading();
    state_ = State::kReading;
    ReadRequest();
  }

  // Closing a socket with unread bytes resets the connection, and the client may lose the answer: what it
  // still sends is read and dropped first.
  void CloseAfterReading() {
    error_code ignored;
    stream_.socket().shutdown(Socket::shutdown_send, ignored);
    stream_.expires_after(kLongestDrop);
    buffer_.clear();
    DropSome();
  }
  void DropSome() {
    stream_.async_read_some(buffer_.prepare(kDroppedAtOnce),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              self->dropped_ += bytes;
                              const bool goes_on = !error && self->state_ != State::kClosed;
                              if (!goes_on || self->dropped_ >= kMostDropped) return self->Close();
                              self->DropSome();
                            });
  }

  void BeginEvents(const HttpHeaders& headers, std::shared_ptr<OnceCalled> on_closed) {
    state_ = State::kEvents;
    on_left_->Forget();
    on_closed_ = std::move(on_closed);
    stream_.expires_never();
    queued_ = EventsHead(headers) + queued_;
    WriteQueued();
    ReadUntilLeft();
    Heartbeat();
  }

  void SendEvent(std::string_view text) {
    if (state_ == State::kClosed || ends_events_) return;
    if (queued_.size() + text.size() > limits_.queued_event_bytes) return Close();
    queued_ += text;
    if (state_ == State::kEvents) WriteQueued();
  }

  void WriteQueued() {
    if (is_writing_) return;
    if (queued_.empty()) {
      if (ends_events_) Close();
      return;
    }
    is_writing_ = true;
    writing_ = std::exchange(queued_, {});
    asio::async_write(stream_.socket(), asio::buffer(writing_),
                      [self = shared_from_this()](error_code error, size_t) {
                        self->is_writing_ = false;
                        self->has_written_ = true;
                        if (error || self->state_ == State::kClosed) return self->Close();
                        self->WriteQueued();
                      });
  }

  // A browser sends nothing more on the connection of a stream: what arrives is its end.
  void ReadUntilLeft() {
    stream_.socket().async_read_some(asio::buffer(ignored_),
                                     [self = shared_from_this()](error_code error, size_t) {
                                       if (error) return self->Close();
                                       self->ReadUntilLeft();
                                     });
  }

  // A comment that keeps proxies from ending a silent stream, and finds a browser that is gone: one for which
  // no write has ended since the last comment is.
  void Heartbeat() {
    heartbeat_.expires_after(absl::ToChronoNanoseconds(limits_.heartbeat));
    heartbeat_.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->state_ != State::kEvents) return;
      if (self->is_writing_ && !self->has_written_) return self->Close();
      self->has_written_ = false;
      self->SendEvent(": heartbeat\n\n");
      self->Heartbeat();
    });
  }

  Stream stream_;
  // Work in the order in which it was posted. Without it, the loop does what its own thread posts after what
  // other threads post until the end of the handler that it is in.
  asio::strand<Stream::executor_type> posted_;
  asio::steady_timer heartbeat_;
  const HttpHandler& handler_;
  const HttpLimits& limits_;
  const std::function<void(Connection*)> on_end_;
  State state_ = State::kReading;
  beast::flat_buffer buffer_{size_t{128} << 10};
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpResponse answer_;               // with its place, while it is written
  std::optional<Response> response_;  // of answer_, to which it refers
  std::optional<http::response_serializer<http::span_body<const char>>> serializer_;  // of response_
  std::chrono::steady_clock::time_point write_end_;
  size_t dropped_ = 0;    // bytes, after the last answer
  uint64_t handled_ = 0;  // how many requests were answered: the number of the one that is being handled
  bool keeps_alive_ = true;
  bool watches_for_leaving_ = false;
  std::shared_ptr<OnceCalled> on_left_;
  std::shared_ptr<OnceCalled> on_closed_;
  bool is_writing_ = false;   // of events
  bool has_written_ = false;  // of events, since the last comment
  bool ends_events_ = false;
  std::string queued_;   // of events
  std::string writing_;  // of events
  std::array<char, 64> ignored_ = {};
};

// A stream of events; the connection lives as long as the client is there.
class Connection::Events final : public EventStream {
 public:
  Events(std::weak_ptr<Connection> connection, std::shared_ptr<OnceCalled> on_closed)
      : connection_(std::move(connection)), on_closed_(std::move(on_closed)) {}
  ~Events() override { Close(); }

  void Send(std::string_view text) override {
    if (const auto connection = connection_.lock()) connection->PostEvent(std::string(text));
  }
  void Close() override {
    if (const auto connection = connection_.lock()) connection->PostEndOfEvents();
  }
  void OnClosed(std::function<void()> on_closed) override { on_closed_->Set(std::move(on_closed)); }

 private:
  const std::weak_ptr<Connection> connection_;
  const std::shared_ptr<OnceCalled> on_closed_;
};

class Connection::Waiting final : public Exchange {
 public:
  Waiting(std::weak_ptr<Connection> connection, uint64_t number, std::shared_ptr<OnceCalled> on_left)
      : connection_(std::move(connection)), number_(number), on_left_(std::move(on_left)) {}
  // A handler that forgets its request must not leave the client waiting.
  ~Waiting() override { Respond({.status = 500, .headers = {}, .body = ""}); }

  void Respond(HttpResponse response) override {
    if (is_answered_.exchange(true)) return;
    if (const auto connection = connection_.lock()) connection->PostResponse(number_, std::move(response));
  }
  std::shared_ptr<EventStream> StartEvents(HttpHeaders headers) override {
    const auto on_closed = std::make_shared<OnceCalled>();
    const std::shared_ptr<Connection> connection = connection_.lock();
    if (is_answered_.exchange(true) || connection == nullptr) {
      on_closed->Happen();
    } else {
      connection->PostEventsHead(number_, std::move(headers), on_closed);
    }
    return std::make_shared<Events>(connection, on_closed);
  }
  void OnLeft(std::function<void()> on_left) override { on_left_->Set(std::move(on_left)); }

 private:
  const std::weak_ptr<Connection> connection_;
  const uint64_t number_;
  const std::shared_ptr<OnceCalled> on_left_;
  std::atomic<bool> is_answered_ = false;
};

void Connection::Handle() {
  state_ = State::kHandling;
  // Its answer would have no body.
  if (parser_->get().method() == http::verb::head) return RefuseHead();
  stream_.expires_never();
  keeps_alive_ = parser_->keep_alive();
  on_left_ = std::make_shared<OnceCalled>();
  HttpRequest request = ToRequest(parser_->release());
  parser_.reset();
  const auto exchange = std::make_shared<Waiting>(weak_from_this(), handled_, on_left_);
  WatchForLeaving();
  handler_(std::move(request), exchange);
}

// While a request is handled nothing is read, so that the end of the connection has to be looked for.
void Connection::WatchForLeaving() {
  if (watches_for_leaving_) return;
  watches_for_leaving_ = true;
  stream_.socket().async_wait(Socket::wait_read, [self = shared_from_this()](error_code error) {
    self->watches_for_leaving_ = false;
    if (error || self->state_ != State::kHandling) return;
    char byte = 0;
    // Bytes are the next request, which waits for its turn.
    if (recv(self->stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) self->Close();
  });
}

absl::Status CannotListen(std::string_view address, std::string_view cause) {
  return absl::UnavailableError(absl::StrCat(std::string(address), ": ", std::string(cause)));
}

// Removes the socket of a program that has ended.
absl::Status RemoveOldSocket(const std::string& address, const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return absl::OkStatus();
  sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
  std::ranges::copy(path, name.sun_path);
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return CannotListen(address, "there is no free descriptor");
  // EAGAIN: more wait there already than it accepts.
  const int cause =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ? 0 : errno;
  close(descriptor);
  if (cause == 0 || cause == EAGAIN) return CannotListen(address, "another program answers at this socket");
  if (cause == ECONNREFUSED) unlink(path.c_str());
  return absl::OkStatus();
}

absl::StatusOr<Acceptor> ListenOnSocket(asio::io_context& context, const std::string& address) {
  const std::string path = address.substr(sizeof(kUnix) - 1);
  constexpr size_t kLongestPath = 107;
  if (path.empty() || path.size() > kLongestPath) {
    return absl::InvalidArgumentError(absl::StrCat(address, ": the path of a socket has 1 to 107 bytes"));
  }
  RETURN_IF_ERROR(RemoveOldSocket(address, path));
  asio::local::stream_protocol::acceptor acceptor(context);
  error_code error;
  acceptor.open({}, error);
  if (!error) acceptor.bind(path, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return CannotListen(address, error.message());
  constexpr mode_t kGroup = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
  if (chmod(path.c_str(), kGroup) != 0) return CannotListen(address, "its mode cannot be set");
  return Acceptor(std::move(acceptor));
}

absl::StatusOr<Acceptor> ListenOnLoopback(asio::io_context& context, const std::string& address) {
  int port = -1;
  if (!absl::SimpleAtoi(address.substr(sizeof(kLoopback) - 1), &port) || port < 0 || port > 65'535) {
    return absl::InvalidArgumentError(absl::StrCat(address, ": the port is a number from 0 to 65535"));
  }
  asio::ip::tcp::acceptor acceptor(context);
  error_code error;
  acceptor.open(asio::ip::tcp::v4(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) {
    acceptor.bind({asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)}, error);
  }
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return CannotListen(address, error.message());
  return Acceptor(std::move(acceptor));
}

absl::StatusOr<Acceptor> Listen(asio::io_context& context, const std::string& address) {
  if (absl::StartsWith(address, kUnix)) return ListenOnSocket(context, address);
  if (absl::StartsWith(address, kLoopback)) return ListenOnLoopback(context, address);
  return absl::InvalidArgumentError(absl::StrCat(address, ": neither unix:/PATH nor 127.0.0.1:PORT"));
}

std::string AddressOf(const std::string& wanted, const Acceptor& acceptor) {
  const auto* tcp = std::get_if<asio::ip::tcp::acceptor>(&acceptor);
  return tcp == nullptr ? wanted : absl::StrCat(kLoopback, tcp->local_endpoint().port());
}

}  // namespace

class HttpServer::Loop {
 public:
  explicit Loop(const HttpLimits& limits) : limits_(limits) {}
  ~Loop() {
    asio::post(context_, [this] { End(); });
    if (thread_.joinable()) thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Returns the address with its port.
  absl::StatusOr<std::string> Add(const HttpListener& listener) {
    absl::StatusOr<Acceptor> acceptor = gate::Listen(context_, listener.address);
    if (!acceptor.ok()) {
      return absl::Status(acceptor.status().code(),
                          absl::StrCat(listener.member, ": ", acceptor.status().message()));
    }
    std::string address = AddressOf(listener.address, *acceptor);
    listening_.push_back({.acceptor = *std::move(acceptor), .handler = listener.handler});
    return address;
  }

  void Run() {
    thread_ = std::thread([this] {
      for (Listening& listening : listening_) Accept(listening);
      context_.run();
    });
  }

 private:
  struct Listening {
    Acceptor acceptor;
    HttpHandler handler;
    size_t connections = 0;
    bool is_accepting = false;
  };

  void Accept(Listening& listening) {
    if (is_ending_ || listening.is_accepting || listening.connections >= limits_.connections) return;
    listening.is_accepting = true;
    std::visit(
        [&](auto& acceptor) {
          acceptor.async_accept([this, &listening](error_code error, auto socket) {
            listening.is_accepting = false;
            if (is_ending_) return;
            if (error) return AcceptLater(listening);
            Begin(Socket(std::move(socket)), listening);
            Accept(listening);
          });
        },
        listening.acceptor);
  }

  // Without a free descriptor the next attempt would fail at once, too.
  void AcceptLater(Listening& listening) {
    auto timer = std::make_shared<asio::steady_timer>(context_, std::chrono::milliseconds(100));
    timer->async_wait([this, timer, &listening](error_code) { Accept(listening); });
  }

  void Begin(Socket socket, Listening& listening) {
    ++listening.connections;
    const auto connection = std::make_shared<Connection>(std::move(socket), listening.handler, limits_,
                                                         [this, &listening](Connection* ended) {
                                                           --listening.connections;
                                                           connections_.erase(ended->shared_from_this());
                                                           Accept(listening);
                                                         });
    connections_.insert(connection);
    connection->ReadRequest();
  }

  void End() {
    is_ending_ = true;
    for (Listening& listening : listening_) {
      std::visit([](auto& acceptor) { acceptor.close(); }, listening.acceptor);
    }
    const std::set<std::shared_ptr<Connection>> open = connections_;
    for (const auto& connection : open) connection->Close();
    context_.stop();
  }

  const HttpLimits limits_;
  asio::io_context context_{1};
  std::deque<Listening> listening_;
  std::set<std::shared_ptr<Connection>> connections_;
  bool is_ending_ = false;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(std::vector<HttpListener> listeners,
                                                              const HttpLimits& limits) {
  auto loop = std::make_unique<Loop>(limits);
  std::vector<std::string> addresses;
  for (const HttpListener& listener : listeners) {
    ASSIGN_OR_RETURN(addresses.emplace_back(), loop->Add(listener));
  }
  loop->Run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop), std::move(addresses)));
}

HttpServer::HttpServer(std::unique_ptr<Loop> loop, std::vector<std::string> addresses)
    : loop_(std::move(loop)), addresses_(std::move(addresses)) {}

HttpServer::~HttpServer() = default;

}  // namespace curator::gate
