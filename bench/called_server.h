// A server with a configuration in this process, and a client that proves who it is: what the benchmarks of
// what is done in every call compare with.
#pragma once

#include <memory>
#include <sstream>
#include <string>

#include "app.h"
#include "app_bootstrap.h"
#include "bench/must.h"
#include "client/client.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_issuer.h"
#include "tests/testing/test_server.h"

namespace curator::bench {

class CalledServer {
 public:
  CalledServer() {
    EnrolAdministrator();
    const Client owner = As("olga");
    Must(owner.Enrol({}).status());
    Must(caller_.Enrol({}).status());
    v1::BindRoleRequest creator;
    creator.set_role(v1::RoleBinding::CREATOR);
    creator.set_principal("corp.olga");
    Must(As("ada").BindRole(creator).status());
    testing::MakeSealed(owner, testing::NewDataset("census", v1::RULE_PURE, "9"), testing::SmallCsv(80));
    testing::Grant(owner, "census", "corp.bob", {v1::ANALYST, v1::SERVICE});
  }

  // Of "census" an analyst and a service, on a unix socket, by a token that the server remembers.
  const Client& caller() const { return caller_; }
  void Call() const { Must(caller_.GetDataset("census").status()); }

 private:
  Client As(const std::string& subject) const {
    return Client({.server = app_->address(),
                   .principal = {},
                   .retry = {},
                   .token = [token = issuer_.TokenOf(subject)](bool) { return token; }});
  }
  void EnrolAdministrator() const {
    std::ostringstream said;
    RunBootstrap(*options_.config,
                 {.principal = "ada", .issuer = testing::TestIssuer::kIssuer, .subject = "ada"}, said, said);
    const std::string text = said.str();
    const size_t begin = text.find("cure_");
    v1::EnrolRequest enrol;
    enrol.set_code(text.substr(begin, text.find_first_of("\n ", begin) - begin));
    Must(As("ada").Enrol(enrol).status());
  }
  AppOptions Options() const {
    AppOptions options = testing::FreshOptions(testing::Backend::kSqlite, folder_.path());
    options.development = false;
    options.config =
        config::ServerConfig{.listeners = {{.kind = config::ListenerKind::kLocal,
                                            .address = "unix:" + folder_.path() + "/local.sock"}},
                             .ledger = options.ledger,
                             .data_dir = options.data_directory,
                             .issuers = {{.issuer = {.alias = "corp",
                                                     .issuer = testing::TestIssuer::kIssuer,
                                                     .audiences = {"curator"}},
                                          .unknown = config::UnknownIdentities::kRegister}},
                             .jwks_folder = folder_.path() + "/jwks",
                             .quotas = {.calls_per_second = 1'000'000, .calls_after_a_pause = 1'000'000}};
    return options;
  }

  const testing::ScratchFolder folder_;
  const testing::TestIssuer issuer_{folder_.path() + "/jwks"};
  const AppOptions options_ = Options();
  const std::unique_ptr<App> app_ = App::Start(options_).value();
  const Client caller_ = As("bob");
};

}  // namespace curator::bench
