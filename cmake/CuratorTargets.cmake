include(GoogleTest)

# curator_library(NAME SOURCES a.cc ... DEPENDS x y ...): one module, or one part of a module, as a static library.
# Includes are written from the root of the repository's server/ or client/ folder, e.g. "dp/noise/bit_source.h".
function(curator_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/server)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE curator_warnings)
  curator_precompile(${name} DEPENDS ${ARG_DEPENDS})
endfunction()

# curator_test(NAME SOURCES a_test.cc ... DEPENDS x ... [SINGLE_PROCESS] [LABELS ...]): a GoogleTest program.
# Each test is a ctest test of its own, unless SINGLE_PROCESS says that the program is one ctest test
# (for suites with an expensive fixture, such as a PostgreSQL cluster). The presets compile several sources at once
# (CMAKE_UNITY_BUILD); a test that gives names of its own to what another test names alike goes into SEPARATE.
function(curator_test name)
  cmake_parse_arguments(ARG "SINGLE_PROCESS" "TIMEOUT" "SOURCES;SEPARATE;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_SEPARATE})
  set_source_files_properties(${ARG_SEPARATE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/server ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main
    curator_warnings curator_test_options)
  curator_precompile(${name} TEST DEPENDS ${ARG_DEPENDS})
  if(ARG_SINGLE_PROCESS)
    add_test(NAME ${name} COMMAND ${name})
    # Long ones begin first, so that none is left alone at the end.
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" COST 100)
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  endif()
endfunction()
