// The audit's own file: where the configuration puts it, and what a server does when the disk that it lies on
// is full. The disk is a small file system in memory, in a mount namespace of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/request_id.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/shared_folder.h"
#include "tests/testing/small_table.h"

namespace curator::testing {
namespace {

using ::testing::IsSupersetOf;

// Mounts that this thread makes, and the threads that it starts from now on, are seen by nobody else. The
// reason where that is impossible.
std::string OwnMounts() {
  const std::string ids[] = {absl::StrCat("0 ", getuid(), " 1"), absl::StrCat("0 ", getgid(), " 1")};
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      return absl::StrCat("no mount namespace: ", std::strerror(errno));
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << ids[0];
    std::ofstream("/proc/self/gid_map") << ids[1];
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return absl::StrCat("mounts of the test would be seen by others: ", std::strerror(errno));
  return "";
}

class AuditDisk : public Identities {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(disk_);
    config_.audit.path = disk_ + "/audit.db";
  }
  void TearDown() override {
    first_ = nullptr;
    umount2(disk_.c_str(), MNT_DETACH);
  }

  void StartWithAnAuditor() {
    Identities::SetUp();
    EnrolAdministrator("ada");
    EnrolAdministrator("abe");
    Bind(As("ada"), v1::RoleBinding::CREATOR, Registered("olga"));
    Bind(As("ada"), v1::RoleBinding::AUDITOR, Registered("uma"));
    v1::ApproveRoleRequest approve;
    approve.set_role(v1::RoleBinding::AUDITOR);
    approve.set_principal("corp.uma");
    ASSERT_TRUE(As("abe").ApproveRole(approve).ok());
  }

  int64_t FreeBytes() const {
    struct statvfs space = {};
    EXPECT_EQ(statvfs(disk_.c_str(), &space), 0);
    return static_cast<int64_t>(space.f_bavail * space.f_frsize);
  }
  // Leaves the disk with so much room.
  void FillUpTo(int64_t free_bytes) const {
    std::ofstream(filler_) << std::string(static_cast<size_t>(FreeBytes() - free_bytes), 'x');
    ASSERT_LE(FreeBytes(), free_bytes);
  }

  void ReserveAThousandth() {
    v1::ReserveBudgetRequest request;
    request.set_request_id(*client::NewRequestId());
    request.set_dataset("census");
    request.mutable_event()->mutable_pure()->set_epsilon("0.001");
    const absl::StatusOr<v1::Charge> charge = As("olga").ReserveBudget(request);
    ASSERT_TRUE(charge.ok()) << charge.status();
    charges_.insert(charge->id());
  }
  std::set<std::string> ChargesInTheHistory() const {
    std::set<std::string> charges;
    EXPECT_TRUE(As("olga")
                    .ListLedgerEntries("census", 0,
                                       [&](const v1::LedgerEntry& entry) {
                                         charges.insert(entry.charge_id());
                                         return absl::OkStatus();
                                       })
                    .ok());
    return charges;
  }

  // What the audit has of the calls that reserve: their records, and what gaps stand for.
  struct Audited {
    int64_t reservations = 0;
    int64_t missing = 0;
  };
  Audited ReadAudit() const {
    Audited audited;
    const absl::StatusOr<v1::ListAuditRecordsResponse> all = As("uma").ListAuditRecords({});
    EXPECT_TRUE(all.ok()) << all.status();
    for (const v1::AuditRecord& record : all->records()) {
      if (record.method() == "AccountantService/ReserveBudget") ++audited.reservations;
      if (record.kind() == v1::AuditRecord::GAP) audited.missing += record.count();
    }
    return audited;
  }

  const std::string disk_ = folder_.path() + "/disk";
  const std::string filler_ = disk_ + "/filler";
  std::set<std::string> charges_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, AuditDisk, ::testing::Values(Backend::kSqlite),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(AuditDisk, TheAuditLiesWhereTheConfigurationPutsIt) {
  StartWithAnAuditor();
  EXPECT_TRUE(std::filesystem::exists(config_.audit.path));
  const std::string beside_the_ledger = options_.ledger.substr(options_.ledger.find(':') + 1);
  EXPECT_FALSE(
      std::filesystem::exists(std::filesystem::path(beside_the_ledger).replace_filename("audit.db")));
}

TEST_P(AuditDisk, AFullDiskStopsNoAnswerAndLosesNoChargeAndTheAuditSaysHowManyCallsItLacks) {
  constexpr int kMostReservations = 5000;
  constexpr int kAtATime = 100;
  if (const std::string reason = OwnMounts(); !reason.empty()) {
    ASSERT_TRUE(shared::MaySkip()) << reason;
    GTEST_SKIP() << reason;
  }
  ASSERT_EQ(mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=4m,mode=700"), 0) << std::strerror(errno);
  StartWithAnAuditor();
  MakeSealed(As("olga"), NewDataset("census", v1::RULE_PURE, "100"), SmallCsv(50));
  Grant(As("olga"), "census", "corp.olga", {v1::SERVICE});

  FillUpTo(16 << 10);
  std::string log;
  for (int i = 0; log.find("audit_failed") == std::string::npos && i < kMostReservations; i += kAtATime) {
    ::testing::internal::CaptureStderr();
    for (int j = 0; j < kAtATime; ++j) ReserveAThousandth();
    log += ::testing::internal::GetCapturedStderr();
  }
  ASSERT_NE(log.find("audit_failed"), std::string::npos)
      << "the audit has filled its disk, and operators are told";

  std::filesystem::remove(filler_);
  Audited audited = ReadAudit();
  for (int i = 0; audited.missing == 0 && i < kMostReservations; ++i) {
    ReserveAThousandth();
    audited = ReadAudit();
  }
  EXPECT_GT(audited.missing, 0) << "a gap says how many calls are not there";
  EXPECT_THAT(ChargesInTheHistory(), IsSupersetOf(charges_));
  const absl::StatusOr<v1::VerifyLedgerResponse> verified = As("olga").VerifyLedger("census");
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_TRUE(verified->ok());

  // The server writes what is queued before it ends.
  first_ = Start("second");
  audited = ReadAudit();
  const auto made = static_cast<int64_t>(charges_.size());
  EXPECT_LT(audited.reservations, made) << "some were made while nothing could be written";
  EXPECT_GE(audited.reservations + audited.missing, made) << "and none is missing without a word";
}

}  // namespace
}  // namespace curator::testing
