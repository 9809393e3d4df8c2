#include "client/cli/session.h"

#include <utility>

#include "client/cli/document.h"
#include "client/request_id.h"

namespace curator::cli {

absl::Status Session::UseRequestId(const std::string& chosen) {
  if (!chosen.empty()) {
    request_id = chosen;
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> made = client::NewRequestId();
  if (!made.ok()) return made.status();
  request_id = *std::move(made);
  return absl::OkStatus();
}

void Session::Print(const Document& document) {
  cli::Print(document, form, terminal, out, error);
}

}  // namespace curator::cli
