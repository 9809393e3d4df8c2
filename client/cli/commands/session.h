// What a running command has at hand.
//
// Belongs to one command.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "client/cli/output/terminal.h"
#include "client/cli/output/value.h"
#include "client/client.h"

namespace curator::cli {

struct Document;

struct Session {
  const Client& client;
  OutputForm form = OutputForm::kTable;
  Terminal terminal;
  std::istream& in;
  std::ostream& out;
  std::ostream& error;
  // The id under which this command changes something; empty for commands that only read. Errors name it.
  std::string request_id = {};

  // Puts `chosen`, or a new id when it is empty, into the request (or header) and remembers it.
  template <typename Request>
  absl::Status SetRequestId(Request& request, const std::string& chosen) {
    RETURN_IF_ERROR(UseRequestId(chosen));
    request.set_request_id(request_id);
    return absl::OkStatus();
  }
  absl::Status UseRequestId(const std::string& chosen);

  void Print(const Document& document);
};

}  // namespace curator::cli
