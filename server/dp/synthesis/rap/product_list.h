// The terms of polynomials as the loops take them: equal products once, those with columns in common in one
// run, so that their shares and slopes are read and written once for all of them.
//
// Immutable and thread-safe. A pure function of the problem and the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

// Consecutive runs and the range of products that they hold.
struct ProductBatch {
  std::span<const ProductRun> runs;
  size_t first = 0;
  size_t products = 0;
};

// The most bytes of a term of this many columns while it is sorted and fitted, the term itself included.
int64_t FittingBytesOfATerm(size_t columns);

class ProductList {
 public:
  // The most products of a batch.
  static constexpr size_t kBatch = size_t{1} << 17;
  // The fewest terms that share a stem; with fewer, a stem costs more than it saves.
  static constexpr size_t kLeastOfAStem = 6;
  static constexpr size_t kLongestStem = 3;

  // `polynomials` must fit the layout; fewer than 2^32 columns in all their terms. Errors: CANCELLED as in
  // Pacer, which is checked while terms are sorted.
  static absl::StatusOr<ProductList> Create(std::span<const PolynomialAnswer> polynomials,
                                            const RelaxedLayout& layout, Pacer& pacer);

  ProductList() = default;                   // no products
  ProductList(const ProductList&) = delete;  // runs and batches point into it, and move with it
  ProductList& operator=(const ProductList&) = delete;
  ProductList(ProductList&&) = default;
  ProductList& operator=(ProductList&&) = default;

  // How many different products there are.
  size_t size() const { return products_; }
  const std::vector<ProductBatch>& batches() const { return batches_; }

  // The product that a term is, the terms of all polynomials counted one after another.
  const std::vector<uint32_t>& product_of_term() const { return product_of_term_; }

 private:
  struct Terms;

  static Terms TermsOf(std::span<const PolynomialAnswer> polynomials, size_t columns);
  static absl::Status ChooseStems(std::vector<uint32_t> order, Terms& terms, Pacer& pacer);
  void MakeRuns(const Terms& terms, std::span<const uint32_t> order, uint32_t rows_of_a_column);
  void MakeBatches();

  size_t products_ = 0;
  std::vector<uint32_t> product_of_term_;
  std::vector<uint32_t> offsets_;
  std::vector<ProductRun> runs_;
  std::vector<ProductBatch> batches_;
};

}  // namespace curator::dp
