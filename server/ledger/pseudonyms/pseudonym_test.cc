#include "ledger/pseudonyms/pseudonym.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/principal.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kAnas[] = "~c051b9d8d04271096e6f96663ea55231";

// The bytes 0 to 31.
std::string Key() {
  std::string key;
  for (char byte = 0; byte < 32; ++byte) key.push_back(byte);
  return key;
}

// Calculated by another implementation: a change would make all histories nobody's.
TEST(Pseudonyms, OfAKeyAndANameNeverChange) {
  EXPECT_EQ(MakePseudonym(Key(), "ana"), kAnas);
}

TEST(Pseudonyms, DependOnTheKeyAndOnTheName) {
  EXPECT_NE(MakePseudonym(Key(), "anb"), kAnas);
  EXPECT_NE(MakePseudonym(Key().substr(0, 31) + "x", "ana"), kAnas);
}

TEST(Pseudonyms, HaveAShapeThatNoNameHas) {
  EXPECT_TRUE(IsPseudonym(kAnas));
  EXPECT_FALSE(CheckPrincipalName(kAnas).ok());
  const std::string pseudonym = kAnas;
  for (const std::string& other : {std::string(), std::string("ana"), pseudonym.substr(1), pseudonym + "0",
                                   pseudonym.substr(0, 32), "~" + std::string(32, 'A')}) {
    EXPECT_FALSE(IsPseudonym(other)) << other;
  }
}

TEST(Pseudonyms, WithinATextAreFoundAndReplaced) {
  const std::string text = "~ ~" + std::string(kAnas) + ": ~12, account dataset/x/analyst/" + kAnas;
  EXPECT_THAT(PseudonymsIn(text), ElementsAre(kAnas, kAnas));
  EXPECT_EQ(WithNames(text, [](const std::string&) { return "ana"; }),
            "~ ~ana: ~12, account dataset/x/analyst/ana");
  EXPECT_THAT(PseudonymsIn("nobody"), IsEmpty());
  EXPECT_EQ(WithNames("nobody", [](const std::string&) { return "ana"; }), "nobody");
}

TEST(Pseudonyms, ARowHasThePseudonymOfItsNameOrIsRefused) {
  EXPECT_TRUE(CheckPseudonymRow({.name = "ana", .pseudonym = kAnas, .key = Key()}).ok());
  EXPECT_TRUE(CheckPseudonymRow({.name = "bob", .pseudonym = "bob", .key = {}}).ok())
      << "of an earlier version";
  EXPECT_TRUE(absl::IsDataLoss(CheckPseudonymRow({.name = "bob", .pseudonym = kAnas, .key = Key()})));
  EXPECT_TRUE(absl::IsDataLoss(CheckPseudonymRow({.name = "bob", .pseudonym = "ana", .key = {}})));
}

}  // namespace
}  // namespace curator::ledger
