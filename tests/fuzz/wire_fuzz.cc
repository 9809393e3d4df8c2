// Requests as they come from the wire: schemas, workloads, events, rules, spends and selections. The first
// byte says which, the rest is the message. What is refused names its field; what is accepted is valid
// inside.
#include "base/errors.h"
#include "codec/accounting_codec.h"
#include "codec/schema_codec.h"
#include "dp/workload/workload_plan.h"
#include "rpc/convert_event.h"
#include "rpc/convert_schema.h"
#include "rpc/convert_selection.h"
#include "rpc/convert_workload.h"
#include "service/workloads/resolve_workload.h"
#include "service/workloads/selection.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

enum Kind : char { kSchema, kWorkload, kEvent, kRule, kSpend, kSelection };

bool IsRefused(const absl::Status& status, std::string_view input) {
  if (status.ok()) return false;
  if (status.message().empty()) Broken("a refusal says why", input);
  return true;
}

template <typename Message>
bool Parses(Message& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool TrySchema(std::string_view bytes, std::string_view input) {
  v1::Schema message;
  if (!Parses(message, bytes)) return false;
  const absl::StatusOr<dp::Schema> schema = rpc::FromProto(message);
  if (IsRefused(schema.status(), input)) return false;
  const absl::StatusOr<dp::Schema> again = rpc::FromProto(rpc::ToProto(*schema));
  if (!again.ok() || codec::EncodeSchema(*again) != codec::EncodeSchema(*schema))
    Broken("a schema that is sent back is the same", input);
  if (!codec::DecodeSchema(codec::EncodeSchema(*schema)).ok()) Broken("a schema can be stored", input);
  return true;
}

const dp::Schema& TestSchema() {
  static const dp::Domain domain =
      dp::Domain::Create({dp::Attribute::Create("a", dp::CategoricalKind{{"F", "M"}, "?"}).value(),
                          dp::Attribute::Create("b", dp::IntegerKind{-5, 99, 7}).value(),
                          dp::Attribute::Create("c", dp::NumericKind{{-1e300, 0, 0.5, 1e300}}).value(),
                          dp::Attribute::Create("d", dp::CodedKind{dp::kMaxAttributeSize}).value()},
                         {dp::Measure::Create("m", {0, 80, 0.5}).value()})
          .value();
  static const dp::Schema schema =
      dp::CreateSchema(domain, dp::PersonUnit{.id_column = "pid", .max_records = 2}).value();
  return schema;
}

const dp::Domain& TestDomain() {
  return TestSchema().domain;
}

v1::Workload StatisticsSeed() {
  v1::Workload workload;
  v1::Statistics& statistics = *workload.add_query_sets()->mutable_statistics();
  statistics.add_statistics()->set_mean("m");
  v1::Quantiles& quantiles = *statistics.add_statistics()->mutable_quantiles();
  quantiles.set_of("b");
  quantiles.add_at("0.25");
  statistics.add_by("a");
  v1::Condition& condition = *statistics.mutable_where()->mutable_expression()->mutable_condition();
  condition.set_attribute("c");
  condition.mutable_compare()->set_operator_(v1::Comparison::LESS);
  condition.mutable_compare()->mutable_value()->set_number_value(0.5);
  return workload;
}

bool TryWorkload(std::string_view bytes, std::string_view input) {
  v1::Workload message;
  if (!Parses(message, bytes)) return false;
  const auto requests = rpc::FromProto(message);
  if (IsRefused(requests.status(), input)) return false;
  const auto asked = service::ResolveWorkload(TestSchema(), *requests);
  if (IsRefused(asked.status(), input)) return false;
  if (dp::AreStatistics(*asked)) {
    for (const dp::AskedStatistics& statistics : dp::StatisticsOf(*asked)) {
      if (!dp::Validate(TestSchema(), statistics).ok()) Broken("what is resolved is valid", input);
    }
    return true;
  }
  if (!dp::ValidateQueries(TestDomain(), service::GroupsOf(*asked)).ok())
    Broken("what is resolved is valid", input);
  return !asked->empty();
}

// The selection is of the workload of StatisticsSeed().
bool TrySelection(std::string_view bytes, std::string_view input) {
  static const auto* const asked = new std::vector<dp::AskedSet>(
      service::ResolveWorkload(TestSchema(), rpc::FromProto(StatisticsSeed()).value()).value());
  v1::Selection message;
  if (!Parses(message, bytes)) return false;
  const auto selection = rpc::FromProto(message);
  if (IsRefused(selection.status(), input)) return false;
  if (IsRefused(service::CheckSelection(TestDomain(), *asked, *selection), input)) return false;
  const dp::AskedStatistics& statistics = *asked->front().statistics;
  const std::vector<double> answers(static_cast<size_t>(dp::NumberOfAnswers(TestDomain(), statistics)), 1);
  const auto shown = *service::GroupsShown(TestDomain(), statistics, *selection, answers);
  if (std::ssize(shown) > dp::NumberOfGroups(TestDomain(), statistics))
    Broken("no group is shown twice", input);
  return !service::StatisticsShown(TestDomain(), statistics, *selection).empty();
}

bool TryEvent(std::string_view bytes, std::string_view input) {
  v1::Event message;
  if (!Parses(message, bytes)) return false;
  const absl::StatusOr<dp::AskedEvent> event = rpc::FromProto(message);
  if (IsRefused(event.status(), input)) return false;
  const auto again = codec::DecodeEvent(codec::EncodeEvent(event->as_asked()));
  if (!again.ok() || !(*again == event->as_asked())) Broken("an event can be stored", input);
  return true;
}

bool TryRule(std::string_view bytes, std::string_view input) {
  v1::BudgetLimit message;
  if (!Parses(message, bytes)) return false;
  const absl::StatusOr<dp::RuleSpec> rule = rpc::FromProto(message);
  if (IsRefused(rule.status(), input)) return false;
  const absl::StatusOr<dp::RuleSpec> again = rpc::FromProto(rpc::ToProto(*rule));
  if (!again.ok() || !(*again == *rule)) Broken("a rule that is sent back is the same", input);
  return true;
}

bool TrySpend(std::string_view bytes, std::string_view input) {
  v1::Spend message;
  if (!Parses(message, bytes)) return false;
  const absl::StatusOr<dp::Spend> spend = rpc::FromProto(message);
  if (IsRefused(spend.status(), input)) return false;
  const absl::StatusOr<dp::Spend> again = rpc::FromProto(rpc::ToProto(*spend));
  if (!again.ok() || !(*again == *spend)) Broken("a spend that is sent back is the same", input);
  return true;
}

std::string SchemaSeed() {
  v1::Schema schema;
  v1::Attribute& sex = *schema.add_attributes();
  sex.set_name("sex");
  sex.mutable_categorical()->add_values("F");
  sex.mutable_categorical()->set_catch_all("?");
  v1::Attribute& age = *schema.add_attributes();
  age.set_name("age");
  age.mutable_integer()->set_max(99);
  v1::Attribute& income = *schema.add_attributes();
  income.set_name("income");
  income.mutable_numeric()->set_min(0);
  income.mutable_numeric()->set_max(10);
  income.mutable_numeric()->set_step(0.5);
  schema.mutable_unit()->mutable_person()->set_id_column("pid");
  schema.mutable_unit()->mutable_person()->set_max_records(3);
  v1::Measure& measure = *schema.add_measures();
  measure.set_name("income");
  measure.set_high(200);
  measure.set_resolution(0.5);
  measure.mutable_missing()->add_tokens("?");
  return schema.SerializeAsString();
}

std::string WorkloadSeed() {
  v1::Workload workload;
  workload.add_query_sets()->mutable_marginals()->add_sets()->add_names("a");
  workload.add_query_sets()->mutable_marginals()->mutable_all_k_way()->set_k(2);
  workload.add_query_sets()->mutable_prefixes()->set_attribute("b");
  v1::Predicate& predicate = *workload.add_query_sets()->mutable_predicates()->add_predicates();
  v1::Condition& condition = *predicate.add_all_of();
  condition.set_attribute("b");
  condition.mutable_between()->mutable_from()->set_number_value(16);
  v1::Expressions& any = *workload.mutable_query_sets(3)
                              ->mutable_predicates()
                              ->add_predicates()
                              ->mutable_expression()
                              ->mutable_any_of();
  v1::Condition& compared = *any.add_expressions()->mutable_not_()->mutable_condition();
  compared.set_attribute("c");
  compared.mutable_compare()->set_operator_(v1::Comparison::GREATER_OR_EQUAL);
  compared.mutable_compare()->mutable_value()->set_number_value(0.5);
  v1::Condition& female = *any.add_expressions()->mutable_all_of()->add_expressions()->mutable_condition();
  female.set_attribute("a");
  female.add_in()->set_string_value("F");
  return workload.SerializeAsString();
}

std::string SelectionSeed() {
  v1::Selection selection;
  v1::OutputColumn& column = *selection.add_columns();
  column.set_name("mean");
  column.mutable_source()->set_statistic(0);
  v1::AnswerComparison& compare =
      *selection.mutable_having()->mutable_not_()->mutable_any_of()->add_conditions()->mutable_compare();
  compare.set_operator_(v1::Comparison::GREATER);
  compare.set_value(2);
  v1::SortKey& key = *selection.add_order_by();
  key.mutable_source()->set_attribute("a");
  key.set_descending(true);
  selection.set_limit(1);
  return selection.SerializeAsString();
}

std::string EventSeed() {
  v1::Event event;
  v1::ComposedEvent::Part& part = *event.mutable_composed()->add_parts();
  part.set_count(8);
  part.mutable_event()->mutable_zcdp()->set_rho("0.25");
  return event.SerializeAsString();
}

}  // namespace

std::vector<std::string> Seeds() {
  v1::BudgetLimit rule;
  rule.set_rule(v1::RULE_ZCDP);
  rule.set_epsilon("1");
  rule.set_delta("1e-6");
  v1::Spend spend;
  spend.set_rho("0.5");
  return {std::string(1, kSchema) + SchemaSeed(),
          std::string(1, kWorkload) + WorkloadSeed(),
          std::string(1, kWorkload) + StatisticsSeed().SerializeAsString(),
          std::string(1, kSelection) + SelectionSeed(),
          std::string(1, kEvent) + EventSeed(),
          std::string(1, kRule) + rule.SerializeAsString(),
          std::string(1, kSpend) + spend.SerializeAsString()};
}

bool Try(std::string_view input) {
  if (input.empty()) return false;
  const std::string_view bytes = input.substr(1);
  switch (input[0]) {
    case kSchema:
      return TrySchema(bytes, input);
    case kWorkload:
      return TryWorkload(bytes, input);
    case kEvent:
      return TryEvent(bytes, input);
    case kRule:
      return TryRule(bytes, input);
    case kSpend:
      return TrySpend(bytes, input);
    case kSelection:
      return TrySelection(bytes, input);
    default:
      return false;
  }
}

}  // namespace curator::fuzz
