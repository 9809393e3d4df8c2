// Files that commands read and write.
//
// Not thread-safe: one command runs at a time.
#pragma once

#include <google/protobuf/message.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/event.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::cli {

// An open input file. Gzip is recognised by its first byte.
struct InputFile {
  std::ifstream stream;
  Client::Compression compression = Client::Compression::kNone;
};

// NOT_FOUND, PERMISSION_DENIED or FAILED_PRECONDITION (a directory), each with the path.
absl::StatusOr<InputFile> OpenInput(const std::string& path);

// The whole file. INVALID_ARGUMENT when it is empty.
absl::StatusOr<std::string> ReadWhole(const std::string& path);

// INVALID_ARGUMENT names the file, `path`, and line and column of a syntax error.
absl::StatusOr<nlohmann::ordered_json> ParseJson(const std::string& json, const std::string& path);
// Reads a message in proto3's JSON form. INVALID_ARGUMENT as above, or with the path of an unknown field;
// `what` names the message, "a schema".
absl::Status ParseMessage(const std::string& json, const std::string& path, const char* what,
                          google::protobuf::Message& message);

// Reads an event, a workload or a proposal in proto3's JSON form, with the errors of ParseMessage().
absl::StatusOr<v1::Event> ReadEvent(const std::string& path);
absl::StatusOr<v1::Workload> ReadWorkload(const std::string& path);
absl::StatusOr<v1::RepairProposal> ReadRepairProposal(const std::string& path);

// An output file that appears complete or not at all: it is written under a temporary name in the same
// folder, and renamed by Commit(). "-" is standard output; devices and pipes are written directly.
class OutputFile {
 public:
  // `standard_output` must outlive the file.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path,
                                                            std::ostream& standard_output);
  // Removes the temporary file unless it was committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return *stream_; }

  // An error if writing has failed so far, for example because the disk is full.
  absl::Status Check() const;
  absl::Status Commit();

 private:
  OutputFile(std::string path, std::string temporary);

  const std::string path_;
  std::string temporary_;  // empty when written directly
  std::ofstream file_;
  std::ostream* stream_ = &file_;
};

// An option that names an output file.
struct OutputOption {
  const char* name;  // "--out"
  const char* what;  // what the file holds, in the plural: "answers"
  // That a file's name may have, in small letters: ".csv". A name without an extension is accepted, too.
  // Empty accepts all names.
  std::vector<std::string> extensions = {};
};

// The extension of a file's name in small letters, ".csv"; empty where it has none.
std::string ExtensionOf(const std::string& path);

// INVALID_ARGUMENT, which names the option and what would be right, for a name with another extension.
absl::Status CheckExtension(const OutputOption& option, const std::string& path);

// The file of an option. Errors: those of CheckExtension(), and of OutputFile::Create() with the option's
// name.
absl::StatusOr<std::unique_ptr<OutputFile>> CreateOutput(const OutputOption& option, const std::string& path,
                                                         std::ostream& standard_output);

}  // namespace curator::cli
