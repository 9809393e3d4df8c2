#include "host/logging.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/trace.h"

namespace curator::host {
namespace {

std::string Captured(LogLevel lowest, LogLevel level, std::string_view event,
                     std::initializer_list<LogField> fields) {
  ::testing::internal::CaptureStderr();
  SetUpLogging(lowest);
  Log(level, event, fields);
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, WritesOneJsonObjectALine) {
  const std::string line = Captured(LogLevel::kInfo, LogLevel::kWarning, "charge_admitted",
                                    {{"dataset", "census"}, {"rho_units", int64_t{5}}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const nlohmann::json object = nlohmann::json::parse(line);
  EXPECT_EQ(object["event"], "charge_admitted");
  EXPECT_EQ(object["level"], "warning");
  EXPECT_EQ(object["dataset"], "census");
  EXPECT_EQ(object["rho_units"], 5);
  EXPECT_TRUE(object["time"].get<std::string>().ends_with("Z"));
}

TEST(Log, EscapesWhateverANameContains) {
  const std::string hostile = "a\"b\\c\n{\"event\":\"forged\"}%v\xff";
  const std::string line = Captured(LogLevel::kInfo, LogLevel::kInfo, "dataset_created", {{"name", hostile}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const nlohmann::json object = nlohmann::json::parse(line);
  EXPECT_EQ(object["event"], "dataset_created");
  EXPECT_EQ(object["name"], "a\"b\\c\n{\"event\":\"forged\"}%v\xef\xbf\xbd");
}

TEST(Log, HasTheTraceOfTheCallThatTheThreadWorksFor) {
  const TraceScope trace("4bf92f3577b34da6a3ce929d0e0e4736");
  const std::string line =
      Captured(LogLevel::kInfo, LogLevel::kInfo, "table_not_ready", {{"dataset", "census"}});
  const nlohmann::json object = nlohmann::json::parse(line);
  EXPECT_EQ(object["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(object["dataset"], "census");
}

TEST(Log, DropsLinesBelowTheLowestLevel) {
  EXPECT_EQ(Captured(LogLevel::kWarning, LogLevel::kInfo, "dropped", {}), "");
  EXPECT_NE(Captured(LogLevel::kWarning, LogLevel::kError, "kept", {}), "");
}

}  // namespace
}  // namespace curator::host
