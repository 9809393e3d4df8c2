// The program `curator`.
#include <grpcpp/grpcpp.h>

#include <iostream>

#include "client/cli/program.h"

int main(int argc, char** argv) {
  using namespace curator::cli;
  grpc_init();
  const ExitStatus status =
      RunProgram({argv + 1, argv + argc}, Terminal::Detect(), {std::cin, std::cout, std::cerr});
  // Waits for gRPC's own threads, which otherwise may use what the end of the process destroys.
  grpc_shutdown_blocking();
  return static_cast<int>(status);
}
