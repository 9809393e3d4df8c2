#include "tests/statistical/non_interference.h"

#include <random>
#include <utility>

#include "dp/kernel/testing/transcript.h"
#include "dp/synthesis/testing/nested_rows.h"
#include "tests/statistical/audit_mode.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using Rows = std::vector<std::vector<uint32_t>>;

struct NamedTable {
  std::string name;
  dp::SealedTableHandle table;
};

std::vector<NamedTable> TablesOver(const dp::Domain& domain, uint64_t seed) {
  std::mt19937_64 random(AuditSeed(seed));
  std::vector<uint32_t> last;
  for (const dp::Attribute& attribute : domain.attributes())
    last.push_back(static_cast<uint32_t>(attribute.size() - 1));
  Rows rows;
  for (int i = 0; i < 300; ++i) {
    std::vector<uint32_t> row;
    for (const uint32_t code : last) row.push_back(static_cast<uint32_t>(random() % (code + 1)));
    rows.push_back(std::move(row));
  }
  return {{"no record", dp::SealInGroups(domain, {})},
          {"one record", dp::SealInGroups(domain, {last})},
          {"equal records", dp::SealInGroups(domain, Rows(120, last))},
          {"random records", dp::SealInGroups(domain, rows)}};
}

std::string Shown(const absl::StatusOr<std::string>& made) {
  return made.ok() ? *made : made.status().ToString();
}

}  // namespace

std::string InterferenceOf(const Release& release, const Audited& audited, uint64_t seed) {
  const std::vector<NamedTable> tables = TablesOver(audited.domain, seed);
  for (const NamedTable& drawn_from : tables) {
    seeded::SeededBits bits(AuditSeed(seed));
    dp::Kernel door(drawn_from.table, audited.domain, audited.unit, dp::Meter(audited.schedule), bits);
    dp::Transcript transcript;
    dp::RecordingQueries kernel(door, transcript);
    const absl::StatusOr<std::string> made = release(kernel, *drawn_from.table);
    if (!made.ok()) return "cannot be made from " + drawn_from.name + ": " + Shown(made);
    for (const NamedTable& beside : tables) {
      dp::ReplayingQueries replay(transcript, audited.domain);
      const absl::StatusOr<std::string> again = release(replay, *beside.table);
      if (again.ok() && *again == *made) continue;
      return "made from " + drawn_from.name + " it is " + Shown(made) + "; from the same answers beside " +
             beside.name + " it is " + Shown(again);
    }
  }
  return "";
}

}  // namespace curator::statistics
