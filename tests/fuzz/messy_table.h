// A schema of every kind of attribute, of measures, and of every way of writing cells, for fuzz targets.
#pragma once

#include <utility>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::fuzz {

// 2015-01-01, 2019-03-31 12:00, and 2025-01-01, in seconds since 1970.
inline constexpr int64_t kFrom = 1'420'070'400;
inline constexpr int64_t kBetween = 1'554'033'600;
inline constexpr int64_t kUntil = 1'735'689'600;

// Each attribute with everything that its kind can declare.
inline std::vector<dp::Attribute> MessyAttributes() {
  const dp::Missing binned{.tokens = {}, .bin = "missing"};
  std::vector<dp::Attribute> attributes;
  const auto add = [&attributes](std::string name, dp::AttributeKind kind, std::optional<dp::Missing> missing,
                                 dp::Reading reading) {
    attributes.push_back(
        dp::Attribute::Create(std::move(name), std::move(kind), std::move(missing), std::move(reading))
            .value());
  };
  add("sex", dp::CategoricalKind{{"Female", "Male"}, std::nullopt}, binned,
      {.fold_case = true, .synonyms = {{"Female", {"f", "woman"}}, {"Male", {"m", "man"}}}});
  add("size", dp::CategoricalKind{{"S", "M", "L"}, "other", true}, dp::Missing{{"-", "none"}, std::nullopt},
      {});
  add("pay", dp::NumericKind{{-1e6, 0, 0.5, 1e9}}, binned,
      {.column = "Pay (EUR)", .decimal_sign = ',', .thousands_separator = '.'});
  add("years", dp::IntegerKind{0, 99'999, 1000}, binned, {.thousands_separator = '\''});
  add("zone", dp::CodedKind{300}, dp::Missing{{"999"}, "no zone"}, {.thousands_separator = ' '});
  add("born",
      dp::DateKind{.from = kFrom, .until = kUntil, .bins = dp::DateBins::kMonth, .zone = "Europe/Berlin"},
      binned, {.date_formats = {"D.M.YYYY", "M/YYYY"}});
  add("seen",
      dp::DateKind{
          .from = kFrom, .until = kUntil, .bins = dp::DateBins::kListed, .edges = {kFrom, kBetween, kUntil}},
      std::nullopt, {.column = "last seen", .date_formats = {"YYYY-M-D h:m:s"}});
  return attributes;
}

// Of columns that are read as attributes, too.
inline std::vector<dp::Measure> MessyMeasures() {
  return {dp::Measure::Create("pay", {-1000, 9e6, 12.5}, dp::Missing{},
                              {.column = "Pay (EUR)", .decimal_sign = ',', .thousands_separator = '.'})
              .value(),
          dp::Measure::Create("exact years", {-0.75, 100'000, 0.25}, std::nullopt,
                              {.column = "years", .thousands_separator = '\''})
              .value()};
}

inline dp::Schema MessySchema(char separator) {
  dp::Schema schema = dp::CreateSchema(dp::Domain::Create(MessyAttributes(), MessyMeasures()).value(),
                                       dp::PersonUnit{"pid", 3})
                          .value();
  schema.separator = separator;
  return schema;
}

}  // namespace curator::fuzz
