#include "service/quotas/principal_quotas.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::service {
namespace {

constexpr char kSecondsOfSyntheses[] = "synthesis_cpu_seconds_per_day";
constexpr absl::Duration kOneDay = absl::Hours(24);
constexpr char kSmallerSynthesis[] =
    "ask for fewer marginals, rounds or steps, or set lower limits of what the method holds (max_cells, "
    "max_records, rows, max_view_cells), where it has such";

int64_t DayNumberOf(absl::Time time) {
  return absl::ToUnixSeconds(time) / absl::ToInt64Seconds(kOneDay);
}

}  // namespace

absl::Status PrincipalQuotas::CountImported(const Principal& principal, int64_t bytes) {
  const int64_t most = Of(principal.name()).import_bytes_per_hour;
  if (imported_.Add(principal.name(), bytes, most)) return absl::OkStatus();
  return OverQuota(
      absl::StrCat("you may send at most ", most,
                   " bytes an hour in imports and checks of files, counted as received; of this file nothing "
                   "was stored"),
      absl::ToChronoMilliseconds(imported_.Left()));
}

absl::Status PrincipalQuotas::CountVerification(const Principal& principal) {
  const int64_t most = Of(principal.name()).verifications_per_minute;
  if (verifications_.Add(principal.name(), 1, most)) return absl::OkStatus();
  return OverQuota(
      absl::StrCat("you may have at most ", most,
                   " histories verified a minute; a result that is less than a minute old is given again"),
      absl::ToChronoMilliseconds(verifications_.Left()));
}

absl::Status PrincipalQuotas::CheckSynthesis(const Principal& principal, int64_t cpu_seconds,
                                             int64_t bytes) const {
  const Quotas& quotas = Of(principal.name());
  if (bytes > quotas.synthesis_memory_bytes) {
    return InvalidField("workload", absl::StrCat("is predicted to take ", bytes,
                                                 " bytes of memory; one synthesis of yours may take ",
                                                 quotas.synthesis_memory_bytes, ": ", kSmallerSynthesis));
  }
  if (cpu_seconds > quotas.synthesis_cpu_seconds_per_day) {
    return InvalidField("workload",
                        absl::StrCat("is predicted to take ", cpu_seconds,
                                     " seconds of processor; all syntheses of yours in a day may take ",
                                     quotas.synthesis_cpu_seconds_per_day, ": ", kSmallerSynthesis));
  }
  return absl::OkStatus();
}

absl::StatusOr<ledger::DailyUse> PrincipalQuotas::UseForSynthesis(ledger::Ledger& ledger,
                                                                  const Principal& principal,
                                                                  int64_t cpu_seconds) const {
  const absl::Time now = clock_();
  const int64_t most = Of(principal.name()).synthesis_cpu_seconds_per_day;
  ledger::DailyUse use{.principal = principal.name(),
                       .quota = kSecondsOfSyntheses,
                       .day = DayNumberOf(now),
                       .amount = cpu_seconds};
  ASSIGN_OR_RETURN(const bool fits, ledger.UseQuota(use, most));
  if (fits) {
    seconds_of_syntheses_ += cpu_seconds;
    return use;
  }
  const absl::Time midnight = absl::UnixEpoch() + (use.day + 1) * kOneDay;
  return OverQuota(
      absl::StrCat("it is predicted to take ", cpu_seconds, " seconds of processor, and of the ", most,
                   " that your syntheses may take in a day (UTC) fewer are left; nothing was charged"),
      absl::ToChronoMilliseconds(midnight - now));
}

absl::StatusOr<std::vector<QuotaView>> PrincipalQuotas::List(ledger::Ledger& ledger,
                                                             const std::string& principal) const {
  const Quotas& quotas = Of(principal);
  ASSIGN_OR_RETURN(const int64_t seconds,
                   ledger.QuotaUsed(principal, kSecondsOfSyntheses, DayNumberOf(clock_())));
  return std::vector<QuotaView>{{.name = "import_bytes_per_hour",
                                 .limit = quotas.import_bytes_per_hour,
                                 .period = imported_.length(),
                                 .used = imported_.UsedBy(principal)},
                                {.name = "verifications_per_minute",
                                 .limit = quotas.verifications_per_minute,
                                 .period = verifications_.length(),
                                 .used = verifications_.UsedBy(principal)},
                                {.name = kSecondsOfSyntheses,
                                 .limit = quotas.synthesis_cpu_seconds_per_day,
                                 .period = kOneDay,
                                 .used = seconds},
                                {.name = "synthesis_memory_bytes", .limit = quotas.synthesis_memory_bytes}};
}

}  // namespace curator::service
