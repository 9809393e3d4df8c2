// Events that are meant to harm: whatever a certified schedule asks for, it is certified or refused in words,
// within bounded processor time.
#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <random>
#include <string>

#include "base/testing/names.h"
#include "rpc/convert_event.h"
#include "service/charges/certificates.h"

namespace curator::rpc {
namespace {

constexpr int kRequests = 150;
constexpr double kMostSeconds = 15;  // of one request; an optimised build takes less than one

double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Attacker {
 public:
  explicit Attacker(uint64_t seed) : random_(seed) {}

  // A few kinds of mechanisms, many alike, with small and with enormous numbers.
  v1::Event Request() {
    v1::Event event;
    v1::CertifiedEvent& certified = *event.mutable_certified();
    certified.set_delta(OneOf({"1e-6", "1e-18", "0.999999", "1e-12"}));
    v1::ComposedEvent& schedule = *certified.mutable_schedule()->mutable_composed();
    const int kinds = OneOf({1, 2, 5, 64, 65, 300, 2000, 2100});
    const int kind = Below(7);
    const bool is_mixed = Below(3) == 0;
    const int64_t count = OneOf<int64_t>({1, 3, 100, 100'000, 1'000'000'000, Largest()});
    for (int i = 0; i < kinds; ++i) {
      v1::ComposedEvent::Part& part = *schedule.add_parts();
      part.set_count(count);
      Fill(*part.mutable_event(), is_mixed ? Below(7) : kind, i);
    }
    return event;
  }

 private:
  static int64_t Largest() { return std::numeric_limits<int64_t>::max(); }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return *(values.begin() + Below(static_cast<int>(values.size())));
  }
  const char* OneOf(std::initializer_list<const char*> values) { return OneOf<const char*>(values); }

  void Fill(v1::Event& event, int kind, int i) {
    const std::string scale = OneOf({"0.05", "5", "50", "1000", "99999999", "1/999999999999"});
    const std::string own = std::to_string(1000 + i);
    const std::string near = std::to_string(1000 * OneOf({1, 50, 1000}) + i) + "/1000";
    switch (kind) {
      case 0:
        event.mutable_laplace()->set_scale(near);
        break;
      case 1:
        event.mutable_gaussian()->set_sigma_squared(own);
        break;
      case 2:
        event.mutable_discrete_laplace()->set_scale(near);
        event.mutable_discrete_laplace()->set_l1_sensitivity(OneOf<int64_t>({1, 50, 500'000, Largest()}));
        event.mutable_discrete_laplace()->set_linf_sensitivity(OneOf<int64_t>({1, 7, 500'000}));
        break;
      case 3:
        event.mutable_discrete_gaussian()->set_sigma_squared(OneOf({"0.1", "3999", "1000000", "900000000"}));
        event.mutable_discrete_gaussian()->set_l2_sensitivity_squared(OneOf<int64_t>({1, 3, 4, 1'000'000}));
        event.mutable_discrete_gaussian()->set_linf_sensitivity(OneOf<int64_t>({1, 2}));
        break;
      case 4:
        event.mutable_exponential_mechanism()->set_range("0.0" + own);
        break;
      case 5:
        event.mutable_approximate()->set_epsilon("0.00" + own);
        event.mutable_approximate()->set_delta(OneOf({"0", "1e-18", "1e-9", "1"}));
        break;
      default:
        event.mutable_group()->set_group_size(OneOf<int64_t>({1, 3, 1'000'000, Largest()}));
        event.mutable_group()->mutable_event()->mutable_laplace()->set_scale(scale);
    }
  }

  std::mt19937_64 random_;
};

TEST(HostileEvents, AreCertifiedOrRefusedInBoundedTime) {
  Attacker attacker(20261123);
  service::MemoryBudget memory(int64_t{1} << 30, absl::ZeroDuration());
  int certified = 0;
  for (int i = 0; i < kRequests; ++i) {
    const v1::Event request = attacker.Request();
    const double before = ThreadSeconds();
    const absl::StatusOr<dp::AskedEvent> asked = FromProto(request);
    absl::Status status = asked.status();
    service::Certificates certificates(memory, TestPrincipal("eve"), {});
    if (status.ok()) status = certificates.TakeParts(*asked);
    if (status.ok()) status = certificates.Of(*asked).status();
    ASSERT_LT(ThreadSeconds() - before, kMostSeconds) << request.ShortDebugString().substr(0, 1000);
    certified += status.ok() ? 1 : 0;
    if (status.ok()) continue;
    EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
                absl::IsOutOfRange(status))
        << status;
    EXPECT_LT(status.message().size(), 1000U) << status;
  }
  EXPECT_GT(certified, kRequests / 10);
  EXPECT_EQ(memory.taken(), 0);
}

}  // namespace
}  // namespace curator::rpc
