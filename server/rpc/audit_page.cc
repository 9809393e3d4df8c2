#include "rpc/audit_page.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"

namespace curator::rpc {

absl::StatusOr<audit::AuditPlace> PlaceOf(const PageAsked& page) {
  audit::AuditPlace place;
  if (page.after.empty()) return place;
  const std::vector<std::string> numbers = absl::StrSplit(page.after, ' ');
  const bool is_place = numbers.size() == 2 && absl::SimpleAtoi(numbers[0], &place.time_us) &&
                        absl::SimpleAtoi(numbers[1], &place.id);
  if (is_place) return place;
  return InvalidField("page_token", "is not of this listing: start again without one");
}

std::string TokenAfter(const PageAsked& page, const audit::AuditPlace& place) {
  return page.TokenAfter(absl::StrCat(place.time_us, " ", place.id));
}

}  // namespace curator::rpc
