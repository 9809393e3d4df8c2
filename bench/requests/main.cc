// Whole requests over gRPC: what a client of a server sees, beside an echo of the same bytes by a bare gRPC
// server, plain transactions on the same store, and bare combining of the same rows, in one run on one
// dataset.
//
//   bench_requests compare BACKEND [SECONDS [ROUNDS]]        1, 8, 32, 128 and 256 clients
//   bench_requests delayed [SECONDS [ROUNDS]]                1, 32 and 128 clients, PostgreSQL 0.5 ms away
//   bench_requests beside BACKEND [SECONDS]                  answers, without a synthesis and beside one
//   bench_requests history BACKEND [RELEASES [CHARGES]]      with a fresh ledger, and after so many of each
//   bench_requests open BACKEND [FRACTION [SECONDS]]         answers at a fixed rate, and the server's memory
//
//   --kinds answer,wide,replay,free,reserve,cycle    the requests to measure (requests/kinds.h)
//   --clients 1,32                                   the numbers of clients to compare
//   --server PATH                                    another curatord, such as one of an earlier build
//   --connections N                                  that the clients share (8)
//
// BACKEND is sqlite or postgres. The server, its echo and PostgreSQL are processes of their own; "cpu us" is
// the processor time of the server (or of the echo) alone. A call that the server refuses with
// a wait is repeated after it, and its request lasts until it is answered; "refused" counts such
// refusals. "twice" is two plain transactions for each request, as an answer needs two that follow one
// another. The stores lie below $CURATOR_SCRATCH, or else below /tmp, which must be a disk: in memory nothing
// is durable and nothing is measured.
//
// Where other programs keep the processors busy, `chrt -r 1` keeps them off: otherwise each of a request's
// many wake-ups waits for a tick of the scheduler. SQLite's plain loop is then unfair to its clients.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "bench/requests/echo_server.h"
#include "bench/requests/modes.h"

namespace curator::bench {
namespace {

[[noreturn]] void EndWithUsage(const std::string& problem) {
  std::fprintf(
      stderr,
      "%s\nbench_requests compare|delayed|beside|history|open BACKEND ...: see bench/requests/main.cc\n",
      problem.c_str());
  std::exit(2);
}

struct Line {
  std::vector<std::string> words;
  std::map<std::string, std::string> options;  // "--kinds": "answer,replay"

  std::string Word(size_t place) const { return place < words.size() ? words[place] : ""; }
  double Number(size_t place, double otherwise) const {
    double number = otherwise;
    if (place < words.size() && !absl::SimpleAtod(words[place], &number))
      EndWithUsage("no number: " + words[place]);
    return number;
  }
};

Line Read(int argc, char** argv) {
  Line line;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      line.words.push_back(word);
    } else if (i + 1 < argc) {
      line.options[word] = argv[++i];
    } else {
      EndWithUsage("no value for " + word);
    }
  }
  return line;
}

std::vector<std::string> WordsIn(const std::string& list) {
  return absl::StrSplit(list, ',', absl::SkipEmpty());
}

std::vector<Kind> KindsIn(const std::string& names) {
  std::vector<Kind> kinds;
  for (const std::string& name : WordsIn(names)) {
    const std::optional<Kind> kind = KindNamed(name);
    if (!kind) EndWithUsage("no such kind: " + name);
    kinds.push_back(*kind);
  }
  return kinds;
}

std::vector<int> NumbersIn(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& word : WordsIn(text)) {
    if (!absl::SimpleAtoi(word, &numbers.emplace_back()) || numbers.back() < 1)
      EndWithUsage("no number: " + word);
  }
  return numbers;
}

WorldOptions WorldIn(const Line& line, const std::string& backend, const std::string& usual_kinds) {
  WorldOptions options{.backend = backend, .kinds = KindsIn(usual_kinds)};
  for (const auto& [name, value] : line.options) {
    if (name == "--kinds") {
      options.kinds = KindsIn(value);
    } else if (name == "--server") {
      options.server = value;
    } else if (name == "--connections") {
      options.connections = NumbersIn(value).at(0);
    } else if (name != "--clients") {
      EndWithUsage("no such option: " + name);
    }
  }
  if (options.kinds.empty()) EndWithUsage("no kinds");
  return options;
}

std::vector<int> ClientsIn(const Line& line, const std::string& usual) {
  const auto named = line.options.find("--clients");
  return NumbersIn(named == line.options.end() ? usual : named->second);
}

constexpr char kEveryKind[] = "answer,wide,replay,free,reserve,cycle";

int Run(const Line& line) {
  const std::string mode = line.Word(0);
  const std::string backend = line.Word(1);
  if (mode == "compare") {
    World world(WorldIn(line, backend, kEveryKind));
    Compare(world,
            {ClientsIn(line, "1,8,32,128,256"), line.Number(2, 2), static_cast<int>(line.Number(3, 3))});
  } else if (mode == "delayed") {
    WorldOptions options = WorldIn(line, "postgres", kEveryKind);
    options.database_delay = std::chrono::microseconds(500);
    World world(options);
    Compare(world, {ClientsIn(line, "1,32,128"), line.Number(1, 2), static_cast<int>(line.Number(2, 1))});
  } else if (mode == "beside") {
    World world(WorldIn(line, backend, "answer"));
    MeasureBeside(world, line.Number(2, 5));
  } else if (mode == "history") {
    World world(WorldIn(line, backend, "answer,replay,free,reserve"));
    MeasureHistory(world,
                   {static_cast<int64_t>(line.Number(2, 1e5)), static_cast<int64_t>(line.Number(3, 1e6))});
  } else if (mode == "open") {
    World world(WorldIn(line, backend, "answer"));
    MeasureOpenLoop(world, {line.Number(2, 0.5), line.Number(3, 600)});
  } else {
    EndWithUsage("no such mode: " + mode);
  }
  return 0;
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  const curator::bench::Line line = curator::bench::Read(argc, argv);
  if (const auto echo = line.options.find("--echo"); echo != line.options.end())
    curator::bench::ServeEcho(echo->second);
  setenv("CURATOR_SCRATCH", "/tmp", 0);
  return curator::bench::Run(line);
}
