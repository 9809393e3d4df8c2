// `curator sql`: questions in SQL, translated here, and answered and priced as every workload is.
#include <google/protobuf/util/json_util.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/delivery.h"
#include "client/cli/commands/workload_choice.h"
#include "client/cli/output/answer_output.h"
#include "client/cli/output/document.h"
#include "client/cli/output/forecast.h"
#include "client/cli/output/statistics_table.h"
#include "client/client.h"
#include "client/sql/refusal.h"
#include "client/sql/translate.h"

namespace curator::cli {
namespace {

constexpr double kDefaultLevel = 0.95;
constexpr size_t kDisplayedGroups = 40;

struct AskSql {
  std::string statement;           // "-": standard input
  std::vector<std::string> parts;  // all that are sealed when empty
  SpendChoice spend;
  v1::Mechanism mechanism = v1::MECHANISM_UNSPECIFIED;
  std::optional<double> confidence;
  std::optional<int64_t> assumed_rows;
  bool prefer_free = false;
  bool show_workload = false;
  std::string receipt;
  std::string request_id;
  DeliveryChoice delivery;
};

// A statement, translated for the dataset that it names.
struct AskedSql {
  std::string statement;
  v1::Dataset dataset;
  v1::TranslateSqlResponse translation;
  std::vector<int64_t> statistics;               // their places in the statement
  std::vector<sql::ConditionPlaces> conditions;  // likewise
};

absl::StatusOr<AskedSql> Translated(Session& session, const AskSql& command) {
  AskedSql asked;
  std::string& sql = asked.statement;
  sql = command.statement;
  if (sql == "-") sql.assign(std::istreambuf_iterator<char>(session.in), std::istreambuf_iterator<char>());
  ASSIGN_OR_RETURN(const std::string dataset, sql::DatasetOf(sql));
  ASSIGN_OR_RETURN(asked.dataset, session.client.GetDataset(dataset));
  ASSIGN_OR_RETURN(sql::PlacedTranslation placed,
                   sql::TranslateWithPlaces(asked.dataset.schema(), dataset, sql));
  asked.translation.Swap(&placed.translation);
  asked.statistics = std::move(placed.statistics);
  asked.conditions = std::move(placed.conditions);
  return asked;
}

// What errors say of the fields of conditions: the attribute that the statement compares, and the place. Goes
// through an expression in the order in which the places of its conditions come.
class ConditionNames {
 public:
  ConditionNames(const AskedSql& asked, FieldOptions& fields) : asked_(asked), fields_(fields) {}

  void Add(const v1::Expression& expression, const std::string& field) {
    if (expression.has_condition()) AddCondition(expression.condition(), field);
    if (expression.has_not_()) Add(expression.not_(), field + ".not");
    const bool all = expression.has_all_of();
    const v1::Expressions& joined = all ? expression.all_of() : expression.any_of();
    for (int i = 0; i < joined.expressions_size(); ++i)
      Add(joined.expressions(i), absl::StrCat(field, all ? ".all_of" : ".any_of", ".expressions[", i, "]"));
  }

 private:
  void AddCondition(const v1::Condition& condition, const std::string& field) {
    const sql::ConditionPlaces& places = asked_.conditions.at(next_++);
    fields_.Add(field, absl::StrCat("WHERE ", condition.attribute()));
    AddPlace(field, places.attribute);
    for (size_t i = 0; i < places.values.size(); ++i) {
      AddPlace(field + (condition.has_compare() ? ".condition.compare.value"
                                                : absl::StrCat(".condition.in[", i, "]")),
               places.values[i]);
    }
  }
  void AddPlace(const std::string& field, int64_t place) {
    if (place >= 0) fields_.AddPlace(field, sql::MarkedLine(asked_.statement, place));
  }

  const AskedSql& asked_;
  FieldOptions& fields_;
  size_t next_ = 0;
};

void NameFields(const AskedSql& asked, FieldOptions& fields) {
  const std::string statistics = "workload.query_sets[0].statistics";
  fields.Add("workload", "the statement");
  fields.Add("selection", "the statement");
  fields.Add(statistics + ".by", "GROUP BY");
  for (size_t i = 0; i < asked.statistics.size(); ++i) {
    fields.AddPlace(absl::StrCat(statistics, ".statistics[", i, "]"),
                    sql::MarkedLine(asked.statement, asked.statistics[i]));
  }
  ConditionNames(asked, fields)
      .Add(asked.translation.workload().query_sets(0).statistics().where().expression(),
           statistics + ".where.expression");
}

// Of an EstimateWorkloadRequest or an AnswerWorkloadRequest.
template <typename Request>
void Fill(Session& session, const AskSql& command, const AskedSql& asked, Request& request) {
  NameFields(asked, session.fields);
  request.set_dataset(asked.dataset.name());
  for (const std::string& part : command.parts) request.add_parts(part);
  *request.mutable_workload() = asked.translation.workload();
  if (command.spend.is_given()) *request.mutable_spend() = SpendOf(command.spend);
  request.set_mechanism(command.mechanism);
  if (command.confidence) request.set_confidence_level(*command.confidence);
}

absl::Status Explain(Session& session, const AskSql& command, const AskedSql& asked) {
  v1::EstimateWorkloadRequest request;
  Fill(session, command, asked, request);
  ASSIGN_OR_RETURN(const v1::EstimateWorkloadResponse estimate, session.client.EstimateWorkload(request));
  const double level = command.confidence.value_or(kDefaultLevel);
  session.Print(EstimateDocument(asked.dataset.name(), estimate, command.spend.is_given(),
                                 command.assumed_rows, level, session.form));
  return absl::OkStatus();
}

std::vector<const v1::Measure*> MeasuresOf(const AskedSql& asked) {
  return MeasuresAsked(asked.translation.workload().query_sets(0).statistics(), asked.dataset.schema());
}

absl::StatusOr<Document> RowsOf(const Answer& answer, const AskedSql& asked, size_t most_rows) {
  if (answer.query_sets.size() != 1) return absl::DataLossError("the answer is not one set of statistics");
  const QuerySetAnswer& set = answer.query_sets.front();
  Document document;
  ASSIGN_OR_RETURN(Table table,
                   StatisticsTable(set, answer.header, asked.translation.selection(), most_rows));
  table.key = "rows";
  table.displayed_rows = most_rows;
  document.tables.push_back(std::move(table));
  document.tables.push_back(ClippedTable(MeasuresOf(asked)));
  document.notes = StatisticsNotes(set, MeasuresOf(asked));
  return document;
}

absl::Status WriteRows(Session& session, const Answer& answer, const AskedSql& asked,
                       const OpenDelivery& delivery) {
  Document summary = SummaryOf(answer);
  if (delivery.out == nullptr) {
    ASSIGN_OR_RETURN(const Document rows, RowsOf(answer, asked, kDisplayedGroups));
    Print(rows, OutputForm::kTable, session.terminal, session.out, session.error);
    session.out << "\n";
    session.Print(summary);
    return absl::OkStatus();
  }
  const std::string& path = delivery.choice.out;
  const bool is_json =
      path.ends_with(".json") || (session.form == OutputForm::kJson && !path.ends_with(".csv"));
  ASSIGN_OR_RETURN(Document rows, RowsOf(answer, asked, kAllRows));
  rows.notes.clear();
  if (is_json) rows.fields = summary.fields;
  const std::vector<std::string> notes =
      is_json ? std::vector<std::string>() : ClippedNotes(MeasuresOf(asked));
  Print(rows, is_json ? OutputForm::kJson : OutputForm::kCsv, session.terminal, delivery.out->stream(),
        session.error);
  RETURN_IF_ERROR(delivery.out->Commit());
  if (path.empty() || path == "-") {
    WriteNotes(session, answer.header, notes);
    return absl::OkStatus();
  }
  summary.notes.insert(summary.notes.begin(), notes.begin(), notes.end());
  summary.fields.push_back({"out", "written to", path});
  session.Print(summary);
  return absl::OkStatus();
}

absl::Status AnswerIt(Session& session, const AskSql& command, const AskedSql& asked) {
  ASSIGN_OR_RETURN(OpenDelivery delivery, Open(session, command.delivery));
  ASSIGN_OR_RETURN(ReceiptFile receipts, ReceiptFile::Open(command.receipt));
  v1::AnswerWorkloadRequest request;
  Fill(session, command, asked, request);
  *request.mutable_selection() = asked.translation.selection();
  request.set_prefer_free(command.prefer_free);
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  ASSIGN_OR_RETURN(const Answer answer, session.client.AnswerWorkload(std::move(request)));
  // What is paid for is delivered, whatever becomes of its receipt.
  absl::Status delivered = WriteRows(session, answer, asked, delivery);
  if (!delivered.ok() && !answer.header.release_id().empty()) {
    delivered = StoredAgain(delivered, answer.header.request_id(), "show " + answer.header.release_id());
  }
  if (!answer.header.free_from().empty()) return delivered;
  const absl::Status kept = receipts.Append(answer.header.receipt(), answer.header.charge_id());
  return delivered.ok() ? kept : delivered;
}

absl::Status ShowWorkload(Session& session, const AskedSql& asked) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(asked.translation.workload(), &json, options);
  if (!status.ok()) return absl::InternalError("the workload has no JSON form");
  session.out << json;
  return absl::OkStatus();
}

absl::Status Run(Session& session, const AskSql& command) {
  ASSIGN_OR_RETURN(const AskedSql asked, Translated(session, command));
  if (command.show_workload) return ShowWorkload(session, asked);
  const bool is_answered = command.spend.is_given() || command.prefer_free;
  if (asked.translation.explain() || !is_answered) return Explain(session, command, asked);
  return AnswerIt(session, command, asked);
}

}  // namespace

void AddSqlCommand(CLI::App& app, Chosen& chosen) {
  const auto ask = std::make_shared<AskSql>();
  CLI::App* command = AddCommand(
      app, "sql",
      "Ask in SQL, a part of PostgreSQL's SELECT (docs/SQL.md). With EXPLAIN, or without a budget: price and "
      "expected error, free",
      "curator sql 'EXPLAIN SELECT region, AVG(income) FROM census GROUP BY region' --rho 0.01\n"
      "  curator sql 'SELECT region, COUNT(*) AS n, AVG(income) FROM census WHERE age >= 18\n"
      "    GROUP BY region HAVING COUNT(*) > 100 ORDER BY n DESC LIMIT 10' --rho 0.01\n"
      "  curator sql 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY income) FROM \"my-data\"' --epsilon "
      "0.1\n"
      "  curator sql 'SELECT sex, COUNT(*) FROM census GROUP BY sex' --show-workload > workload.json");
  command->add_option("SQL", ask->statement, "One statement; - reads it from standard input")->required();
  AddParts(command, ask->parts);
  AddSpend(command, ask->spend, SpendNeed::kOptional);
  command->add_flag("--prefer-free", ask->prefer_free,
                    "Answer from earlier releases, free, if they determine all answers; otherwise pay, if a "
                    "budget is given");
  command->add_flag(
      "--show-workload", ask->show_workload,
      "Print the workload that the statement is, for --file of other commands, and ask nothing");
  AddMechanism(command, ask->mechanism);
  AddConfidence(command, ask->confidence);
  AddRequestId(command, ask->request_id);
  AddAssumedRows(command, ask->assumed_rows,
                 "Also show the errors of means and variances, for groups of equal size with this many "
                 "records in all");
  AddReceipt(command, ask->receipt);
  command
      ->add_option(
          "--out", ask->delivery.out,
          "Write all rows to this file, CSV or JSON by its extension; - is standard output. Default: the "
          "first rows as a table")
      ->type_name("FILE");
  Choose(command, ask, chosen);
}

}  // namespace curator::cli
