#include "dp/domain/near_names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace curator::dp {
namespace {

constexpr size_t kMaxNearMisses = 3;
constexpr size_t kMaxComparedLength = 64;  // longer names are not worth the time of a comparison

// Levenshtein's distance between two short texts.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  absl::AsciiStrToLower(&lowered);
  return lowered;
}

std::vector<std::string> NearMisses(const std::vector<std::string_view>& names, std::string_view name) {
  if (name.empty() || name.size() > kMaxComparedLength) return {};
  const std::string wanted = Lowered(name);
  std::vector<std::string> near;
  for (const std::string_view each : names) {
    if (each.size() > kMaxComparedLength) continue;
    if (EditDistance(Lowered(each), wanted) > 1 + wanted.size() / 4) continue;
    near.push_back(absl::StrCat("\"", std::string(each), "\""));
    if (near.size() == kMaxNearMisses) break;
  }
  return near;
}

// Of many the first ones; "..." for a long name.
std::string SomeNames(const std::vector<std::string_view>& all) {
  constexpr size_t kMostNamed = 10;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
    names.push_back(all[i].size() > kMaxComparedLength ? "..." : all[i]);
  std::string list;
  for (const std::string_view name : names)
    absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(name));
  if (all.size() > kMostNamed) absl::StrAppend(&list, " and ", all.size() - kMostNamed, " more");
  return list;
}

}  // namespace

std::string NearNames(const std::vector<std::string_view>& names, std::string_view wanted) {
  const std::vector<std::string> near = NearMisses(names, wanted);
  if (near.empty()) return absl::StrCat("; there are: ", SomeNames(names));
  return absl::StrCat("; did you mean ", absl::StrJoin(near, " or "), "?");
}

}  // namespace curator::dp
