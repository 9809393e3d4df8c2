// `curator calc compose`: one schedule by every calculator, on this machine, without a server.
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/calc_number.h"
#include "client/cli/syntax/calc_schedule.h"
#include "dp/accounting/calculators/comparison.h"

namespace curator::cli {
namespace {

std::string_view TextOfValidity(dp::Validity validity) {
  return validity == dp::Validity::kAdaptive ? "adaptive" : "fixed schedule";
}

Row RowOf(const dp::CalculatedEpsilon& row) {
  const bool lower = row.side == dp::BoundSide::kLower;
  Row cells = {std::string(row.calculator),
               std::string(lower ? "lower" : "upper"),
               std::monostate(),
               std::monostate(),
               std::string(TextOfValidity(row.validity)),
               row.remark};
  if (row.epsilon.ok()) {
    cells[2] = lower ? RoundedDownText(*row.epsilon) : RoundedUpText(*row.epsilon);
    if (std::isfinite(*row.epsilon)) cells[3] = *row.epsilon;
  } else {
    cells[5] = std::string(row.epsilon.status().message());
  }
  return cells;
}

// The least upper bound of one validity.
const dp::CalculatedEpsilon* LeastOf(const std::vector<dp::CalculatedEpsilon>& rows, dp::Validity needed) {
  const dp::CalculatedEpsilon* least = nullptr;
  for (const dp::CalculatedEpsilon& row : rows) {
    const bool valid = needed == dp::Validity::kFixedSchedule || row.validity == dp::Validity::kAdaptive;
    if (!valid || row.side == dp::BoundSide::kLower || !row.epsilon.ok()) continue;
    if (least == nullptr || *row.epsilon < *least->epsilon) least = &row;
  }
  return least;
}

void AddLeast(const std::vector<dp::CalculatedEpsilon>& rows, dp::Validity needed, const std::string& key,
              const std::string& title, Document& document) {
  const dp::CalculatedEpsilon* least = LeastOf(rows, needed);
  if (least == nullptr || !std::isfinite(*least->epsilon)) return;
  document.fields.push_back({key, title, *least->epsilon, Audience::kPrograms});
  document.fields.push_back(
      {key + "_text", title,
       absl::StrCat(RoundedUpText(*least->epsilon), " (", std::string(least->calculator), ")"),
       Audience::kPeople});
}

}  // namespace

absl::Status Run(Session& session, const ComposeEvents& command) {
  ASSIGN_OR_RETURN(const dp::Schedule schedule,
                   command.file.empty() ? ParseEvents(command.events) : ReadSchedule(command.file));
  ASSIGN_OR_RETURN(const dp::Delta delta, ParseDelta(command.delta));
  ASSIGN_OR_RETURN(const auto rows, dp::CompareCalculators(schedule, delta, dp::Effort::kThorough));

  Document document;
  std::vector<std::string> mechanisms;
  for (const dp::CountedEvent& part : schedule) {
    mechanisms.push_back(absl::StrCat(part.count, " x ", dp::Describe(part.event)));
  }
  document.fields = {{"schedule", "schedule", mechanisms}, {"delta", "delta", delta.ToString()}};
  AddLeast(rows, dp::Validity::kFixedSchedule, "least_fixed", "least for this schedule", document);
  AddLeast(rows, dp::Validity::kAdaptive, "least_adaptive", "least if chosen adaptively", document);
  Table table{"calculators",
              "",
              {{"calculator", "calculator"},
               {"bound", "bound"},
               ColumnForPeople("epsilon", "epsilon"),
               ColumnForPrograms("epsilon", "epsilon"),
               {"valid", "valid"},
               {"remark", "remark"}},
              {}};
  for (const dp::CalculatedEpsilon& row : rows) table.rows.push_back(RowOf(row));
  document.tables.push_back(std::move(table));
  document.notes = {
      "adaptive: also when each mechanism is chosen after the earlier answers; fixed schedule: only when "
      "all is fixed beforehand"};
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
