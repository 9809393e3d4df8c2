#include "client/cli/sources/duckdb_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::cli::duckdb {
namespace {

constexpr char kWayOut[] =
    "Install DuckDB's library (libduckdb.so, version 1.2 or later; https://duckdb.org), name its file in the "
    "environment variable CURATOR_DUCKDB_LIBRARY, or convert the file to CSV";

absl::Status NoLibrary(std::string_view reason) {
  return absl::FailedPreconditionError(
      absl::StrCat("Parquet is read with DuckDB's library, ", std::string(reason), ". ", kWayOut));
}

// "v1.2.0" and later ones of version 1. Earlier ones cannot confine a connection to one file, and a later one
// may have another interface.
bool IsKnownVersion(std::string_view version) {
  if (!version.starts_with("v1.")) return false;
  version.remove_prefix(3);
  const std::string_view minor = version.substr(0, version.find('.'));
  return !minor.empty() && minor != "0" && minor != "1" &&
         minor.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Library>> Library::Load() {
  const char* const named = std::getenv("CURATOR_DUCKDB_LIBRARY");
  const bool is_named = named != nullptr && *named != '\0';
  // An absolute path, or a name that is looked for where the system has its libraries.
  void* const handle = dlopen(is_named ? named : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return NoLibrary(is_named ? "and CURATOR_DUCKDB_LIBRARY names no library that can be loaded"
                              : "which is not installed");
  }
  std::shared_ptr<Library> library(new Library(handle));
  RETURN_IF_ERROR(library->Resolve());
  const std::string version = library->library_version();
  if (!IsKnownVersion(version)) {
    return NoLibrary(absl::StrCat("and the one here has version ", version, ", not one from 1.2 to 1.x"));
  }
  return library;
}

Library::~Library() {
  dlclose(handle_);
}

absl::Status Library::Resolve() {
  std::string missing;
  const auto find = [&]<typename Function>(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find("duckdb_library_version", library_version);
  find("duckdb_create_config", create_config);
  find("duckdb_set_config", set_config);
  find("duckdb_destroy_config", destroy_config);
  find("duckdb_open_ext", open_ext);
  find("duckdb_close", close);
  find("duckdb_connect", connect);
  find("duckdb_disconnect", disconnect);
  find("duckdb_query", query);
  find("duckdb_prepare", prepare);
  find("duckdb_destroy_prepare", destroy_prepare);
  find("duckdb_pending_prepared_streaming", pending_prepared_streaming);
  find("duckdb_execute_pending", execute_pending);
  find("duckdb_destroy_pending", destroy_pending);
  find("duckdb_result_error", result_error);
  find("duckdb_column_name", column_name);
  find("duckdb_column_type", column_type);
  find("duckdb_column_count", column_count);
  find("duckdb_destroy_result", destroy_result);
  find("duckdb_fetch_chunk", fetch_chunk);
  find("duckdb_data_chunk_get_size", data_chunk_get_size);
  find("duckdb_data_chunk_get_vector", data_chunk_get_vector);
  find("duckdb_destroy_data_chunk", destroy_data_chunk);
  find("duckdb_vector_get_data", vector_get_data);
  find("duckdb_vector_get_validity", vector_get_validity);
  find("duckdb_free", free);
  if (missing.empty()) return absl::OkStatus();
  return NoLibrary(absl::StrCat("and the one here lacks the function ", missing));
}

}  // namespace curator::cli::duckdb
