// An invented population with believable dependencies, for demonstrations.
//
// Nobody in it exists. The same seed gives the same people on every machine: all draws are integer arithmetic
// on the output of std::mt19937_64, which the C++ standard fixes bit for bit (its distributions it does not
// fix).
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <vector>

namespace curator::demo {

enum class Sex { kFemale, kMale };
enum class Education { kNone, kSchool, kVocational, kBachelor, kMaster };
enum class MaritalStatus { kNeverMarried, kMarried, kSeparated, kWidowed };
enum class Occupation {
  kNotWorking,
  kManual,
  kService,
  kSales,
  kClerical,
  kTechnical,
  kProfessional,
  kUnknown
};

struct Person {
  int age = 0;  // 18 to 97
  Sex sex = Sex::kFemale;
  int region = 0;  // a code, 0 to 4
  Education education = Education::kNone;
  MaritalStatus marital_status = MaritalStatus::kNeverMarried;
  Occupation occupation = Occupation::kUnknown;
  int hours_per_week = 0;  // 0 to 79
  int household_size = 0;  // 1 to 5; 5 means five or more
  int income = 0;          // a year, 0 to 499,999
};

// `size` people, each drawn from the same law.
std::vector<Person> MakePopulation(int size, uint64_t seed);

// CSV with a header line. The columns are the attributes of deploy/demo-schema.json; an unknown occupation is
// an empty cell.
void WriteCsv(const std::vector<Person>& people, std::ostream& out);

}  // namespace curator::demo
