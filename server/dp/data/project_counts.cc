#include "dp/data/project_counts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace curator::dp {
namespace {

// The sums over the middle one of three axes.
std::vector<uint32_t> SumOut(std::span<const uint32_t> counts, size_t outer, size_t middle, size_t inner) {
  std::vector<uint32_t> sums(outer * inner);
  const uint32_t* from = counts.data();
  for (size_t i = 0; i < outer; ++i) {
    uint32_t* const to = sums.data() + i * inner;
    for (size_t j = 0; j < middle; ++j, from += inner) {
      for (size_t k = 0; k < inner; ++k) to[k] += from[k];
    }
  }
  return sums;
}

// The same where the axis is the last: sums of runs.
std::vector<uint32_t> SumRuns(std::span<const uint32_t> counts, size_t run) {
  std::vector<uint32_t> sums(counts.size() / run);
  const uint32_t* from = counts.data();
  for (uint32_t& sum : sums) {
    uint32_t total = 0;
    for (size_t j = 0; j < run; ++j) total += from[j];
    sum = total;
    from += run;
  }
  return sums;
}

using Each = std::vector<std::vector<uint32_t>>;

// Which attribute of `from` to sum out for several of `members` at once: the first of those that most of them
// lack, because outer attributes are summed out fastest. None when no two lack the same.
std::optional<uint32_t> MostLacked(const AttributeSet& from, const std::vector<AttributeSet>& to,
                                   const std::vector<size_t>& members) {
  std::optional<uint32_t> best;
  int64_t best_lack = 1;
  for (const uint32_t attribute : from) {
    const int64_t lack = std::ranges::count_if(
        members, [&](size_t member) { return !std::ranges::binary_search(to[member], attribute); });
    if (lack <= best_lack) continue;
    best = attribute;
    best_lack = lack;
  }
  return best;
}

// Projects `counts` of `from` to to[m] for each m of `members`, into each[m].
class Projections {
 public:
  Projections(const Domain& domain, const std::vector<AttributeSet>& to)
      : domain_(domain), to_(to), each_(to.size()) {}

  void Descend(const AttributeSet& from, std::span<const uint32_t> counts, std::vector<size_t> members) {
    while (const std::optional<uint32_t> lacked = MostLacked(from, to_, members)) {
      const auto with_it = std::ranges::partition(
          members, [&](size_t member) { return !std::ranges::binary_search(to_[member], *lacked); });
      AttributeSet rest = from;
      std::erase(rest, *lacked);
      Descend(rest, ProjectCounts(domain_, from, counts, rest), {members.begin(), with_it.begin()});
      members.erase(members.begin(), with_it.begin());
    }
    for (const size_t member : members) each_[member] = ProjectCounts(domain_, from, counts, to_[member]);
  }

  Each Take() && { return std::move(each_); }

 private:
  const Domain& domain_;
  const std::vector<AttributeSet>& to_;
  Each each_;
};

}  // namespace

std::vector<uint32_t> ProjectCounts(const Domain& domain, const AttributeSet& from,
                                    std::span<const uint32_t> counts, const AttributeSet& to) {
  if (from.size() == to.size()) return {counts.begin(), counts.end()};
  // Neighbouring attributes with the same fate are one axis. Outer axes are summed out first: their sums run
  // over long, contiguous stretches.
  AttributeSet left = from;
  std::vector<uint32_t> sums;
  while (left.size() > to.size()) {
    const std::span<const uint32_t> source =
        left.size() == from.size() ? counts : std::span<const uint32_t>(sums);
    const auto is_wanted = [&to](uint32_t attribute) {
      return std::binary_search(to.begin(), to.end(), attribute);
    };
    const auto first = std::find_if_not(left.begin(), left.end(), is_wanted);
    const auto last = std::find_if(first, left.end(), is_wanted);
    const size_t middle = static_cast<size_t>(*domain.CellCount(AttributeSet(first, last)));
    const size_t inner = static_cast<size_t>(*domain.CellCount(AttributeSet(last, left.end())));
    sums = inner == 1 ? SumRuns(source, middle)
                      : SumOut(source, source.size() / (middle * inner), middle, inner);
    left.erase(first, last);
  }
  return sums;
}

std::vector<std::vector<uint32_t>> ProjectToEach(const Domain& domain, const AttributeSet& from,
                                                 std::span<const uint32_t> counts,
                                                 const std::vector<AttributeSet>& to) {
  std::vector<size_t> members(to.size());
  std::iota(members.begin(), members.end(), size_t{0});
  Projections projections(domain, to);
  projections.Descend(from, counts, std::move(members));
  return std::move(projections).Take();
}

}  // namespace curator::dp
