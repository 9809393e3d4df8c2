// The few functions of DuckDB's C interface that reading a Parquet file needs, from a library that is loaded
// when it is needed: no program of Curator links it.
//
// Types and functions are declared here as DuckDB's stable C interface has them since version 1.2; a library
// of another version is refused.
//
// Thread-safe, but for what belongs to one connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace curator::cli::duckdb {

using State = int;
inline constexpr State kSuccess = 0;

// Handles, which are pointers in the interface.
using Database = void*;
using Connection = void*;
using Config = void*;
using Statement = void*;
using Pending = void*;
using Chunk = void*;
using Vector = void*;

// Passed by value; its members are the library's own.
struct Result {
  uint64_t deprecated[3];
  void* deprecated_pointers[2];
  void* internal;
};

// A text in a vector: of up to 12 bytes in it, else where `pointer` says.
union Text {
  struct {
    uint32_t length;
    char text[12];
  } inlined;
  struct {
    uint32_t length;
    char prefix[4];
    const char* pointer;
  } elsewhere;
};
static_assert(sizeof(Text) == 16 && sizeof(Result) == 48);

class Library {
 public:
  // Loads libduckdb.so from the system's path, or the file that the environment variable
  // CURATOR_DUCKDB_LIBRARY names. FAILED_PRECONDITION with the way out: there is none, or one that is not of
  // a version from 1.2 to 1.x.
  static absl::StatusOr<std::shared_ptr<const Library>> Load();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const char* (*library_version)() = nullptr;
  State (*create_config)(Config*) = nullptr;
  State (*set_config)(Config, const char* name, const char* value) = nullptr;
  void (*destroy_config)(Config*) = nullptr;
  State (*open_ext)(const char* path, Database*, Config, char** error) = nullptr;
  void (*close)(Database*) = nullptr;
  State (*connect)(Database, Connection*) = nullptr;
  void (*disconnect)(Connection*) = nullptr;
  State (*query)(Connection, const char* statement, Result*) = nullptr;
  State (*prepare)(Connection, const char* statement, Statement*) = nullptr;
  void (*destroy_prepare)(Statement*) = nullptr;
  State (*pending_prepared_streaming)(Statement, Pending*) = nullptr;
  State (*execute_pending)(Pending, Result*) = nullptr;
  void (*destroy_pending)(Pending*) = nullptr;
  const char* (*result_error)(Result*) = nullptr;
  const char* (*column_name)(Result*, uint64_t column) = nullptr;
  int (*column_type)(Result*, uint64_t column) = nullptr;
  uint64_t (*column_count)(Result*) = nullptr;
  void (*destroy_result)(Result*) = nullptr;
  Chunk (*fetch_chunk)(Result) = nullptr;
  uint64_t (*data_chunk_get_size)(Chunk) = nullptr;
  Vector (*data_chunk_get_vector)(Chunk, uint64_t column) = nullptr;
  void (*destroy_data_chunk)(Chunk*) = nullptr;
  void* (*vector_get_data)(Vector) = nullptr;
  uint64_t* (*vector_get_validity)(Vector) = nullptr;
  void (*free)(void*) = nullptr;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  // Sets the functions. FAILED_PRECONDITION where one is missing.
  absl::Status Resolve();

  void* const handle_;
};

}  // namespace curator::cli::duckdb
