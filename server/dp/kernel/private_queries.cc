#include "dp/kernel/private_queries.h"

#include "base/status_macros.h"

namespace curator::dp {
namespace {

class FamiliesInMemory final : public FamilyStream {
 public:
  explicit FamiliesInMemory(std::span<const CandidateFamily> families) : families_(families) {}

  size_t size() const override { return families_.size(); }
  CandidateFamily Candidates(size_t index) const override {
    CandidateFamily family = families_[index];
    family.estimate.clear();
    return family;
  }
  absl::StatusOr<CandidateFamily> Family(size_t index) const override { return families_[index]; }
  std::span<const CandidateFamily> Held() const override { return families_; }

 private:
  std::span<const CandidateFamily> families_;
};

}  // namespace

absl::StatusOr<FamilyChoice> PrivateQueries::SelectWorstCandidate(std::span<const CandidateFamily> families,
                                                                  Epsilon epsilon) {
  ASSIGN_OR_RETURN(const std::vector<FamilyChoice> choices,
                   SelectWorstCandidates(FamiliesInMemory(families), 1, epsilon));
  return choices.front();
}

}  // namespace curator::dp
