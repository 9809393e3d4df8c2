// Real data and random questions of every class through a real server, against SQLite over the text of the
// CSV: what an analyst means by "age between 30 and 39" is what is counted. The budget is so large that no
// noise is left: at a scale below 1/100 a draw is not 0 once in 10^43.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/client.h"
#include "tests/golden/schema_from_json.h"
#include "tests/golden/sqlite_codes.h"
#include "tests/testing/nightly.h"
#include "tests/testing/real_datasets.h"
#include "tests/testing/shared_folder.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::golden {
namespace {

using Random = std::mt19937_64;

constexpr int64_t kMostBins = 110;
constexpr size_t kQuestions = 40;

// A condition as it is asked and as SQLite understands it.
struct Asked {
  v1::Condition condition;
  std::string sql;
};

// "to" is the last value that is meant.
Asked Between(const dp::Attribute& attribute, const dp::IntegerKind& kind, const std::string& column,
              Random& random) {
  const int64_t size = attribute.size();
  const int64_t first = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
  const int64_t last = first + static_cast<int64_t>(random() % static_cast<uint64_t>(size - first));
  const int64_t from = kind.min + first * kind.bin_width;
  const int64_t to = std::min(kind.max, kind.min + (last + 1) * kind.bin_width - 1);
  Asked asked;
  asked.condition.set_attribute(attribute.name());
  asked.condition.mutable_between()->mutable_from()->set_number_value(static_cast<double>(from));
  asked.condition.mutable_between()->mutable_to()->set_string_value(absl::StrCat(to));
  asked.sql = absl::StrCat("(CAST(", column, " AS INTEGER) BETWEEN ", from, " AND ", to, ")");
  return asked;
}

// "to" is the first value that is not meant, unless it is the largest edge.
Asked Between(const dp::Attribute& attribute, const dp::NumericKind& kind, const std::string& column,
              Random& random) {
  const size_t bins = kind.edges.size() - 1;
  const size_t first = random() % bins;
  const size_t last = first + 1 + random() % (bins - first);
  Asked asked;
  asked.condition.set_attribute(attribute.name());
  asked.condition.mutable_between()->mutable_from()->set_number_value(kind.edges[first]);
  asked.condition.mutable_between()->mutable_to()->set_number_value(kind.edges[last]);
  asked.sql = absl::StrCat("(CAST(", column, " AS REAL) >= ", kind.edges[first], " AND CAST(", column,
                           " AS REAL) ", last == bins ? "<=" : "<", " ", kind.edges[last], ")");
  return asked;
}

Asked In(const dp::Attribute& attribute, const dp::CategoricalKind& kind, const std::string& column,
         Random& random) {
  Asked asked;
  asked.condition.set_attribute(attribute.name());
  std::vector<std::string> listed;
  const size_t sure = random() % kind.values.size();
  for (size_t i = 0; i < kind.values.size(); ++i) {
    if (i != sure && random() % 3 != 0) continue;
    asked.condition.add_in()->set_string_value(kind.values[i]);
    listed.push_back(absl::StrCat("'", kind.values[i], "'"));
  }
  asked.sql = absl::StrCat("(", column, " IN (", absl::StrJoin(listed, ","), "))");
  return asked;
}

Asked RandomCondition(const dp::Domain& domain, uint32_t attribute, Random& random) {
  const dp::Attribute& described = domain.attributes()[attribute];
  const std::string column = absl::StrCat("r", attribute);
  if (const auto* integer = std::get_if<dp::IntegerKind>(&described.kind()))
    return Between(described, *integer, column, random);
  if (const auto* numeric = std::get_if<dp::NumericKind>(&described.kind()))
    return Between(described, *numeric, column, random);
  return In(described, std::get<dp::CategoricalKind>(described.kind()), column, random);
}

// Conditions on different attributes, none of which has very many bins.
std::vector<Asked> RandomConditions(const dp::Domain& domain, size_t count, Random& random) {
  std::vector<Asked> conditions;
  std::vector<uint32_t> used;
  while (conditions.size() < count) {
    const uint32_t attribute = static_cast<uint32_t>(random() % domain.size());
    if (domain.attributes()[attribute].size() > kMostBins || std::ranges::count(used, attribute) > 0)
      continue;
    used.push_back(attribute);
    conditions.push_back(RandomCondition(domain, attribute, random));
  }
  return conditions;
}

std::vector<std::string> SqlOf(const std::vector<Asked>& conditions) {
  std::vector<std::string> sql;
  for (const Asked& condition : conditions) sql.push_back(condition.sql);
  return sql;
}

class WireAnswers : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const testing::RealDataset& dataset = testing::RealDatasetNamed(GetParam());
    REQUIRE_SHARED(dataset.csv);
    const std::string csv = testing::CsvOf(dataset, std::numeric_limits<int64_t>::max());
    const std::string schema = testing::SchemaJsonOf(dataset);
    domain_.emplace(SchemaFromJson(schema).domain);
    sqlite_.emplace(*domain_, csv);
    server_.emplace(testing::Backend::kSqlite);
    owner_.emplace(ClientOptions{.server = server_->address(), .principal = "owner"});
    v1::CreateDatasetRequest create = testing::NewDataset("data", v1::RULE_PURE, "1000000");
    create.clear_schema();
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(schema, create.mutable_schema()).ok());
    testing::MakeSealed(*owner_, create, csv);
  }

  // The answers to the only query set, rounded: without noise they are whole up to rounding.
  std::vector<int64_t> Ask(const v1::QuerySet& queries) const {
    v1::AnswerWorkloadRequest request;
    request.set_dataset("data");
    *request.mutable_workload()->add_query_sets() = queries;
    request.mutable_spend()->set_epsilon("20000");
    const absl::StatusOr<Answer> answer = owner_->AnswerWorkload(request);
    EXPECT_TRUE(answer.ok()) << answer.status() << queries.ShortDebugString();
    if (!answer.ok() || answer->query_sets.size() != 1) return {};
    std::vector<int64_t> counts = answer->query_sets[0].counts;
    for (const double estimate : answer->query_sets[0].estimates) counts.push_back(std::llround(estimate));
    return counts;
  }

  std::optional<dp::Domain> domain_;
  std::optional<SqliteCodes> sqlite_;
  std::optional<testing::TestServer> server_;
  std::optional<Client> owner_;
};

INSTANTIATE_TEST_SUITE_P(Data, WireAnswers, ::testing::Values("nist_acs", "adult_uci", "exam"),
                         [](const auto& name) { return name.param; });

TEST_P(WireAnswers, PredicatesCountTheRecordsThatSqliteFinds) {
  Random random(nightly::Seed(811));
  v1::QuerySet queries;
  std::vector<int64_t> expected;
  for (size_t i = 0; i < kQuestions; ++i) {
    const std::vector<Asked> conditions = RandomConditions(*domain_, 1 + random() % 3, random);
    v1::Predicate* predicate = queries.mutable_predicates()->add_predicates();
    for (const Asked& asked : conditions) *predicate->add_all_of() = asked.condition;
    expected.push_back(
        sqlite_->ValueOfTexts(absl::StrCat("SUM(", absl::StrJoin(SqlOf(conditions), " AND "), ")")));
  }
  EXPECT_EQ(Ask(queries), expected);
}

TEST_P(WireAnswers, ThresholdsCountTheRecordsThatSqliteFinds) {
  Random random(nightly::Seed(812));
  for (size_t i = 0; i < 8; ++i) {
    const std::vector<Asked> conditions = RandomConditions(*domain_, 3, random);
    v1::QuerySet queries;
    std::vector<int64_t> expected;
    for (const Asked& asked : conditions) *queries.mutable_thresholds()->add_conditions() = asked.condition;
    for (int t = 1; t <= 3; ++t) {
      queries.mutable_thresholds()->add_at_least(t);
      expected.push_back(sqlite_->ValueOfTexts(
          absl::StrCat("SUM(", absl::StrJoin(SqlOf(conditions), " + "), " >= ", t, ")")));
    }
    EXPECT_EQ(Ask(queries), expected) << queries.ShortDebugString();
  }
}

TEST_P(WireAnswers, BoxesCountTheRecordsThatSqliteFinds) {
  Random random(nightly::Seed(813));
  for (size_t i = 0; i < 8; ++i) {
    v1::QuerySet queries;
    v1::Box* box = queries.mutable_ranges()->add_boxes();
    std::vector<std::string> sql;
    while (sql.size() < 2) {
      const Asked asked = RandomConditions(*domain_, 1, random)[0];
      const auto& names = queries.ranges().attributes();
      if (!asked.condition.has_between() || std::ranges::count(names, asked.condition.attribute()) > 0)
        continue;
      queries.mutable_ranges()->add_attributes(asked.condition.attribute());
      *box->add_sides() = asked.condition.between();
      sql.push_back(asked.sql);
    }
    EXPECT_EQ(
        Ask(queries),
        std::vector<int64_t>{sqlite_->ValueOfTexts(absl::StrCat("SUM(", absl::StrJoin(sql, " AND "), ")"))})
        << queries.ShortDebugString();
  }
}

TEST_P(WireAnswers, PrefixesAreRunningSums) {
  for (uint32_t attribute = 0; attribute < domain_->size(); ++attribute) {
    const dp::Attribute& described = domain_->attributes()[attribute];
    if (described.size() > kMostBins) continue;
    v1::QuerySet queries;
    queries.mutable_prefixes()->set_attribute(described.name());
    std::vector<int64_t> expected = sqlite_->Marginal({attribute});
    for (size_t i = 1; i < expected.size(); ++i) expected[i] += expected[i - 1];
    EXPECT_EQ(Ask(queries), expected) << described.name();
  }
}

TEST_P(WireAnswers, ParitiesOfAttributesWithTwoValuesAreSignedSums) {
  std::vector<uint32_t> binary;
  for (uint32_t attribute = 0; attribute < domain_->size(); ++attribute) {
    if (domain_->attributes()[attribute].size() == 2) binary.push_back(attribute);
  }
  ASSERT_GE(binary.size(), 2u);
  v1::QuerySet queries;
  std::vector<int64_t> expected;
  for (size_t first = 0; first < binary.size(); ++first) {
    for (size_t second = first; second < binary.size(); ++second) {
      v1::AttributeNames* set = queries.mutable_parities()->add_sets();
      std::vector<std::string> codes = {absl::StrCat("c", binary[first])};
      set->add_names(domain_->attributes()[binary[first]].name());
      if (second > first) {
        set->add_names(domain_->attributes()[binary[second]].name());
        codes.push_back(absl::StrCat("c", binary[second]));
      }
      expected.push_back(
          sqlite_->Value(absl::StrCat("SUM(1 - 2 * ((", absl::StrJoin(codes, " + "), ") % 2))")));
    }
  }
  EXPECT_EQ(Ask(queries), expected);
}

using WireAnswersCanary = WireAnswers;
INSTANTIATE_TEST_SUITE_P(Data, WireAnswersCanary, ::testing::Values("exam"));

TEST_P(WireAnswersCanary, AnEndThatIsReadAsExcludedIsCaught) {
  v1::QuerySet queries;
  v1::Condition* schools = queries.mutable_predicates()->add_predicates()->add_all_of();
  schools->set_attribute("school");
  schools->mutable_between()->mutable_from()->set_number_value(1);
  schools->mutable_between()->mutable_to()->set_number_value(10);
  const uint32_t school = domain_->IndexOf("school").value();
  const auto of_sqlite = [&](int first_beyond) {
    return std::vector<int64_t>{sqlite_->ValueOfTexts(absl::StrCat(
        "SUM(CAST(r", school, " AS INTEGER) >= 1 AND CAST(r", school, " AS INTEGER) < ", first_beyond, ")"))};
  };
  EXPECT_EQ(Ask(queries), of_sqlite(11));
  EXPECT_NE(Ask(queries), of_sqlite(10));
}

}  // namespace
}  // namespace curator::golden
