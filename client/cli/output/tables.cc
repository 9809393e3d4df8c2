#include "client/cli/output/tables.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

// For a bar only; amounts that decide anything stay decimals.
double Share(const std::string& amount, const std::string& limit) {
  const double whole = std::strtod(limit.c_str(), nullptr);
  return whole > 0 ? std::strtod(amount.c_str(), nullptr) / whole : 0;
}

// The epsilon that was used, for display.
Value UsedText(const v1::Account& account) {
  if (account.epsilon_used().empty()) return std::monostate();
  return RoundedUpText(std::strtod(account.epsilon_used().c_str(), nullptr));
}

// Of what was left before the cost; none where it does not fit.
Value ShareOfLeft(const v1::Cost& cost) {
  const double left = cost.share_of_promise() + cost.share_left();
  if (cost.remaining().empty() || left <= 0) return std::monostate();
  return cost.share_of_promise() / left;
}

Value PercentOrNone(const Value& share) {
  const auto* number = std::get_if<double>(&share);
  if (number == nullptr) return std::monostate();
  return PercentUpText(*number);
}

// "rho 0.001, 4.2% of the promise of dataset/census": of an account whose counters are `costs`. A server
// before shares were sent says no percentage.
std::string CostInWords(const std::vector<const v1::Cost*>& costs, double share) {
  std::string amounts;
  for (const v1::Cost* cost : costs)
    absl::StrAppend(&amounts, amounts.empty() ? "" : ", ", cost->counter(), " ", cost->amount());
  return absl::StrCat(amounts, share > 0 ? ", " + PercentUpText(share) + " of the promise" : "", " of ",
                      costs.front()->account());
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
               {"remaining", "left", Align::kRight},
               {"share_spent_text", "used", Align::kRight, ShownIn::kTables},
               {"share_spent", "share", Align::kRight, ShownIn::kJsonAndCsv},
               {"epsilon_used_text", "epsilon used", Align::kRight, ShownIn::kTables},
               {"epsilon_used", "epsilon used", Align::kRight, ShownIn::kJsonAndCsv}},
              {}};
  if (terminal.out_is_terminal) table.columns.push_back({"bar", "", Align::kLeft, ShownIn::kTables});
  for (const v1::Account& account : accounts) {
    for (const v1::Counter& counter : account.counters()) {
      table.rows.push_back({account.name(), NameOf(account.promise().rule()),
                            FormatPromise(account.promise()), account.promise().epsilon(),
                            account.promise().delta().empty() ? "0" : account.promise().delta(),
                            counter.name(), counter.limit(), counter.spent(), counter.held(),
                            counter.remaining(), PercentUpText(account.share_spent()), account.share_spent(),
                            UsedText(account), TextOrNone(account.epsilon_used())});
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

Table CostTable(const google::protobuf::RepeatedPtrField<v1::Cost>& costs, bool replayed) {
  Table table{"costs",
              "",
              {{"account", "account"},
               {"rule", "rule"},
               {"counter", "counter"},
               {"amount", "cost", Align::kRight},
               {"remaining", replayed ? "left now" : "left after", Align::kRight},
               {"share_of_promise_text", "of the promise", Align::kRight, ShownIn::kTables},
               {"share_of_promise", "of the promise", Align::kRight, ShownIn::kJsonAndCsv},
               {"share_of_left_text", "of what was left", Align::kRight, ShownIn::kTables},
               {"share_of_left", "of what was left", Align::kRight, ShownIn::kJsonAndCsv}},
              {}};
  for (const v1::Cost& cost : costs) {
    const Value of_left = replayed ? Value() : ShareOfLeft(cost);
    table.rows.push_back({cost.account(), NameOf(cost.rule()), cost.counter(), cost.amount(),
                          TextOrNone(cost.remaining()), PercentUpText(cost.share_of_promise()),
                          cost.share_of_promise(), PercentOrNone(of_left), of_left});
  }
  return table;
}

std::string CostNote(const v1::AnswerHeader& header) {
  std::vector<std::string> accounts;
  double least_left = 1;
  bool knows_left = false;
  for (int i = 0; i < header.costs_size();) {
    std::vector<const v1::Cost*> costs;
    double share = 0;
    const std::string& account = header.costs(i).account();
    for (; i < header.costs_size() && header.costs(i).account() == account; ++i) {
      costs.push_back(&header.costs(i));
      share = std::max(share, header.costs(i).share_of_promise());
      if (header.costs(i).share_of_promise() <= 0) continue;
      least_left = std::min(least_left, header.costs(i).share_left());
      knows_left = true;
    }
    accounts.push_back(CostInWords(costs, share));
  }
  if (accounts.empty()) return "";
  if (header.replayed()) return "cost: nothing now; when it was charged: " + absl::StrJoin(accounts, "; ");
  const std::string left = knows_left ? absl::StrCat("; ", PercentDownText(least_left), " left") : "";
  return absl::StrCat("cost: ", absl::StrJoin(accounts, "; "), left);
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
