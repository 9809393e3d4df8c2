#include "rpc/page.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/text.h"

namespace curator::rpc {
namespace {

constexpr char kTag[] = "curator.page";
constexpr int64_t kVersion = 1;

}  // namespace

std::string PageAsked::TokenAfter(std::string_view item) const {
  CanonicalWriter writer(kTag, kVersion);
  writer.Text(listing);
  writer.Text(of);
  writer.Text(item);
  return absl::WebSafeBase64Escape(std::move(writer).Take());
}

absl::StatusOr<PageAsked> ParsePage(std::string_view listing, std::string_view of, int64_t page_size,
                                    std::string_view page_token) {
  constexpr int64_t kDefaultSize = 100;
  constexpr int64_t kMostItems = 1000;
  if (page_size < 0) return InvalidField("page_size", "must not be negative");
  PageAsked page{.listing = std::string(listing),
                 .of = std::string(of),
                 .size = page_size == 0 ? kDefaultSize : std::min(page_size, kMostItems),
                 .after = {}};
  if (page_token.empty()) return page;
  std::string bytes;
  const bool is_base64 = absl::WebSafeBase64Unescape(std::string(page_token), &bytes);
  CanonicalReader reader(bytes, kTag, kVersion);
  const bool is_of_this = reader.Text() == listing && reader.Text() == of;
  page.after = reader.Text();
  if (!is_base64 || !reader.Finish().ok() || !is_of_this || !IsUtf8(page.after)) {
    return InvalidField("page_token",
                        "is not the next_page_token of a page of this listing: start again without one");
  }
  return page;
}

}  // namespace curator::rpc
