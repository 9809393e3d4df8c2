// `curator audit`: what was asked, read or refused, and by whom.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/line_writer.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/number_checks.h"
#include "client/client.h"
#include "google/protobuf/util/time_util.h"

namespace curator::cli {
namespace {

using google::protobuf::util::TimeUtil;

struct ListAudit {
  // Empty: any.
  std::string principal;
  std::string dataset;
  std::string method;
  bool only_refused = false;
  std::string since;
  std::string until;
  int64_t most = 1000;
};

struct WatchAudit {
  std::optional<int64_t> after;
};

const std::vector<Column>& AuditColumns() {
  static const std::vector<Column> columns = {
      {"id", "record", Align::kRight},
      {"time", "began"},
      {"kind", "kind", Align::kLeft, ShownIn::kJsonAndCsv},
      {"decision", "decision", Align::kLeft, ShownIn::kJsonAndCsv},
      {"outcome", "outcome", Align::kLeft, ShownIn::kTables},
      {"principal", "by"},
      {"method", "call"},
      {"dataset", "dataset"},
      {"status", "status", Align::kLeft, ShownIn::kJsonAndCsv},
      {"reason", "reason", Align::kLeft, ShownIn::kJsonAndCsv},
      {"identity_kind", "identity", Align::kLeft, ShownIn::kJsonAndCsv},
      {"credential_id", "credential", Align::kLeft, ShownIn::kJsonAndCsv},
      {"peer", "from"},
      {"server", "server", Align::kLeft, ShownIn::kJsonAndCsv},
      {"request_id", "request id", Align::kLeft, ShownIn::kJsonAndCsv},
      {"count", "calls", Align::kRight, ShownIn::kJsonAndCsv},
      {"since_time", "since", Align::kLeft, ShownIn::kJsonAndCsv}};
  return columns;
}

// In few words: "ok", "QUOTA", "12 calls are missing".
std::string OutcomeOf(const v1::AuditRecord& record) {
  switch (record.kind()) {
    case v1::AuditRecord::GAP:
      return absl::StrCat(record.count(), " calls are missing");
    case v1::AuditRecord::REFUSALS:
      return absl::StrCat(record.count(), " more refusals");
    case v1::AuditRecord::STARTED:
      return absl::StrCat("started ", record.server());
    case v1::AuditRecord::STOPPED:
      return absl::StrCat("stopped ", record.server());
    default:
      break;
  }
  if (record.decision() != v1::AuditRecord::REFUSED) return record.status() == "OK" ? "ok" : record.status();
  return record.reason().empty() ? record.status() : record.reason();
}

// Empty for a value that this program does not know, as of a newer server, and for none.
template <typename Enum>
std::string WordOf(const std::string& (*name_of)(Enum), Enum value) {
  return value == Enum() ? std::string() : name_of(value);
}

Row RowOf(const v1::AuditRecord& record) {
  return {record.id(),
          TimeUtil::ToString(record.time()),
          WordOf(v1::AuditRecord::Kind_Name, record.kind()),
          WordOf(v1::AuditRecord::Decision_Name, record.decision()),
          OutcomeOf(record),
          record.principal(),
          record.method(),
          record.dataset(),
          record.status(),
          record.reason(),
          WordOf(v1::Identity::Kind_Name, record.identity_kind()),
          record.credential_id(),
          record.peer(),
          record.server(),
          record.request_id(),
          record.count(),
          record.has_since_time() ? TimeUtil::ToString(record.since_time()) : std::string()};
}

absl::Status Run(Session& session, const ListAudit& command) {
  v1::ListAuditRecordsRequest request;
  request.set_principal(command.principal);
  request.set_dataset(command.dataset);
  request.set_method(command.method);
  if (command.only_refused) request.set_decision(v1::AuditRecord::REFUSED);
  // The command line was refused unless these are times.
  if (!command.since.empty()) TimeUtil::FromString(command.since, request.mutable_since_time());
  if (!command.until.empty()) TimeUtil::FromString(command.until, request.mutable_until_time());
  ASSIGN_OR_RETURN(const v1::ListAuditRecordsResponse list,
                   session.client.ListAuditRecords(request, command.most));
  Table table{"records", "", AuditColumns(), {}};
  table.displayed_rows = static_cast<size_t>(command.most);
  for (const v1::AuditRecord& record : list.records()) table.rows.push_back(RowOf(record));
  Document document;
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const WatchAudit& command) {
  LineWriter lines(AuditColumns(), session.form, session.terminal, session.out);
  int64_t last = 0;
  const absl::Status ended = session.client.WatchAudit(command.after, [&](const v1::AuditRecord& record) {
    last = record.id();
    lines.Write(RowOf(record));
    return session.out ? absl::OkStatus() : absl::CancelledError("nobody reads the output");
  });
  if (last > 0) session.error << "to go on: curator audit watch --after " << last << "\n";
  return ended;
}

}  // namespace

void AddAuditCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "audit", "What was asked, read or refused, for auditors: list, watch");
  const auto list = std::make_shared<ListAudit>();
  CLI::App* command = AddCommand(*group, "list", "Records of calls, newest first",
                                 "curator audit list --principal ana --refused --since 2026-11-26T00:00:00Z");
  command->add_option("--principal", list->principal, "Of this principal's calls")->type_name("NAME");
  command->add_option("--dataset", list->dataset, "Of calls that name this dataset")->type_name("NAME");
  command->add_option("--method", list->method, "Of this method, e.g. QueryService/AnswerWorkload")
      ->type_name("METHOD");
  command->add_flag("--refused", list->only_refused, "Only of refused calls");
  command->add_option("--since", list->since, "Of this time or later")->type_name("TIME")->check(CheckTime);
  command->add_option("--until", list->until, "Of before this time")->type_name("TIME")->check(CheckTime);
  command->add_option("--limit", list->most, "At most this many. Default: 1000")
      ->type_name("N")
      ->check(PositiveNumber);
  Choose(command, list, chosen);

  const auto watch = std::make_shared<WatchAudit>();
  command =
      AddCommand(*group, "watch", "New records as they come, one a line", "curator audit watch --after 812");
  command
      ->add_option("--after", watch->after, "Begin after the record with this id. Default: with what is new")
      ->type_name("ID")
      ->check(NonNegativeNumber);
  Choose(command, watch, chosen);
}

}  // namespace curator::cli
