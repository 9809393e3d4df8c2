// The parts of a partitioned dataset: how they are named, and how more of them are added.
//
// A partition is public and fixed at creation by one attribute of the schema; each part holds some of its
// bins, no bin lies in two parts, and a bin may wait for a part that is added later. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/datasets/datasets.h"

namespace curator::service {

struct PartOrder {
  std::string request_id;
  std::string principal;
  std::string dataset;
  NamedPart part;
  // By the rule of the dataset, and at most its limit; the same limit when absent.
  std::optional<dp::RuleSpec> limit;
};

// The parts of a new dataset, each with a limit of its own. Without named parts every bin is one, named by
// its label. Errors: INVALID_ARGUMENT with a field below the partition ("attribute", "parts[0].labels[1]"),
// or below the limit.
absl::StatusOr<std::vector<ledger::PartSpec>> NewParts(const dp::Domain& domain, const Partition& partition,
                                                       const dp::RuleSpec& limit);

// Errors beside those of the ledger: INVALID_ARGUMENT ("part...", "limit..."), NOT_FOUND and
// PERMISSION_DENIED as FindOwned(), FAILED_PRECONDITION for a dataset without parts.
absl::StatusOr<DatasetView> AddPart(ledger::Ledger& ledger, const PartOrder& order, Intent intent);

// The part of that name. Errors: INVALID_ARGUMENT ("part") when it is missing or not there.
absl::StatusOr<ledger::Part> PartNamed(const ledger::Dataset& dataset, std::string_view name);

// The partition attribute of a partitioned dataset, as an index into its domain.
absl::StatusOr<uint32_t> PartitionAttribute(const DatasetView& dataset);

// The labels of a part's bins.
std::vector<std::string> LabelsOf(const DatasetView& dataset, const ledger::Part& part);

}  // namespace curator::service
