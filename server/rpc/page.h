// The pages of listings: page_size and page_token of requests, next_page_token of responses (AIP-158).
//
// A token is opaque to clients. It holds the listing, what is listed, and the public id or name of the last
// item of the page before: nothing that its holder has not seen, unless that item was left out because of
// damage. It gives no access: each page is checked as the first is.
//
// Thread-safe: pure functions and plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::rpc {

struct PageAsked {
  std::string listing;  // "releases"
  std::string of;       // the dataset; empty where a listing is of the caller
  int64_t size = 0;     // 1 to 1,000
  std::string after;    // the id or name of the last item before the page; empty for the first page

  // The token of the page that follows an item.
  std::string TokenAfter(std::string_view item) const;
};

// INVALID_ARGUMENT (page_size, page_token) for a negative size, and for a token that was not made for this
// listing.
absl::StatusOr<PageAsked> ParsePage(std::string_view listing, std::string_view of, int64_t page_size,
                                    std::string_view page_token);

template <typename Request>
absl::StatusOr<PageAsked> PageOf(const Request& request, std::string_view listing, std::string_view of = {}) {
  return ParsePage(listing, of, request.page_size(), request.page_token());
}

}  // namespace curator::rpc
