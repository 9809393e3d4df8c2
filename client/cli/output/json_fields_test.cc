#include "client/cli/output/json_fields.h"

#include <gtest/gtest.h>

#include "curator/v1/schema.pb.h"
#include "curator/v1/synthesis.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {
namespace {

template <typename Message>
std::string UnknownOf(const char* json) {
  return UnknownField(nlohmann::ordered_json::parse(json), *Message::descriptor());
}

TEST(UnknownField, NamesThePlaceAndTheFieldsThatThereAre) {
  EXPECT_EQ(UnknownOf<v1::Workload>(R"({"querySets": [{"ranges": {}}, {"predicats": {}}]})"),
            "querySets[1] has no field \"predicats\"; there are: marginals, ranges, prefixes, thresholds, "
            "parities, predicates, statistics, strategy, weight; did you mean predicates?");
  EXPECT_EQ(UnknownOf<v1::Workload>(R"({"sets": []})"), "it has no field \"sets\"; there are: querySets");
  EXPECT_EQ(UnknownOf<v1::Schema>(R"({"attributes": [{"integer": {"width": 1}}]})"),
            "attributes[0].integer has no field \"width\"; there are: min, max, binWidth");
}

TEST(UnknownField, KnowsBothFormsOfAName) {
  EXPECT_EQ(UnknownOf<v1::Workload>(R"({"query_sets": [{"thresholds": {"atLeast": [1]}}]})"), "");
  EXPECT_EQ(UnknownOf<v1::Workload>(R"({"querySets": [{"thresholds": {"at_least": [1]}}]})"), "");
}

TEST(UnknownField, LeavesMapsAndProtobufsOwnTypesAlone) {
  EXPECT_EQ(UnknownOf<v1::SynthesisSpec>(R"({"settings": {"rounds": "3"}})"), "");
  EXPECT_EQ(UnknownOf<v1::Workload>(
                R"({"querySets": [{"predicates": {"predicates": [{"allOf": [{"in": [{"any": 1}]}]}]}}]})"),
            "");
}

TEST(UnknownField, PassesOverWhatIsNoObject) {
  EXPECT_EQ(UnknownOf<v1::Workload>(R"([1, 2])"), "");
  EXPECT_EQ(UnknownOf<v1::Workload>(R"({"querySets": 3})"), "");
}

}  // namespace
}  // namespace curator::cli
