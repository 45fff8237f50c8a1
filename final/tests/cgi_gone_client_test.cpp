// A client resets its connection before it is accepted: its request can be read, but the kernel has
// forgotten its address.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/captured_stderr.h"
#include "support/cgi_server.h"
#include "support/http_client.h"

namespace TURTLE_SERVER {
namespace {

TEST(CgiGoneClientTest, NoProgramRunsForNobodyKnowsWhom) {
  const test::ProgramFolder programs;
  programs.Write("broken", "#!/no/such/shell\n");  // the log reports this to the operator
  std::filesystem::permissions(programs.Path("broken"), std::filesystem::perms(0755));
  const test::CapturedStderr errors;
  test::CgiServer server(programs);
  server.Loop().WhileItStandsStill([&server] {
    test::HttpClient client(server.Port());
    client.Send(test::Get("/cgi-bin/broken"));
    client.Reset();
  });
  server.Loop().RunRounds(3);
  EXPECT_EQ(errors.Text(), "") << "it was started";
  test::HttpClient client(server.Port());
  EXPECT_GE(client.Ask(test::Get("/cgi-bin/broken")).status, 400);
  EXPECT_NE(errors.Text().find("cgi broken: execve: "), std::string::npos) << errors.Text();
}

}  // namespace
}  // namespace TURTLE_SERVER
