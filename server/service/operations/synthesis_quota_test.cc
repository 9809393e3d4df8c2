// How much synthesis a principal may ask for in a day: predicted, counted with the charge, never twice.
#include <memory>
#include <optional>
#include <utility>

#include "service/operations/synthesis.h"
#include "service/quotas/principal_quotas.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"

namespace curator::service {
namespace {

class SynthesisQuotaTest : public ServiceTest {
 protected:
  explicit SynthesisQuotaTest(LedgerOpener open_ledger = &OpenSqliteLedger) : ServiceTest(open_ledger) {}

  static SynthesisRequest Mwem(const std::string& dataset) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName(dataset),
            .method = "mwem",
            .spend = {.epsilon = EpsilonOf(1000)},
            .settings = {},
            .workload = {},
            .assume_records = std::nullopt,
            .parts = {}};
  }
  absl::StatusOr<OperationView> Create(const SynthesisRequest& request, const std::string& id,
                                       Intent intent = Intent::kDo) {
    return CreateSynthesis(services_, request, TestRequestId(id), intent);
  }
  OperationView Ended(const std::string& operation) {
    return WaitOperation(services_, TestPrincipal("owner"), operation, absl::InfiniteFuture()).value();
  }
  static absl::Time ThisDay() { return absl::FromUnixSeconds(1'800'000'000); }
  // So many syntheses like Mwem() a day.
  void AllowADay(int64_t syntheses) {
    each_ = EstimateSynthesis(services_, Mwem("census"))->cpu_seconds;
    quotas_.emplace(Quotas{.synthesis_cpu_seconds_per_day = syntheses * each_}, &ThisDay);
    services_.quotas = &*quotas_;
  }
  int64_t UsedSeconds() {
    const std::vector<QuotaView> quotas = quotas_->List(*ledger_, "owner").value();
    for (const QuotaView& quota : quotas) {
      if (quota.name == "synthesis_cpu_seconds_per_day") return *quota.used;
    }
    return -1;
  }
  bool WasCharged(const std::string& id) { return ledger_->FindCharge(TestPrincipal("owner"), id).ok(); }

  int64_t each_ = 0;
  std::optional<PrincipalQuotas> quotas_;
};

TEST_F(SynthesisQuotaTest, SecondsAreCountedWithTheChargeAndOneBeyondThemIsRefusedBeforeIt) {
  MakeSealed(People("census"));
  AllowADay(1);
  const std::string id = host::NewUuid();
  const auto created = Create(Mwem("census"), id);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(UsedSeconds(), each_);
  const std::string next = host::NewUuid();
  const absl::Status refused = Create(Mwem("census"), next).status();
  EXPECT_TRUE(QuotaRetryOf(refused).has_value()) << refused;
  EXPECT_FALSE(WasCharged(next));
  EXPECT_EQ(UsedSeconds(), each_);
  EXPECT_EQ(Ended(created->id).state, OperationState::kDone);
  EXPECT_EQ(Create(Mwem("census"), id)->id, created->id) << "what was charged before is found";
  EXPECT_EQ(UsedSeconds(), each_);
}

TEST_F(SynthesisQuotaTest, ARepetitionThatIsQueuedAgainIsNeitherRefusedNorCounted) {
  MakeSealed(People("census"));
  AllowADay(1);
  const auto may_end = OccupyWorker();
  const std::string id = host::NewUuid();
  const std::string charge = Create(Mwem("census"), id)->id;
  operations_.Dismiss(charge);  // as another process finds it
  const auto again = Create(Mwem("census"), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id, charge);
  EXPECT_EQ(UsedSeconds(), each_);
  may_end->Notify();
}

TEST_F(SynthesisQuotaTest, AChargeThatIsRefusedGivesTheSecondsBack) {
  MakeSealed(People("census"));
  AllowADay(1);
  SynthesisRequest costly = Mwem("census");
  costly.spend = {.epsilon = EpsilonOf(11'000)};
  EXPECT_FALSE(FullAccountsOf(Create(costly, host::NewUuid()).status()).empty());
  EXPECT_EQ(UsedSeconds(), 0);
  EXPECT_TRUE(Create(Mwem("census"), host::NewUuid()).ok());
}

TEST_F(SynthesisQuotaTest, OneThatIsOnlyCheckedOrEstimatedCountsNothing) {
  MakeSealed(People("census"));
  AllowADay(1);
  EXPECT_TRUE(Create(Mwem("census"), host::NewUuid(), Intent::kValidateOnly).ok());
  EXPECT_TRUE(EstimateSynthesis(services_, Mwem("census")).ok());
  EXPECT_EQ(UsedSeconds(), 0);
}

TEST_F(SynthesisQuotaTest, OneThatFitsNoDayOrTakesTooMuchMemoryIsABadRequest) {
  MakeSealed(People("census"));
  AllowADay(0);
  EXPECT_EQ(FieldOf(Create(Mwem("census"), host::NewUuid()).status()), "workload");
  quotas_.emplace(Quotas{.synthesis_memory_bytes = 1000}, &ThisDay);
  const absl::Status refused = Create(Mwem("census"), host::NewUuid()).status();
  EXPECT_EQ(FieldOf(refused), "workload");
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("bytes of memory"));
  EXPECT_EQ(UsedSeconds(), 0);
}

// A store whose connection is lost after a commit, and for some transactions more.
class LostAnswer final : public ledger::sql::Database {
 public:
  explicit LostAnswer(std::unique_ptr<ledger::sql::Database> real) : real_(std::move(real)) {}
  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override {
    return IsDown() ? Lost() : real_->Read(body);
  }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override {
    if (IsDown()) return Lost();
    ledger::sql::Outcome outcome = real_->Write(body);
    const bool is_lost = outcome.status.ok() && loss_.writes > 0 && --loss_.writes == 0;
    return is_lost ? Lost() : outcome;
  }

  // Counted from now on: the answer to write number `writes` is lost, and so many transactions after it.
  struct Loss {
    int writes;
    int transactions;
  };
  static void Arm(Loss loss) { loss_ = loss; }
  static void Disarm() { loss_ = {0, 0}; }

 private:
  static ledger::sql::Outcome Lost() {
    return {ledger::sql::Ending::kUnknown, absl::UnavailableError("the connection is lost")};
  }
  static bool IsDown() { return loss_.writes == 0 && loss_.transactions > 0 && loss_.transactions-- > 0; }

  static inline Loss loss_ = {0, 0};
  const std::unique_ptr<ledger::sql::Database> real_;
};

class LostAnswerTest : public SynthesisQuotaTest {
 protected:
  LostAnswerTest() : SynthesisQuotaTest(&OpenLedgerThrough<LostAnswer>) {}
};

// The first write is the count, the second one the charge.
TEST_F(LostAnswerTest, ACountIsGivenBackOnlyWhereNothingWasCharged) {
  MakeSealed(People("census"));
  AllowADay(10);
  const auto may_end = OccupyWorker();
  bool was_unknown = false;
  for (int transactions = 1; transactions < 10 && !was_unknown; ++transactions) {
    const std::string each = host::NewUuid();
    const int64_t before = UsedSeconds();
    LostAnswer::Arm({.writes = 2, .transactions = transactions});
    const absl::Status created = Create(Mwem("census"), each).status();
    LostAnswer::Disarm();
    was_unknown = absl::IsUnavailable(created) && WasCharged(each);
    if (was_unknown) {
      EXPECT_EQ(UsedSeconds(), before + each_);
    }
  }
  EXPECT_TRUE(was_unknown);
  may_end->Notify();
}

// The table has 80 records, and then 800; its owner tells nobody.
TEST_F(SynthesisQuotaTest, ThePredictionIsTheSameWhateverTheTableHas) {
  MakeSealed(People("census"));
  std::string more = PeopleCsv();
  const std::string rows = more.substr(more.find('\n') + 1);
  for (int i = 0; i < 9; ++i) more += rows;
  MakeSealed(People("larger"), more);
  Make(People("empty"));
  const int64_t seconds = EstimateSynthesis(services_, Mwem("census"))->cpu_seconds;
  EXPECT_EQ(EstimateSynthesis(services_, Mwem("larger"))->cpu_seconds, seconds);
  EXPECT_EQ(EstimateSynthesis(services_, Mwem("empty"))->cpu_seconds, seconds);
}

TEST_F(SynthesisQuotaTest, NoPredictionExceedsWhatTheServerLetsASynthesisTake) {
  MakeSealed(People("census"));
  SynthesisRequest endless = Mwem("census");
  endless.assume_records = int64_t{1} << 60;
  const int64_t most = EstimateSynthesis(services_, endless)->cpu_seconds;
  EXPECT_EQ(most % absl::ToInt64Seconds(services_.synthesis_timeout), 0) << "for each of the cores";
  EXPECT_GT(most, EstimateSynthesis(services_, Mwem("census"))->cpu_seconds);
}

}  // namespace
}  // namespace curator::service
