// The calls of the server that a page may make: an allow-list. A call that is not on it does not exist for a
// browser, whoever is signed in; what a user may do is the server's to decide.
//
// Thread-safe: constant after the first use.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace curator::gate {

struct ApiMethod {
  std::string name;                          // "BudgetService/GetBudget"
  const google::protobuf::Message* request;  // prototypes
  const google::protobuf::Message* response;
  bool is_stream;  // of responses

  // As gRPC names it: "/curator.v1.BudgetService/GetBudget".
  std::string Path() const { return "/curator.v1." + name; }
};

// Null for a method that is not on the list.
const ApiMethod* FindApiMethod(std::string_view name);

// For tests: the names of all methods of the server that are not on the list.
std::vector<std::string> MethodsLeftOut();
// For tests: the names of all services that the list is chosen from.
std::vector<std::string> ServicesOfTheProtocol();

}  // namespace curator::gate
