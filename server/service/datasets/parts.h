// The parts of a partitioned dataset: naming and adding them.
//
// A partition is public, and its attribute is fixed at creation. Each part holds some of the attribute's
// bins; no bin lies in two parts, and a bin that lies in none may be given to a part that is added later.
// Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/datasets/datasets.h"

namespace curator::service {

struct PartOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  NamedPart part;
  // Under the rule of the dataset, and at most its limit; the same limit when absent.
  std::optional<dp::RuleSpec> limit;
};

// The parts of a new dataset, each with its own account under `limit`. Without named parts every bin is one,
// named by its label. Errors: INVALID_ARGUMENT with a field below the partition ("attribute",
// "parts[0].labels[1]"), or below the limit.
absl::StatusOr<std::vector<ledger::PartSpec>> NewParts(const dp::Domain& domain, const Partition& partition,
                                                       const dp::RuleSpec& limit);

// Errors beside those of the ledger: INVALID_ARGUMENT ("part...", "limit..."), NOT_FOUND and
// NOT_FOUND and PERMISSION_DENIED as FindDataset(), FAILED_PRECONDITION for a dataset without parts.
absl::StatusOr<DatasetView> AddPart(const Access& access, const PartOrder& order, Intent intent);

// The part with this name. Errors: INVALID_ARGUMENT ("part") when the name is empty or unknown.
absl::StatusOr<ledger::Part> PartNamed(const ledger::Dataset& dataset, std::string_view name);

// The partition attribute of a partitioned dataset, as an index into its domain.
absl::StatusOr<uint32_t> PartitionAttribute(const DatasetView& dataset);

// The labels of a part's bins.
std::vector<std::string> LabelsOf(const DatasetView& dataset, const ledger::Part& part);

}  // namespace curator::service
