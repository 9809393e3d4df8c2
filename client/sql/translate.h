// SQL as workloads: a documented subset of PostgreSQL's SELECT (docs/SQL.md).
//
// A statement becomes one set of statistics, and the selection of what is shown of their answers; what that
// is answered with and costs is decided as of every workload. Functions of the statement and of public facts
// alone. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sql/conditions.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"

namespace curator::sql {

// The dataset of the statement: the name after FROM. Errors: INVALID_ARGUMENT with the line and a mark
// (refusal.h) for what is no SELECT from one name.
absl::StatusOr<std::string> DatasetOf(std::string_view sql);

// The statement as a workload. Of `schema` the names, kinds and unit are used. Errors: INVALID_ARGUMENT with
// the line, a mark under the place, what is wrong, and the nearest that works; also where FROM has another
// name than `dataset`.
absl::StatusOr<v1::TranslateSqlResponse> Translate(const v1::Schema& schema, std::string_view dataset,
                                                   std::string_view sql);

// The same, and where the parts of the workload are in the statement: what a server refuses of them can be
// marked there (refusal.h). It alone knows the bins, which a condition must not cut.
struct PlacedTranslation {
  v1::TranslateSqlResponse translation;
  std::vector<int64_t> statistics;          // of each statistic
  std::vector<ConditionPlaces> conditions;  // of WHERE, as in Conditions
};
absl::StatusOr<PlacedTranslation> TranslateWithPlaces(const v1::Schema& schema, std::string_view dataset,
                                                      std::string_view sql);

}  // namespace curator::sql
