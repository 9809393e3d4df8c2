// What waits for a principal on all datasets.
//
// Thread-safe: functions over the ledger and the directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "service/access.h"
#include "service/accounts/limits.h"

namespace curator::service {

struct InboxItem {
  std::string dataset;
  std::optional<LimitView> view;  // none: the dataset itself waits to be published
};
struct Inbox {
  std::vector<InboxItem> items;  // by the names of datasets, and of each oldest first
  bool has_more = false;
  std::string last;  // the name of the dataset that the next page comes after, when there is more
};

// What waits on at most `most` datasets that the principal may see after the one of this name
// (ListWaiting()). The page ends with the dataset that brings it to `most` items, so that it has fewer than
// `most + 2 * ledger::kMostOpenProposals + 1`. Errors: those of the ledger and the directory.
absl::StatusOr<Inbox> ReadInbox(const Access& access, const Principal& principal, const std::string& after,
                                int64_t most);

}  // namespace curator::service
