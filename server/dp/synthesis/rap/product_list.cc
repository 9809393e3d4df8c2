#include "dp/synthesis/rap/product_list.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {

// The terms without their coefficients. Columns of term t are columns[starts[t]..starts[t + 1] - 1], those
// that most terms use first.
struct ProductList::Terms {
  std::span<const uint32_t> Columns(uint32_t term) const {
    return std::span(columns).subspan(starts[term], starts[term + 1] - starts[term]);
  }
  std::span<const uint32_t> Stem(uint32_t term) const { return Columns(term).first(stems[term]); }
  // The rarest first.
  auto Others(uint32_t term) const { return std::views::reverse(Columns(term).subspan(stems[term])); }

  bool SameKind(uint32_t a, uint32_t b) const {
    return complemented[a] == complemented[b] && Columns(a).size() == Columns(b).size();
  }
  // Whether they could have a stem of this length in common.
  bool SameFront(uint32_t a, uint32_t b, size_t length) const {
    return SameKind(a, b) && std::ranges::equal(Columns(a).first(length), Columns(b).first(length));
  }
  bool SameRun(uint32_t a, uint32_t b) const {
    return SameKind(a, b) && std::ranges::equal(Stem(a), Stem(b));
  }
  bool SameProduct(uint32_t a, uint32_t b) const {
    return SameKind(a, b) && std::ranges::equal(Columns(a), Columns(b));
  }

  std::vector<uint32_t> columns;
  std::vector<uint32_t> starts = {0};
  std::vector<uint8_t> stems;  // how many of the columns are the stem
  std::vector<bool> complemented;
};

namespace {

template <typename Work>
void ForEachTerm(std::span<const PolynomialAnswer> polynomials, Work work) {
  for (const PolynomialAnswer& polynomial : polynomials) {
    for (const ProductTerm& term : polynomial.terms) work(term);
  }
}

// Sorts pieces and merges them, so that a stop is noticed in between. `less` need not distinguish terms whose
// order does not matter.
template <typename Less>
absl::Status Sort(std::vector<uint32_t>& order, Pacer& pacer, const Less& less) {
  constexpr size_t kPiece = size_t{1} << 15;
  constexpr size_t kComparisons = 16;  // of each term of a piece, about
  const auto at = [&](size_t place) { return order.begin() + static_cast<std::ptrdiff_t>(place); };
  for (size_t start = 0; start < order.size(); start += kPiece) {
    const size_t end = std::min(start + kPiece, order.size());
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>((end - start) * kComparisons)));
    std::sort(at(start), at(end), less);
  }
  for (size_t half = kPiece; half < order.size(); half *= 2) {
    for (size_t start = 0; start + half < order.size(); start += 2 * half) {
      const size_t end = std::min(start + 2 * half, order.size());
      RETURN_IF_ERROR(pacer.InPieces(end - start, [](size_t, size_t) {}));
      std::inplace_merge(at(start), at(start + half), at(end), less);
    }
  }
  return absl::OkStatus();
}

}  // namespace

int64_t FittingBytesOfATerm(size_t columns) {
  const auto of_columns = static_cast<int64_t>(columns * sizeof(uint32_t));
  // Its columns are a block on the heap: a size in front of them, in steps of 16.
  const int64_t term =
      static_cast<int64_t>(sizeof(ProductTerm)) + std::max<int64_t>(32, (of_columns + 8 + 15) / 16 * 16);
  // Its place and stem, its product, and its part of a run.
  const int64_t in_order =
      2 * of_columns + 4 + static_cast<int64_t>(sizeof(ProductRun) / ProductList::kLeastOfAStem);
  // Its columns once more, where they start, stem, complement, place in the order, and in half of that again
  // while it is merged.
  const int64_t while_ordered = of_columns + 4 + 1 + 1 + 4 + 2;
  // A sum for each of four shards, and a slope.
  constexpr int64_t kWhileFitted = 4 * 8 + 4;
  return term + in_order + std::max(while_ordered, kWhileFitted);
}

absl::StatusOr<ProductList> ProductList::Create(std::span<const PolynomialAnswer> polynomials,
                                                const RelaxedLayout& layout, Pacer& pacer) {
  ProductList list;
  Terms terms = TermsOf(polynomials, layout.columns());
  std::vector<uint32_t> order(terms.stems.size());
  std::iota(order.begin(), order.end(), 0);
  RETURN_IF_ERROR(ChooseStems(order, terms, pacer));
  RETURN_IF_ERROR(Sort(order, pacer, [&](uint32_t a, uint32_t b) {
    const auto kind = [&](uint32_t term) {
      return std::tuple(static_cast<bool>(terms.complemented[term]), terms.Columns(term).size(),
                        terms.stems[term]);
    };
    if (kind(a) != kind(b)) return kind(a) < kind(b);
    if (!std::ranges::equal(terms.Stem(a), terms.Stem(b)))
      return std::ranges::lexicographical_compare(terms.Stem(a), terms.Stem(b));
    if (!std::ranges::equal(terms.Others(a), terms.Others(b)))
      return std::ranges::lexicographical_compare(terms.Others(a), terms.Others(b));
    return a < b;
  }));
  list.offsets_.reserve(2 * terms.columns.size());
  list.product_of_term_.resize(order.size());
  // Those with a stem have enough terms; of the others there is one for each kind; and batches cut some.
  list.runs_.reserve(order.size() / kLeastOfAStem + 2 * kMostFactors + order.size() / kBatch);
  list.MakeRuns(terms, order, static_cast<uint32_t>(layout.block_rows()));
  list.MakeBatches();
  return list;
}

ProductList::Terms ProductList::TermsOf(std::span<const PolynomialAnswer> polynomials, size_t columns) {
  std::vector<uint32_t> uses(columns);
  size_t count = 0;
  size_t uses_of_all = 0;
  ForEachTerm(polynomials, [&](const ProductTerm& term) {
    for (const uint32_t column : term.columns) ++uses[column];
    uses_of_all += term.columns.size();
    ++count;
  });
  Terms terms;
  terms.columns.reserve(uses_of_all);
  terms.starts.reserve(count + 1);
  terms.stems.resize(count);
  terms.complemented.reserve(count);
  ForEachTerm(polynomials, [&](const ProductTerm& term) {
    terms.columns.insert(terms.columns.end(), term.columns.begin(), term.columns.end());
    std::sort(terms.columns.begin() + terms.starts.back(), terms.columns.end(),
              [&](uint32_t a, uint32_t b) { return std::pair(uses[b], a) < std::pair(uses[a], b); });
    terms.starts.push_back(static_cast<uint32_t>(terms.columns.size()));
    terms.complemented.push_back(term.complemented);
  });
  return terms;
}

// The longest that enough terms have in common, but one column is always left.
absl::Status ProductList::ChooseStems(std::vector<uint32_t> order, Terms& terms, Pacer& pacer) {
  RETURN_IF_ERROR(Sort(order, pacer, [&](uint32_t a, uint32_t b) {
    const auto kind = [&](uint32_t term) {
      return std::pair(static_cast<bool>(terms.complemented[term]), terms.Columns(term).size());
    };
    if (kind(a) != kind(b)) return kind(a) < kind(b);
    return std::ranges::lexicographical_compare(terms.Columns(a), terms.Columns(b));
  }));
  for (size_t length = kLongestStem; length > 0; --length) {
    std::vector<uint32_t> left;
    left.reserve(order.size());
    for (size_t first = 0; first < order.size();) {
      size_t end = first + 1;
      const bool long_enough = terms.Columns(order[first]).size() > length;
      while (long_enough && end < order.size() && terms.SameFront(order[first], order[end], length)) ++end;
      for (size_t i = first; i < end; ++i) {
        if (long_enough && end - first >= kLeastOfAStem) {
          terms.stems[order[i]] = static_cast<uint8_t>(length);
        } else {
          left.push_back(order[i]);
        }
      }
      first = end;
    }
    order = std::move(left);
  }
  return absl::OkStatus();
}

void ProductList::MakeRuns(const Terms& terms, std::span<const uint32_t> order, uint32_t rows_of_a_column) {
  const auto place = [&](std::ranges::range auto&& columns) {
    const size_t first = offsets_.size();
    for (const uint32_t column : columns) offsets_.push_back(column * rows_of_a_column);
    return std::span(std::as_const(offsets_)).subspan(first);
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t term = order[i];
    if (i == 0 || !terms.SameProduct(order[i - 1], term)) {
      if (i == 0 || !terms.SameRun(order[i - 1], term) || runs_.back().products == kBatch) {
        const std::span<const uint32_t> stem = place(terms.Stem(term));
        runs_.push_back({.stem = stem,
                         .others = terms.Columns(term).size() - stem.size(),
                         .offsets = offsets_.data() + offsets_.size(),
                         .complemented = terms.complemented[term]});
      }
      place(terms.Others(term));
      ++runs_.back().products;
      ++products_;
    }
    product_of_term_[term] = static_cast<uint32_t>(products_ - 1);
  }
}

void ProductList::MakeBatches() {
  size_t first_run = 0;
  size_t first = 0;
  size_t products = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    products += runs_[i].products;
    if (i + 1 < runs_.size() && products + runs_[i + 1].products <= kBatch) continue;
    batches_.push_back({std::span(runs_).subspan(first_run, i + 1 - first_run), first, products});
    first_run = i + 1;
    first += products;
    products = 0;
  }
}

}  // namespace curator::dp
