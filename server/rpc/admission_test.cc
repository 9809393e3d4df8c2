#include "rpc/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/errors.h"

namespace curator::rpc {
namespace {

using ::testing::HasSubstr;

// Takes places for a principal until one is refused, and returns the refusal.
absl::Status Fill(Admission& admission, CallKind kind, const std::string& principal,
                  std::vector<Admission::Place>& places) {
  while (true) {
    absl::StatusOr<Admission::Place> place = admission.Admit(kind, principal);
    if (!place.ok()) return place.status();
    places.push_back(*std::move(place));
  }
}

TEST(AdmissionOfCalls, OnePrincipalGetsItsShareAndOthersAreStillAdmitted) {
  Admission admission;
  std::vector<Admission::Place> places;
  const absl::Status refused = Fill(admission, CallKind::kCall, "ana", places);
  EXPECT_EQ(static_cast<int>(places.size()), kPlaces[0].of_one);
  EXPECT_TRUE(QuotaRetryOf(refused).has_value()) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("at most 96 calls of one principal"));
  EXPECT_TRUE(admission.Admit(CallKind::kCall, "bea").ok());
  EXPECT_TRUE(admission.Admit(CallKind::kStream, "ana").ok()) << "another kind has places of its own";
}

TEST(AdmissionOfCalls, AllTogetherGetNoMoreThanTheServerHandles) {
  Admission admission;
  std::vector<Admission::Place> places;
  for (const char* principal : {"ana", "bea", "cem"})
    EXPECT_FALSE(Fill(admission, CallKind::kCall, principal, places).ok());
  EXPECT_EQ(static_cast<int>(places.size()), kPlaces[0].in_all);
  const absl::Status refused = admission.Admit(CallKind::kCall, "dan").status();
  EXPECT_TRUE(IsOverloaded(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("as many calls as it can"));
  places.pop_back();
  EXPECT_TRUE(admission.Admit(CallKind::kCall, "dan").ok()) << "a place that was given back is free";
}

TEST(AdmissionOfCalls, APrincipalHasItsQuotasAndCallersWithoutOneTheirs) {
  Admission admission(Quotas{.calls_per_second = 1'000'000,
                             .calls_after_a_pause = 1000,
                             .concurrent_calls = 8,
                             .concurrent_imports = 1,
                             .watches = 4});
  std::vector<Admission::Place> places;
  for (const auto& [kind, most] :
       {std::pair(CallKind::kCall, 8U), std::pair(CallKind::kStream, 1U), std::pair(CallKind::kWatch, 4U)}) {
    places.clear();
    EXPECT_TRUE(QuotaRetryOf(Fill(admission, kind, "ana", places)).has_value());
    EXPECT_EQ(places.size(), most);
    EXPECT_TRUE(admission.Admit(kind, "bob").ok());
  }
  places.clear();
  EXPECT_FALSE(QuotaRetryOf(Fill(admission, CallKind::kCall, "", places)).has_value());
  EXPECT_EQ(places.size(), static_cast<size_t>(kPlaces[0].of_one));
}

TEST(AdmissionOfCalls, APrincipalWithQuotasOfItsOwnHasThoseAndSeesWhatItUses) {
  Admission admission(QuotaTable({.calls_after_a_pause = 100, .concurrent_calls = 2, .watches = 1},
                                 {{"ana", {.calls_after_a_pause = 100, .concurrent_calls = 5}}}));
  std::vector<Admission::Place> places;
  EXPECT_FALSE(Fill(admission, CallKind::kCall, "ana", places).ok());
  EXPECT_EQ(places.size(), 5U);
  std::vector<Admission::Place> of_bob;
  EXPECT_FALSE(Fill(admission, CallKind::kCall, "bob", of_bob).ok());
  EXPECT_EQ(of_bob.size(), 2U);
  EXPECT_EQ(admission.UsedBy("ana").places[static_cast<size_t>(CallKind::kCall)], 5);
  EXPECT_GE(admission.UsedBy("ana").calls_after_a_pause, 1);
  places.clear();
  EXPECT_EQ(admission.UsedBy("ana").places[static_cast<size_t>(CallKind::kCall)], 0);
  EXPECT_EQ(admission.UsedBy("cem").calls_after_a_pause, 0);
}

TEST(AdmissionOfCalls, WhoCallsTooOftenIsRefusedThoughPlacesAreFree) {
  Admission admission(Quotas{.calls_per_second = 1, .calls_after_a_pause = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(admission.Admit(CallKind::kCall, "ana").ok());
  const absl::Status refused = admission.Admit(CallKind::kCall, "ana").status();
  EXPECT_TRUE(QuotaRetryOf(refused).has_value()) << refused;
  EXPECT_TRUE(admission.Admit(CallKind::kSend, "ana").ok()) << "an answer on its way is no call";
  EXPECT_TRUE(admission.Admit(CallKind::kCall, "bob").ok());
}

TEST(AdmissionOfCalls, CallersWithoutAPrincipalShareOneShare) {
  Admission admission;
  std::vector<Admission::Place> places;
  const absl::Status refused = Fill(admission, CallKind::kWatch, "", places);
  EXPECT_EQ(static_cast<int>(places.size()), kPlaces[2].of_one);
  EXPECT_TRUE(IsOverloaded(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("callers without a principal"));
  EXPECT_TRUE(admission.Admit(CallKind::kWatch, "ana").ok());
}

TEST(AdmissionOfCalls, AServerThatIsStoppingAdmitsNothingAndSaysWhy) {
  Admission admission;
  const absl::StatusOr<Admission::Place> running = admission.Admit(CallKind::kCall, "ana");
  admission.Close();
  const absl::Status refused = admission.Admit(CallKind::kCall, "ana").status();
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_FALSE(IsOverloaded(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("shutting down"));
}

}  // namespace
}  // namespace curator::rpc
