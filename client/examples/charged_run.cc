// Runs a program that is known to be epsilon-DP for the people in a dataset, with Curator as its accountant.
//
//   charged_run SERVER PRINCIPAL DATASET EPSILON PROGRAM [ARGUMENT ...]
//
// It shows how an internal service uses the accountant. The order is the content: reserve, start, and only
// then look.
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "client/client.h"

namespace {

// Runs the program and waits for its end. Whether it succeeded does not matter to the accountant: it may have
// looked.
int Run(char** program) {
  const pid_t child = fork();
  if (child == 0) {
    execvp(program[0], program);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Fail(const absl::Status& status) {
  std::cerr << "charged_run: " << status.message() << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "usage: charged_run SERVER PRINCIPAL DATASET EPSILON PROGRAM [ARGUMENT ...]\n";
    return 2;
  }
  const curator::Client accountant({.server = argv[1], .principal = argv[2]});

  curator::v1::ReserveBudgetRequest reservation;
  reservation.set_dataset(argv[3]);
  reservation.mutable_event()->mutable_pure()->set_epsilon(argv[4]);
  reservation.set_summary(std::string("charged_run ") + argv[5]);
  const absl::StatusOr<curator::v1::Charge> reserved = accountant.ReserveBudget(reservation);
  if (!reserved.ok()) return Fail(reserved.status());

  curator::v1::StartChargeRequest start;
  start.set_charge_id(reserved->id());
  const absl::StatusOr<curator::v1::Charge> started = accountant.StartCharge(start);
  if (!started.ok()) return Fail(started.status());

  const int exit_status = Run(argv + 5);
  const absl::StatusOr<curator::v1::Charge> committed = accountant.CommitBudget(reserved->id());
  return committed.ok() ? exit_status : Fail(committed.status());
}
