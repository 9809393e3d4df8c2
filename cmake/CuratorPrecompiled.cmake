# Precompiled headers (CURATOR_PRECOMPILED_HEADERS): included once the generated code has its target.
set(PRECOMPILED_BASE
  <algorithm> <array> <atomic> <chrono> <cmath> <cstddef> <cstdint> <deque> <functional> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <sstream> <string> <string_view> <thread> <tuple> <utility> <variant> <vector>
  <absl/numeric/int128.h> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/str_join.h> <absl/strings/str_split.h>)
set(PRECOMPILED_TEST <gmock/gmock.h> <gtest/gtest.h>)
set(PRECOMPILED_RPC
  <grpcpp/grpcpp.h> <curator/v1/accountant.grpc.pb.h> <curator/v1/dataset.grpc.pb.h> <curator/v1/operation.grpc.pb.h>
  <curator/v1/owner.grpc.pb.h> <curator/v1/query.grpc.pb.h> <curator/v1/synthesis.grpc.pb.h>
  <curator/v1/workload.grpc.pb.h>)

# One library for each set of headers; all other targets use what it has compiled.
function(curator_precompiled_set name headers libraries)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ${libraries} curator_warnings)
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

if(CURATOR_PRECOMPILED_HEADERS)
  curator_precompiled_set(curator_precompiled "${PRECOMPILED_BASE}" "absl::status;absl::statusor;absl::strings")
  curator_precompiled_set(curator_precompiled_test "${PRECOMPILED_BASE};${PRECOMPILED_TEST}"
    "absl::status;absl::statusor;absl::strings;GTest::gmock;curator_test_options")
  curator_precompiled_set(curator_precompiled_rpc "${PRECOMPILED_BASE};${PRECOMPILED_RPC}" curator_proto)
  curator_precompiled_set(curator_precompiled_rpc_test "${PRECOMPILED_BASE};${PRECOMPILED_RPC};${PRECOMPILED_TEST}"
    "curator_proto;GTest::gmock;curator_test_options")
endif()

# curator_precompile(TARGET DEPENDS x ... [TEST]): compiles TARGET with the largest set that its dependencies have read.
function(curator_precompile name)
  cmake_parse_arguments(ARG "TEST" "" "DEPENDS" ${ARGN})
  if(NOT CURATOR_PRECOMPILED_HEADERS)
    return()
  endif()
  set(set curator_precompiled)
  foreach(dependency ${ARG_DEPENDS})
    if(TARGET ${dependency})
      get_target_property(speaks_rpc ${dependency} CURATOR_SPEAKS_RPC)
      if(speaks_rpc OR dependency STREQUAL "curator_proto")
        set(set curator_precompiled_rpc)
      endif()
    endif()
  endforeach()
  if(set STREQUAL "curator_precompiled_rpc")
    set_target_properties(${name} PROPERTIES CURATOR_SPEAKS_RPC ON)
  endif()
  if(ARG_TEST)
    string(APPEND set _test)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${set})
endfunction()
