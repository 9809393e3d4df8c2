#include "client/release_total.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace curator::client {
namespace {

double ValueAt(const AnswerValues& values, size_t i) {
  return values.counts.empty() ? values.estimates.at(i) : static_cast<double>(values.counts.at(i));
}

double SumOf(const AnswerValues& values) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += ValueAt(values, i);
  return sum;
}

ReleaseTotal OfMarginal(const Marginal& marginal) {
  if (marginal.header.attributes().empty()) return {SumOf(marginal), "its number of records"};
  return {SumOf(marginal),
          absl::StrCat("the sum of the marginal over ", absl::StrJoin(marginal.header.attributes(), ", "))};
}

// Statistics name themselves in the last column: the numbers of "count", over all groups.
std::optional<ReleaseTotal> OfCounts(const QuerySetAnswer& set) {
  const auto columns = static_cast<size_t>(set.header.columns_size());
  if (columns == 0) return std::nullopt;
  double sum = 0;
  size_t groups = 0;
  for (size_t i = 0; i < set.size(); ++i) {
    if (set.labels.at(i * columns + columns - 1) != "count") continue;
    sum += ValueAt(set, i);
    ++groups;
  }
  if (groups == 0) return std::nullopt;
  return ReleaseTotal{sum, groups == 1 ? "its count" : absl::StrCat("the sum of its ", groups, " counts")};
}

std::optional<ReleaseTotal> OfAnswer(const Answer& answer) {
  const auto smallest = std::ranges::min_element(answer.marginals, {},
                                                 [](const Marginal& marginal) { return marginal.cells(); });
  if (smallest != answer.marginals.end()) return OfMarginal(*smallest);
  for (const QuerySetAnswer& set : answer.query_sets) {
    if (set.header.query_class() != "statistics") continue;
    if (std::optional<ReleaseTotal> total = OfCounts(set)) return total;
  }
  const bool has_one_count = answer.query_sets.size() == 1 && answer.query_sets.front().size() == 1;
  const bool counts = has_one_count && answer.query_sets.front().header.query_class() == "predicates";
  if (!counts) return std::nullopt;
  return ReleaseTotal{ValueAt(answer.query_sets.front(), 0), "its only count"};
}

}  // namespace

absl::StatusOr<ReleaseTotal> TotalOf(const ReleaseContent& content) {
  std::optional<ReleaseTotal> total;
  if (content.answer) total = OfAnswer(*content.answer);
  if (content.synthesis) {
    total = ReleaseTotal{static_cast<double>(content.synthesis->records()), "the model's number of records"};
  }
  const std::string& id = content.release.id();
  if (!total) {
    return absl::FailedPreconditionError(absl::StrCat(
        "release ", id,
        " measured no number of records: name one with a marginal, one with a count, or a model"));
  }
  if (!std::isfinite(total->records) || total->records <= 0) {
    return absl::FailedPreconditionError(absl::StrCat("release ", id, " has no number of records above 0 (",
                                                      total->words, "): its noise is larger than that"));
  }
  return *total;
}

}  // namespace curator::client
