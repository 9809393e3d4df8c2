#include "dp/synthesis/nested/joined_records.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr size_t kMostCodes = size_t{1} << 22;
constexpr int64_t kFewest = 1 << 10;
constexpr int64_t kMost = 1 << 16;

}  // namespace

absl::StatusOr<JoinedRecords> JoinedRecords::Draw(const SynthesisModel& model, uint32_t response,
                                                  int64_t rows, BitSource& bits) {
  const AttributeSet& attributes = model.attributes();
  const auto place = std::ranges::lower_bound(attributes, response);
  if (place == attributes.end() || *place != response)
    return absl::InvalidArgumentError("the joined model does not cover the response");
  const auto position = static_cast<size_t>(place - attributes.begin());
  JoinedRecords records;
  records.width_ = attributes.size();
  const auto within_memory = static_cast<int64_t>(kMostCodes / records.width_);
  std::vector<uint32_t> drawn;
  RETURN_IF_ERROR(model.Sample(bits, std::clamp(rows, kFewest, std::min(kMost, within_memory)),
                               [&](std::span<const uint32_t> codes) {
                                 drawn.insert(drawn.end(), codes.begin(), codes.end());
                                 return absl::OkStatus();
                               }));
  std::vector<size_t> order(drawn.size() / records.width_);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](size_t record) { return drawn[record * records.width_ + position]; });
  for (const size_t record : order) {
    const auto codes = std::span(drawn).subspan(record * records.width_, records.width_);
    records.codes_.insert(records.codes_.end(), codes.begin(), codes.end());
    records.responses_.push_back(codes[position]);
  }
  return records;
}

std::span<const uint32_t> JoinedRecords::Like(uint32_t response, UniformDoubles& uniform) const {
  auto [first, last] = std::ranges::equal_range(responses_, response);
  if (first == last) {
    const bool has_above = first != responses_.end();
    const bool has_below = first != responses_.begin();
    const bool takes_above = has_above && (!has_below || *first - response < response - *(first - 1));
    const uint32_t nearest = takes_above ? *first : *(first - 1);
    std::tie(first, last) = [&] {
      const auto found = std::ranges::equal_range(responses_, nearest);
      return std::pair(found.begin(), found.end());
    }();
  }
  const auto record =
      static_cast<size_t>(first - responses_.begin()) + uniform.Below(static_cast<size_t>(last - first));
  return std::span(codes_).subspan(record * width_, width_);
}

}  // namespace curator::dp
