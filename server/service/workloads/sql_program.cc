#include "service/workloads/sql_program.h"

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "base/status_macros.h"
#include "host/child_program.h"
#include "host/logging.h"

namespace curator::service {
namespace {

constexpr char kProgram[] = "curator-sql";

// Empty where the system does not say where this program is: then none is found, and the log says so.
std::string BesideThisProgram() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : (own.parent_path() / kProgram).string();
}

// A program is started in another folder than this one is in.
std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

absl::Status ErrorOfProgram(const absl::Status& status) {
  host::Log(host::LogLevel::kWarning, "sql_not_translated", {{"detail", std::string(status.message())}});
  switch (status.code()) {
    // Also where it lacks a library, or cannot be confined: of a statement it ends with 0, or by a signal.
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
      return absl::UnavailableError(
          "this server translates no SQL now: its program curator-sql cannot be started; ask with a "
          "workload, or with `curator sql`, which translates by itself");
    case absl::StatusCode::kDeadlineExceeded:
      return Overloaded("the statement was not translated in time; ask again, or more simply");
    default:
      return InvalidField("sql",
                          "the statement cannot be read: the parser ended at it; write it more simply");
  }
}

}  // namespace

// The right to run the program once.
class SqlProgram::Place {
 public:
  Place(SqlProgram& program, const Principal& principal) : program_(program), principal_(principal.name()) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  absl::Status Take() {
    const absl::MutexLock lock(&program_.mutex_);
    const auto own = program_.running_.find(principal_);
    if (own != program_.running_.end() && own->second >= kMostOfOnePrincipal) {
      return OverQuota("you have as many statements translated at the same time as one principal may",
                       program_.patience_);
    }
    if (program_.all_ >= kMostAtOnce) return Overloaded("too many statements are translated now");
    ++program_.running_[principal_];
    ++program_.all_;
    is_taken_ = true;
    return absl::OkStatus();
  }

  ~Place() {
    if (!is_taken_) return;
    const absl::MutexLock lock(&program_.mutex_);
    --program_.all_;
    const auto own = program_.running_.find(principal_);
    if (--own->second == 0) program_.running_.erase(own);
  }

 private:
  SqlProgram& program_;
  const std::string principal_;
  bool is_taken_ = false;
};

SqlProgram::SqlProgram(const std::string& path, std::chrono::milliseconds patience)
    : path_(path.empty() ? BesideThisProgram() : Absolute(path)), patience_(patience) {}

absl::StatusOr<std::string> SqlProgram::Run(const Principal& principal, std::string_view task) {
  Place place(*this, principal);
  RETURN_IF_ERROR(place.Take());
  absl::StatusOr<std::string> output = host::RunChildProgram(path_, task, patience_, kMostOutput);
  if (!output.ok()) return ErrorOfProgram(output.status());
  return output;
}

}  // namespace curator::service
