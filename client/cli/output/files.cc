#include "client/cli/output/files.h"

#include <google/protobuf/util/json_util.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "client/cli/output/json_fields.h"

namespace curator::cli {
namespace {

absl::Status FileError(int error, const std::string& path) {
  return absl::ErrnoToStatus(error, path);
}

bool IsDirectory(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// Whether a file of this name may be replaced by a rename: it is a plain file or does not exist.
bool IsReplaceable(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

template <typename Message>
absl::StatusOr<Message> ReadMessage(const std::string& path, const char* what) {
  ASSIGN_OR_RETURN(const std::string json, ReadWhole(path));
  Message message;
  RETURN_IF_ERROR(ParseMessage(json, path, what, message));
  return message;
}

}  // namespace

absl::StatusOr<InputFile> OpenInput(const std::string& path) {
  if (IsDirectory(path)) return absl::FailedPreconditionError(absl::StrCat(path, " is a directory"));
  InputFile file;
  file.stream.open(path, std::ios::binary);
  if (!file.stream) return FileError(errno, path);
  constexpr int kFirstByteOfGzip = 0x1f;
  if (file.stream.peek() == kFirstByteOfGzip) file.compression = Client::Compression::kGzip;
  file.stream.clear();
  return file;
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  ASSIGN_OR_RETURN(InputFile file, OpenInput(path));
  std::ostringstream text;
  text << file.stream.rdbuf();
  if (text.str().empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": the file is empty"));
  return text.str();
}

absl::StatusOr<nlohmann::ordered_json> ParseJson(const std::string& json, const std::string& path) {
  try {
    return nlohmann::ordered_json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    std::string what = error.what();
    const size_t start = what.find("] ");
    if (start != std::string::npos) what.erase(0, start + 2);
    return absl::InvalidArgumentError(absl::StrCat(path, ": this is not JSON: ", what));
  }
}

absl::Status ParseMessage(const std::string& json, const std::string& path, const char* what,
                          google::protobuf::Message& message) {
  ASSIGN_OR_RETURN(const nlohmann::ordered_json tree, ParseJson(json, path));
  if (const std::string unknown = UnknownField(tree, *message.GetDescriptor()); !unknown.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": this is not ", what, ": ", unknown));
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &message);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": this is not ", what, ": ",
      absl::StrReplaceAll(parsed.message().ToString(), {{"for type TYPE_INT64", "for a whole number"},
                                                        {"for type TYPE_INT32", "for a whole number"},
                                                        {"for type TYPE_DOUBLE", "for a number"},
                                                        {"for type TYPE_BOOL", "for true or false"}})));
}

absl::StatusOr<v1::Event> ReadEvent(const std::string& path) {
  return ReadMessage<v1::Event>(path, "an event");
}

absl::StatusOr<v1::Workload> ReadWorkload(const std::string& path) {
  return ReadMessage<v1::Workload>(path, "a workload");
}

absl::StatusOr<v1::RepairProposal> ReadRepairProposal(const std::string& path) {
  return ReadMessage<v1::RepairProposal>(path, "a proposal of a repair");
}

OutputFile::OutputFile(std::string path, std::string temporary)
    : path_(std::move(path)), temporary_(std::move(temporary)) {}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path,
                                                               std::ostream& standard_output) {
  if (path == "-") {
    std::unique_ptr<OutputFile> file(new OutputFile(path, ""));
    file->stream_ = &standard_output;
    return file;
  }
  if (IsDirectory(path)) return absl::FailedPreconditionError(absl::StrCat(path, " is a directory"));
  std::string name = path;
  if (IsReplaceable(path)) {
    name += ".XXXXXX";
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0) return FileError(errno, path);
    const mode_t mask = umask(0);
    umask(mask);
    const bool changed = fchmod(descriptor, 0666 & ~mask) == 0;
    close(descriptor);
    if (!changed) {
      unlink(name.c_str());
      return FileError(errno, path);
    }
  }
  std::unique_ptr<OutputFile> file(new OutputFile(path, name == path ? "" : name));
  file->file_.open(name, std::ios::binary | std::ios::trunc);
  if (!file->file_) return FileError(errno, path);
  return file;
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Check() const {
  if (*stream_) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(path_, " cannot be written: ", std::strerror(errno)));
}

absl::Status OutputFile::Commit() {
  stream_->flush();
  RETURN_IF_ERROR(Check());
  if (temporary_.empty()) return absl::OkStatus();
  file_.close();
  RETURN_IF_ERROR(Check());
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return FileError(errno, path_);
  temporary_.clear();
  return absl::OkStatus();
}

std::string ExtensionOf(const std::string& path) {
  return absl::AsciiStrToLower(std::filesystem::path(path).extension().string());
}

absl::Status CheckExtension(const OutputOption& option, const std::string& path) {
  const std::string extension = ExtensionOf(path);
  const std::vector<std::string>& known = option.extensions;
  if (extension.empty() || known.empty() || std::find(known.begin(), known.end(), extension) != known.end())
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option.name, " ", path, ": ", option.what,
                                                 " are written as ", absl::StrJoin(known, " or "),
                                                 ", not as ", extension));
}

absl::StatusOr<std::unique_ptr<OutputFile>> CreateOutput(const OutputOption& option, const std::string& path,
                                                         std::ostream& standard_output) {
  RETURN_IF_ERROR(CheckExtension(option, path));
  auto file = OutputFile::Create(path, standard_output);
  if (file.ok()) return file;
  return absl::Status(file.status().code(), absl::StrCat(option.name, " ", file.status().message()));
}

}  // namespace curator::cli
