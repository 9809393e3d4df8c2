#include "client/cli/commands/session.h"

#include "base/status_macros.h"
#include "client/cli/output/document.h"
#include "client/request_id.h"

namespace curator::cli {

absl::Status Session::UseRequestId(const std::string& chosen) {
  if (!chosen.empty()) {
    request_id = chosen;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(request_id, client::NewRequestId());
  return absl::OkStatus();
}

void Session::Print(const Document& document) {
  cli::Print(document, form, terminal, out, error);
}

}  // namespace curator::cli
