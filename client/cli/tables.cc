#include "client/cli/tables.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "client/cli/names.h"
#include "client/cli/text.h"

namespace curator::cli {
namespace {

std::vector<std::string> NamesOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return {names.begin(), names.end()};
}

// The parameter of the noise as people write it: the scale of Laplace, the standard deviation of Gaussian.
std::string ScaleForPeople(const v1::Noise& noise) {
  if (noise.mechanism() == v1::MECHANISM_DISCRETE_LAPLACE) return "scale " + TextOfFraction(noise.scale());
  return "sigma^2 " + TextOfFraction(noise.sigma_squared());
}

// For a bar only; amounts that decide anything stay decimals.
double Share(const std::string& amount, const std::string& limit) {
  const double whole = std::strtod(limit.c_str(), nullptr);
  return whole > 0 ? std::strtod(amount.c_str(), nullptr) / whole : 0;
}

}  // namespace

Table AccountTable(const google::protobuf::RepeatedPtrField<v1::Account>& accounts,
                   const Terminal& terminal) {
  constexpr int kBarWidth = 20;
  Table table{"accounts",
              "",
              {{"account", "account"},
               {"rule", "rule"},
               {"promise", "promise", Align::kLeft, Audience::kPeople},
               {"epsilon", "epsilon", Align::kRight, Audience::kPrograms},
               {"delta", "delta", Align::kRight, Audience::kPrograms},
               {"counter", "counter"},
               {"limit", "limit", Align::kRight},
               {"spent", "spent", Align::kRight},
               {"held", "held", Align::kRight},
               {"remaining", "left", Align::kRight}},
              {}};
  if (terminal.out_is_terminal) table.columns.push_back({"bar", "", Align::kLeft, Audience::kPeople});
  for (const v1::Account& account : accounts) {
    for (const v1::Counter& counter : account.counters()) {
      table.rows.push_back(
          {account.name(), NameOf(account.promise().rule()), TextOfPromise(account.promise()),
           account.promise().epsilon(), account.promise().delta().empty() ? "0" : account.promise().delta(),
           counter.name(), counter.limit(), counter.spent(), counter.held(), counter.remaining()});
      if (terminal.out_is_terminal) {
        table.rows.back().emplace_back(BudgetBar(Share(counter.spent(), counter.limit()),
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

Table ForecastTable(const v1::EstimateWorkloadResponse& estimate, std::optional<int64_t> assumed_rows) {
  const double level = estimate.marginals().empty() ? 0 : estimate.marginals(0).noise().confidence_level();
  Table table{"marginals",
              "",
              {{"attributes", "marginal"},
               {"cells", "cells", Align::kRight},
               {"mechanism", "noise"},
               {"noise", "parameter", Align::kLeft, Audience::kPeople},
               {"scale", "scale", Align::kRight, Audience::kPrograms},
               {"sigma_squared", "sigma^2", Align::kRight, Audience::kPrograms},
               {"standard_deviation", "std dev", Align::kRight},
               {"expected_absolute_error", "mean |error|", Align::kRight},
               {"confidence_half_width", absl::StrCat(TextOfConfidence(level), " within +-"), Align::kRight},
               {"confidence_level", "level", Align::kRight, Audience::kPrograms}},
              {}};
  if (assumed_rows) table.columns.push_back({"share_of_rows", "|error| / rows", Align::kRight});
  for (const auto& marginal : estimate.marginals()) {
    const v1::Noise& noise = marginal.noise();
    table.rows.push_back({NamesOf(marginal.attributes()), marginal.cells(), NameOf(noise.mechanism()),
                          ScaleForPeople(noise), TextOrNone(noise.scale()), TextOrNone(noise.sigma_squared()),
                          noise.standard_deviation(), noise.expected_absolute_error(),
                          noise.confidence_half_width(), noise.confidence_level()});
    if (assumed_rows) {
      table.rows.back().emplace_back(noise.expected_absolute_error() / static_cast<double>(*assumed_rows));
    }
  }
  return table;
}

Document OperationDocument(const v1::Operation& operation) {
  Document document;
  document.fields = {{"operation_id", "operation", operation.id()},
                     {"state", "state", NameOf(operation.state())},
                     {"percent", "percent", operation.percent()},
                     {"dataset", "dataset", operation.dataset()},
                     {"kind", "kind", operation.kind()},
                     {"summary", "what", TextOrNone(operation.summary())},
                     {"release_id", "release", TextOrNone(operation.release_id())},
                     {"error", "error", TextOrNone(operation.error())},
                     {"request_id", "request id", operation.request_id()},
                     {"create_time", "started", TextOrNone(TextOfTime(operation.create_time()))}};
  return document;
}

absl::Status StatusOf(const v1::Operation& operation) {
  switch (operation.state()) {
    case v1::Operation::DONE:
      return absl::OkStatus();
    case v1::Operation::INTERRUPTED:
      return absl::UnavailableError(
          absl::StrCat("operation ", operation.id(),
                       " was interrupted: the server ended meanwhile. Send the same request "
                       "again with --request-id ",
                       operation.request_id(), "; it is not charged again"));
    case v1::Operation::FAILED:
      return absl::InternalError(
          absl::StrCat("operation ", operation.id(), " failed: ", operation.error(), "; its charge stands"));
    default:
      return absl::UnavailableError(absl::StrCat("operation ", operation.id(), " is still ",
                                                 NameOf(operation.state()), ": curator operation wait ",
                                                 operation.id()));
  }
}

v1::Workload WorkloadOf(const WorkloadChoice& choice) {
  v1::Workload workload;
  v1::AllKWay& marginals = *workload.add_query_sets()->mutable_marginals()->mutable_all_k_way();
  marginals.set_k(choice.marginals);
  for (const std::string& attribute : choice.attributes) marginals.add_attributes(attribute);
  return workload;
}

v1::Spend SpendOf(const SpendChoice& choice) {
  v1::Spend spend;
  spend.set_epsilon(choice.epsilon);
  spend.set_delta(choice.delta);
  spend.set_rho(choice.rho);
  return spend;
}

std::string TextOfConfidence(double level) {
  return RoundedText(level * 100) + "%";
}

}  // namespace curator::cli
