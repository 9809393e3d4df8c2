#include "client/cli/output/tables.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

// For a bar only; amounts that decide anything stay decimals.
double Share(const std::string& amount, const std::string& limit) {
  const double whole = std::strtod(limit.c_str(), nullptr);
  return whole > 0 ? std::strtod(amount.c_str(), nullptr) / whole : 0;
}

}  // namespace

std::vector<std::string> ListOf(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

Table AccountTable(const google::protobuf::RepeatedPtrField<v1::Account>& accounts,
                   const Terminal& terminal) {
  constexpr int kBarWidth = 20;
  Table table{"accounts",
              "",
              {{"account", "account"},
               {"rule", "rule"},
               {"promise", "promise", Align::kLeft, ShownIn::kTables},
               {"epsilon", "epsilon", Align::kRight, ShownIn::kJsonAndCsv},
               {"delta", "delta", Align::kRight, ShownIn::kJsonAndCsv},
               {"counter", "counter"},
               {"limit", "limit", Align::kRight},
               {"spent", "spent", Align::kRight},
               {"held", "held", Align::kRight},
               {"remaining", "left", Align::kRight}},
              {}};
  if (terminal.out_is_terminal) table.columns.push_back({"bar", "", Align::kLeft, ShownIn::kTables});
  for (const v1::Account& account : accounts) {
    for (const v1::Counter& counter : account.counters()) {
      table.rows.push_back(
          {account.name(), NameOf(account.promise().rule()), FormatPromise(account.promise()),
           account.promise().epsilon(), account.promise().delta().empty() ? "0" : account.promise().delta(),
           counter.name(), counter.limit(), counter.spent(), counter.held(), counter.remaining()});
      if (terminal.out_is_terminal) {
        table.rows.back().emplace_back(BudgetBar(terminal, Share(counter.spent(), counter.limit()),
                                                 Share(counter.held(), counter.limit()), kBarWidth));
      }
    }
  }
  return table;
}

Value TextOrNone(const std::string& text) {
  if (text.empty()) return std::monostate();
  return text;
}

Value PositionOrNone(const v1::Operation& operation) {
  return operation.queue_position() == 0 ? Value() : Value(operation.queue_position());
}

Table CostTable(const google::protobuf::RepeatedPtrField<v1::Cost>& costs) {
  Table table{"costs",
              "",
              {{"account", "account"},
               {"rule", "rule"},
               {"counter", "counter"},
               {"amount", "cost", Align::kRight},
               {"remaining", "left after", Align::kRight}},
              {}};
  for (const v1::Cost& cost : costs) {
    table.rows.push_back(
        {cost.account(), NameOf(cost.rule()), cost.counter(), cost.amount(), TextOrNone(cost.remaining())});
  }
  return table;
}

Field RefusalField(const std::string& rule) {
  return {"refused_by_rule", "refused by the owner's rule", rule,
          rule.empty() ? ShownIn::kJsonAndCsv : ShownIn::kAllForms};
}

void AddDataFacts(bool domain_from_records, bool rows_from_query, Document& document) {
  const auto only_true = [](bool fact) { return fact ? ShownIn::kAllForms : ShownIn::kJsonAndCsv; };
  document.fields.push_back(
      {"domain_from_records", "domain from records", domain_from_records, only_true(domain_from_records)});
  document.fields.push_back(
      {"rows_from_query", "rows from a query", rows_from_query, only_true(rows_from_query)});
  if (domain_from_records) {
    document.notes.emplace_back(
        "ranges, categories or bins were chosen by somebody who had seen records: the guarantee does not "
        "cover "
        "that choice");
  }
  if (rows_from_query) {
    document.notes.emplace_back(
        "the rows came from a query, in which one person may have changed the rows of others: the guarantee "
        "is "
        "about the rows that were imported");
  }
}

Document OperationDocument(const v1::Operation& operation) {
  Document document;
  document.fields = {{"operation_id", "operation", operation.id()},
                     {"state", "state", NameOf(operation.state())},
                     {"percent", "percent", operation.percent()},
                     {"queue_position", "in the queue", PositionOrNone(operation)},
                     {"dataset", "dataset", operation.dataset()},
                     {"kind", "kind", operation.kind()},
                     {"summary", "what", TextOrNone(operation.summary())},
                     {"release_id", "release", TextOrNone(operation.release_id())},
                     {"error", "error", TextOrNone(operation.error())},
                     {"request_id", "request id", operation.request_id()},
                     {"create_time", "started", TextOrNone(FormatTime(operation.create_time()))}};
  return document;
}

absl::Status StatusOf(const v1::Operation& operation) {
  switch (operation.state()) {
    case v1::Operation::DONE:
      return absl::OkStatus();
    case v1::Operation::INTERRUPTED:
      return absl::UnavailableError(
          absl::StrCat("operation ", operation.id(),
                       " was interrupted because the server stopped. Send the same request "
                       "again with --request-id ",
                       operation.request_id(), "; it is not charged again"));
    case v1::Operation::FAILED:
      return absl::InternalError(absl::StrCat("operation ", operation.id(), " failed: ", operation.error()));
    default:
      return absl::UnavailableError(absl::StrCat("operation ", operation.id(), " is still ",
                                                 NameOf(operation.state()), ": curator operation wait ",
                                                 operation.id()));
  }
}

std::string FormatConfidence(double level) {
  return RoundedText(level * 100) + "%";
}

}  // namespace curator::cli
