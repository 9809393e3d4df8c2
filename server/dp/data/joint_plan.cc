#include "dp/data/joint_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace curator::dp {
namespace {

constexpr size_t kPlannedTogether = 1024;  // the greedy choice looks at all of these again for each joint

constexpr int64_t kLargestLimit = int64_t{1} << 18;  // of a joint's cells: 1 MiB of counts
constexpr int64_t kSmallestLimit = 64;
constexpr int kLimits = 4;  // how many are compared
// Where counting each set by itself takes less than this, in rows times sets, comparing takes longer.
constexpr int64_t kWorthComparing = int64_t{1} << 22;

double CountingCostPerRow(int64_t cells, size_t attributes) {
  constexpr double kFirstCacheCells = 4096;    // of a joint's counts: half of 32 KiB
  constexpr double kSecondCacheCells = 65536;  // a quarter of 1 MiB
  const auto doublings = [cells](double fitting) {
    return std::log2(std::max(1.0, static_cast<double>(cells) / fitting));
  };
  return 0.28 + 0.018 * static_cast<double>(attributes) + 0.055 * doublings(kFirstCacheCells) +
         0.2 * doublings(kSecondCacheCells);
}

// Chooses joints for the sets from `begin` to `end`.
class GreedyCover {
 public:
  GreedyCover(const Domain& domain, const std::vector<AttributeSet>& sets, size_t begin, size_t end,
              int64_t max_cells)
      : domain_(domain), sets_(sets), max_cells_(max_cells), in_joint_(domain.size()), gains_(domain.size()) {
    for (size_t i = begin; i < end; ++i) uncovered_.push_back(i);
    // Wide sets leave the least choice; narrow ones fall in with them.
    std::stable_sort(uncovered_.begin(), uncovered_.end(),
                     [&sets](size_t a, size_t b) { return sets[a].size() > sets[b].size(); });
  }

  bool IsDone() const { return uncovered_.empty(); }

  Joint Next() {
    Joint joint{.attributes = sets_[uncovered_.front()], .members = {}};
    std::fill(in_joint_.begin(), in_joint_.end(), false);
    for (const uint32_t attribute : joint.attributes) in_joint_[attribute] = true;
    int64_t cells = *domain_.CellCount(joint.attributes);
    while (const std::optional<uint32_t> best = BestAddition(cells)) {
      joint.attributes.push_back(*best);
      in_joint_[*best] = true;
      cells *= SizeOf(*best);
    }
    std::sort(joint.attributes.begin(), joint.attributes.end());
    std::erase_if(uncovered_, [&](size_t set) {
      if (Missing(set).count > 0) return false;
      joint.members.push_back(set);
      return true;
    });
    return joint;
  }

 private:
  struct MissingAttributes {
    size_t count = 0;
    uint32_t last = 0;
  };

  int64_t SizeOf(uint32_t attribute) const { return domain_.attributes()[attribute].size(); }

  // Which of the set's attributes the joint lacks.
  MissingAttributes Missing(size_t set) const {
    MissingAttributes missing;
    for (const uint32_t attribute : sets_[set]) {
      if (in_joint_[attribute]) continue;
      ++missing.count;
      missing.last = attribute;
    }
    return missing;
  }

  // The attribute that, added to the joint, completes the most sets for its size; none when none fits and
  // helps.
  std::optional<uint32_t> BestAddition(int64_t cells) {
    std::fill(gains_.begin(), gains_.end(), 0);
    for (const size_t set : uncovered_) {
      if (const MissingAttributes missing = Missing(set); missing.count == 1) ++gains_[missing.last];
    }
    std::optional<uint32_t> best;
    for (uint32_t attribute = 0; attribute < gains_.size(); ++attribute) {
      if (gains_[attribute] == 0 || SizeOf(attribute) > max_cells_ / cells) continue;
      const bool is_better = !best || gains_[attribute] > gains_[*best] ||
                             (gains_[attribute] == gains_[*best] && SizeOf(attribute) < SizeOf(*best));
      if (is_better) best = attribute;
    }
    return best;
  }

  const Domain& domain_;
  const std::vector<AttributeSet>& sets_;
  const int64_t max_cells_;
  std::vector<size_t> uncovered_;
  std::vector<bool> in_joint_;
  std::vector<int64_t> gains_;
};

}  // namespace

std::vector<Joint> PlanJoints(const Domain& domain, const std::vector<AttributeSet>& sets,
                              int64_t max_cells) {
  std::vector<Joint> joints;
  for (size_t begin = 0; begin < sets.size(); begin += kPlannedTogether) {
    GreedyCover cover(domain, sets, begin, std::min(sets.size(), begin + kPlannedTogether), max_cells);
    while (!cover.IsDone()) joints.push_back(cover.Next());
  }
  return joints;
}

int64_t MagnitudeOf(int64_t rows) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows)));
}

double CountingCost(const Domain& domain, const std::vector<AttributeSet>& sets,
                    const std::vector<Joint>& joints, int64_t rows) {
  constexpr double kMakeCell = 0.5;     // ns to provide a counter with a zero
  constexpr double kProjectCell = 0.5;  // to add it to another
  double cost = 0;
  for (const Joint& joint : joints) {
    const int64_t cells = domain.CellCount(joint.attributes).value_or(0);
    cost += static_cast<double>(rows) * CountingCostPerRow(cells, joint.attributes.size());
    const bool is_a_set = joint.members.size() == 1 && sets[joint.members[0]] == joint.attributes;
    // Members share most of the summing: see ProjectToEach().
    const double projections = is_a_set ? 0 : 1 + static_cast<double>(joint.members.size()) / 4;
    cost += static_cast<double>(cells) * (kMakeCell + kProjectCell * projections);
  }
  return cost;
}

std::vector<Joint> PlanForRows(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t rows) {
  const int64_t magnitude = MagnitudeOf(rows);
  const int64_t largest = std::clamp(magnitude, kSmallestLimit, kLargestLimit);
  int64_t best_limit = std::max(kSmallestLimit, largest / 4);
  if (magnitude * static_cast<int64_t>(sets.size()) >= kWorthComparing) {
    // The first sets speak for all.
    const std::vector<AttributeSet> first(sets.begin(),
                                          sets.begin() + std::min(sets.size(), kPlannedTogether));
    std::optional<double> best_cost;
    for (int step = 0; step < kLimits; ++step) {
      const double cost = CountingCost(domain, first, PlanJoints(domain, first, largest >> step), magnitude);
      if (best_cost && *best_cost <= cost) continue;
      best_cost = cost;
      best_limit = largest >> step;
    }
  }
  return PlanJoints(domain, sets, best_limit);
}

}  // namespace curator::dp
