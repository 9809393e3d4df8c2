// The bins of an attribute in words, from the public schema of its dataset.
//
// Thread-safe: immutable values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// How many bins the attribute has: the values and the catch-all of a category, the bins of an integer, the
// intervals between edges, or the codes. 0 for an attribute that no server would accept.
int64_t BinsOf(const v1::Attribute& attribute);

// A bin for people: the category, "17", "[30, 35)", "[85, 90]" (the last of several), or the code. `code` is
// 0 .. BinsOf()-1; the catch-all is the last one.
std::string LabelOf(const v1::Attribute& attribute, int64_t code);

// What an attribute is, in words: "integer 17..90 by 5", "4 values and ?", ...
std::string KindOf(const v1::Attribute& attribute);

// The labels of one marginal's cells.
class CellLabels {
 public:
  // DATA_LOSS when the schema does not have these attributes in these sizes.
  static absl::StatusOr<CellLabels> Create(const v1::Schema& schema, const v1::MarginalHeader& marginal);

  size_t attributes() const { return labels_.size(); }

  // The value of attribute `position` (in the marginal) in cell `cell`; the last attribute varies fastest.
  const std::string& Of(size_t position, size_t cell) const {
    return labels_[position][(cell / strides_[position]) % labels_[position].size()];
  }

 private:
  std::vector<std::vector<std::string>> labels_;
  std::vector<size_t> strides_;
};

}  // namespace curator::cli
