// `curator version`.
#include <memory>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ShowVersion {};

absl::Status Run(Session& session, const ShowVersion&) {
  ASSIGN_OR_RETURN(const v1::GetVersionResponse server, session.client.GetVersion());
  Document document;
  document.fields = {{"client", "client", CURATOR_VERSION},
                     {"server", "server", server.version()},
                     {"ledger_backend", "ledger", server.ledger_backend()},
                     {"development_mode", "development mode", server.development_mode()}};
  if (server.development_mode()) {
    document.notes.emplace_back("the server accepts any name given with --as: this provides no security");
  }
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddVersionCommand(CLI::App& app, Chosen& chosen) {
  Choose(AddCommand(app, "version", "The versions of this client and of the server", "curator version"),
         std::make_shared<ShowVersion>(), chosen);
}

}  // namespace curator::cli
