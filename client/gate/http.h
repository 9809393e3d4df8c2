// Requests and answers of HTTP as the gate sees them: values, and the two interfaces by which it answers. The
// server that speaks HTTP is http_server.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace curator::gate {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// A whole request. A value.
struct HttpRequest {
  std::string method;   // "GET"
  std::string path;     // "/api/v1/session", as it was sent, without the query
  std::string query;    // what follows "?"
  HttpHeaders headers;  // in the order of the request; names in lower case
  std::string body;

  // The value of the header `name` (in lower case): empty where it is missing.
  std::string_view Header(std::string_view name) const;
  // How often the header was sent.
  int CountOf(std::string_view name) const;
  // The value of the cookie `name`; empty where it is missing or was sent twice.
  std::string_view Cookie(std::string_view name) const;
  // The decoded value of a parameter of the query; empty where it is missing.
  std::string Parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers = {};  // without Content-Length and Connection, which the server adds
  std::string body = {};
  // Instead of the body where it is not empty: a constant of the program, which is not copied.
  std::string_view constant = {};
  // What is held until the client has taken the answer, such as a place among calls.
  std::shared_ptr<void> place = nullptr;
};

// A stream of server-sent events (HTML Living Standard, 9.2) to one browser. Thread-safe.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Queues text, which the browser gets in the order of calls. A browser that takes too little of it is cut
  // off, and may resume. Nothing happens once the stream has ended.
  virtual void Send(std::string_view text) = 0;
  // Ends it after what is queued.
  virtual void Close() = 0;
  // `on_closed` is called once when the stream has ended, from whichever side; at once if it has. Set once.
  virtual void OnClosed(std::function<void()> on_closed) = 0;
};

// One request that waits for its answer. Thread-safe.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Answers; only the first call counts.
  virtual void Respond(HttpResponse response) = 0;
  // Answers with status 200 and a stream of events instead, which ends when nobody holds it any more.
  virtual std::shared_ptr<EventStream> StartEvents(HttpHeaders headers) = 0;
  // `on_left` is called once if the client leaves before it was answered; at once if it has. What was set
  // last counts.
  virtual void OnLeft(std::function<void()> on_left) = 0;
};

// Must not block, and answers when it likes, from any thread.
using HttpHandler = std::function<void(HttpRequest request, std::shared_ptr<Exchange> exchange)>;

// "a%20b" as "a b"; empty for what is no percent-encoding.
std::string PercentDecoded(std::string_view text);
// Everything but unreserved characters (RFC 3986, 2.3) as %XX.
std::string PercentEncoded(std::string_view text);

}  // namespace curator::gate
