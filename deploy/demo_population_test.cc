#include "demo_population.h"

#include <openssl/sha.h>

#include <array>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace curator::demo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::Ge;
using ::testing::Le;

std::string Csv(int size, uint64_t seed) {
  std::ostringstream out;
  WriteCsv(MakePopulation(size, seed), out);
  return out.str();
}

std::string Sha256Hex(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) {
    std::array<char, 3> pair;
    std::snprintf(pair.data(), pair.size(), "%02x", byte);
    hex += pair.data();
  }
  return hex;
}

// Of the people who satisfy `among`, the share of those who satisfy `which`, in percent.
using Predicate = std::function<bool(const Person&)>;
int PercentOf(const Predicate& which, const Predicate& among) {
  static const std::vector<Person> kPeople = MakePopulation(30'000, 1);
  int all = 0;
  int hits = 0;
  for (const Person& person : kPeople) {
    if (!among(person)) continue;
    ++all;
    if (which(person)) ++hits;
  }
  return all == 0 ? 0 : 100 * hits / all;
}

TEST(DemoPopulation, GivesTheSameBytesOnEveryMachine) {
  EXPECT_EQ(Sha256Hex(Csv(30'000, 1)), "88d59a8675ade17a351747b31e11a5a49415c579995d2f81378be2226a70ddab");
}

TEST(DemoPopulation, AnotherSeedGivesOtherPeople) {
  EXPECT_NE(Csv(100, 1), Csv(100, 2));
}

TEST(DemoPopulation, StaysInsideTheBoundsOfTheSchema) {
  const std::vector<Person> people = MakePopulation(30'000, 7);
  EXPECT_EQ(people.size(), 30'000u);
  EXPECT_THAT(people, Each(AllOf(Field(&Person::age, AllOf(Ge(18), Le(97))),
                                 Field(&Person::region, AllOf(Ge(0), Le(4))),
                                 Field(&Person::hours_per_week, AllOf(Ge(0), Le(79))),
                                 Field(&Person::household_size, AllOf(Ge(1), Le(5))),
                                 Field(&Person::income, AllOf(Ge(0), Le(499'999))))));
}

TEST(DemoPopulation, OldPeopleAreWidowedMoreOftenThanYoungOnes) {
  const Predicate widowed = [](const Person& p) { return p.marital_status == MaritalStatus::kWidowed; };
  EXPECT_GT(PercentOf(widowed, [](const Person& p) { return p.age >= 78; }), 35);
  EXPECT_LT(PercentOf(widowed, [](const Person& p) { return p.age < 38; }), 3);
}

TEST(DemoPopulation, EducationLeadsToOccupationAndOccupationToIncome) {
  const Predicate professional = [](const Person& p) { return p.occupation == Occupation::kProfessional; };
  EXPECT_GT(PercentOf(professional, [](const Person& p) { return p.education == Education::kMaster; }), 35);
  EXPECT_LT(PercentOf(professional, [](const Person& p) { return p.education == Education::kSchool; }), 5);

  const Predicate well_paid = [](const Person& p) { return p.income >= 70'000; };
  EXPECT_GT(PercentOf(well_paid, professional), 50);
  EXPECT_LT(PercentOf(well_paid, [](const Person& p) { return p.occupation == Occupation::kService; }), 5);
}

TEST(DemoPopulation, WhoDoesNotWorkWorksNoHours) {
  const Predicate idle = [](const Person& p) { return p.hours_per_week == 0; };
  const Predicate not_working = [](const Person& p) { return p.occupation == Occupation::kNotWorking; };
  EXPECT_EQ(PercentOf(idle, not_working), 100);
  EXPECT_EQ(PercentOf(not_working, idle), 100);
}

TEST(DemoPopulation, NobodyIsMarriedAndAlone) {
  EXPECT_EQ(PercentOf([](const Person& p) { return p.household_size == 1; },
                      [](const Person& p) { return p.marital_status == MaritalStatus::kMarried; }),
            0);
}

}  // namespace
}  // namespace curator::demo
