// The HTTP server with real sockets.
#include "client/gate/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "tests/testing/scratch_folder.h"

namespace curator::gate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A connection that a test writes bytes to.
class RawClient {
 public:
  explicit RawClient(const std::string& address) {
    if (address.starts_with("unix:")) {
      sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
      std::ranges::copy(address.substr(5), name.sun_path);
      descriptor_ = socket(AF_UNIX, SOCK_STREAM, 0);
      Connect(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
    } else {
      int port = 0;
      EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
      sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
      Connect(reinterpret_cast<const sockaddr*>(&name), sizeof(name));
    }
    const timeval patience = {.tv_sec = 20, .tv_usec = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~RawClient() { Leave(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void Send(std::string_view bytes) {
    EXPECT_EQ(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // False when the server takes no more.
  bool TrySend(std::string_view bytes) {
    return send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // What arrives until `piece` is in it, or until the server closes the connection.
  std::string ReadUntil(const std::string& piece) {
    while (piece.empty() || read_.find(piece) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = recv(descriptor_, bytes, sizeof(bytes), 0);
      was_closed_ = count == 0;
      if (count <= 0) break;
      read_.append(bytes, static_cast<size_t>(count));
    }
    return std::exchange(read_, "");
  }
  std::string ReadToEnd() { return ReadUntil(""); }
  // By the server, at the last read.
  bool was_closed() const { return was_closed_; }
  bool HasBytes() const {
    char byte = 0;
    return recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }
  void Leave() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  void Connect(const sockaddr* name, socklen_t size) { EXPECT_EQ(connect(descriptor_, name, size), 0); }

  int descriptor_ = -1;
  bool was_closed_ = false;
  std::string read_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(HttpHandler handler, HttpLimits limits = {}) {
    auto server = HttpServer::Start({{.address = "127.0.0.1:0", .handler = std::move(handler)}}, limits);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::string address() const { return server_->addresses().front(); }

  std::unique_ptr<HttpServer> server_;
};

void Echo(const HttpRequest& request, const std::shared_ptr<Exchange>& exchange) {
  exchange->Respond(
      {.status = 200,
       .headers = {{"X-Test", "yes"}},
       .body = absl::StrCat(request.method, " ", request.path, " ", request.query, " ", request.body)});
}

TEST_F(HttpServerTest, RequestsOnOneConnectionAreAnsweredInOrder) {
  Start(Echo);
  RawClient client(address());
  client.Send("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("GET /a"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("X-Test: yes"), HasSubstr("GET /a b=c ")));
  client.Send(
      "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("GET /next"), AllOf(HasSubstr("POST /p  body"), HasSubstr("GET /next")));
}

TEST_F(HttpServerTest, NamesOfHeadersAreInLowerCaseAndAllValuesAreThere) {
  Start([](const HttpRequest& request, const std::shared_ptr<Exchange>& exchange) {
    exchange->Respond({.body = absl::StrCat(std::string(request.Header("x-one")), request.CountOf("x-two"))});
  });
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nX-One: value\r\nX-TWO: a\r\nx-two: b\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("value2"), HasSubstr("value2"));
}

TEST_F(HttpServerTest, ABodyOrHeadersBeyondTheLimitAreRefusedAndTheConnectionCloses) {
  Start(Echo, {.header_bytes = 1'000, .body_bytes = 100});
  RawClient large(address());
  large.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n");
  EXPECT_THAT(large.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("Connection: close")));
  RawClient headers(address());
  headers.Send(absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\nX: ", std::string(2'000, 'x'), "\r\n\r\n"));
  EXPECT_THAT(headers.ReadToEnd(), StartsWith("HTTP/1.1 431"));
}

// A connection that is closed with unread bytes is reset, and the client may never see why.
TEST_F(HttpServerTest, AClientThatSendsItsWholeBodyGetsTheRefusal) {
  Start(Echo, {.body_bytes = 100});
  RawClient client(address());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
  client.Send(std::string(900'000, 'x'));
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 413"));
  EXPECT_TRUE(client.was_closed()) << "and not reset";
}

TEST_F(HttpServerTest, AClientThatDoesNotStopIsCutOff) {
  Start(Echo, {.body_bytes = 100});
  RawClient client(address());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n");
  const std::string piece(100'000, 'x');
  int sent = 0;
  while (sent < 1'000 && client.TrySend(piece)) ++sent;
  EXPECT_LT(sent, 1'000);
}

TEST_F(HttpServerTest, AnAnswerCanBeAConstant) {
  static constexpr char kPage[] = "<!doctype html>";
  Start([](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
    exchange->Respond({.status = 200, .constant = kPage});
  });
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil(kPage), AllOf(HasSubstr("Content-Length: 15\r\n"), HasSubstr(kPage)));
}

TEST_F(HttpServerTest, WhatIsNoHttpIsRefused) {
  Start(Echo);
  RawClient client(address());
  client.Send("\x16\x03\x01 hello\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 400"));
}

TEST_F(HttpServerTest, ARequestThatDoesNotComeInTimeIsCutOff) {
  Start(Echo, {.request_time = absl::Milliseconds(100), .idle_time = absl::Milliseconds(100)});
  RawClient client(address());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12");
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(client.was_closed());
}

TEST_F(HttpServerTest, AClientThatLeavesIsNoticedWhileItsRequestIsHandled) {
  absl::Notification has_left;
  std::shared_ptr<Exchange> kept;
  absl::Notification is_kept;
  Start([&](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
    kept = exchange;
    exchange->OnLeft([&] { has_left.Notify(); });
    is_kept.Notify();
  });
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  is_kept.WaitForNotification();
  client.Leave();
  EXPECT_TRUE(has_left.WaitForNotificationWithTimeout(absl::Seconds(20)));
  kept->Respond({.status = 200});  // changes nothing
}

TEST_F(HttpServerTest, AnAnswerIsNoLeaving) {
  std::atomic<int> left = 0;
  Start([&](const HttpRequest& request, const std::shared_ptr<Exchange>& exchange) {
    exchange->OnLeft([&] { ++left; });
    Echo(request, exchange);
  });
  {
    RawClient client(address());
    client.Send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    client.ReadUntil("GET /a");
  }
  server_.reset();
  EXPECT_EQ(left, 0);
}

TEST_F(HttpServerTest, APlaceIsHeldUntilTheClientHasTakenTheAnswer) {
  std::weak_ptr<int> held;
  absl::Notification is_answered;
  Start([&](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
    const auto place = std::make_shared<int>(1);
    held = place;
    exchange->Respond({.body = std::string(size_t{16} << 20, 'x'), .place = place});
    is_answered.Notify();
  });
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  is_answered.WaitForNotification();
  EXPECT_FALSE(held.expired());
  EXPECT_GT(client.ReadToEnd().size(), size_t{16} << 20);
  EXPECT_TRUE(client.was_closed());
  server_.reset();
  EXPECT_TRUE(held.expired());
}

TEST_F(HttpServerTest, AHeadRequestHasAnAnswerWithoutABody) {
  Start(Echo);
  RawClient client(address());
  client.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 405"), ::testing::EndsWith("\r\n\r\n")));
}

TEST_F(HttpServerTest, AHandlerThatForgetsARequestAnswersWithAnError) {
  Start([](const HttpRequest&, const std::shared_ptr<Exchange>&) {});
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 500"));
}

TEST_F(HttpServerTest, EventsArriveInOrderAndHeartbeatsBetweenThem) {
  std::shared_ptr<EventStream> stream;
  absl::Notification is_open;
  Start(
      [&](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
        stream = exchange->StartEvents({{"Cache-Control", "no-store"}});
        stream->Send("data: 1\n\n");
        is_open.Notify();
      },
      {.heartbeat = absl::Milliseconds(50)});
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  is_open.WaitForNotification();
  EXPECT_THAT(client.ReadUntil("data: 1\n\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"),
                    HasSubstr("Cache-Control: no-store\r\n")));
  EXPECT_THAT(client.ReadUntil(": heartbeat\n\n"), HasSubstr(": heartbeat\n\n"));
  stream->Send("data: 2\n\n");
  EXPECT_THAT(client.ReadUntil("data: 2\n\n"), HasSubstr("data: 2\n\n"));
  stream->Close();
  client.ReadToEnd();
}

// A watch of the server may answer while the handler that began it still runs.
TEST_F(HttpServerTest, EventsOfSeveralThreadsArriveInTheOrderInWhichTheyWereSent) {
  Start([](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
    const std::shared_ptr<EventStream> stream = exchange->StartEvents({});
    stream->Send("data: the handler's\n\n");
    std::thread([&] { stream->Send("data: another thread's\n\n"); }).join();
    stream->Send("data: end\n\n");
  });
  RawClient client(address());
  client.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("end"),
              HasSubstr("data: the handler's\n\ndata: another thread's\n\ndata: end"));
}

TEST_F(HttpServerTest, ABrowserThatTakesNoEventsIsCutOff) {
  absl::Notification is_closed;
  std::shared_ptr<EventStream> stream;
  absl::Notification is_open;
  Start(
      [&](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
        stream = exchange->StartEvents({});
        stream->OnClosed([&] { is_closed.Notify(); });
        is_open.Notify();
      },
      {.queued_event_bytes = size_t{1} << 20, .heartbeat = absl::Hours(1)});
  RawClient client(address());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  is_open.WaitForNotification();
  const std::string event = absl::StrCat("data: ", std::string(100'000, 'x'), "\n\n");
  for (int i = 0; i < 200 && !is_closed.HasBeenNotified(); ++i) stream->Send(event);
  EXPECT_TRUE(is_closed.WaitForNotificationWithTimeout(absl::Seconds(20)));
}

TEST_F(HttpServerTest, ABrowserThatLeavesClosesItsStream) {
  absl::Notification is_closed;
  std::shared_ptr<EventStream> stream;
  absl::Notification is_open;
  Start([&](const HttpRequest&, const std::shared_ptr<Exchange>& exchange) {
    stream = exchange->StartEvents({});
    stream->OnClosed([&] { is_closed.Notify(); });
    is_open.Notify();
  });
  {
    RawClient client(address());
    client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    is_open.WaitForNotification();
  }
  EXPECT_TRUE(is_closed.WaitForNotificationWithTimeout(absl::Seconds(20)));
}

TEST_F(HttpServerTest, MoreConnectionsThanThereArePlacesWaitForOne) {
  Start(Echo, {.connections = 1});
  auto first = std::make_unique<RawClient>(address());
  first->Send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
  first->ReadUntil("/first");
  RawClient second(address());
  second.Send("GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
  first->Send("GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
  first->ReadUntil("/again");
  EXPECT_FALSE(second.HasBytes());
  first.reset();
  EXPECT_THAT(second.ReadUntil("/second"), HasSubstr("/second"));
}

TEST(HttpServerSocketTest, ASocketIsOpenToItsGroupAndReplacesAnOldOne) {
  const testing::ScratchFolder folder;
  const std::string path = folder / "http.sock";
  for (int i = 0; i < 2; ++i) {
    auto server = HttpServer::Start({{.address = "unix:" + path, .handler = Echo}});
    ASSERT_TRUE(server.ok()) << server.status();
    struct stat found = {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0660U);
    RawClient client("unix:" + path);
    client.Send("GET /u HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.ReadUntil("/u"), HasSubstr("/u"));
  }
}

TEST(HttpServerSocketTest, TheSocketOfAProgramThatRunsIsLeftToIt) {
  const testing::ScratchFolder folder;
  const std::string address = absl::StrCat("unix:", (folder / "http.sock").string());
  const auto first = HttpServer::Start({{.address = address, .handler = Echo}});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = HttpServer::Start({{.address = address, .handler = Echo, .member = "metrics_listen"}});
  EXPECT_EQ(second.status(), absl::UnavailableError(absl::StrCat(
                                 "metrics_listen: ", address, ": another program answers at this socket")));
  RawClient client(address);
  client.Send("GET /still HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("/still"), HasSubstr("/still"));
}

TEST(HttpServerSocketTest, OtherAddressesAreRefusedByName) {
  for (const char* address : {"0.0.0.0:80", "localhost:80", "unix:", "127.0.0.1:70000", "127.0.0.1:x", ""}) {
    const auto server = HttpServer::Start({{.address = address, .handler = Echo}});
    EXPECT_FALSE(server.ok()) << address;
    EXPECT_THAT(std::string(server.status().message()), HasSubstr(address));
  }
}

}  // namespace
}  // namespace curator::gate
