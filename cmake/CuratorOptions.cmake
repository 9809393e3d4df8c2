# Language level, warnings, sanitizers: what every target of ours is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(CURATOR_BUILD_BENCHMARKS "Build the programs in bench/" OFF)
option(CURATOR_FUZZ "Build the fuzz targets as libFuzzer programs (Clang)" OFF)
set(CURATOR_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=, e.g. address,undefined")

find_program(CCACHE_PROGRAM ccache)

# Precompiled headers, for builds that compile everything once: two thirds of such a build is reading the same headers
# of the libraries again for each file. A compiler cache cannot keep what was compiled with them, so they are used where
# there is no cache to lose: none is installed, or it is empty, as on a new machine.
set(CURATOR_PRECOMPILED_DEFAULT ON)
if(CCACHE_PROGRAM)
  execute_process(COMMAND ${CCACHE_PROGRAM} --print-stats OUTPUT_VARIABLE CCACHE_STATISTICS ERROR_QUIET)
  if(CCACHE_STATISTICS MATCHES "files_in_cache\t[1-9]")
    set(CURATOR_PRECOMPILED_DEFAULT OFF)
  endif()
endif()
option(CURATOR_PRECOMPILED_HEADERS "Precompile the headers of libraries" ${CURATOR_PRECOMPILED_DEFAULT})
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT CURATOR_PRECOMPILED_HEADERS)
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
  # The four left out took 40% of compiling: what null and object-size look for the address sanitizer sees itself.
  add_compile_options(-fsanitize=${CURATOR_SANITIZE} -fno-sanitize=null,object-size,vptr,alignment
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CURATOR_SANITIZE})
endif()

# Warnings for our own code only; generated code is not ours.
add_library(curator_warnings INTERFACE)
target_compile_options(curator_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion
  # Designated initialisers name what they set; the rest has defaults.
  -Wno-missing-field-initializers -Werror)
# Pragmas for GCC's loops say nothing to Clang, which builds the fuzz targets.
target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
# GCC 12 at -O2 calls assignments to std::string overlapping copies (its bug 105651).
target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# GCC 12 forgets which lines of a precompiled header are the library's own, and warns falsely of them.
if(CURATOR_PRECOMPILED_HEADERS)
  target_compile_options(curator_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
endif()
# GCC documents that what its sanitizers insert makes -Wmaybe-uninitialized warn falsely.
if(CURATOR_SANITIZE)
  target_compile_options(curator_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
