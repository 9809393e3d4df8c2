#include "base/trace.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace curator {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(Trace, TheIdOfAValidHeaderIsItsSecondField) {
  EXPECT_EQ(TraceIdIn("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), kTrace);
  EXPECT_EQ(TraceIdIn("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff"), kTrace);
}

TEST(Trace, ALaterVersionMayHaveMoreFields) {
  EXPECT_EQ(TraceIdIn("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), kTrace);
  EXPECT_EQ(TraceIdIn("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what"), kTrace);
}

TEST(Trace, WhatTheStandardForbidsHasNoId) {
  for (const char* const value : {
           "", "4bf92f3577b34da6a3ce929d0e0e4736",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",     // too short
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",  // version 00 with more
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",   // the same
           "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",   // more without a hyphen
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",    // the version that is none
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",    // upper case
           "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01",   // no digit
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01",    // the same
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",    // the same
           "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",    // the same
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",    // zero
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",    // zero
           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",    // another separator
           "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",    // the same
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",    // the same
       }) {
    EXPECT_EQ(TraceIdIn(value), std::nullopt) << value;
  }
}

TEST(Trace, AnIdIsTheHexadecimalDigitsOfItsBytes) {
  EXPECT_EQ(TraceIdOf(std::string(kTraceIdBytes, '\xab')), std::string("abababababababababababababababab"));
}

TEST(Trace, AScopeHoldsForItsThreadAndRestoresWhatWasBefore) {
  EXPECT_EQ(CurrentTraceId(), "");
  {
    const TraceScope outer("outer");
    {
      const TraceScope inner("inner");
      EXPECT_EQ(CurrentTraceId(), "inner");
      std::thread([] { EXPECT_EQ(CurrentTraceId(), ""); }).join();
    }
    EXPECT_EQ(CurrentTraceId(), "outer");
  }
  EXPECT_EQ(CurrentTraceId(), "");
}

}  // namespace
}  // namespace curator
