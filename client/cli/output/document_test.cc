#include "client/cli/output/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace curator::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Document Sample() {
  Document document;
  document.fields = {{"name", "dataset", std::string("census")},
                     {"schema", "schema", RawJson{"{\"a\":[1]}"}, ShownIn::kJsonAndCsv}};
  document.tables = {
      {"accounts",
       "",
       {{"account", "account"},
        {"spent", "spent", Align::kRight},
        {"bar", "", Align::kLeft, ShownIn::kTables},
        {"exact", "exact", Align::kLeft, ShownIn::kJsonAndCsv}},
       {{std::string("dataset/census"), std::string("0.25"), std::string("##--"), 0.1},
        {std::string("analyst/ana"), std::string("12.5"), std::string("#---"), std::monostate()}}}};
  document.notes = {"a remark"};
  return document;
}

struct Printed {
  std::string out;
  std::string error;
};
Printed PrintAs(const Document& document, OutputForm form, const Terminal& terminal = {}) {
  std::ostringstream out;
  std::ostringstream error;
  Print(document, form, terminal, out, error);
  return {out.str(), error.str()};
}

TEST(Document, TablesAreAligned) {
  EXPECT_EQ(PrintAs(Sample(), OutputForm::kTable).out,
            "dataset  census\n"
            "\n"
            "account         spent\n"
            "dataset/census   0.25  ##--\n"
            "analyst/ana      12.5  #---\n"
            "\n"
            "a remark\n");
}

TEST(Document, WideCharactersDoNotShiftColumns) {
  Document document;
  document.tables = {{"t",
                      "",
                      {{"city", "city"}, {"n", "n"}},
                      {{std::string("Zürich"), int64_t{1}}, {std::string("Berlin"), int64_t{2}}}}};
  EXPECT_EQ(PrintAs(document, OutputForm::kTable).out, "city    n\nZürich  1\nBerlin  2\n");
}

TEST(Document, CsvIsTheMainTableWithItsHeader) {
  const Printed printed = PrintAs(Sample(), OutputForm::kCsv);
  EXPECT_EQ(printed.out, "account,spent,exact\ndataset/census,0.25,0.1\nanalyst/ana,12.5,\n");
  EXPECT_EQ(printed.error, "a remark\n");
}

TEST(Document, CsvOfFactsAloneIsOneRow) {
  Document document;
  document.fields = {{"ok", "consistent", true}, {"n", "entries", int64_t{3}}, {"raw", "", RawJson{"{}"}}};
  EXPECT_EQ(PrintAs(document, OutputForm::kCsv).out, "ok,n\ntrue,3\n");
}

TEST(Document, JsonIsOneDocumentWithStableNames) {
  const std::string text = PrintAs(Sample(), OutputForm::kJson).out;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json, nlohmann::json::parse(R"({"name": "census", "schema": {"a": [1]}, "accounts": [
      {"account": "dataset/census", "spent": "0.25", "exact": 0.1},
      {"account": "analyst/ana", "spent": "12.5", "exact": null}]})"));
}

TEST(Document, AnEmptyTableIsAnEmptyArray) {
  Document document;
  document.tables = {{"datasets", "", {{"name", "dataset"}}, {}}};
  EXPECT_EQ(PrintAs(document, OutputForm::kJson).out, "{\"datasets\":[]}\n");
  EXPECT_EQ(PrintAs(document, OutputForm::kCsv).out, "name\n");
  EXPECT_EQ(PrintAs(document, OutputForm::kTable).out, "dataset\n");
}

TEST(Document, LongTablesSayHowManyRowsAreMissing) {
  Document document;
  document.tables = {{"t", "", {{"n", "n"}}, {}, 2}};
  for (int64_t i = 0; i < 5; ++i) document.tables[0].rows.push_back({i});
  EXPECT_EQ(PrintAs(document, OutputForm::kTable).out,
            "n\n0\n1\n... 3 more rows (--output csv or json prints all)\n");
  EXPECT_EQ(PrintAs(document, OutputForm::kCsv).out, "n\n0\n1\n2\n3\n4\n");
}

TEST(Document, ColoursAppearOnlyWhereTheTerminalShowsThem) {
  Terminal terminal;
  EXPECT_THAT(PrintAs(Sample(), OutputForm::kTable, terminal).out, Not(HasSubstr("\033")));
  terminal.colours = true;
  EXPECT_THAT(PrintAs(Sample(), OutputForm::kTable, terminal).out, HasSubstr("\033[1m"));
  EXPECT_THAT(PrintAs(Sample(), OutputForm::kCsv, terminal).out, Not(HasSubstr("\033")));
  EXPECT_THAT(PrintAs(Sample(), OutputForm::kJson, terminal).out, Not(HasSubstr("\033")));
}

TEST(Document, RowsBeyondTheFirstBatchAreAllWritten) {
  std::ostringstream out;
  JsonWriter json(out);
  const std::vector<Column> columns = {{"n", "n"}};
  const Terminal terminal;
  const auto rows = MakeRowWriter(columns, OutputForm::kTable, terminal, out, json);
  std::string expected = "n\n";
  for (int64_t i = 0; i < 1001; ++i) {
    rows->Add({i});
    expected += std::to_string(i) + "\n";
  }
  rows->Finish();
  EXPECT_EQ(out.str(), expected);
}

TEST(Json, StringsSurviveWhateverIsInThem) {
  for (const std::string text :
       {"plain", "quote \" and \\", "line\nbreak\ttab\r", "\x01\x1f", "Zürich 東京 😀", ""}) {
    EXPECT_EQ(nlohmann::json::parse(JsonString(text)).get<std::string>(), text);
  }
}

TEST(Json, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(JsonString("\x1b[2J\x7f \xC2\x9B"), "\"\\u001b[2J\\u007f \\u009b\"");
  EXPECT_EQ(nlohmann::json::parse(JsonString("\xC2\x9B")).get<std::string>(), "\xC2\x9B");
}

TEST(Json, BytesThatAreNoUtf8AreReplaced) {
  for (const std::string text :
       {"\xff", "a\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_TRUE(nlohmann::json::accept(JsonString(text))) << JsonString(text);
  }
  EXPECT_EQ(JsonString("a\xff"
                       "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
}

TEST(Json, WhatJsonCannotWriteIsNull) {
  std::ostringstream out;
  JsonWriter json(out);
  json.BeginArray();
  json.Write(std::numeric_limits<double>::infinity());
  json.Write(std::numeric_limits<double>::quiet_NaN());
  json.Write(1.5);
  json.EndArray();
  EXPECT_EQ(out.str(), "[null,null,1.5]");
}

TEST(Terminal, TheBarFillsFromTheLeftAndNeverOverflows) {
  Terminal terminal;
  EXPECT_EQ(BudgetBar(terminal, 0.5, 0.25, 4), "##=.");
  terminal.utf8 = true;
  EXPECT_EQ(BudgetBar(terminal, 0, 0, 4), "░░░░");
  EXPECT_EQ(BudgetBar(terminal, 0.5, 0.25, 4), "██▒░");
  EXPECT_EQ(BudgetBar(terminal, 0.01, 0, 4), "█░░░");  // something spent is something seen
  EXPECT_EQ(BudgetBar(terminal, 2, 1, 4), "████");
}

}  // namespace
}  // namespace curator::cli
