#include "demo_population.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include "demo_draws.h"

namespace curator::demo {
namespace {

template <typename Row, size_t n>
const Row& At(const std::array<Row, n>& rows, int index) {
  return rows[static_cast<size_t>(index)];
}

template <typename Row, size_t n, typename Enum>
const Row& At(const std::array<Row, n>& rows, Enum index) {
  return rows[static_cast<size_t>(index)];
}

int DrawAge(Draws& draws) {
  static constexpr std::array<int, 8> kByDecade = {165, 175, 170, 165, 140, 105, 60, 20};
  const int decade = draws.Weighted(kByDecade);
  return 18 + 10 * decade + draws.Below(10);
}

// Region 1 is the city, region 4 the countryside.
int DrawRegion(Draws& draws) {
  static constexpr std::array<int, 5> kShare = {22, 34, 18, 16, 10};
  return draws.Weighted(kShare);
}

// Women live longer.
Sex DrawSex(Draws& draws, int age) {
  return draws.Happens(age < 68 ? 495 : 420) ? Sex::kMale : Sex::kFemale;
}

MaritalStatus DrawMaritalStatus(Draws& draws, int age) {
  static constexpr std::array<std::array<int, 4>, 8> kByDecade = {{
      {900, 95, 5, 0},     // 18-27
      {450, 490, 58, 2},   // 28-37
      {200, 655, 138, 7},  // 38-47
      {120, 670, 188, 22},
      {80, 672, 178, 70},
      {60, 610, 130, 200},
      {55, 435, 80, 430},
      {60, 220, 40, 680},  // 88-97
  }};
  return static_cast<MaritalStatus>(draws.Weighted(At(kByDecade, (age - 18) / 10)));
}

// The younger learned longer, the city attracts the learned, and at 18 to 21 nobody has a degree yet.
Education DrawEducation(Draws& draws, int age, int region) {
  static constexpr std::array<std::array<int, 5>, 4> kByGeneration = {{
      {50, 340, 230, 250, 130},  // below 38
      {70, 360, 260, 200, 110},  // below 58
      {140, 420, 250, 120, 70},  // below 78
      {330, 440, 150, 50, 30},
  }};
  std::array<int, 5> weights = At(kByGeneration, std::min(3, (age - 18) / 20));
  if (region == 1) weights[3] = weights[3] * 3 / 2, weights[4] *= 2;
  if (region == 4) weights[3] /= 2, weights[4] /= 2;
  if (age < 22) weights[3] = weights[4] = 0;
  return static_cast<Education>(draws.Weighted(weights));
}

Occupation DrawOccupation(Draws& draws, const Person& person) {
  static constexpr std::array<std::array<int, 6>, 5> kByEducation = {{
      // manual, service, sales, clerical, technical, professional
      {520, 330, 110, 30, 8, 2},
      {330, 250, 190, 170, 50, 10},
      {270, 160, 120, 170, 250, 30},
      {30, 70, 170, 220, 190, 320},
      {10, 20, 60, 80, 160, 670},
  }};
  const int not_working = person.age >= 68 ? 930 : person.age >= 58 ? 350 : person.age < 22 ? 480 : 120;
  if (draws.Happens(not_working)) return Occupation::kNotWorking;
  if (draws.Happens(20)) return Occupation::kUnknown;
  std::array<int, 6> weights = At(kByEducation, person.education);
  if (person.sex == Sex::kFemale) weights[0] /= 3, weights[3] *= 2;
  return static_cast<Occupation>(static_cast<int>(Occupation::kManual) + draws.Weighted(weights));
}

int DrawHours(Draws& draws, const Person& person) {
  if (person.occupation == Occupation::kNotWorking) return 0;
  const int part_time = person.sex == Sex::kFemale ? 320 : 110;
  if (draws.Happens(person.age >= 62 ? part_time + 250 : part_time)) return draws.Between(8, 32);
  if (person.occupation == Occupation::kProfessional && draws.Happens(350)) return draws.Between(45, 70);
  return draws.Between(35, 48);
}

int DrawHouseholdSize(Draws& draws, const Person& person) {
  static constexpr std::array<int, 5> kSingle = {560, 240, 120, 55, 25};
  static constexpr std::array<int, 5> kYoungCouple = {0, 270, 280, 310, 140};
  static constexpr std::array<int, 5> kOldCouple = {0, 780, 150, 50, 20};
  if (person.marital_status != MaritalStatus::kMarried) return 1 + draws.Weighted(kSingle);
  return 1 + draws.Weighted(person.age < 58 ? kYoungCouple : kOldCouple);
}

// Hours times a wage that depends on occupation, education and age, or a pension; then some luck.
int DrawIncome(Draws& draws, const Person& person) {
  static constexpr std::array<int, 8> kWageCents = {0, 1500, 1300, 1650, 1800, 2500, 3300, 1700};
  static constexpr std::array<int, 5> kEducationPercent = {85, 95, 105, 125, 150};
  int64_t yearly = 0;
  if (person.occupation == Occupation::kNotWorking) {
    yearly = person.age >= 58 ? draws.Between(9000, 30000) * At(kEducationPercent, person.education) / 100
                              : draws.Between(0, 12000);
  } else {
    const int experience_percent = 70 + std::min(person.age - 18, 35);
    yearly = int64_t{50} * person.hours_per_week * At(kWageCents, person.occupation) *
             At(kEducationPercent, person.education) / 100 * experience_percent / 100 / 100;
  }
  const int luck_percent = 60 + draws.Below(81);
  return static_cast<int>(std::min<int64_t>(yearly * luck_percent / 100, 499'999));
}

Person DrawPerson(Draws& draws) {
  Person person;
  person.age = DrawAge(draws);
  person.sex = DrawSex(draws, person.age);
  person.region = DrawRegion(draws);
  person.education = DrawEducation(draws, person.age, person.region);
  person.marital_status = DrawMaritalStatus(draws, person.age);
  person.occupation = DrawOccupation(draws, person);
  person.hours_per_week = DrawHours(draws, person);
  person.household_size = DrawHouseholdSize(draws, person);
  person.income = DrawIncome(draws, person);
  return person;
}

constexpr std::array<std::string_view, 2> kSexNames = {"female", "male"};
constexpr std::array<std::string_view, 5> kEducationNames = {"none", "school", "vocational", "bachelor",
                                                             "master"};
constexpr std::array<std::string_view, 4> kMaritalStatusNames = {"never-married", "married", "separated",
                                                                 "widowed"};
constexpr std::array<std::string_view, 8> kOccupationNames = {
    "not-working", "manual", "service", "sales", "clerical", "technical", "professional", ""};

}  // namespace

std::vector<Person> MakePopulation(int size, uint64_t seed) {
  Draws draws(seed);
  std::vector<Person> people;
  people.reserve(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) people.push_back(DrawPerson(draws));
  return people;
}

void WriteCsv(const std::vector<Person>& people, std::ostream& out) {
  out << "age,sex,region,education,marital_status,occupation,hours_per_week,household_size,income\n";
  for (const Person& person : people) {
    out << person.age << ',' << At(kSexNames, person.sex) << ',' << person.region << ','
        << At(kEducationNames, person.education) << ',' << At(kMaritalStatusNames, person.marital_status)
        << ',' << At(kOccupationNames, person.occupation) << ',' << person.hours_per_week << ','
        << person.household_size << ',' << person.income << '\n';
  }
}

}  // namespace curator::demo
