#include "dp/data/joint_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace curator::dp {
namespace {

constexpr size_t kPlannedTogether = 4096;  // sets; bounds the time of a plan whatever they are

constexpr int64_t kLargestLimit = int64_t{1} << 18;  // of a joint's cells: 1 MiB of counts
constexpr int64_t kSmallestLimit = 64;
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

// Chooses joints for the sets from `begin` to `end`. Sets know how many of their attributes the joint at hand
// lacks; attributes know which sets they are in, so that adding one to the joint visits no other set.
class GreedyCover {
 public:
  GreedyCover(const Domain& domain, const std::vector<AttributeSet>& sets, size_t begin, size_t end,
              int64_t max_cells)
      : domain_(domain),
        sets_(sets),
        max_cells_(max_cells),
        missing_(sets.size()),
        is_covered_(sets.size()),
        sets_of_attribute_(domain.size()),
        in_joint_(domain.size()),
        singles_(domain.size()) {
    for (size_t set = begin; set < end; ++set) {
      order_.push_back(set);
      missing_[set] = sets[set].size();
      if (sets[set].empty()) complete_.push_back(set);
      if (sets[set].size() == 1) ++singles_[sets[set].front()];
      for (const uint32_t attribute : sets[set]) sets_of_attribute_[attribute].push_back(set);
    }
    // Wide sets leave the least choice; narrow ones fall in with them.
    std::stable_sort(order_.begin(), order_.end(),
                     [&sets](size_t a, size_t b) { return sets[a].size() > sets[b].size(); });
  }

  bool IsDone() {
    while (next_ < order_.size() && is_covered_[order_[next_]]) ++next_;
    return next_ == order_.size();
  }

  // Only when not done.
  Joint Next() {
    gains_ = singles_;
    Joint joint;
    int64_t cells = 1;
    const auto add = [&](uint32_t attribute) {
      joint.attributes.push_back(attribute);
      cells *= SizeOf(attribute);
      Add(attribute);
    };
    for (const uint32_t attribute : sets_[order_[next_]]) add(attribute);
    while (const std::optional<uint32_t> best = BestAddition(cells)) add(*best);
    std::ranges::sort(joint.attributes);
    joint.members = TakeComplete();
    for (const uint32_t attribute : joint.attributes) Remove(attribute);
    return joint;
  }

 private:
  int64_t SizeOf(uint32_t attribute) const { return domain_.attributes()[attribute].size(); }

  void Add(uint32_t attribute) {
    in_joint_[attribute] = true;
    std::erase_if(sets_of_attribute_[attribute], [this](size_t set) { return is_covered_[set]; });
    for (const size_t set : sets_of_attribute_[attribute]) {
      --missing_[set];
      if (missing_[set] == 0) complete_.push_back(set);
      if (missing_[set] == 1) ++gains_[LastMissing(set)];
    }
  }

  void Remove(uint32_t attribute) {
    in_joint_[attribute] = false;
    for (const size_t set : sets_of_attribute_[attribute]) ++missing_[set];
  }

  uint32_t LastMissing(size_t set) const {
    return *std::ranges::find_if(sets_[set], [this](uint32_t attribute) { return !in_joint_[attribute]; });
  }

  // The sets that lie within the joint, rising; they are covered.
  std::vector<size_t> TakeComplete() {
    std::vector<size_t> members = std::exchange(complete_, {});
    std::ranges::sort(members);
    for (const size_t set : members) {
      is_covered_[set] = true;
      if (sets_[set].size() == 1) --singles_[sets_[set].front()];
    }
    return members;
  }

  // The attribute that, added to the joint, completes the most sets, the smallest of these; none when none
  // fits and helps.
  std::optional<uint32_t> BestAddition(int64_t cells) const {
    std::optional<uint32_t> best;
    for (uint32_t attribute = 0; attribute < gains_.size(); ++attribute) {
      if (in_joint_[attribute] || gains_[attribute] == 0 || SizeOf(attribute) > max_cells_ / cells) continue;
      const bool is_better = !best || gains_[attribute] > gains_[*best] ||
                             (gains_[attribute] == gains_[*best] && SizeOf(attribute) < SizeOf(*best));
      if (is_better) best = attribute;
    }
    return best;
  }

  const Domain& domain_;
  const std::vector<AttributeSet>& sets_;
  const int64_t max_cells_;
  std::vector<size_t> order_;
  size_t next_ = 0;
  std::vector<size_t> missing_;
  std::vector<bool> is_covered_;
  std::vector<std::vector<size_t>> sets_of_attribute_;  // covered ones are dropped in passing
  std::vector<size_t> complete_;
  std::vector<bool> in_joint_;
  std::vector<int64_t> singles_;  // how many sets that are not covered consist of the attribute alone
  std::vector<int64_t> gains_;    // how many sets lack this attribute alone
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
  const bool is_worth_comparing = magnitude * static_cast<int64_t>(sets.size()) >= kWorthComparing;
  if (!is_worth_comparing || sets.size() > kPlannedTogether) return PlanJoints(domain, sets, largest / 4);
  std::vector<Joint> best = PlanJoints(domain, sets, largest);
  double best_cost = CountingCost(domain, sets, best, magnitude);
  for (int64_t limit = largest / 2; limit >= largest / 8; limit /= 2) {
    std::vector<Joint> joints = PlanJoints(domain, sets, limit);
    const double cost = CountingCost(domain, sets, joints, magnitude);
    if (cost >= best_cost) continue;
    best = std::move(joints);
    best_cost = cost;
  }
  return best;
}

}  // namespace curator::dp
