// demo-data: writes one of the demonstration's tables, an invented population (see demo_population.h) or
// invented pupils in schools (see demo_pupils.h).
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "demo_population.h"
#include "demo_pupils.h"

namespace {

constexpr int kMostPeople = 10'000'000;
constexpr int kMostSchools = 100'000;
constexpr std::string_view kUsage =
    "usage: demo-data --out FILE.csv [--people N | --schools N] [--seed N]\n"
    "  --people N   how many, 1 to 10000000 (default 30000)\n"
    "  --schools N  pupils in N schools instead, 1 to 100000\n"
    "  --seed N     another population of the same kind (default 1)\n";

struct Options {
  std::string out;
  int people = 30'000;
  std::optional<int> schools;
  uint64_t seed = 1;
};

template <typename Number>
std::optional<Number> ReadNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Options> ReadOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = argv[i + 1];
    if (name == "--out") {
      options.out = value;
    } else if (name == "--people") {
      options.people = ReadNumber<int>(value).value_or(0);
    } else if (name == "--schools") {
      options.schools = ReadNumber<int>(value).value_or(0);
    } else if (name == "--seed") {
      const std::optional<uint64_t> seed = ReadNumber<uint64_t>(value);
      if (!seed) return std::nullopt;
      options.seed = *seed;
    } else {
      return std::nullopt;
    }
  }
  const bool complete = argc % 2 == 1 && !options.out.empty();
  if (!complete || options.people < 1 || options.people > kMostPeople) return std::nullopt;
  if (options.schools && (*options.schools < 1 || *options.schools > kMostSchools)) return std::nullopt;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = ReadOptions(argc, argv);
  if (!options) {
    std::cerr << kUsage;
    return 2;
  }
  std::ofstream file(options->out, std::ios::binary | std::ios::trunc);
  if (options->schools) {
    curator::demo::WriteCsv(curator::demo::MakePupils(*options->schools, options->seed), file);
  } else {
    curator::demo::WriteCsv(curator::demo::MakePopulation(options->people, options->seed), file);
  }
  file.close();
  if (!file) {
    std::cerr << "demo-data: cannot write " << options->out << '\n';
    return 1;
  }
  return 0;
}
