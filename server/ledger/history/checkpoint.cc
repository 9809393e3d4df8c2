#include "ledger/history/checkpoint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::ledger {
namespace {

constexpr char kCheckpointTag[] = "curator.ledger.checkpoint";
constexpr int64_t kCheckpointVersion = 5;

template <typename Items, typename WriteItem>
void WriteList(CanonicalWriter& writer, const Items& items, WriteItem write_item) {
  writer.Integer(static_cast<int64_t>(items.size()));
  for (const auto& item : items) write_item(item);
}

void WriteTexts(CanonicalWriter& writer, const std::set<std::string>& texts) {
  WriteList(writer, texts, [&](const std::string& text) { writer.Text(text); });
}

std::set<std::string> ReadTexts(CanonicalReader& reader) {
  std::set<std::string> texts;
  for (int64_t left = reader.Count(); left > 0; --left) texts.insert(reader.Text());
  return texts;
}

void WritePart(CanonicalWriter& writer, const RecountedPart& counted) {
  const Part& part = counted.part;
  writer.Integer(part.number);
  writer.Text(part.name);
  WriteList(writer, part.bins, [&](int64_t bin) { writer.Integer(bin); });
  writer.Integer(part.account_id);
  writer.Integer(part.sealed_version);
  writer.Text(counted.content_commitment);
  writer.Integer(NumberOf(part.facts));
}

RecountedPart ReadPart(CanonicalReader& reader) {
  RecountedPart counted;
  counted.part.number = reader.Integer();
  counted.part.name = reader.Text();
  for (int64_t left = reader.Count(); left > 0; --left) counted.part.bins.push_back(reader.Integer());
  counted.part.account_id = reader.Integer();
  counted.part.sealed_version = reader.Integer();
  counted.content_commitment = reader.Text();
  counted.part.facts = FactsOf(reader.Integer());
  return counted;
}

void WriteDataset(CanonicalWriter& writer, const RecountedDataset& dataset) {
  writer.Integer(dataset.head.seq);
  writer.Text(dataset.head.hash);
  writer.Text(EncodePayload(dataset.created));
  writer.Text(DatasetStateName(dataset.state));
  writer.Integer(dataset.version);
  writer.Text(dataset.content_commitment);
  WriteList(writer, dataset.parts, [&](const RecountedPart& part) { WritePart(writer, part); });
  WriteList(writer, dataset.grants, [&](const auto& grant) { writer.Text(EncodePayload(grant.second)); });
  WriteList(writer, dataset.shares, [&](const auto& share) {
    writer.Text(share.first);
    WriteTexts(writer, share.second);
  });
  writer.Text(dataset.refusal_rules);
  writer.Integer(NumberOf(dataset.facts));
  WriteTexts(writer, dataset.looks);
  writer.Integer(dataset.entries);
  writer.Integer(dataset.charges);
  writer.Integer(dataset.releases);
}

absl::StatusOr<RecountedDataset> ReadDataset(CanonicalReader& reader) {
  RecountedDataset dataset;
  dataset.head.seq = reader.Integer();
  dataset.head.hash = reader.Text();
  ASSIGN_OR_RETURN(dataset.created, ParseDatasetCreated(reader.Text()));
  ASSIGN_OR_RETURN(dataset.state, DatasetStateFromName(reader.Text()));
  dataset.version = reader.Integer();
  dataset.content_commitment = reader.Text();
  for (int64_t left = reader.Count(); left > 0; --left) dataset.parts.push_back(ReadPart(reader));
  for (int64_t left = reader.Count(); left > 0; --left) {
    ASSIGN_OR_RETURN(Grant grant, ParseGrant(reader.Text()));
    dataset.grants.emplace(grant.grantee, std::move(grant));
  }
  for (int64_t left = reader.Count(); left > 0; --left) {
    std::string release_id = reader.Text();
    dataset.shares.emplace(std::move(release_id), ReadTexts(reader));
  }
  dataset.refusal_rules = reader.Text();
  dataset.facts = FactsOf(reader.Integer());
  dataset.looks = ReadTexts(reader);
  dataset.entries = reader.Integer();
  dataset.charges = reader.Integer();
  dataset.releases = reader.Integer();
  return dataset;
}

void WriteCharge(CanonicalWriter& writer, const std::string& id, const RecountedCharge& charge) {
  writer.Text(id);
  writer.Text(charge.dataset_id);
  writer.Text(StateName(charge.state));
  writer.Text(charge.draw_identity);
  WritePostings(writer, charge.postings);
}

absl::Status ReadCharge(CanonicalReader& reader, RecountState& state) {
  std::string id = reader.Text();
  RecountedCharge charge;
  charge.dataset_id = reader.Text();
  ASSIGN_OR_RETURN(charge.state, ChargeStateFromName(reader.Text()));
  charge.draw_identity = reader.Text();
  charge.postings = ReadPostings(reader);
  state.open_charges.emplace(std::move(id), std::move(charge));
  return absl::OkStatus();
}

}  // namespace

std::string EncodeCheckpoint(const RecountState& state) {
  CanonicalWriter writer(kCheckpointTag, kCheckpointVersion);
  writer.Integer(state.entries);
  WriteList(writer, state.datasets, [&](const auto& dataset) {
    writer.Text(dataset.first);
    WriteDataset(writer, dataset.second);
  });
  WriteList(writer, state.accounts, [&](const auto& account) {
    writer.Text(account.second.dataset_id);
    writer.Text(EncodePayload(OpenedAccount{account.first, account.second.spec}));
  });
  WriteList(writer, state.counters, [&](const auto& counter) {
    writer.Integer(counter.first.first);
    writer.Text(counter.first.second);
    writer.Integer(counter.second.spent);
    writer.Integer(counter.second.held);
    writer.Integer(counter.second.limit);
  });
  std::vector<const std::pair<const std::string, RecountedCharge>*> charges;
  for (const auto& charge : state.open_charges) charges.push_back(&charge);
  std::ranges::sort(charges, {}, [](const auto* charge) -> const std::string& { return charge->first; });
  WriteList(writer, charges, [&](const auto* charge) { WriteCharge(writer, charge->first, charge->second); });
  return std::move(writer).Take();
}

absl::StatusOr<RecountState> ParseCheckpoint(std::string_view bytes) {
  CanonicalReader reader(bytes, kCheckpointTag, kCheckpointVersion);
  RecountState state;
  state.entries = reader.Integer();
  for (int64_t left = reader.Count(); left > 0; --left) {
    std::string id = reader.Text();
    ASSIGN_OR_RETURN(RecountedDataset dataset, ReadDataset(reader));
    state.datasets.emplace(std::move(id), std::move(dataset));
  }
  for (int64_t left = reader.Count(); left > 0; --left) {
    std::string dataset_id = reader.Text();
    ASSIGN_OR_RETURN(OpenedAccount opened, ParseOpenedAccount(reader.Text()));
    state.accounts.emplace(opened.id, RecountedAccount{std::move(dataset_id), std::move(opened.spec)});
  }
  for (int64_t left = reader.Count(); left > 0; --left) {
    const int64_t account_id = reader.Integer();
    std::string counter = reader.Text();
    RecountedCounter& counted = state.counters[{account_id, std::move(counter)}];
    counted.spent = reader.Integer();
    counted.held = reader.Integer();
    counted.limit = reader.Integer();
  }
  for (int64_t left = reader.Count(); left > 0; --left) RETURN_IF_ERROR(ReadCharge(reader, state));
  RETURN_IF_ERROR(reader.Finish());
  return state;
}

}  // namespace curator::ledger
