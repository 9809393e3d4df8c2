#include "dp/kernel/kernel.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/group_sizes.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/workload/linear_queries.h"
#include "dp/workload/marginals.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {
namespace {

using Sampler = std::variant<DiscreteLaplace, DiscreteGaussian>;

absl::StatusOr<Sampler> SamplerFor(const NoiseSpec& noise) {
  RETURN_IF_ERROR(Validate(noise));
  if (noise.mechanism == Mechanism::kDiscreteLaplace) return DiscreteLaplace::Create(noise.parameter);
  return DiscreteGaussian::Create(noise.parameter);
}

std::vector<int64_t> DrawNoise(const Sampler& sampler, BitSource& bits, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::visit([&](const auto& distribution) { distribution.Fill(bits, values); }, sampler);
  return values;
}

// `noises` holds one number for each of `values`, one after another.
void Add(std::span<const int64_t> noises, std::vector<std::vector<int64_t>>& values) {
  size_t next = 0;
  for (std::vector<int64_t>& part : values) {
    for (int64_t& value : part) value += noises[next++];
  }
}

}  // namespace

Kernel::Kernel(Domain domain, UnitBound unit, Meter meter)
    : domain_(std::move(domain)), unit_(unit), meter_(std::move(meter)) {}

Kernel::Kernel(SealedTableHandle table, Domain domain, UnitBound unit, Meter meter, BitSource& bits)
    : Kernel(std::move(domain), unit, std::move(meter)) {
  table_ = std::move(table);
  bits_ = &bits;
}

Kernel Kernel::Replaying(Transcript transcript, Domain domain, UnitBound unit, Meter meter) {
  Kernel kernel(std::move(domain), unit, std::move(meter));
  kernel.replayed_ = std::move(transcript);
  return kernel;
}

absl::Status Kernel::AnotherQuestion() {
  return absl::FailedPreconditionError("the transcript holds the answer to another question");
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyCounts(std::span<const AttributeSet> marginals,
                                                                      const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(ValidateMarginals(domain_, marginals));
  ASSIGN_OR_RETURN(const int64_t total_cells, TotalCells(domain_, marginals));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(unit_, static_cast<int64_t>(marginals.size())));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const CountsDraw recorded, NextRecorded<CountsDraw>());
    if (!std::equal(marginals.begin(), marginals.end(), recorded.marginals.begin(),
                    recorded.marginals.end()) ||
        recorded.noise != noise) {
      return AnotherQuestion();
    }
    return recorded.values;
  }
  const std::vector<int64_t> noises = DrawNoise(sampler, *bits_, total_cells);
  const std::vector<AttributeSet> sets(marginals.begin(), marginals.end());
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> values,
                   CountMarginals(*table_, domain_, sets, *executor_));
  Add(noises, values);
  if (record_ != nullptr) record_->push_back(CountsDraw{.marginals = sets, .noise = noise, .values = values});
  return values;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyCounts(std::span<const QueryGroup> groups,
                                                                      const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, QueriesSensitivity(domain_, unit_, groups));
  std::vector<AttributeSet> sets;
  int64_t answers = 0;
  for (const QueryGroup& group : groups) {
    sets.push_back(group.attributes);
    answers += NumberOfQueries(domain_, group);
  }
  RETURN_IF_ERROR(CheckCells(sets));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const QueriesDraw recorded, NextRecorded<QueriesDraw>());
    if (!std::ranges::equal(groups, recorded.groups) || recorded.noise != noise) return AnotherQuestion();
    return recorded.values;
  }
  const std::vector<int64_t> noises = DrawNoise(sampler, *bits_, answers);
  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, RememberedCounts(sets));
  std::vector<std::vector<int64_t>> values;
  for (size_t i = 0; i < groups.size(); ++i)
    values.push_back(AnswersFromCounts(domain_, groups[i], counts[i]));
  Add(noises, values);
  if (record_ != nullptr) {
    record_->push_back(
        QueriesDraw{.groups = {groups.begin(), groups.end()}, .noise = noise, .values = values});
  }
  return values;
}

absl::StatusOr<int64_t> Kernel::NoisyRecordCount(const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, RecordCountSensitivity(unit_));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const RecordCountDraw recorded, NextRecorded<RecordCountDraw>());
    if (recorded.noise != noise) return AnotherQuestion();
    return recorded.value;
  }
  const int64_t value = table_->rows() + DrawNoise(sampler, *bits_, 1)[0];
  if (record_ != nullptr) record_->push_back(RecordCountDraw{.noise = noise, .value = value});
  return value;
}

absl::StatusOr<std::vector<int64_t>> Kernel::NoisyGroupSizes(GroupRole role,
                                                             std::span<const int64_t> least_sizes,
                                                             const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(CheckSizeBins(least_sizes));
  if (table_ != nullptr) RETURN_IF_ERROR(CheckRole(role, *table_));
  const Sensitivity sensitivity = GroupSizesSensitivity(unit_.relation, role, least_sizes.size());
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const GroupSizesDraw recorded, NextRecorded<GroupSizesDraw>());
    if (recorded.role != role || !std::ranges::equal(recorded.least_sizes, least_sizes) ||
        recorded.noise != noise) {
      return AnotherQuestion();
    }
    return recorded.values;
  }
  const std::vector<int64_t> noises = DrawNoise(sampler, *bits_, static_cast<int64_t>(least_sizes.size()));
  std::vector<int64_t> values = GroupSizes(*table_, least_sizes);
  for (size_t i = 0; i < values.size(); ++i) values[i] += noises[i];
  if (record_ != nullptr) {
    record_->push_back(GroupSizesDraw{.role = role,
                                      .least_sizes = {least_sizes.begin(), least_sizes.end()},
                                      .noise = noise,
                                      .values = values});
  }
  return values;
}

}  // namespace curator::dp
