#include "client/sql/translate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/sql/aggregates.h"
#include "client/sql/columns.h"
#include "client/sql/conditions.h"
#include "client/sql/output.h"
#include "client/sql/places.h"
#include "client/sql/refusal.h"
#include "client/sql/statement.h"

namespace curator::sql {
namespace {

absl::Status CheckClauses(std::string_view sql, const Statement& statement) {
  const tree::SelectStatement& select = statement.select;
  const KeywordPlaces& places = statement.places;
  if (!select.distinct().empty())
    return Refusal(sql, places.distinct, "SELECT DISTINCT is not known: GROUP BY makes each row once");
  if (select.has_with())
    return Refusal(sql, select.with().location(), "WITH is not answered: one SELECT reads one dataset");
  if (select.has_into()) return Refusal(sql, places.into, "nothing is stored: leave INTO out");
  if (!select.windows().empty())
    return Refusal(sql, places.window,
                   "windows are not answered: GROUP BY makes the groups; leave WINDOW out");
  if (!select.locking().empty())
    return Refusal(sql, places.locking, "nothing is locked: leave FOR UPDATE or FOR SHARE out");
  if (!select.values().empty())
    return Refusal(sql, places.first, "VALUES is no dataset: write SELECT ... FROM dataset");
  if (select.group_distinct()) return Refusal(sql, places.group, "write GROUP BY without DISTINCT");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DatasetOf(std::string_view sql) {
  ASSIGN_OR_RETURN(const Statement statement, ParseStatement(sql));
  ASSIGN_OR_RETURN(Table table, TableOf(sql, statement.select));
  return std::move(table.name);
}

absl::StatusOr<v1::TranslateSqlResponse> Translate(const v1::Schema& schema, std::string_view dataset,
                                                   std::string_view sql) {
  ASSIGN_OR_RETURN(PlacedTranslation placed, TranslateWithPlaces(schema, dataset, sql));
  return std::move(placed.translation);
}

absl::StatusOr<PlacedTranslation> TranslateWithPlaces(const v1::Schema& schema, std::string_view dataset,
                                                      std::string_view sql) {
  ASSIGN_OR_RETURN(const Statement statement, ParseStatement(sql));
  const tree::SelectStatement& select = statement.select;
  RETURN_IF_ERROR(CheckClauses(sql, statement));
  ASSIGN_OR_RETURN(const Table table, TableOf(sql, select));
  if (!IsReadAs(dataset, table.name)) {
    return Refusal(sql, table.place,
                   absl::StrCat("the dataset that is asked is \"", std::string(dataset), "\": write FROM \"",
                                std::string(dataset), "\""));
  }
  const Columns columns(sql, schema, table);
  Aggregates aggregates(sql, columns);
  ASSIGN_OR_RETURN(Output output, OutputOf(sql, columns, aggregates, select));
  if (aggregates.statistics().empty())
    return Refusal(sql, statement.places.select,
                   "nothing is asked of the groups: select an aggregate, such as COUNT(*)");

  PlacedTranslation placed;
  v1::TranslateSqlResponse& response = placed.translation;
  response.set_explain(statement.explain);
  response.mutable_selection()->Swap(&output.selection);
  v1::Statistics& statistics = *response.mutable_workload()->add_query_sets()->mutable_statistics();
  for (const v1::Statistic& statistic : aggregates.statistics()) *statistics.add_statistics() = statistic;
  placed.statistics = aggregates.places();
  for (std::string& attribute : output.by) statistics.add_by(std::move(attribute));
  if (select.has_where()) {
    ASSIGN_OR_RETURN(Conditions conditions, ConditionsOf(sql, columns, select.where()));
    statistics.mutable_where()->mutable_expression()->Swap(&conditions.expression);
    placed.conditions = std::move(conditions.places);
  }
  if (HasUnknownPart(select)) {
    return Refusal(sql, statement.places.select,
                   "the statement has a part that is not understood: docs/SQL.md lists what is; the rest of "
                   "PostgreSQL's SELECT is not answered");
  }
  return placed;
}

}  // namespace curator::sql
