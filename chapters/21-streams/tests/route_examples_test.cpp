// The chapter's small programs, from outside.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/child.h"
#include "support/http_client.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;
using test::Child;
using test::Get;
using test::HttpClient;
using test::HttpReply;

auto PortOf(Child& program) -> int {
  const std::string line = program.ReadLine();
  return std::stoi(line.substr(line.rfind(':') + 1));
}

auto PostHead(const std::string& target, std::size_t length, const std::string& fields = "")
    -> std::string {
  return "POST " + target + " HTTP/1.1\r\nHost: t\r\n" + fields +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

TEST(RouteExamplesTest, HelloSaysHello) {
  Child program(test::ExamplePath("hello_server"), {"0"});
  EXPECT_EQ(HttpClient(PortOf(program)).Ask(Get("/hello")).body, "hello\n");
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
}

TEST(RouteExamplesTest, JsonIsCalculated) {
  Child program(test::ExamplePath("json_arithmetic"), {"0"});
  HttpClient client(PortOf(program));
  const auto ask = [&client](const std::string& body) {
    return client.Ask(PostHead("/json", body.size()) + body);
  };
  for (const double n : {5.0, 2.5, -1e300}) {
    const json reply = json::parse(ask(json{{"value", n}, {"more", "ignored"}}.dump()).body);
    EXPECT_EQ(reply.size(), 5U);
    EXPECT_EQ(reply["plus"], n + 20);
    EXPECT_EQ(reply["minus"], n - 69);
    EXPECT_EQ(reply["plus_float"], n + 3.14);
    EXPECT_EQ(reply["list"], json({n, 2 * n, 3.14 * n}));
    EXPECT_EQ(reply["object"], json({{"item1", n},
                                     {"item2", true},
                                     {"item3", n - 3.14},
                                     {"anotherList", {n - 1, n - 2.5, "somestr", false, n}}}));
  }
  EXPECT_TRUE(json::parse(ask(R"({"value": 5})").body)["plus"].is_number_integer());
  EXPECT_EQ(json::parse(ask("{}").body)["plus"], 20) << "a value that is missing is 0";
  const HttpReply broken = ask(R"({"value": )");
  EXPECT_EQ(broken.status, 400);
  EXPECT_NE(broken.body.find("line 1, column 11"), std::string::npos) << broken.body;
  EXPECT_EQ(ask("[]").status, 400);
  EXPECT_EQ(ask(R"({"value": "5"})").status, 400);
  EXPECT_EQ(client.Ask(Get("/json")).status, 405);
}

TEST(RouteExamplesTest, WhoListensHearsWhatIsSaid) {
  Child program(test::ExamplePath("announcements"), {"0"});
  const int port = PortOf(program);
  test::Client listener(port);
  ASSERT_TRUE(listener.Send(Get("/events")));
  const auto hear = [&listener](const std::string& what) {
    std::string heard;
    char byte = 0;
    while (heard.find(what) == std::string::npos &&
           test::AwaitReady(listener.GetSocket().GetFd(), POLLIN) &&
           listener.GetSocket().Recv(&byte, 1).status == IoStatus::kBytes) {
      heard += byte;
    }
    return heard;
  };
  EXPECT_NE(hear("data: welcome\n").find("text/event-stream"), std::string::npos);
  EXPECT_EQ(HttpClient(port).Ask(PostHead("/say", 4) + "slow").status, 204);
  EXPECT_NE(hear("data: slow\n").find("data: slow\n"), std::string::npos);
  program.Signal(SIGTERM);
  EXPECT_NE(hear("\r\n0\r\n\r\n").find("\r\n0\r\n\r\n"), std::string::npos) << "a proper end";
  EXPECT_EQ(program.Wait(), 0);
}

// 32 clients, each of which waits for permission: none may be left to give up waiting, as clients
// do after a second.
TEST(RouteExamplesTest, ManyClientsThatWaitForLeaveGetItAtOnce) {
  Child program(test::ExamplePath("query_daemon"), {"0"});
  const int port = PortOf(program);
  for (const std::string target : {"/query?a=b", "/later?a=b"}) {
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < 32; ++i) {
      clients.push_back(std::make_unique<HttpClient>(port));
      ASSERT_TRUE(clients.back()->Send(PostHead(target, 5, "Expect: 100-continue\r\n")));
    }
    for (const auto& client : clients) {
      ASSERT_EQ(client->ReadReply().status, 100);
      ASSERT_TRUE(client->Send("hello"));
    }
    for (const auto& client : clients) {
      const json reply = json::parse(client->ReadReply().body);
      EXPECT_EQ(reply["uri"], target);
      EXPECT_EQ(reply["body"], "hello");
      EXPECT_EQ(reply["from"].get<std::string>().substr(0, 10), "127.0.0.1:");
    }
  }
}

TEST(RouteExamplesTest, FilesAreKeptUnderNumbers) {
  const test::SiteFolder folder;
  folder.Write("1", "was here");
  Child program(test::ExamplePath("uploads"), {"0", folder.Path()});
  HttpClient client(PortOf(program));
  EXPECT_NE(client.Ask(Get("/")).body.find("multipart/form-data"), std::string::npos);
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=note\r\n\r\nx\r\n"
      "--b\r\nContent-Disposition: form-data; name=file; "
      "filename=\"../cat.jpg\"\r\n\r\nmeow\r\n--b--";
  const std::string type = "Content-Type: multipart/form-data; boundary=b\r\n";
  const HttpReply reply = client.Ask(PostHead("/files", form.size(), type) + form);
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "2: cat.jpg, 4 bytes\n");
  std::ifstream file(folder.Path("2"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "meow");
  const HttpReply kept = client.Ask(Get("/files/2"));
  EXPECT_EQ(kept.body, "meow");
  EXPECT_EQ(kept.Field("Content-Disposition"), "attachment");
  EXPECT_EQ(client.Ask(Get("/files/3")).status, 404);
  EXPECT_EQ(client.Ask(PostHead("/files", 1, "Content-Type: text/plain\r\n") + "x").status, 415);
}

TEST(RouteExamplesTest, TextOfAnyLengthIsAnsweredWhileItComes) {
  const test::SiteFolder folder;
  Child program(test::ExamplePath("uploads"), {"0", folder.Path()});
  HttpClient client(PortOf(program));
  const std::string text(3'000'000, 'a');
  ASSERT_TRUE(client.Send(PostHead("/upper", 2 * text.size())));
  std::thread sender([&] {
    ASSERT_TRUE(client.Send(text));
    ASSERT_TRUE(client.Send(text));
  });
  const HttpReply reply = client.ReadReply();
  sender.join();
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(reply.body == std::string(6'000'000, 'A')) << reply.body.size() << " bytes";
}

}  // namespace
}  // namespace TURTLE_SERVER
