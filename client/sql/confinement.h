// What a process may do no longer once it reads input that it does not trust.
#pragma once

namespace curator::sql {

// From now on the process starts no program and no thread, opens nothing, has no network, and uses a bounded
// amount of memory, time and files; a call of anything else ends it. For a process of one thread, before its
// input is read. False where the system refuses one of the limits: then nothing must be read.
bool ConfineThisProcess();

}  // namespace curator::sql
