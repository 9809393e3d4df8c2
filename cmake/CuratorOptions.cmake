# Language level, warnings, sanitizers: what every target of ours is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Installing and packing take the programs, for which nobody has to build the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
# Packages that somebody configured or built in a home directory are not found.
set(CMAKE_FIND_USE_PACKAGE_REGISTRY OFF)
set(CMAKE_FIND_USE_SYSTEM_PACKAGE_REGISTRY OFF)

option(CURATOR_BUILD_BENCHMARKS "Build the programs in bench/" OFF)
option(CURATOR_FUZZ "Build the fuzz targets as libFuzzer programs (Clang)" OFF)
option(CURATOR_COVERAGE "Count which lines the tests run (tests/coverage)" OFF)
set(CURATOR_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=, e.g. address,undefined")

# Much of a build from nothing is reading the same headers of libraries again for each file. The presets choose;
# nothing here asks what is installed or cached, so that one checkout builds in one way everywhere. A compiler cache is
# the caller's own: -DCURATOR_PRECOMPILED_HEADERS=OFF -DCMAKE_CXX_COMPILER_LAUNCHER=ccache.
option(CURATOR_PRECOMPILED_HEADERS "Precompile the headers of libraries" OFF)

# Any x86-64-v2 machine runs every build; faster paths are chosen at run time, never by what the building machine has.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()

# GCC would collect garbage often: without that a file takes a sixth less time, and a sixth more memory.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)

# Two machines must decide alike: no fused or reordered floating point.
add_compile_options(-ffp-contract=off)

if(CURATOR_SANITIZE)
  # The four left out took 40% of compiling: what null and object-size look for the address sanitizer sees itself.
  add_compile_options(-fsanitize=${CURATOR_SANITIZE} -fno-sanitize=null,object-size,vptr,alignment
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CURATOR_SANITIZE})
endif()

if(CURATOR_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# Warnings for our own code only; generated code is not ours. The presets for developers turn them into errors
# (CMAKE_COMPILE_WARNING_AS_ERROR), those for users do not: another compiler's warning must not stop a user's build.
add_library(curator_warnings INTERFACE)
target_compile_options(curator_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion
  # Designated initialisers name what they set; the rest has defaults.
  -Wno-missing-field-initializers)
# Pragmas for GCC's loops mean nothing to Clang, which builds the fuzz targets.
target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
# Test programs are compiled faster than they would run: a fifth less time, and most of a test's work is in the libraries.
add_library(curator_test_options INTERFACE)
target_compile_options(curator_test_options INTERFACE -O0)
# GCC documents that what its sanitizers insert makes -Wmaybe-uninitialized warn falsely.
if(CURATOR_SANITIZE)
  target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
