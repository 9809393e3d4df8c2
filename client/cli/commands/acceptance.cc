#include "client/cli/commands/acceptance.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output/text.h"
#include "client/error.h"

namespace curator::cli {
namespace {

absl::Status WithMessage(const absl::Status& status, const std::string& message) {
  absl::Status changed(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { changed.SetPayload(url, payload); });
  return changed;
}

}  // namespace

absl::Status Accept(Session& session, const absl::Status& refused, bool confirmed,
                    const std::vector<Acceptance>& acceptances) {
  const auto acceptance = std::ranges::find(acceptances, client::Reason(refused), &Acceptance::reason);
  if (acceptance == acceptances.end()) return refused;
  if (!confirmed) {
    const std::string message(refused.message());
    if (!session.terminal.in_is_terminal || !session.terminal.error_is_terminal)
      return WithMessage(refused, absl::StrCat(message, ". To accept it: --yes"));
    session.error << Printable(message) << "\n" << acceptance->action << "? [y/N] " << std::flush;
    std::string answer;
    std::getline(session.in, answer);
    if (answer != "y" && answer != "Y" && answer != "yes")
      return absl::CancelledError("not confirmed: nothing was done");
  }
  acceptance->accept();
  return absl::OkStatus();
}

void AddYes(CLI::App* command, bool& confirmed, const std::string& summary) {
  command->add_flag("--yes", confirmed, summary);
}

}  // namespace curator::cli
