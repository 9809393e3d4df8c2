// A list of calls as text, made over a socket, and all that their caller sees as text: to be compared, byte
// for byte, with what the same caller sees in another world.
//
// What differs between any two runs is written in one way, by this rule and no other:
//   - a UUID of version 4 or 7, and the number of an account that could have been drawn at random (2^51 or
//     more), are written as "#1", "#2", ... in the order of first appearance, wherever they stand. All other
//     ids are written as they are: they are not random, so they may count something;
//   - the payload of an entry is written in words, its hashes and deadlines without their values; of the
//     statement of a receipt or of a proposed repair the time and the hashes are left out;
//   - a Timestamp that is set is written without its time, and other bytes as "bytes": they are hashes, keys
//     and signatures;
//   - a field that docs/PRIVACY-fields.md says is from a "draw", and each number of an evaluation of a drawn
//     model, is left out; of a repeated one its number of values is written;
//   - a field that it says is "measured" is left out: operators see measures of all calls;
//   - of an operation that was only started: neither state, progress, place in the queue nor release;
//   - of a step that is shared, i.e. on a dataset that others use too: no field from a "counter" or from
//     "history", of the links of a chain only those that carry an entry, of a receipt no sequence, and of a
//     full budget no amount.
//
// Not thread-safe.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/channel.h"
#include "grpcpp/generic/generic_stub.h"

namespace curator::testing {

struct Step {
  std::string call;  // "DatasetService.GetDataset"
  std::vector<std::string>
      requests;  // in protobuf's text format; "$NEW" is a new request id, "$NAME" is remembered
  // Name -> the path of a field of the first response, "header.release_id".
  std::map<std::string, std::string> remember = {};
  bool is_shared = false;
};

// All calls of all services of curator.v1 ("DatasetService.GetDataset") that a server in development mode
// carries out. Those about identities, of which it has none, are tests/e2e/identity_test.cc's; those about
// the audit, which is of all calls and does not end, audit_test.cc's and rights_test.cc's.
std::set<std::string> AllCalls();

// The calls that docs/PRIVACY-fields.md reserves to `who`: "owner".
std::set<std::string> CallsOf(const std::string& who);

// One principal's session, or with an empty principal that of a caller without a name. A step that fails is
// part of what is seen.
class ScriptedCalls {
 public:
  ScriptedCalls(const std::string& address, std::string principal);
  // The same by a token, on a server that believes no names.
  static ScriptedCalls WithToken(const std::string& address, const std::string& token);

  // What "$NAME" stands for from now on. No name may begin another.
  void Know(const std::string& name, const std::string& value) { remembered_[name] = value; }

  std::string Known(const std::string& name) const { return remembered_.at(name); }

  // Makes the calls in their order.
  void Run(const std::vector<Step>& script);

  // One text for each step: the call, the request, the status with its words and details, and the responses.
  std::vector<std::string> Seen() const;

  // The status codes with which a call ended, as numbers.
  const std::map<std::string, std::multiset<int>>& codes() const { return codes_; }
  // How each call ended, in the order of the calls.
  const std::vector<grpc::StatusCode>& ends() const { return ends_; }

 private:
  struct Result;
  Result Call(const Step& step);
  std::string Filled(std::string text);
  void Remember(const Step& step, const google::protobuf::Message& response);

  ScriptedCalls(const std::string& address, std::string principal, std::string key, std::string value);

  const std::string principal_;
  const std::pair<std::string, std::string> proof_;  // the metadata; none where the value is empty
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  std::map<std::string, std::string> remembered_;
  int requests_made_ = 0;
  std::vector<std::string> seen_;
  std::map<std::string, std::multiset<int>> codes_;
  std::vector<grpc::StatusCode> ends_;
};

}  // namespace curator::testing
