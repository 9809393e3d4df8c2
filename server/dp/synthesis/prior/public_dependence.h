// The dependence of attributes in public data, and the marginals that are worth measuring because of it.
//
// Thread-safe: pure functions of public data, with the same result on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Mutual information of every two of some attributes, in nats, estimated from public records.
class PublicDependence {
 public:
  // The plain estimate less its expected excess under independence, (r - 1)(s - 1) / 2n for r and s values
  // that occur in n rows (Miller 1955), and at least 0. Pairs of more than 2^20 cells count as independent.
  // Pairs are counted in batches; DependenceBytes() are held. Errors: INVALID_ARGUMENT ("settings.measure")
  // for more than kMostDependent attributes; CANCELLED as in Pacer, which is asked once for each batch.
  static absl::StatusOr<PublicDependence> Of(const Domain& domain, const PublicTable& table,
                                             AttributeSet attributes, Pacer& pacer);

  const AttributeSet& attributes() const { return attributes_; }
  // Of the i-th and j-th attribute; 0 on the diagonal.
  double Between(size_t i, size_t j) const { return nats_[i * attributes_.size() + j]; }

 private:
  AttributeSet attributes_;
  std::vector<double> nats_;
};

inline constexpr size_t kMostDependent = 512;

// The cells of all attributes and pairs that PublicDependence::Of() counts, of at most kMostDependent
// attributes.
int64_t DependenceCells(const Domain& domain, const AttributeSet& attributes);

// The bytes that PublicDependence::Of() takes at most; 0 where it refuses the attributes.
int64_t DependenceBytes(const Domain& domain, const AttributeSet& attributes);

// Cliques of the graph that joins two attributes that share more than `threshold` nats: the strongest edge
// that lies in no clique yet is grown by the attribute that shares the most with all of its members, as long
// as the clique has at most `most_cells` cells. Attributes that are left alone are cliques of their own,
// whatever their size. At most `most_cliques` of more than one attribute. In lexicographic order.
std::vector<AttributeSet> DependentCliques(const Domain& domain, const PublicDependence& dependence,
                                           double threshold, int64_t most_cells, int64_t most_cliques);

// At most `most` single attributes of which no two share more than `threshold` nats, those first that share
// most with all others: the roots of a graphical model whose other attributes are left to the prior.
std::vector<AttributeSet> NearlyIndependent(const PublicDependence& dependence, double threshold,
                                            int64_t most);

}  // namespace curator::dp
