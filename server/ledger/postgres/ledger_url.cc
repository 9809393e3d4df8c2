#include "ledger/postgres/ledger_url.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/postgres_url.h"

namespace curator::ledger::postgres {
namespace {

// The system notices a host that has vanished after idle + count * interval while the ledger waits, and after
// the user timeout while it sends. SilenceWatch ends what it does not notice. A standby is skipped.
constexpr char kDefaults[] =
    "connect_timeout=10&fallback_application_name=curatord&keepalives_idle=5&keepalives_interval=3&"
    "keepalives_count=3&tcp_user_timeout=12000&target_session_attrs=read-write";

// The timeouts bound how long a stopped server keeps a row locked and how long a statement waits. Every query
// has an index, which a plan made while a table was small must not ignore (docs/adr/0010). Argument writes
// literals, and RowsOf() reads bytes, in the forms that the last two settings name.
constexpr char kSettings[] =
    "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off "
    "-c plan_cache_mode=force_generic_plan -c client_min_messages=warning "
    "-c idle_in_transaction_session_timeout=10s -c lock_timeout=5s -c statement_timeout=120s "
    "-c standard_conforming_strings=on -c bytea_output=hex";

}  // namespace

absl::StatusOr<LedgerUrl> ParseLedgerUrl(std::string_view url) {
  const absl::StatusOr<PostgresUrl> parsed = ParsePostgresUrl(url);
  if (!parsed.ok()) return InvalidField("ledger", std::string(parsed.status().message()));
  return LedgerUrl{.base = UrlWithDefaults(*parsed, kDefaults),
                   .options = parsed->options.empty() ? "" : absl::StrCat(parsed->options, " "),
                   .where = parsed->where};
}

std::string ConnectionString(const LedgerUrl& url, Isolation isolation) {
  const char* const level = isolation == Isolation::kReadCommitted ? "read\\ committed" : "repeatable\\ read";
  const std::string options =
      absl::StrCat(url.options, kSettings, " -c default_transaction_isolation=", level);
  return absl::StrCat(url.base, "&client_encoding=UTF8&options=", PercentEncoded(options));
}

}  // namespace curator::ledger::postgres
