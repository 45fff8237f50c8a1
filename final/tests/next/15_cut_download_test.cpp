// Stopping the server must not cut the responses that are on their way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/child.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::Child;
using test::ExamplePath;

// The program, once there is one; until then the example.
auto StartServer(const std::string& root) -> std::unique_ptr<Child> {
  const std::string program = ExamplePath("../turtle");
  if (::access(program.c_str(), X_OK) != 0) {
    return std::make_unique<Child>(ExamplePath("web_server"), std::vector<std::string>{"0", root});
  }
  return std::make_unique<Child>(
      program, std::vector<std::string>{"serve", root, "--port", "0", "--stop-timeout", "60"});
}

TEST(CutDownload, AClientGetsTheRestAfterSigterm) {
  constexpr std::size_t kSize = 32 << 20;  // more than fits into the sockets of both sides
  const test::SiteFolder site;
  site.Write("large", std::string(kSize, 'x'));
  const std::unique_ptr<Child> server = StartServer(site.Path());
  const std::string line = server->ReadLine();  // ends with :PORT or :PORT/
  const std::size_t colon = line.rfind(':');
  ASSERT_NE(colon, std::string::npos) << line;
  test::HttpClient client(std::stoi(line.substr(colon + 1)));
  ASSERT_TRUE(client.Send(test::Get("/large")));
  ASSERT_TRUE(client.HasInput(test::kPatience)) << "no response begins";
  server->Signal(SIGTERM);
  const test::HttpReply reply = client.ReadReply();
  EXPECT_TRUE(reply.complete) << reply.body.size() << " of " << kSize << " bytes";
  EXPECT_EQ(server->Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
