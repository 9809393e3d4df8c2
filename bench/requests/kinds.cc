#include "bench/requests/kinds.h"

#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/request_id.h"

namespace curator::bench {
namespace {

constexpr std::array<const char*, kAllKinds.size()> kNames = {"answer", "wide",    "replay",
                                                              "free",   "reserve", "cycle"};
constexpr int kFlags = 12;
constexpr int kWideMarginals = 64;

// Each of the others makes at most 50,000 charges a day: together more than three million.
constexpr int kPrincipals = 64;
// A replaying one is answered 20 times a second: together 20,000 times.
constexpr int kReplayingPrincipals = 1000;

std::string Flag(int number) {
  return absl::StrCat("flag", number);
}

std::string NewId() {
  return Must(client::NewRequestId());
}

v1::Workload TwoCells() {
  v1::Workload workload;
  workload.add_query_sets()->mutable_marginals()->add_sets()->add_names(Flag(0));
  return workload;
}

v1::Workload ManyMarginals() {
  v1::Workload workload;
  v1::Marginals& marginals = *workload.add_query_sets()->mutable_marginals();
  for (int first = 0; first < kFlags; ++first) {
    for (int second = first + 1; second < kFlags && marginals.sets_size() < kWideMarginals; ++second) {
      v1::AttributeNames& pair = *marginals.add_sets();
      pair.add_names(Flag(first));
      pair.add_names(Flag(second));
    }
  }
  return workload;
}

v1::ReserveBudgetRequest Reservation() {
  v1::ReserveBudgetRequest request;
  request.set_request_id(NewId());
  request.set_dataset(kDataset);
  request.mutable_event()->mutable_pure()->set_epsilon("0.01");
  request.set_summary("a mechanism of our own");
  // So that none expires while anything is measured.
  request.mutable_lifetime()->set_seconds(30 * 24 * 3600);
  return request;
}

std::string Csv(int rows) {
  std::string csv;
  for (int flag = 0; flag < kFlags; ++flag) absl::StrAppend(&csv, flag == 0 ? "" : ",", Flag(flag));
  for (int row = 0; row < rows; ++row) {
    for (int flag = 0; flag < kFlags; ++flag) absl::StrAppend(&csv, flag == 0 ? "\n" : ",", row >> flag & 1);
  }
  return csv + "\n";
}

// `work` for 0 to `count` - 1, by a few threads.
void InParallel(int count, const std::function<void(int)>& work) {
  constexpr int kThreads = 16;
  std::atomic<int> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int each = next++; each < count; each = next++) work(each);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

std::string NameOf(Kind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<Kind> KindNamed(std::string_view name) {
  for (const Kind kind : kAllKinds) {
    if (NameOf(kind) == name) return kind;
  }
  return std::nullopt;
}

void MakeDataset(const Client& owner) {
  v1::CreateDatasetRequest create;
  create.set_name(kDataset);
  for (int flag = 0; flag < kFlags; ++flag) {
    v1::Attribute& attribute = *create.mutable_schema()->add_attributes();
    attribute.set_name(Flag(flag));
    attribute.mutable_coded()->set_size(2);
  }
  create.mutable_limit()->set_rule(v1::RULE_PURE);
  create.mutable_limit()->set_epsilon("9000000");
  Must(owner.CreateDataset(create).status());
  v1::ImportRecordsRequest::Header header;
  header.set_dataset(kDataset);
  std::istringstream csv(Csv(4096));
  Must(owner.ImportRecords(header, csv).status());
  v1::SealDatasetRequest seal;
  seal.set_dataset(kDataset);
  Must(owner.SealDataset(seal).status());
}

std::string PrincipalOf(Kind kind, int number) {
  return absl::StrCat(NameOf(kind), "-", number);
}

std::optional<Kind> KindOfPrincipal(std::string_view principal) {
  return KindNamed(principal.substr(0, principal.find('-')));
}

Traffic::Traffic(Kind kind, const Client& owner, const Connections& server) : kind_(kind) {
  const int count = kind == Kind::kReplay ? kReplayingPrincipals : kPrincipals;
  for (int i = 0; i < count; ++i) principals_.push_back(PrincipalOf(kind, i));
  if (kind == Kind::kReplay || kind == Kind::kFree) {
    for (int i = 0; i < count; ++i) stored_.push_back(Question(static_cast<size_t>(i)));
  }
  InParallel(count, [&](int i) {
    const std::string& principal = principals_[static_cast<size_t>(i)];
    v1::GrantAccessRequest grant;
    grant.set_dataset(kDataset);
    grant.set_principal(principal);
    grant.add_roles(v1::ANALYST);
    grant.add_roles(v1::SERVICE);
    Must(owner.GrantAccess(grant).status());
    std::atomic<int64_t> refusals = 0;
    if (!stored_.empty())
      Caller(server.OfClient(i), principal, refusals).Answer(stored_[static_cast<size_t>(i)]);
  });
}

v1::AnswerWorkloadRequest Traffic::Question(size_t principal) const {
  if (kind_ == Kind::kReplay && principal < stored_.size()) return stored_[principal];
  static const v1::Workload two_cells = TwoCells();
  static const v1::Workload many = ManyMarginals();
  v1::AnswerWorkloadRequest request;
  request.set_request_id(NewId());
  request.set_dataset(kDataset);
  *request.mutable_workload() = kind_ == Kind::kWide ? many : two_cells;
  // Once there are the releases that the free ones are answered from.
  request.set_prefer_free(kind_ == Kind::kFree && principal < stored_.size());
  if (!request.prefer_free()) request.mutable_spend()->set_epsilon(kind_ == Kind::kWide ? "0.64" : "0.01");
  return request;
}

void Traffic::Send(const Connections& to, int client, int64_t turn, std::atomic<int64_t>& refusals) const {
  const size_t principal = static_cast<size_t>(turn) % principals_.size();
  Caller caller(to.OfClient(client), principals_[principal], refusals);
  switch (kind_) {
    case Kind::kAnswer:
    case Kind::kWide:
    case Kind::kReplay:
    case Kind::kFree:
      caller.Answer(Question(principal));
      return;
    case Kind::kReserve:
      caller.Reserve(Reservation());
      return;
    case Kind::kCycle:
      const std::string id = caller.Reserve(Reservation()).id();
      caller.Start(id);
      caller.Commit(id);
      return;
  }
}

Messages Traffic::RecordAnswer(Caller& caller) const {
  std::vector<v1::AnswerChunk> chunks;
  caller.Answer(Question(0), &chunks);
  const bool has_header = !chunks.empty() && chunks[0].has_header();
  const v1::AnswerHeader header = has_header ? chunks[0].header() : v1::AnswerHeader();
  const int marginals = kind_ == Kind::kWide ? kWideMarginals : 1;
  if (header.marginal_count() != marginals || header.replayed() != (kind_ == Kind::kReplay) ||
      (header.free_from_size() > 0) != (kind_ == Kind::kFree)) {
    Must(absl::InternalError(
        absl::StrCat("no answer of the kind ", NameOf(kind_), ": ", header.DebugString())));
  }
  Messages messages;
  for (const v1::AnswerChunk& chunk : chunks) messages.push_back(chunk.SerializeAsString());
  return messages;
}

Messages Traffic::Record(const Connections& server) const {
  std::atomic<int64_t> refusals = 0;
  Caller caller(server.OfClient(0), principals_[0], refusals);
  if (kind_ != Kind::kReserve && kind_ != Kind::kCycle) return RecordAnswer(caller);
  const v1::Charge reserved = caller.Reserve(Reservation());
  if (kind_ == Kind::kReserve) return {reserved.SerializeAsString()};
  return {reserved.SerializeAsString(), caller.Start(reserved.id()).SerializeAsString(),
          caller.Commit(reserved.id()).SerializeAsString()};
}

}  // namespace curator::bench
