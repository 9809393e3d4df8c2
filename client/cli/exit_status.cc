#include "client/cli/exit_status.h"

#include <vector>

#include "client/cli/output/document.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/text.h"
#include "client/error.h"

namespace curator::cli {
namespace {

// Whether the request may have reached the server and been charged though no answer came back.
bool IsOutcomeUnknown(const absl::Status& status) {
  if (client::IsNeverReached(status)) return false;
  return absl::IsUnavailable(status) || absl::IsUnknown(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsDataLoss(status);
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

void PrintErrorAsJson(const absl::Status& status, const std::string& request_id, std::ostream& error) {
  JsonWriter json(error);
  json.BeginObject();
  json.Key("error");
  json.BeginObject();
  const std::vector<std::pair<const char*, std::string>> members = {
      {"code", absl::StatusCodeToString(status.code())},
      {"message", MessageOf(status)},
      {"reason", client::Reason(status)},
      {"request_id", request_id}};
  for (const auto& [key, value] : members) {
    json.Key(key);
    json.Write(value.empty() ? Value() : Value(value));
  }
  const auto write_objects = [&json](const char* key, const std::vector<Column>& columns,
                                     const std::vector<Row>& rows) {
    json.Key(key);
    json.BeginArray();
    for (const Row& row : rows) {
      json.BeginObject();
      for (size_t i = 0; i < columns.size(); ++i) {
        json.Key(columns[i].key);
        json.Write(row[i]);
      }
      json.EndObject();
    }
    json.EndArray();
  };
  std::vector<Row> violations;
  for (const auto& violation : client::FieldViolations(status)) {
    violations.push_back({violation.field, violation.description});
  }
  write_objects("field_violations", {{"field", ""}, {"description", ""}}, violations);
  std::vector<Row> accounts;
  for (const auto& full : client::FullAccounts(status)) {
    accounts.push_back({full.account, full.rule, full.counter, full.asked, full.remaining, full.description});
  }
  write_objects(
      "full_accounts",
      {{"account", ""}, {"rule", ""}, {"counter", ""}, {"asked", ""}, {"remaining", ""}, {"description", ""}},
      accounts);
  json.EndObject();
  json.EndObject();
  error << "\n";
}

std::string TextOf(const client::FullAccount& full) {
  const std::string text = "  account " + full.account + ": ";
  if (full.asked.empty()) return text + full.description;
  return text + "asked " + full.asked + " of " + full.counter + ", left " + full.remaining;
}

bool IsSaidIn(const std::string& message, const client::FullAccount& full) {
  return message.find(full.account) != std::string::npos && message.find(full.asked) != std::string::npos &&
         message.find(full.remaining) != std::string::npos;
}

}  // namespace

ExitStatus ExitStatusOf(const absl::Status& status) {
  if (status.ok()) return ExitStatus::kDone;
  if (client::IsUnreachable(status)) return ExitStatus::kUnreachable;
  if (absl::IsResourceExhausted(status) && !client::FullAccounts(status).empty())
    return ExitStatus::kBudgetFull;
  return ExitStatus::kRefused;
}

void PrintError(const absl::Status& status, const std::string& request_id, OutputForm form,
                const Terminal& terminal, std::ostream& error) {
  if (form == OutputForm::kJson) return PrintErrorAsJson(status, request_id, error);
  error << Styled(terminal, Style::kRed, "curator: " + absl::StatusCodeToString(status.code()) + ":") << " "
        << Printable(MessageOf(status)) << "\n";
  for (const client::FullAccount& full : client::FullAccounts(status)) {
    if (!IsSaidIn(MessageOf(status), full)) error << Printable(TextOf(full)) << "\n";
  }
  const std::vector<client::FieldViolation> violations = client::FieldViolations(status);
  if (violations.size() > 1) {
    for (const auto& violation : violations) {
      error << Printable("  " + violation.field + ": " + violation.description) << "\n";
    }
  }
  if (!request_id.empty() && IsOutcomeUnknown(status)) {
    error << "  the outcome is unknown; ask again with --request-id " << request_id
          << ": it is never charged twice\n";
  }
}

}  // namespace curator::cli
