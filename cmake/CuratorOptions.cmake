# Language level, warnings, sanitizers: what every target of ours is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(CURATOR_BUILD_BENCHMARKS "Build the programs in bench/" OFF)
option(CURATOR_FUZZ "Build the fuzz targets as libFuzzer programs (Clang)" OFF)
set(CURATOR_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=, e.g. address,undefined")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# Any x86-64-v2 machine runs the release build; faster paths are chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()

# Two machines must decide alike: no fused or reordered floating point.
add_compile_options(-ffp-contract=off)

if(CURATOR_SANITIZE)
  add_compile_options(-fsanitize=${CURATOR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CURATOR_SANITIZE})
endif()

# Warnings for our own code only; generated code is not ours.
add_library(curator_warnings INTERFACE)
target_compile_options(curator_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion
  # Designated initialisers name what they set; the rest has defaults.
  -Wno-missing-field-initializers -Werror)
# GCC 12 at -O2 calls assignments to std::string overlapping copies (its bug 105651).
target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# GCC documents that what its sanitizers insert makes -Wmaybe-uninitialized warn falsely.
if(CURATOR_SANITIZE)
  target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
