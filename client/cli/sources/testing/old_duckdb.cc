// A library that says that it is DuckDB's, of a version that cannot be confined to one file; or, without
// CURATOR_ALL_FUNCTIONS, one that lacks functions.
extern "C" const char* duckdb_library_version() {
  return "v1.1.3";
}

#ifdef CURATOR_ALL_FUNCTIONS
// They are looked for, and never called.
#define CURATOR_FUNCTION(name) \
  extern "C" void duckdb_##name() {}
CURATOR_FUNCTION(create_config)
CURATOR_FUNCTION(set_config)
CURATOR_FUNCTION(destroy_config)
CURATOR_FUNCTION(open_ext)
CURATOR_FUNCTION(close)
CURATOR_FUNCTION(connect)
CURATOR_FUNCTION(disconnect)
CURATOR_FUNCTION(query)
CURATOR_FUNCTION(prepare)
CURATOR_FUNCTION(destroy_prepare)
CURATOR_FUNCTION(pending_prepared_streaming)
CURATOR_FUNCTION(execute_pending)
CURATOR_FUNCTION(destroy_pending)
CURATOR_FUNCTION(result_error)
CURATOR_FUNCTION(column_name)
CURATOR_FUNCTION(column_type)
CURATOR_FUNCTION(column_count)
CURATOR_FUNCTION(destroy_result)
CURATOR_FUNCTION(fetch_chunk)
CURATOR_FUNCTION(data_chunk_get_size)
CURATOR_FUNCTION(data_chunk_get_vector)
CURATOR_FUNCTION(destroy_data_chunk)
CURATOR_FUNCTION(vector_get_data)
CURATOR_FUNCTION(vector_get_validity)
CURATOR_FUNCTION(free)
#endif
