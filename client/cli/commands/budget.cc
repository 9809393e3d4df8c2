// `curator budget`: what has been spent and what is left.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ShowBudget {
  std::string dataset;
};

struct ShowHistory {
  std::string dataset;
  std::string account;
  int32_t points = 0;
};

Value RequestsLeft(const v1::Account& account) {
  if (!account.has_requests_left_like_last()) return std::monostate();
  return account.requests_left_like_last();
}

// Each row of the accounts' table with how many more requests like the caller's last one fit the account.
Table WithRequestsLeft(const v1::GetBudgetResponse& budget, Table table) {
  if (!budget.has_last_request()) return table;
  const bool has_bar = !table.columns.empty() && table.columns.back().key == "bar";
  const auto place = static_cast<std::ptrdiff_t>(table.columns.size() - (has_bar ? 1 : 0));
  table.columns.insert(table.columns.begin() + place,
                       {"requests_left_like_last", "like your last", Align::kRight});
  size_t row = 0;
  for (const v1::Account& account : budget.accounts()) {
    for (int counter = 0; counter < account.counters_size(); ++counter) {
      Row& cells = table.rows[row++];
      cells.insert(cells.begin() + place, RequestsLeft(account));
    }
  }
  return table;
}

// "about 14 more requests like your last one (4 marginals, 120 cells: rho 0.1); dataset/census is full first"
std::string LeftInWords(const v1::GetBudgetResponse& budget) {
  const v1::Account* tightest = nullptr;
  for (const v1::Account& account : budget.accounts()) {
    if (!account.has_requests_left_like_last()) continue;
    if (tightest == nullptr || account.requests_left_like_last() < tightest->requests_left_like_last()) {
      tightest = &account;
    }
  }
  if (tightest == nullptr) return "";
  const int64_t left = tightest->requests_left_like_last();
  const std::string last = absl::StrCat(" like your last one (", budget.last_request().summary(), ")");
  const std::string first =
      budget.accounts_size() > 1 ? absl::StrCat("; ", tightest->name(), " is full first") : "";
  if (left == 0) return absl::StrCat("not one more request", last, " fits", first);
  return absl::StrCat("about ", left, left == 1 ? " more request" : " more requests", last, first);
}

Row RowOf(const v1::CalculatedEpsilon& one) {
  Row row = {one.calculator(), std::string(one.is_lower_bound() ? "lower" : "upper"),       std::monostate(),
             std::monostate(), std::string(one.adaptive() ? "adaptive" : "fixed schedule"), one.remark()};
  if (one.epsilon().empty()) return row;
  const double epsilon = std::strtod(one.epsilon().c_str(), nullptr);
  row[2] = one.is_lower_bound() ? RoundedDownText(epsilon) : RoundedUpText(epsilon);
  row[3] = one.epsilon();  // as the server wrote it: a decimal that is no double again
  return row;
}

std::string ComparisonTitle(const v1::HistoryComparison& comparison) {
  return absl::StrCat("for information only: ", comparison.own_charges_only() ? "your " : "the ",
                      comparison.charges(), comparison.charges() == 1 ? " charge" : " charges",
                      " so far at delta ", comparison.delta(),
                      ", counted by other rules. No request is admitted or refused by this");
}

// Tables have the calculators that can count the charges, and a note with the names of the others; JSON and
// CSV have all.
void AddComparison(const v1::HistoryComparison& comparison, Document& document) {
  document.fields.push_back({"compared_charges", "", comparison.charges(), ShownIn::kJsonAndCsv});
  document.fields.push_back({"compared_delta", "", comparison.delta(), ShownIn::kJsonAndCsv});
  if (!comparison.not_computed().empty()) {
    document.notes.push_back("under the other rules: " + comparison.not_computed());
  }
  if (comparison.calculated().empty()) return;
  Table table{"comparison",
              ComparisonTitle(comparison),
              {{"calculator", "calculator"},
               {"bound", "bound"},
               {"epsilon_text", "epsilon", Align::kRight, ShownIn::kTables},
               {"epsilon", "epsilon", Align::kRight, ShownIn::kJsonAndCsv},
               {"valid", "valid"},
               {"remark", "remark"}},
              {}};
  Table counted = table;
  counted.shown_in = ShownIn::kTables;
  table.shown_in = ShownIn::kJsonAndCsv;
  std::vector<std::string> unable;
  for (const v1::CalculatedEpsilon& one : comparison.calculated()) {
    table.rows.push_back(RowOf(one));
    if (one.epsilon().empty()) {
      unable.push_back(one.calculator());
    } else {
      counted.rows.push_back(RowOf(one));
    }
  }
  if (!unable.empty()) {
    document.notes.push_back(
        absl::StrCat("cannot count these charges: ", absl::StrJoin(unable, ", "), " (why: --output json)"));
  }
  document.tables.push_back(std::move(table));
  if (!counted.rows.empty()) document.tables.push_back(std::move(counted));
}

absl::Status Run(Session& session, const ShowBudget& command) {
  ASSIGN_OR_RETURN(const v1::GetBudgetResponse budget,
                   session.client.GetBudgetWithComparison(command.dataset));
  Document document;
  if (!budget.protects().empty()) {  // a server before this field was made says nothing
    document.fields.push_back({"protects", "protects", budget.protects()});
    if (budget.custody() == v1::CUSTODY_SINGLE) {
      document.fields.push_back({"custody", "custody", "single: owners approve what they proposed"});
    }
    AddDataFacts(budget.domain_from_records(), budget.rows_from_query(), document);
  }
  document.tables.push_back(WithRequestsLeft(budget, AccountTable(budget.accounts(), session.terminal)));
  if (const std::string left = LeftInWords(budget); !left.empty()) document.notes.push_back(left);
  if (budget.has_last_request()) {
    document.fields.push_back({"last_request", "", budget.last_request().summary(), ShownIn::kJsonAndCsv});
  }
  Table largest{"largest_part",
                "the dataset's spent amounts: those of the part that has spent most",
                {{"counter", "counter"}, {"spent", "spent", Align::kRight}, {"held", "held", Align::kRight}},
                {}};
  for (const v1::Counter& counter : budget.largest_part().counters()) {
    largest.rows.push_back({counter.name(), counter.spent(), counter.held()});
  }
  if (!largest.rows.empty()) document.tables.push_back(std::move(largest));
  if (budget.has_comparison()) AddComparison(budget.comparison(), document);
  if (budget.accounts().empty()) document.notes.emplace_back("no account: a public dataset has no budget");
  if (!budget.read_only().empty()) {
    document.fields.push_back({"read_only", "READ-ONLY", budget.read_only()});
    document.notes.emplace_back("no request is charged, and the amounts above may be wrong");
  }
  session.Print(document);
  return budget.read_only().empty() ? absl::OkStatus() : absl::FailedPreconditionError(budget.read_only());
}

absl::Status Run(Session& session, const ShowHistory& command) {
  v1::GetBurnDownRequest request;
  request.set_dataset(command.dataset);
  request.set_account(command.account);
  request.set_points(command.points);
  ASSIGN_OR_RETURN(const v1::GetBurnDownResponse history, session.client.GetBurnDown(request));
  Table table{"points",
              "",
              {{"time", "time"},
               {"counter", "counter"},
               {"limit", "limit", Align::kRight},
               {"spent", "spent", Align::kRight},
               {"held", "held", Align::kRight}},
              {}};
  for (const v1::GetBurnDownResponse::Counter& counter : history.counters()) {
    for (const v1::BurnDownPoint& point : counter.points()) {
      table.rows.push_back(
          {FormatTime(point.time()), counter.name(), point.limit(), point.spent(), point.held()});
    }
  }
  Document document;
  document.fields.push_back({"account", "account", history.account()});
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddBudgetCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "budget", "What has been spent and what is left");
  AddNameCommand(*group, "show", "Each account of a dataset", "curator budget show census",
                 &ShowBudget::dataset, "NAME", chosen);
  const auto options = std::make_shared<ShowHistory>();
  CLI::App* const command =
      AddCommand(*group, "history", "How an account came to what it has spent, in points for a chart",
                 "curator budget history census --points 100 --output csv");
  command->add_option("NAME", options->dataset)->required();
  command->add_option("--account", options->account, "As `account list` names it; default: the dataset's own")
      ->type_name("ACCOUNT");
  command->add_option("--points", options->points, "How many at most of each counter; default: 500")
      ->check(CLI::Range(1, 2000));
  Choose(command, options, chosen);
}

}  // namespace curator::cli
