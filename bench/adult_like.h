// Made-up tables with the sizes of the Adult data set's fifteen attributes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dp/data/coded_columns.h"
#include "dp/domain/domain.h"

namespace curator::bench {

inline const std::vector<int64_t>& AdultSizes() {
  static const std::vector<int64_t> sizes = {24, 9, 10, 16, 16, 7, 15, 6, 5, 2, 9, 8, 20, 42, 2};
  return sizes;
}

inline dp::Domain CodedDomain(const std::vector<int64_t>& sizes) {
  std::vector<dp::Attribute> attributes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{sizes[i]}).value());
  }
  return dp::Domain::Create(std::move(attributes)).value();
}

inline dp::Domain AdultLikeDomain() {
  return CodedDomain(AdultSizes());
}

// Skewed codes, as people's are: low ones are frequent. Sizes of one byte.
inline dp::CodedColumns SkewedColumns(const std::vector<int64_t>& sizes, int64_t rows) {
  std::mt19937_64 random(1);
  dp::CodedColumns columns(sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t size = static_cast<uint64_t>(sizes[i]);
    std::vector<std::byte> codes(static_cast<size_t>(rows));
    for (std::byte& code : codes) {
      const uint64_t draw = random();
      code = static_cast<std::byte>(std::min(draw % size, (draw >> 32) % size));
    }
    columns.AppendCodes(i, codes);
  }
  return columns;
}

inline dp::CodedColumns AdultLikeColumns(int64_t rows) {
  return SkewedColumns(AdultSizes(), rows);
}

// Every set of `k` among the first `attributes`, in lexicographic order.
inline std::vector<dp::AttributeSet> AllSets(uint32_t attributes, uint32_t k) {
  std::vector<dp::AttributeSet> sets = {{}};
  for (uint32_t chosen = 0; chosen < k; ++chosen) {
    std::vector<dp::AttributeSet> longer;
    for (const dp::AttributeSet& set : sets) {
      for (uint32_t next = set.empty() ? 0 : set.back() + 1; next < attributes; ++next) {
        longer.push_back(set);
        longer.back().push_back(next);
      }
    }
    sets = std::move(longer);
  }
  return sets;
}

// Random sets of `k` attributes, each rising.
inline std::vector<dp::AttributeSet> RandomSets(size_t count, size_t k) {
  std::mt19937_64 random(2);
  std::vector<dp::AttributeSet> sets;
  while (sets.size() < count) {
    dp::AttributeSet all;
    for (uint32_t i = 0; i < AdultSizes().size(); ++i) all.push_back(i);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(k);
    std::sort(all.begin(), all.end());
    sets.push_back(all);
  }
  return sets;
}

}  // namespace curator::bench
