#include "ledger/postgres/ledger_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::ledger::postgres {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LedgerUrlTest, TheDefaultsComeFirstAndTheSettingsOfASessionLast) {
  const auto url =
      ParseLedgerUrl("postgresql://ana@db.example:6000/curator?connect_timeout=3&options=-c%20a=b");
  ASSERT_TRUE(url.ok()) << url.status();
  const std::string text = ConnectionString(*url, Isolation::kRepeatableRead);
  EXPECT_THAT(text, ::testing::StartsWith("postgresql://ana@db.example:6000/curator?connect_timeout=10&"));
  EXPECT_LT(text.find("connect_timeout=10"), text.find("connect_timeout=3"));
  EXPECT_THAT(text, HasSubstr("target_session_attrs=read-write"));
  EXPECT_THAT(text, HasSubstr("&options=%2dc%20a%3db%20%2dc%20enable%5fseqscan%3doff"));
  EXPECT_THAT(text, ::testing::EndsWith("default%5ftransaction%5fisolation%3drepeatable%5c%20read"));
  EXPECT_EQ(url->where, "host db.example:6000");
}

TEST(LedgerUrlTest, NamesTheHostsForMessages) {
  EXPECT_EQ(ParseLedgerUrl("postgres:///curator")->where, "host the local socket");
  EXPECT_EQ(ParseLedgerUrl("postgresql://a:1,b:2/curator")->where, "hosts a:1,b:2");
  EXPECT_EQ(ParseLedgerUrl("postgresql:///curator?host=/run/postgresql")->where, "host /run/postgresql");
}

TEST(LedgerUrlTest, APasswordIsRefusedAndNotRepeated) {
  for (const char* const url : {
           "postgresql://ana:secret@host/curator",
           "postgresql://ana:se%40cret@host/curator",
           "postgresql://ana:secr/et@host/curator",
           "postgresql://ana:secret@more@host/curator",
           "postgresql://ana:a/secr?et@host/curator",
           "postgresql://ana:secret/curator",
           "postgresql://host/curator?secret",
           "postgresql://host/curator?password=secret",
           "postgresql://host/curator?user=ana&p%61ssword=secret",
           "postgresql://host/curator?sslpassword=secret",
       }) {
    const absl::Status refused = ParseLedgerUrl(url).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("PGPASSFILE")) << url;
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("secr"))) << url;
  }
}

TEST(LedgerUrlTest, WhatLibpqUnderstandsIsAccepted) {
  for (const char* const url : {
           "postgresql://",
           "postgresql://ana@",
           "postgresql://[::1]:5432/curator",
           "postgresql://a:1,[2001:db8::1]:2,c/curator",
           "postgresql://%2Frun%2Fpostgresql/curator",
           "postgresql:///curator?host=/run/postgresql&user=ana%40example",
           "postgresql://host?sslmode=verify-full",
       }) {
    EXPECT_TRUE(ParseLedgerUrl(url).ok()) << url << ": " << ParseLedgerUrl(url).status();
  }
}

TEST(LedgerUrlTest, AnotherSchemeIsRefused) {
  for (const char* const url : {"", "mysql://ana@host/curator", "host=db.example dbname=curator"}) {
    EXPECT_EQ(ParseLedgerUrl(url).status().code(), absl::StatusCode::kInvalidArgument) << url;
  }
}

}  // namespace
}  // namespace curator::ledger::postgres
