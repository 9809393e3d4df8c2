#include "rpc/translate_sql.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "curator/internal/sql.pb.h"
#include "dp/domain/domain.h"
#include "service/access.h"
#include "service/workloads/sql_program.h"

namespace curator::rpc {
namespace {

constexpr size_t kMostSqlBytes = 16'384;

// The names and kinds of a schema: no categories, tokens or bounds, which would be most of its bytes.
v1::Attribute OutlineOf(const dp::Attribute& attribute) {
  v1::Attribute outline;
  outline.set_name(attribute.name());
  if (const auto* integer = std::get_if<dp::IntegerKind>(&attribute.kind()))
    outline.mutable_integer()->set_bin_width(integer->bin_width);
  if (std::holds_alternative<dp::CategoricalKind>(attribute.kind())) outline.mutable_categorical();
  if (std::holds_alternative<dp::NumericKind>(attribute.kind())) outline.mutable_numeric();
  if (std::holds_alternative<dp::CodedKind>(attribute.kind())) outline.mutable_coded();
  if (std::holds_alternative<dp::DateKind>(attribute.kind())) outline.mutable_date();
  return outline;
}

v1::Schema OutlineOf(const dp::Schema& schema) {
  v1::Schema outline;
  for (const dp::Attribute& attribute : schema.domain.attributes())
    *outline.add_attributes() = OutlineOf(attribute);
  for (const dp::Measure& measure : schema.domain.measures())
    outline.add_measures()->set_name(measure.name());
  if (const auto* person = std::get_if<dp::PersonUnit>(&schema.unit))
    outline.mutable_unit()->mutable_person()->set_id_column(person->id_column);
  if (const auto* group = std::get_if<dp::GroupUnit>(&schema.unit))
    outline.mutable_unit()->mutable_group()->set_id_column(group->id_column);
  return outline;
}

}  // namespace

absl::Status TranslateSql(service::Services& services, const Call& call,
                          const v1::TranslateSqlRequest& request, v1::TranslateSqlResponse& response) {
  ASSIGN_OR_RETURN(const service::DatasetView dataset,
                   service::FindDataset(services.access(), Method::kTranslateSql, call.principal(),
                                        DatasetName(request.dataset())));
  if (request.sql().size() > kMostSqlBytes) {
    return InvalidField(
        "sql", absl::StrCat("has ", request.sql().size(), " bytes; at most ", kMostSqlBytes, " are read"));
  }
  if (services.sql == nullptr) return absl::UnavailableError("this server translates no SQL");
  internal::SqlTask task;
  *task.mutable_schema() = OutlineOf(dataset.schema);
  task.set_dataset(dataset.record.name);
  task.set_sql(request.sql());
  ASSIGN_OR_RETURN(const std::string output, services.sql->Run(call.principal(), task.SerializeAsString()));
  internal::SqlResult result;
  if (!result.ParseFromString(output)) result.Clear();
  switch (result.result_case()) {
    case internal::SqlResult::kTranslation:
      response.Swap(result.mutable_translation());
      return absl::OkStatus();
    case internal::SqlResult::kRefusal:
      return InvalidField("sql", result.refusal());
    case internal::SqlResult::RESULT_NOT_SET:
      break;
  }
  return absl::InternalError("the program that translates SQL wrote no result");
}

}  // namespace curator::rpc
