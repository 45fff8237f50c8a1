// The to-do list must survive a restart.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "support/child.h"
#include "support/http_client.h"
#include "support/own_folder.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;

TEST(Restart, AToDoIsStillToBeDone) {
  const test::OwnFolder folder;  // both services are started here
  const std::string todo = R"({"title": "buy milk"})";
  json added;
  {
    test::ExampleServer service("todo");
    test::HttpClient client(service.Port());
    const test::HttpReply reply = client.Ask(
        "POST /api/todos HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(todo.size()) + "\r\n\r\n" + todo);
    ASSERT_EQ(reply.status, 201);
    added = json::parse(reply.body);
    service.Signal(SIGTERM);
    ASSERT_EQ(service.Wait(), 0);
  }
  test::ExampleServer again("todo");
  test::HttpClient client(again.Port());
  const std::string target = "/api/todos/" + added["id"].dump();
  const test::HttpReply reply = client.Ask(test::Get(target));
  EXPECT_EQ(reply.status, 200) << "a restart has forgotten it";
  EXPECT_EQ(json::parse(reply.body, nullptr, false), added);
  client.Ask("DELETE " + target + " HTTP/1.1\r\nHost: t\r\n\r\n");
  again.Signal(SIGTERM);
  EXPECT_EQ(again.Wait(), 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
