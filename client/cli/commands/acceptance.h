// What the server does only when a request accepts it: the same file again, a dataset without records, or
// records that another dataset holds. The user is asked on a terminal; elsewhere --yes accepts.
//
// Belongs to one command; not thread-safe.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/commands/commands.h"

namespace curator::cli {

struct Acceptance {
  std::string reason;            // of the server's refusal (client::Reason()): "SAME_FILE"
  std::string action;            // the question: "Import it again"
  std::function<void()> accept;  // changes the request
};

// OK when the request was changed and is to be sent again: the server refused it for one of these reasons,
// and `confirmed` (--yes) or the user's answer accepts it. Else the error of the command: `refused`, which
// outside of a terminal says that --yes accepts it, or CANCELLED.
absl::Status Accept(Session& session, const absl::Status& refused, bool confirmed,
                    const std::vector<Acceptance>& acceptances);

// Sends a request until it is not refused for one of these reasons any more. `send` returns the server's
// response or error.
template <typename Send>
auto SendAccepting(Session& session, bool confirmed, const std::vector<Acceptance>& acceptances,
                   const Send& send) -> decltype(send()) {
  auto sent = send();
  for (size_t left = acceptances.size(); left > 0 && !sent.ok(); --left) {
    if (absl::Status accepted = Accept(session, sent.status(), confirmed, acceptances); !accepted.ok())
      return accepted;
    sent = send();
  }
  return sent;
}

// --yes.
void AddYes(CLI::App* command, bool& confirmed, const std::string& summary);

}  // namespace curator::cli
