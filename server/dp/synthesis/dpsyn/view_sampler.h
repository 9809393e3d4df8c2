// Draws records from views: each view in topological order gives its new attributes, given the known ones.
//
// The distribution of a record has the marginals of the views of the order over what each adds and what it
// was given; other views' marginals only as far as these imply them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/dpsyn/view_table.h"

namespace curator::dp {

// Reads words from a source, which must outlive it, in blocks. Not thread-safe.
class WordStream {
 public:
  explicit WordStream(BitSource& bits, size_t expected);

  // In [0, 1).
  double Share();

 private:
  BitSource& bits_;
  std::vector<uint64_t> words_;
  size_t next_;
};

// Immutable and thread-safe. 12 bytes for each cell of the views that are needed.
class ViewSampler {
 public:
  // `attributes`: those of a record, in order; every one must lie in some view. Cells are 0 or more. Where
  // the known attributes have a combination that the view has no records of, the new ones are uniform.
  ViewSampler(std::span<const ViewTable> views, const AttributeSet& attributes);

  // Fills in one record, in the order of the attributes.
  void Draw(WordStream& words, std::span<uint32_t> codes) const;

  // The words that a record consumes.
  size_t words_per_record() const { return steps_.size(); }

 private:
  struct Step {
    std::vector<size_t> known_places;  // in the record
    std::vector<size_t> known_strides;
    std::vector<size_t> added_places;
    std::vector<size_t> added_sizes;
    size_t added_cells = 1;
    std::vector<double> cumulative;  // for each combination of known ones, over those of the new ones
  };

  static Step MakeStep(const ViewTable& view, const OrderedView& ordered, const AttributeSet& attributes);

  std::vector<Step> steps_;
};

}  // namespace curator::dp
