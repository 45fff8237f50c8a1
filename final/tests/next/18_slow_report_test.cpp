// A report that takes its time is made once, and not again for each visitor.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/cgi_server.h"
#include "support/http_client.h"
#include "support/turtle.h"

namespace TURTLE_SERVER {
namespace {

TEST(SlowReport, TheSecondVisitorGetsTheReportOfTheFirst) {
  const test::ProgramFolder folder;
  folder.Program("cgi-bin/report",
                 "echo >> .runs\nprintf 'Content-Type: text/plain\\n\\nrun %d' $(wc -l < .runs)\n");
  ::setenv("USE_RESP_CACHE", "1", 1);  // asks the server to keep responses, if it can
  const test::Turtle turtle({folder.Path(), "--port", "0", "--cgi-dir", folder.Path("cgi-bin")});
  ::unsetenv("USE_RESP_CACHE");
  ASSERT_GT(turtle.Port(), 0) << turtle.FirstLine();
  EXPECT_EQ(test::HttpClient(turtle.Port()).Ask(test::Get("/cgi-bin/report")).body, "run 1");
  EXPECT_EQ(test::HttpClient(turtle.Port()).Ask(test::Get("/cgi-bin/report")).body, "run 1");
}

}  // namespace
}  // namespace TURTLE_SERVER
