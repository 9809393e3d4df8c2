// Which requests may come from a page of the gate itself: what keeps other sites, and other names for this
// address (DNS rebinding), from using a browser's session.
//
// Thread-safe: constant after construction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/gate/http.h"

namespace curator::gate {

// Why a request is refused before it is looked at.
struct Refusal {
  int status;          // of HTTP
  std::string code;    // the name of the code of gRPC that says the same: "PERMISSION_DENIED"
  std::string reason;  // "CROSS_SITE"
  std::string message;
};

class RequestGuard {
 public:
  // Where the pages are, as browsers name it: "https://curator.example", without a path. One at least.
  explicit RequestGuard(std::vector<std::string> origins) : origins_(std::move(origins)) {}

  // Of every request: it has each header that the gate reads once at most, and names the host of an origin.
  std::optional<Refusal> CheckAny(const HttpRequest& request) const;
  // Of one that reads data: the browser does not say that another site sent it.
  std::optional<Refusal> CheckRead(const HttpRequest& request) const;
  // Of one that changes something: JSON that a page of this origin sent. `csrf`: what the session's pages
  // know, and must send in X-Curator-CSRF; none for the request that begins a session.
  std::optional<Refusal> CheckChange(const HttpRequest& request, std::optional<std::string_view> csrf) const;

 private:
  std::vector<std::string> origins_;
};

}  // namespace curator::gate
