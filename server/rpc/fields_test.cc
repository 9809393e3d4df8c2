// docs/PRIVACY-fields.md against the protocol: every call, every field of every response and every field of
// an error has one row, and nothing else has.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "curator/v1/accountant.grpc.pb.h"
#include "curator/v1/audit.grpc.pb.h"
#include "curator/v1/budget.grpc.pb.h"
#include "curator/v1/dataset.grpc.pb.h"
#include "curator/v1/identity.grpc.pb.h"
#include "curator/v1/metrics.grpc.pb.h"
#include "curator/v1/operation.grpc.pb.h"
#include "curator/v1/owner.grpc.pb.h"
#include "curator/v1/query.grpc.pb.h"
#include "curator/v1/synthesis.grpc.pb.h"
#include "curator/v1/version.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpc/health/v1/health.pb.h"

namespace curator::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;

const std::filesystem::path& SourceFolder() {
  static const std::filesystem::path root(CURATOR_SOURCE_DIR);
  return root;
}

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// ---- The protocol

struct Field {
  bool is_message = false;     // whose own fields have rows
  std::set<std::string> from;  // the calls whose responses may hold it; none for a field of an error
};

struct Protocol {
  std::map<std::string, std::string> calls;  // "DatasetService.GetDataset" -> "Dataset"
  std::map<std::string, Field> fields;       // "Dataset.name"
};

// "Operation", "EvaluateResponse.Group"
std::string NameOf(const Descriptor& message) {
  return message.full_name().substr(message.file()->package().size() + 1);
}

bool HasRowsOfItsOwn(const FieldDescriptor& field) {
  return field.message_type() != nullptr && !field.is_map() &&
         field.message_type()->file()->package() != "google.protobuf";
}

void AddFields(const Descriptor& message, const std::string& call, Protocol& protocol) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    Field& known = protocol.fields[absl::StrCat(NameOf(message), ".", field.name())];
    known.is_message = HasRowsOfItsOwn(field);
    const bool is_new = call.empty() || known.from.insert(call).second;
    if (known.is_message && is_new) AddFields(*field.message_type(), call, protocol);
  }
}

void AddCalls(const FileDescriptor& file, Protocol& protocol) {
  for (int s = 0; s < file.service_count(); ++s) {
    for (int m = 0; m < file.service(s)->method_count(); ++m) {
      const MethodDescriptor& method = *file.service(s)->method(m);
      const std::string call = absl::StrCat(file.service(s)->name(), ".", method.name());
      protocol.calls[call] = NameOf(*method.output_type());
      AddFields(*method.output_type(), call, protocol);
    }
  }
}

// All that the server speaks: the files of proto/curator/v1, health, and the details of errors.
Protocol WholeProtocol() {
  Protocol protocol;
  for (const auto& entry : std::filesystem::directory_iterator(SourceFolder() / "proto/curator/v1")) {
    const std::string name = absl::StrCat("curator/v1/", entry.path().filename().string());
    const FileDescriptor* file = DescriptorPool::generated_pool()->FindFileByName(name);
    EXPECT_NE(file, nullptr) << name << " has to be included by this test";
    if (file != nullptr) AddCalls(*file, protocol);
  }
  AddCalls(*grpc::health::v1::HealthCheckResponse::descriptor()->file(), protocol);
  for (const FileDescriptor* file :
       {google::rpc::Status::descriptor()->file(), google::rpc::BadRequest::descriptor()->file()}) {
    for (int i = 0; i < file->message_type_count(); ++i) AddFields(*file->message_type(i), "", protocol);
  }
  return protocol;
}

// ---- The page

struct Row {
  std::string who;
  std::string what;  // of a call, what it returns; of a field, where it comes from
};

struct Page {
  std::set<std::string> who;  // the words of its two lists
  std::set<std::string> from;
  std::map<std::string, Row> rows;  // of calls and fields
  std::vector<std::string> repeated;
};

Page ParsePage(const std::string& text) {
  static const std::regex kRow(R"(^\| `([\w.]+)` \| ([\w ]+) \| `?([\w.]+)`? \|$)");
  static const std::regex kWord(R"(^\| ([\w ]+) \| .* \|$)");
  Page page;
  std::set<std::string>* words = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line == "| who | means |") words = &page.who;
    if (line == "| from | means |") words = &page.from;
    if (line.empty()) words = nullptr;
    if (std::regex_match(line, match, kRow)) {
      if (!page.rows.emplace(match[1], Row{match[2], match[3]}).second) page.repeated.push_back(match[1]);
    } else if (words != nullptr && std::regex_match(line, match, kWord) && match[1] != "who" &&
               match[1] != "from") {
      words->insert(match[1]);
    }
  }
  return page;
}

// ---- Their comparison

void CompareCalls(const Protocol& protocol, const Page& page, std::vector<std::string>& findings) {
  for (const auto& [call, returned] : protocol.calls) {
    const auto row = page.rows.find(call);
    if (row == page.rows.end()) {
      findings.push_back(absl::StrCat("under \"Calls\", add: | `", call, "` | WHO | `", returned, "` |"));
    } else if (row->second.what != returned) {
      findings.push_back(absl::StrCat(call, " returns ", returned, ", not ", row->second.what));
    }
  }
}

// What is computed from records without noise is for the owner: the row says so, and so do those of the
// calls.
void CheckPrivate(const std::string& name, const Field& field, const Page& page,
                  std::vector<std::string>& findings) {
  if (page.rows.at(name).who != "owner")
    findings.push_back(absl::StrCat(name, " is private: the owner's only"));
  for (const std::string& call : field.from) {
    const auto row = page.rows.find(call);
    if (row != page.rows.end() && row->second.who != "owner")
      findings.push_back(absl::StrCat(call, " returns ", name, ", which is private, to a ", row->second.who));
  }
}

void CompareFields(const Protocol& protocol, const Page& page, std::vector<std::string>& findings) {
  for (const auto& [name, field] : protocol.fields) {
    const auto row = page.rows.find(name);
    if (row == page.rows.end()) {
      findings.push_back(absl::StrCat(
          "under \"Fields", field.from.empty() ? " of errors" : "", "\", add: | `", name, "` | WHO | ",
          field.is_message ? "message" : "FROM", " |, with WHO and FROM of the two lists above it"));
      continue;
    }
    if (!page.from.contains(row->second.what))
      findings.push_back(absl::StrCat(name, ": \"", row->second.what, "\" is not a source"));
    if ((row->second.what == "message") != field.is_message)
      findings.push_back(absl::StrCat(name, field.is_message ? " is a message" : " is not a message"));
    if (row->second.what == "records") CheckPrivate(name, field, page, findings);
  }
}

std::vector<std::string> FieldFindings(const Protocol& protocol, const Page& page) {
  std::vector<std::string> findings;
  CompareCalls(protocol, page, findings);
  CompareFields(protocol, page, findings);
  for (const auto& [name, row] : page.rows) {
    if (!protocol.calls.contains(name) && !protocol.fields.contains(name))
      findings.push_back(
          absl::StrCat("remove the row of ", name, ": the protocol has no such call or field"));
    if (!page.who.contains(row.who))
      findings.push_back(absl::StrCat(name, ": \"", row.who, "\" is not in the list of who"));
  }
  for (const std::string& name : page.repeated) findings.push_back(absl::StrCat(name, " has two rows"));
  return findings;
}

std::string PageText() {
  return TextOf(SourceFolder() / "docs/PRIVACY-fields.md");
}

std::string WithRow(const std::string& old_row, const std::string& new_row) {
  std::string text = PageText();
  const size_t at = text.find(old_row);
  EXPECT_NE(at, std::string::npos) << old_row;
  return text.replace(at, old_row.size(), new_row);
}

std::vector<std::string> FindingsWith(const std::string& old_row, const std::string& new_row) {
  return FieldFindings(WholeProtocol(), ParsePage(WithRow(old_row, new_row)));
}

TEST(PrivacyFields, ThePageListsEveryCallAndEveryFieldOfEveryResponse) {
  const Protocol protocol = WholeProtocol();
  EXPECT_GT(protocol.calls.size(), 40U);
  EXPECT_THAT(FieldFindings(protocol, ParsePage(PageText())), testing::IsEmpty());
}

TEST(PrivacyFieldsCanary, AFieldWithoutARowIsFoundWithTheRowThatIsMissing) {
  EXPECT_THAT(FindingsWith("| `Dataset.owner` | grantee | public |\n", ""),
              testing::ElementsAre(testing::HasSubstr("add: | `Dataset.owner` | WHO | FROM |")));
  EXPECT_THAT(FindingsWith("| `DatasetService.GetDataset` | grantee | `Dataset` |\n", ""),
              testing::ElementsAre(testing::HasSubstr("add: | `DatasetService.GetDataset` | WHO |")));
}

TEST(PrivacyFieldsCanary, ARowWithoutAFieldIsFound) {
  EXPECT_THAT(
      FindingsWith("| `Dataset.owner` | grantee | public |\n",
                   "| `Dataset.owner` | grantee | public |\n| `Dataset.records` | owner | records |\n"),
      testing::ElementsAre(testing::HasSubstr("remove the row of Dataset.records")));
}

TEST(PrivacyFieldsCanary, APrivateFieldThatAGranteeMaySeeIsFound) {
  EXPECT_THAT(
      FindingsWith("| `Dataset.owner` | grantee | public |\n", "| `Dataset.owner` | owner | records |\n"),
      testing::Contains(testing::HasSubstr("GetDataset returns Dataset.owner, which is private")));
  EXPECT_THAT(FindingsWith("| `RowCountsResponse.records` | owner | records |",
                           "| `RowCountsResponse.records` | grantee | records |"),
              testing::ElementsAre(testing::HasSubstr("the owner's only")));
}

}  // namespace
}  // namespace curator::rpc
