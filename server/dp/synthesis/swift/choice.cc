#include "dp/synthesis/swift/choice.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

// What is left of the gain of a pair each time that a chosen set has it.
constexpr double kLeftOfAPair = 0.3;

// In records for each cell, as Google's SWIFT tries them.
constexpr double kPricesOfACell[] = {0, 1, 2, 4, 8, 16, 32};

// The pairs of attributes of each candidate, by number.
std::vector<std::vector<size_t>> PairsOfEach(std::span<const SeenCandidate> candidates) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> numbers;
  std::vector<std::vector<size_t>> pairs(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    const AttributeSet& set = candidates[i].attributes;
    for (size_t j = 0; j < set.size(); ++j) {
      for (size_t k = j + 1; k < set.size(); ++k)
        pairs[i].push_back(numbers.try_emplace({set[j], set[k]}, numbers.size()).first->second);
    }
  }
  return pairs;
}

// A greedy choice at one price. Not thread-safe.
class PricedChoice {
 public:
  // All but the price must outlive it.
  PricedChoice(std::span<const SeenCandidate> candidates, const std::vector<std::vector<size_t>>& pairs,
               double price)
      : candidates_(candidates), pairs_(pairs), price_(price) {
    for (const std::vector<size_t>& own : pairs_) {
      for (const size_t pair : own) left_of_pair_.resize(std::max(left_of_pair_.size(), pair + 1), 1.0);
    }
    for (size_t i = 0; i < candidates_.size(); ++i) open_.push({ValueOf(i), i});
  }

  // Values only fall, so the first one that has not fallen is the largest.
  absl::Status Choose(CliqueGraph graph, const RoomForCliques& room, int64_t count, Pacer& pacer) {
    const auto attributes = std::ssize(graph.attributes());
    while (!open_.empty() && std::ssize(chosen_) < count) {
      const auto [value, next] = open_.top();
      open_.pop();
      RETURN_IF_ERROR(pacer.Advance(std::ssize(pairs_[next])));
      if (const double now = ValueOf(next); now < value) {
        open_.push({now, next});
        continue;
      }
      const AttributeSet& set = candidates_[next].attributes;
      if (!graph.Connects(set)) {
        RETURN_IF_ERROR(pacer.Advance(attributes * attributes));
        if (!graph.HasRoomFor(set, room.max_cells, room.max_separator)) continue;
        graph.Connect(set);
      }
      Take(next);
    }
    return absl::OkStatus();
  }

  double gain() const { return gain_; }
  const std::vector<size_t>& chosen() const { return chosen_; }

 private:
  struct Open {
    double value = 0;
    size_t candidate = 0;

    bool operator<(const Open& other) const {
      return value < other.value || (value == other.value && candidate > other.candidate);
    }
  };

  double GainOf(size_t candidate) const {
    double left = 0;
    for (const size_t pair : pairs_[candidate]) left += left_of_pair_[pair];
    const double share = left / static_cast<double>(pairs_[candidate].size());
    return candidates_[candidate].gain > 0 ? candidates_[candidate].gain * share
                                           : candidates_[candidate].gain;
  }

  double ValueOf(size_t candidate) const {
    return GainOf(candidate) - price_ * static_cast<double>(candidates_[candidate].cells);
  }

  void Take(size_t candidate) {
    gain_ += std::max(0.0, GainOf(candidate));
    chosen_.push_back(candidate);
    for (const size_t pair : pairs_[candidate]) left_of_pair_[pair] *= kLeftOfAPair;
  }

  std::span<const SeenCandidate> candidates_;
  const std::vector<std::vector<size_t>>& pairs_;
  const double price_;
  std::vector<double> left_of_pair_;
  std::priority_queue<Open> open_;
  std::vector<size_t> chosen_;
  double gain_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<size_t>> ChooseSets(std::span<const SeenCandidate> candidates,
                                               const CliqueGraph& graph, const RoomForCliques& room,
                                               int64_t count, Pacer& pacer) {
  const std::vector<std::vector<size_t>> pairs = PairsOfEach(candidates);
  std::vector<size_t> best;
  double most = 0;
  for (const double price : kPricesOfACell) {
    PricedChoice choice(candidates, pairs, price);
    RETURN_IF_ERROR(choice.Choose(graph, room, count, pacer));
    if (!best.empty() && choice.gain() <= most) continue;
    best = choice.chosen();
    most = choice.gain();
  }
  return best;
}

}  // namespace curator::dp
