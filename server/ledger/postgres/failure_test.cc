#include "ledger/postgres/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <pqxx/except>
#include <stdexcept>
#include <tuple>

namespace curator::ledger::postgres {
namespace {

using ::testing::HasSubstr;

template <typename Exception>
Failure FailureOf(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return FailureOfCurrentException();
  }
}

Failure FailureWithState(const char* state) {
  return FailureOf(pqxx::sql_error("ERROR:  injected\n", "SELECT 1", state));
}

TEST(FailureTest, ALostConnectionAndWhatNobodyRecognisesHaveAnUnknownOutcome) {
  EXPECT_EQ(FailureOf(pqxx::broken_connection("gone")).ending, sql::Ending::kUnknown);
  EXPECT_EQ(FailureOf(pqxx::too_many_connections("full")).ending, sql::Ending::kUnknown);
  EXPECT_EQ(FailureOf(pqxx::in_doubt_error("perhaps")).ending, sql::Ending::kUnknown);
  EXPECT_EQ(FailureOf(pqxx::internal_error("of libpqxx")).ending, sql::Ending::kUnknown);
  EXPECT_EQ(FailureOf(std::runtime_error("of somebody")).ending, sql::Ending::kUnknown);
  EXPECT_EQ(FailureOf(17).ending, sql::Ending::kUnknown);
  EXPECT_EQ(FailureOf(pqxx::broken_connection("gone")).status.code(), absl::StatusCode::kUnavailable);
}

// Its class derives from that of a rollback.
TEST(FailureTest, AStatementWhoseCompletionIsUnknownIsNoRollback) {
  const Failure failure = FailureOf(pqxx::statement_completion_unknown("perhaps"));
  EXPECT_EQ(failure.ending, sql::Ending::kUnknown);
  EXPECT_EQ(failure.status.code(), absl::StatusCode::kUnavailable);
}

TEST(FailureTest, ATransactionThatLostMayRunAgain) {
  EXPECT_EQ(FailureOf(pqxx::serialization_failure("lost")).ending, sql::Ending::kConflict);
  EXPECT_EQ(FailureOf(pqxx::deadlock_detected("lost")).ending, sql::Ending::kConflict);
  EXPECT_EQ(FailureOf(pqxx::unique_violation("taken", "", "23505")).ending, sql::Ending::kConflict);
  EXPECT_EQ(FailureOf(pqxx::transaction_rollback("rolled back")).ending, sql::Ending::kFailed);
}

TEST(FailureTest, AnSqlStateDecidesTheEndingAndTheCode) {
  for (const auto& [state, ending, code] : {
           std::tuple{"57P01", sql::Ending::kUnknown, absl::StatusCode::kUnavailable},
           std::tuple{"58030", sql::Ending::kUnknown, absl::StatusCode::kUnavailable},
           std::tuple{"25P03", sql::Ending::kUnknown, absl::StatusCode::kUnavailable},
           std::tuple{"", sql::Ending::kUnknown, absl::StatusCode::kUnavailable},
           std::tuple{"53100", sql::Ending::kFailed, absl::StatusCode::kUnavailable},
           std::tuple{"55P03", sql::Ending::kFailed, absl::StatusCode::kUnavailable},
           std::tuple{"57014", sql::Ending::kFailed, absl::StatusCode::kUnavailable},
           std::tuple{"25006", sql::Ending::kFailed, absl::StatusCode::kUnavailable},
           std::tuple{"42501", sql::Ending::kFailed, absl::StatusCode::kFailedPrecondition},
           std::tuple{"XX001", sql::Ending::kFailed, absl::StatusCode::kDataLoss},
           std::tuple{"23502", sql::Ending::kFailed, absl::StatusCode::kInternal},
       }) {
    const Failure failure = FailureWithState(state);
    EXPECT_EQ(failure.ending, ending) << state;
    EXPECT_EQ(failure.status.code(), code) << state;
  }
}

TEST(FailureTest, AServerThatEndsMayHaveCommitted) {
  for (const char* const message : {"PANIC:  could not write to file\n", "FATAL:  terminating\n"}) {
    EXPECT_EQ(FailureOf(pqxx::disk_full(message, "", "53100")).ending, sql::Ending::kUnknown) << message;
  }
}

// libpqxx drops the SQLSTATE of some errors that have a class of their own.
TEST(FailureTest, AnErrorWithoutItsSqlStateIsThatOfItsClass) {
  EXPECT_EQ(FailureOf(pqxx::unique_violation("taken")).ending, sql::Ending::kConflict);
  EXPECT_EQ(FailureOf(pqxx::not_null_violation("null")).ending, sql::Ending::kFailed);
  EXPECT_EQ(FailureOf(pqxx::insufficient_privilege("denied")).status.code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(FailureOf(pqxx::out_of_memory("full")).status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(FailureOf(pqxx::disk_full("full")).ending, sql::Ending::kFailed);
  EXPECT_EQ(FailureOf(pqxx::undefined_table("none")).status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(FailureOf(pqxx::undefined_table("none")).ending, sql::Ending::kFailed);
}

TEST(FailureTest, SaysOnOneLineWhatTheServerSaid) {
  EXPECT_THAT(std::string(FailureOf(pqxx::sql_error("ERROR:  a\nb\t\n", "", "23502")).status.message()),
              HasSubstr("answered: a b"));
}

TEST(FailureTest, LackOfMemoryIsForTheCaller) {
  EXPECT_THROW(FailureOf(std::bad_alloc()), std::bad_alloc);
}

}  // namespace
}  // namespace curator::ledger::postgres
