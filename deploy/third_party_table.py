"""What third_party.py knows about other people's software: packages of Debian 12, licences, and what each is used for.

Each licence was read in /usr/share/doc/PACKAGE/copyright, or in the sources where that lists a whole source package
under one licence and not the library (then a remark says so). To add a library, add one entry to LINKED; third_party.py names every
package that has none.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """A library that the programs link themselves, or whose headers they compile in."""

    name: str
    packages: tuple  # of the shared library, and of the headers
    licence: str  # an SPDX expression
    use: str
    version_parts: int = 2  # how much of the upstream version stays the same for the life of Debian 12
    # For what leaves no trace in a program or in an include; everything else is held to what is found there.
    always: bool = False


@dataclass(frozen=True)
class Loaded:
    """A package whose libraries are loaded because a linked library needs them."""

    package: str
    licence: str
    remark: str = ""


@dataclass(frozen=True)
class Tool:
    """What building or testing needs; no program of ours links it."""

    name: str
    packages: tuple
    licence: str
    use: str


LINKED = (
    Library("Abseil", ("libabsl20220623", "libabsl-dev"), "Apache-2.0", "status values, strings, 128-bit integers, locks", 1),
    Library("Boost", ("libboost1.74-dev",), "BSL-1.0", "Beast and Asio: HTTP of curator-gate"),
    Library("CLI11", ("libcli11-dev",), "BSD-3-Clause", "command lines of the programs"),
    Library("Eigen", ("libeigen3-dev",), "MPL-2.0", "Fourier transforms in numerical composition"),
    Library("GCC runtime", ("libstdc++6", "libgcc-s1", "libstdc++-12-dev", "libgcc-12-dev"),
            "GPL-3.0-or-later WITH GCC-exception-3.1", "C++ standard library"),
    Library("GMP", ("libgmp10", "libgmp-dev"), "LGPL-3.0-or-later OR GPL-2.0-or-later",
            "exact integers and fractions: samplers, schema checks"),
    Library("GNU C Library", ("libc6", "libc6-dev"), "LGPL-2.1-or-later", "C library"),
    Library("gRPC", ("libgrpc++1.51", "libgrpc29", "libgrpc++-dev"), "Apache-2.0", "server and client of the protocol"),
    Library("gRPC health protocol", ("grpc-proto",), "Apache-2.0",
            "its health.proto is compiled into the server", 0, always=True),
    Library("LEMON", ("liblemon-dev",), "BSL-1.0", "minimum-cost flow in the synthesis method dpsyn"),
    Library("libcsv", ("libcsv3", "libcsv-dev"), "LGPL-2.1-or-later", "reading CSV files"),
    Library("libcurl", ("libcurl4", "libcurl4-openssl-dev"), "curl", "what the command line, curator-jwks and curator-gate ask issuers"),
    Library("libpg_query", ("libpg-query1504.0", "libpg-query-dev"), "BSD-3-Clause AND BSD-2-Clause AND PostgreSQL",
            "reading SQL: PostgreSQL's own parser"),
    Library("libpqxx", ("libpqxx-6.4", "libpqxx-dev"), "BSD-3-Clause", "ledgers in PostgreSQL, and imports from it"),
    Library("Linux kernel headers", ("linux-libc-dev",), "GPL-2.0-only WITH Linux-syscall-note",
            "numbers of system calls and of their filter, for curator-sql"),
    Library("MPFR", ("libmpfr6", "libmpfr-dev"), "LGPL-3.0-or-later", "correctly rounded functions: accounting, samplers"),
    Library("nlohmann/json", ("nlohmann-json3-dev",), "MIT", "reading and writing JSON"),
    Library("OpenSSL", ("libssl3", "libssl-dev"), "Apache-2.0", "AES, SHA-256, HMAC, Ed25519"),
    Library("prometheus-cpp", ("libprometheus-cpp-core1.0", "prometheus-cpp-dev"), "MIT", "the server's metrics"),
    Library("Protocol Buffers", ("libprotobuf32", "libprotobuf-dev"), "BSD-3-Clause", "messages of the protocol"),
    Library("spdlog", ("libspdlog1.10", "libspdlog-dev"), "MIT", "the server's log lines"),
    Library("SQLite", ("libsqlite3-0", "libsqlite3-dev"), "blessing", "ledgers in a file"),
    Library("TinyXML-2", ("libtinyxml2-9", "libtinyxml2-dev"), "Zlib", "plots as SVG"),
    Library("zlib", ("zlib1g", "zlib1g-dev"), "Zlib", "reading compressed CSV files"),
)

LOADED = (
    Loaded("libbrotli1", "MIT"),
    Loaded("libc-ares2", "MIT"),
    Loaded("libcom-err2", "LicenseRef-MIT-SIPB AND BSD-3-Clause",
           "Debian lists all of e2fsprogs as GPL-2; the library's own sources (lib/et) carry these two notices"),
    Loaded("libffi8", "MIT"),
    Loaded("libfmt9", "MIT"),
    Loaded("libgnutls30", "LGPL-2.1-or-later"),
    Loaded("libgssapi-krb5-2", "BSD-2-Clause"),
    Loaded("libhogweed6", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    Loaded("libidn2-0", "LGPL-3.0-or-later OR GPL-2.0-or-later", "its tools are GPL-3, its library is not"),
    Loaded("libk5crypto3", "BSD-2-Clause"),
    Loaded("libkeyutils1", "LGPL-2.0-or-later", "its tools are GPL-2, its library is not"),
    Loaded("libkrb5-3", "BSD-2-Clause"),
    Loaded("libkrb5support0", "BSD-2-Clause"),
    Loaded("libldap-2.5-0", "OLDAP-2.8"),
    Loaded("libnettle8", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    Loaded("libnghttp2-14", "MIT"),
    Loaded("libp11-kit0", "BSD-3-Clause"),
    Loaded("libpq5", "PostgreSQL"),
    Loaded("libpsl5", "MIT"),
    Loaded("libre2-9", "BSD-3-Clause"),
    Loaded("librtmp1", "LGPL-2.1-or-later", "its programs are GPL-2, its library is not"),
    Loaded("libsasl2-2", "BSD-Attribution-HPND-disclaimer"),
    Loaded("libssh2-1", "BSD-3-Clause"),
    Loaded("libtasn1-6", "LGPL-2.1-or-later", "its tools are GPL-3, its library is not"),
    Loaded("libunistring2", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    Loaded("libzstd1", "BSD-3-Clause OR GPL-2.0-only"),
)

TOOLS = (
    Tool("Clang", ("clang-16",), "Apache-2.0 WITH LLVM-exception", "the preset fuzz"),
    Tool("ClangFormat", ("clang-format-14",), "Apache-2.0 WITH LLVM-exception", "the format gate"),
    Tool("CMake", ("cmake",), "BSD-3-Clause", "build"),
    Tool("GCC", ("g++",), "GPL-3.0-or-later WITH GCC-exception-3.1", "compiler"),
    Tool("GNU Binutils", ("binutils",), "GPL-3.0-or-later", "linker; what a test reads symbols with"),
    Tool("Git", ("git",), "GPL-2.0-only", "tests of the nightly run"),
    Tool("Google Benchmark", ("libbenchmark-dev",), "Apache-2.0", "benchmarks"),
    Tool("GoogleTest", ("libgtest-dev", "libgmock-dev"), "BSD-3-Clause", "tests"),
    Tool("gRPC plugin of protoc", ("protobuf-compiler-grpc",), "Apache-2.0", "generates the services' code"),
    Tool("HAProxy", ("haproxy",), "GPL-2.0-or-later", "tests of the edge; a separate program in production"),
    Tool("libpq", ("libpq-dev",), "PostgreSQL", "test clusters, and rivals in benchmarks"),
    Tool("Ninja", ("ninja-build",), "Apache-2.0", "build"),
    Tool("NumPy", ("python3-numpy",), "BSD-3-Clause", "a rival in the benchmark of counting"),
    Tool("pkgconf", ("pkg-config",), "ISC", "finds libraries"),
    Tool("PostgreSQL server", ("postgresql-15",), "PostgreSQL", "tests of the ledger and of imports; a separate program in production"),
    Tool("Prometheus", ("prometheus",), "Apache-2.0", "tests of the metrics; a separate program in production"),
    Tool("protoc", ("protobuf-compiler",), "BSD-3-Clause", "generates the messages' code"),
    Tool("PyCA cryptography", ("python3-cryptography",), "Apache-2.0", "the tests' identity provider"),
    Tool("PyJWT", ("python3-jwt",), "MIT", "the tests' identity provider"),
    Tool("Python", ("python3",), "PSF-2.0", "gates, and verifiers of their own"),
)
