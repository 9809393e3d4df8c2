#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <algorithm>
#include <sstream>

#include "client/cli/output/text.h"
#include "client/cli/plot/bar_chart.h"
#include "client/cli/plot/svg_chart.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

BarChart TheChart() {
  return {"age",
          "laplace noise, 95% intervals",
          {{"[17, 30)", 80, AnswerInterval{60, 100}},
           {"[30, 50)", 40, AnswerInterval{20, 60}},
           {"<&\"old\">", -10, AnswerInterval{-30, 10}}},
          0};
}

std::string Drawn(const BarChart& chart, const Terminal& terminal) {
  std::ostringstream out;
  DrawOnTerminal(chart, terminal, out);
  return out.str();
}

Terminal Of(int columns) {
  Terminal terminal;
  terminal.columns = columns;
  return terminal;
}

TEST(TerminalChart, DrawsBarsWithTheirIntervals) {
  // Labels take 8, numbers 3, gaps 4: 26 columns for -30 to 100, 5 in each.
  EXPECT_EQ(Drawn(TheChart(), Of(42)),
            "age  (laplace noise, 95% intervals)\n"
            "[17, 30)   80        ############====---|\n"
            "[30, 50)   40        ####====----|\n"
            "<&\"old\">  -10  |---==--|\n");
}

TEST(TerminalChart, IsAsWideAsTheTerminalAndAsciiUnlessItShowsUtf8) {
  Terminal terminal = Of(120);
  const std::string ascii = Drawn(TheChart(), terminal);
  for (const char c : ascii) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  terminal.utf8 = true;
  EXPECT_EQ(Drawn(TheChart(), terminal), ascii) << "into a file or a pipe";
  terminal.out_is_terminal = true;
  const std::string blocks = Drawn(TheChart(), terminal);
  EXPECT_THAT(blocks, AllOf(HasSubstr("█"), HasSubstr("▒"), HasSubstr("┤"), Not(HasSubstr("\033"))));
  std::istringstream lines(blocks);
  size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, DisplayWidth(line));
  EXPECT_EQ(widest, 119u);
  terminal.colours = true;
  EXPECT_THAT(Drawn(TheChart(), terminal), HasSubstr("\033[32m"));
}

TEST(TerminalChart, LongLabelsAndNarrowTerminalsDoNotBreakLines) {
  BarChart chart = TheChart();
  chart.bars[0].label = std::string(100, 'x');
  chart.more_bars = 7;
  EXPECT_THAT(Drawn(chart, Of(5)), AllOf(HasSubstr("xxxxxxxxxxxxxxxxxxxxxxx."), HasSubstr("7 more values")));
}

TEST(TerminalChart, OnlyZeroesHaveNoBar) {
  EXPECT_EQ(Drawn({"a", "", {{"0", 0, std::nullopt}}, 0}, Of(40)), "a\n0  0\n");
}

TEST(SvgChart, IsWellFormedAndSelfContained) {
  const std::string svg = SvgOf({TheChart(), TheChart()});
  tinyxml2::XMLDocument document;
  ASSERT_EQ(document.Parse(svg.c_str()), tinyxml2::XML_SUCCESS) << document.ErrorStr();
  const tinyxml2::XMLElement* root = document.RootElement();
  EXPECT_STREQ(root->Name(), "svg");
  EXPECT_STREQ(root->Attribute("xmlns"), "http://www.w3.org/2000/svg");
  EXPECT_THAT(svg, AllOf(HasSubstr("&lt;&amp;"), Not(HasSubstr("href")), Not(HasSubstr("<script")),
                         Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
}

// Each number has a bar and an interval whose places on the axis are in proportion.
TEST(SvgChart, BarsAndIntervalsStandWhereTheirNumbersAre) {
  tinyxml2::XMLDocument document;
  ASSERT_EQ(document.Parse(SvgOf({TheChart()}).c_str()), tinyxml2::XML_SUCCESS);
  std::vector<double> widths;
  std::vector<double> intervals;
  for (const auto* group = document.RootElement()->FirstChildElement("g"); group != nullptr;
       group = group->NextSiblingElement("g")) {
    widths.push_back(group->FirstChildElement("rect")->DoubleAttribute("width"));
    const auto* line = group->FirstChildElement("line");
    intervals.push_back(line->DoubleAttribute("x2") - line->DoubleAttribute("x1"));
  }
  ASSERT_EQ(widths.size(), 3u);
  EXPECT_NEAR(widths[0] / widths[1], 2, 0.01);
  EXPECT_NEAR(widths[1] / widths[2], 4, 0.01);
  for (const double interval : intervals) EXPECT_NEAR(interval / widths[1], 1, 0.01);
}

TEST(BarCharts, AreMadeOfTablesWithOneLabel) {
  v1::Schema schema;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"sex","categorical":{"values":["f","m"]}},
                                    {"name":"zone","coded":{"size":3}}]})",
                  &schema)
                  .ok());
  Answer answer;
  Marginal& pairs = answer.marginals.emplace_back();
  for (const auto& [name, size] : {std::pair{"sex", 2}, {"zone", 3}}) {
    pairs.header.add_attributes(name);
    pairs.header.add_sizes(size);
  }
  pairs.counts.assign(6, 1);
  Marginal& single = answer.marginals.emplace_back();
  single.header.add_attributes("zone");
  single.header.add_sizes(3);
  single.header.mutable_noise()->set_confidence_level(0.9);
  single.header.mutable_noise()->set_confidence_half_width(2);
  single.counts = {5, 6, 7};
  QuerySetAnswer& prefixes = answer.query_sets.emplace_back();
  prefixes.header.set_query_class("prefixes");
  prefixes.header.set_query_set(1);
  prefixes.header.add_columns("zone");
  prefixes.labels = {"0", "0 .. 1", "0 .. 2"};
  prefixes.estimates = {5, 11.5, 18};
  const auto charts = ChartsOf(answer, schema, {.charts = 20, .bars = 2});
  ASSERT_TRUE(charts.ok()) << charts.status();
  ASSERT_EQ(charts->size(), 2u);
  EXPECT_EQ((*charts)[0].title, "zone");
  EXPECT_EQ((*charts)[0].bars[0].interval->upper, 7);
  EXPECT_EQ((*charts)[0].more_bars, 1u);
  EXPECT_EQ((*charts)[1].title, "prefixes of zone");
  EXPECT_EQ((*charts)[1].bars[1].value, 11.5);
  EXPECT_FALSE((*charts)[1].bars[1].interval.has_value());
}

}  // namespace
}  // namespace curator::cli
