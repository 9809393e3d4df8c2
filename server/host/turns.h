// How long a thread may run before the scheduler looks whether others should.
//
// A charge is many short steps, each after a wait for the store or the disk. Beside threads that compute
// without pause each step waits until one of those has had its turn: milliseconds. Whoever asks for short
// turns is let in first when it wakes, and gets no more of a processor for it: turns are shorter, not more.
//
// Both apply to the calling thread and to those that it starts later, and change nothing where the kernel
// (Linux before 6.12) or the thread's scheduling class knows no such wish.
#pragma once

namespace curator::host {

// 100 microseconds.
void TakeShortTurns();
// As long as the system finds right: for threads that compute.
void TakeOrdinaryTurns();

}  // namespace curator::host
