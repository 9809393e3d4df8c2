#include "tests/ledger/acknowledged_lines.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {

std::string LineOf(const Acknowledged& reported) {
  return absl::StrCat(reported.principal, "\t", reported.request_id, "\t",
                      std::string(StateName(reported.state)), "\t", reported.payload, "\n");
}

std::vector<Acknowledged> AcknowledgedIn(std::string_view text) {
  std::vector<Acknowledged> all;
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', start)) {
    const std::string line(text.substr(start, end - start));
    start = end + 1;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    const absl::StatusOr<ChargeState> state =
        fields.size() == 4 ? ChargeStateFromName(fields[2]) : absl::InvalidArgumentError("fields");
    if (!state.ok()) {
      std::fprintf(stderr, "FAILED: no acknowledgment: %s\n", line.c_str());
      std::exit(1);
    }
    all.push_back({fields[0], fields[1], *state, fields[3]});
  }
  return all;
}

}  // namespace curator::ledger
