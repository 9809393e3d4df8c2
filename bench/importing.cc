// How fast records come in: CSV as people have it, with text categories and numbers, to codes; then into a
// sealed table.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"
#include "dp/domain/domain.h"
#include "records/dataset_store.h"
#include "records/import.h"
#include "tests/testing/scratch_folder.h"

namespace curator::bench {
namespace {

constexpr int64_t kRows = 200'000;

std::string Category(size_t attribute, uint64_t code) {
  return "Category-" + std::to_string(attribute) + "-" + std::to_string(code);
}

// Nine categories, four integers, two numbers: about 180 bytes a row.
dp::Schema PeopleSchema(dp::PrivacyUnit unit) {
  std::vector<dp::Attribute> attributes;
  for (size_t i = 0; i < 9; ++i) {
    dp::CategoricalKind kind{.values = {}, .catch_all = "?"};
    for (uint64_t code = 0; code < 4 + 4 * i; ++code) kind.values.push_back(Category(i, code));
    attributes.push_back(dp::Attribute::Create("c" + std::to_string(i), kind).value());
  }
  for (size_t i = 9; i < 13; ++i) {
    attributes.push_back(dp::Attribute::Create("i" + std::to_string(i), dp::IntegerKind{0, 99, 5}).value());
  }
  for (size_t i = 13; i < 15; ++i) {
    attributes.push_back(
        dp::Attribute::Create("n" + std::to_string(i), dp::NumericKind{{0, 1e3, 1e4, 5e4, 1e5, 1e6}})
            .value());
  }
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), std::move(unit)).value();
}

const std::string& PeopleCsv() {
  static const std::string csv = [] {
    const dp::Schema schema = PeopleSchema(dp::RecordUnit{});
    std::mt19937_64 random(1);
    std::string text = "pid";
    for (const dp::Attribute& attribute : schema.domain.attributes()) text += "," + attribute.name();
    for (int64_t row = 0; row < kRows; ++row) {
      text += "\nperson-" + std::to_string(random() % (kRows / 2));
      for (const dp::Attribute& attribute : schema.domain.attributes()) {
        text += "," + attribute.ValueInside(static_cast<uint32_t>(random() % attribute.size()), random());
      }
    }
    return text;
  }();
  return csv;
}

void PushInMessages(records::RecordImport& import, std::string_view csv) {
  constexpr size_t kMessageBytes = size_t{1} << 16;
  for (; !csv.empty(); csv.remove_prefix(std::min(kMessageBytes, csv.size()))) {
    if (!import.Append(csv.substr(0, kMessageBytes)).ok()) std::abort();
  }
  if (!import.Finish().ok()) std::abort();
}

void Report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(PeopleCsv().size()));
}

void Check(benchmark::State& state) {
  const dp::Schema schema = PeopleSchema(dp::RecordUnit{});
  for (auto _ : state) PushInMessages(*records::CheckRecords(schema, {}), PeopleCsv());
  Report(state);
}

void ImportSealAndLoad(benchmark::State& state, const dp::PrivacyUnit& unit) {
  const dp::Schema schema = PeopleSchema(unit);
  const testing::ScratchFolder folder;
  const auto store = records::DatasetStore::Open(folder.path(), [](std::string_view bytes) {
                       return Sha256(bytes);
                     }).value();
  int count = 0;
  for (auto _ : state) {
    const std::string dataset = "d" + std::to_string(count++);
    PushInMessages(*store->BeginImport(dataset, schema, "r", {}).value(), PeopleCsv());
    const records::SealedContent sealed = store->Seal(dataset, schema, "olga").value();
    if (!store->Load({dataset, sealed.content_hash}).ok()) std::abort();
  }
  Report(state);
}

void OfRecords(benchmark::State& state) {
  ImportSealAndLoad(state, dp::RecordUnit{});
}
void OfPersons(benchmark::State& state) {
  ImportSealAndLoad(state, dp::PersonUnit{"pid", 2});
}

BENCHMARK(Check)->Unit(benchmark::kMillisecond);
BENCHMARK(OfRecords)->Unit(benchmark::kMillisecond);
BENCHMARK(OfPersons)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
