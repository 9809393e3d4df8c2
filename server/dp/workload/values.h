// Values of an attribute in written form, and the codes that they name.
//
// A query may only ask for whole bins: a value that cuts a bin is refused, and the message names the nearest
// values that do not.
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/attribute.h"
#include "dp/queries/box_sums.h"

namespace curator::dp {

// The code of one value: a category, a code, an integer whose bin holds nothing else, or any bin by its label
// ("[30, 35)"). Errors: INVALID_ARGUMENT (no field), with the accepted values in the message.
absl::StatusOr<uint32_t> CodeOfValue(const Attribute& attribute, std::string_view value);

// Both ends included, but for the bins [edge, next edge) of a numeric attribute: there `to` is an edge that
// is not included itself, except the last one; of a date `to` is the last day, a time that is not included,
// or the label of a bin. An absent end is that of the attribute's run (Attribute::run_size()). Categories
// are in the order in which they are listed. Errors: INVALID_ARGUMENT ("from", "to", or no field) with the
// nearest ends.
absl::StatusOr<CodeInterval> CodesBetween(const Attribute& attribute, const std::optional<std::string>& from,
                                          const std::optional<std::string>& to);

// Runs of codes, rising, with gaps between them.
using CodeRuns = std::vector<CodeInterval>;
CodeRuns RunsOf(std::vector<uint32_t> codes);
CodeRuns CommonTo(const CodeRuns& one, const CodeRuns& other);

// "age in [30, 35)", "sex = Female", "sex in {Female, Male}": for display. `runs` not empty.
std::string DescribeCondition(const Attribute& attribute, const CodeRuns& runs);

}  // namespace curator::dp
