#include "dp/synthesis/rap/product_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stop_token>
#include <tuple>

#include "dp/synthesis/testing/pacer_probe.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

RelaxedLayout LayoutOf(const std::vector<int64_t>& sizes, int64_t rows, size_t block_rows) {
  const Domain domain = CodedDomain(sizes);
  AttributeSet all;
  for (size_t i = 0; i < sizes.size(); ++i) all.push_back(static_cast<uint32_t>(i));
  return RelaxedLayout::Create(domain, all, rows, block_rows).value();
}

ProductList ListOf(std::span<const PolynomialAnswer> polynomials, const RelaxedLayout& layout) {
  Pacer pacer{std::stop_token()};
  return ProductList::Create(polynomials, layout, pacer).value();
}

using Product = std::pair<bool, std::set<uint32_t>>;  // complemented, columns

// The products in the order of their sums.
std::vector<Product> Listed(const ProductList& list, uint32_t rows_of_a_column) {
  std::vector<Product> products;
  for (const ProductBatch& batch : list.batches()) {
    EXPECT_EQ(batch.first, products.size());
    for (const ProductRun& run : batch.runs) {
      for (size_t i = 0; i < run.products; ++i) {
        Product product{run.complemented, {}};
        for (const uint32_t offset : run.stem) product.second.insert(offset / rows_of_a_column);
        for (size_t other = 0; other < run.others; ++other)
          product.second.insert(run.offsets[i * run.others + other] / rows_of_a_column);
        products.push_back(std::move(product));
      }
    }
    EXPECT_EQ(batch.first + batch.products, products.size());
  }
  return products;
}

PolynomialAnswer RandomTerms(size_t terms, uint32_t attributes, uint32_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  PolynomialAnswer polynomial;
  for (size_t i = 0; i < terms; ++i) {
    ProductTerm term{.columns = {}, .complemented = random() % 3 == 0};
    for (uint32_t attribute = 0; attribute < attributes; ++attribute) {
      if (random() % 2 == 0)
        term.columns.push_back(attribute * size + static_cast<uint32_t>(random() % size));
    }
    if (term.columns.empty()) term.columns = {0};
    std::ranges::shuffle(term.columns, random);
    polynomial.terms.push_back(std::move(term));
  }
  return polynomial;
}

TEST(ProductList, HoldsTheProductOfEveryTermOnce) {
  const RelaxedLayout layout = LayoutOf({4, 4, 4, 4, 4, 4, 4}, 40, 32);
  const std::vector<PolynomialAnswer> polynomials = {
      RandomTerms(300, 7, 4, 1), {}, RandomTerms(500, 7, 4, 2)};
  const ProductList list = ListOf(polynomials, layout);
  const std::vector<Product> products = Listed(list, 32);
  EXPECT_EQ(std::set<Product>(products.begin(), products.end()).size(), products.size());
  EXPECT_EQ(products.size(), list.size());
  EXPECT_LT(products.size(), 800U);  // some terms are equal
  ASSERT_EQ(list.product_of_term().size(), 800U);
  size_t at = 0;
  for (const PolynomialAnswer& polynomial : polynomials) {
    for (const ProductTerm& term : polynomial.terms) {
      const Product expected{term.complemented, {term.columns.begin(), term.columns.end()}};
      EXPECT_EQ(products[list.product_of_term()[at++]], expected);
    }
  }
}

TEST(ProductList, TakesTheColumnsThatManyShareAsTheirStem) {
  const RelaxedLayout layout = LayoutOf({2, 100, 100}, 16, 16);
  PolynomialAnswer polynomial;
  for (uint32_t i = 0; i < 50; ++i) {
    for (uint32_t j = 0; j < 2; ++j)
      polynomial.terms.push_back({.columns = {2 + i, i < 3 ? 110 : 120 + i, j}});
  }
  for (uint32_t i = 0; i < 8; ++i) polynomial.terms.push_back({.columns = {0, 60, 102 + i}});
  polynomial.terms.push_back({.columns = {99, 198}});
  const ProductList list = ListOf(std::span(&polynomial, 1), layout);
  ASSERT_EQ(list.batches().size(), 1U);
  using Run = std::tuple<std::vector<uint32_t>, size_t, size_t>;  // stem, others, products
  std::vector<Run> runs;
  for (const ProductRun& run : list.batches().front().runs)
    runs.emplace_back(std::vector<uint32_t>(run.stem.begin(), run.stem.end()), run.others, run.products);
  // Three terms of column 110 are too few for a stem of two.
  EXPECT_EQ(runs, (std::vector<Run>{{{}, 2, 1}, {{0}, 2, 50}, {{16}, 2, 50}, {{0, 60 * 16}, 1, 8}}));
}

TEST(ProductList, CutsManyProductsIntoBatches) {
  const RelaxedLayout layout = LayoutOf({700, 700}, 16, 16);
  PolynomialAnswer polynomial;
  for (uint32_t i = 0; i < 300'000; ++i) polynomial.terms.push_back({.columns = {i % 700, 700 + i / 700}});
  const ProductList list = ListOf(std::span(&polynomial, 1), layout);
  EXPECT_EQ(list.size(), 300'000U);
  EXPECT_GE(list.batches().size(), 3U);
  for (const ProductBatch& batch : list.batches()) EXPECT_LE(batch.products, ProductList::kBatch);
  // What is put in order in pieces is in order as a whole, and each product there once.
  const std::vector<Product> products = Listed(list, 16);
  EXPECT_EQ(std::set<Product>(products.begin(), products.end()).size(), 300'000U);
}

TEST(ProductList, StopsWhileItPutsTermsInOrder) {
  const RelaxedLayout layout = LayoutOf({700, 700}, 16, 16);
  PolynomialAnswer polynomial;
  for (uint32_t i = 0; i < 300'000; ++i) polynomial.terms.push_back({.columns = {i % 700, 700 + i / 700}});
  Pacer unhurried{std::stop_token()};
  ASSERT_TRUE(ProductList::Create(std::span(&polynomial, 1), layout, unhurried).ok());
  EXPECT_GT(PacerProbe::Checks(unhurried), 20);  // ten pieces and their mergers, in two orders
  std::stop_source source;
  source.request_stop();
  Pacer told(source.get_token());
  EXPECT_EQ(ProductList::Create(std::span(&polynomial, 1), layout, told).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_LT(told.steps(), unhurried.steps() / 10);
}

TEST(ProductList, IsEmptyWithoutTerms) {
  const RelaxedLayout layout = LayoutOf({2}, 16, 16);
  const PolynomialAnswer constant{.constant = 1, .terms = {}};
  const ProductList list = ListOf(std::span(&constant, 1), layout);
  EXPECT_EQ(list.size(), 0U);
  EXPECT_TRUE(list.batches().empty());
}

}  // namespace
}  // namespace curator::dp
