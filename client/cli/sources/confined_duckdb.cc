#include "client/cli/sources/confined_duckdb.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace curator::cli::duckdb {
namespace {

// A group of rows is decoded column by column, in this much memory at most.
constexpr char kMemoryLimit[] = "1GB";

constexpr std::pair<const char*, const char*> kSettings[] = {
    {"threads", "1"},
    {"memory_limit", kMemoryLimit},
    {"max_temp_directory_size", "0B"},
    {"autoinstall_known_extensions", "false"},
    {"autoload_known_extensions", "false"},
    {"allow_community_extensions", "false"},
    {"allow_unsigned_extensions", "false"},
    {"preserve_insertion_order", "true"},
};

}  // namespace

ConfinedConnection::ConfinedConnection(std::shared_ptr<const Library> library)
    : library_(std::move(library)) {}

ConfinedConnection::~ConfinedConnection() {
  if (connection_ != nullptr) library_->disconnect(&connection_);
  if (database_ != nullptr) library_->close(&database_);
}

absl::StatusOr<std::unique_ptr<ConfinedConnection>> ConfinedConnection::Open(
    std::shared_ptr<const Library> library, const std::string& file) {
  std::unique_ptr<ConfinedConnection> opened(new ConfinedConnection(std::move(library)));
  if (opened->OpenDatabase() && opened->Confine(file)) return opened;
  return absl::FailedPreconditionError("DuckDB's library does not take the settings that confine it");
}

bool ConfinedConnection::OpenDatabase() {
  Config config = nullptr;
  bool is_set = library_->create_config(&config) == kSuccess;
  for (const auto& [name, value] : kSettings) {
    is_set = is_set && library_->set_config(config, name, value) == kSuccess;
  }
  char* error = nullptr;
  const bool is_open = is_set && library_->open_ext(nullptr, &database_, config, &error) == kSuccess;
  library_->free(error);
  library_->destroy_config(&config);
  return is_open && library_->connect(database_, &connection_) == kSuccess;
}

bool ConfinedConnection::Confine(const std::string& file) {
  // Where the library knows time zones.
  library_->query(connection_, "SET TimeZone = 'UTC'", nullptr);
  const std::string allowed = absl::StrReplaceAll(file, {{"'", "''"}});
  for (const std::string& setting :
       {absl::StrCat("SET allowed_paths = ['", allowed, "']"), std::string("SET allowed_directories = []"),
        std::string("SET enable_external_access = false"), std::string("SET lock_configuration = true")}) {
    if (library_->query(connection_, setting.c_str(), nullptr) != kSuccess) return false;
  }
  return true;
}

}  // namespace curator::cli::duckdb
