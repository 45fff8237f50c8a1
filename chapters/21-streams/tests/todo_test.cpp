// The to-do service, an example, from outside: its responses to each client.
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
using test::HttpReply;

constexpr const char* kJson = "application/json";

class TodoTest : public testing::Test {
 protected:
  auto Ask(const std::string& method, const std::string& target, const std::string& body = "",
           const std::string& type = kJson) -> HttpReply {
    std::string fields;
    if (!body.empty()) {
      fields = "Content-Length: " + std::to_string(body.size()) + "\r\n" +
               (type.empty() ? "" : "Content-Type: " + type + "\r\n");
    }
    return client_.Ask(method + " " + target + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n" + body,
                       method == "HEAD" ? test::Asked::kHead : test::Asked::kGet);
  }

  auto Add(const std::string& title) -> HttpReply {
    return Ask("POST", "/api/todos", json{{"title", title}}.dump());
  }

  auto Read(const std::string& target) -> json { return json::parse(Ask("GET", target).body); }

  // Expects an error of this status, as JSON, with the text `why`.
  static void ExpectError(const HttpReply& reply, int status, const std::string& why) {
    EXPECT_EQ(reply.status, status) << reply.body;
    EXPECT_EQ(reply.Field("Content-Type"), kJson);
    EXPECT_EQ(reply.body, json({{"error", why}}).dump());
  }

  // Expects 400 for POST and PATCH with this body, and no change.
  void ExpectRefused(const std::string& body, const std::string& why) {
    ExpectError(Ask("POST", "/api/todos", body), 400, why);
    ExpectError(Ask("PATCH", "/api/todos/1", body), 400, why);
    EXPECT_EQ(Read("/api/todos"), json::parse(R"([{"id": 1, "title": "milk", "done": false}])"));
  }

  [[nodiscard]] auto Program() -> test::ExampleServer& { return program_; }

 private:
  const test::OwnFolder folder_;  // a later chapter's service keeps its list there
  test::ExampleServer program_{"todo"};
  test::HttpClient client_{program_.Port()};
};

TEST_F(TodoTest, WhatIsAddedIsListedInOrder) {
  const HttpReply empty = Ask("GET", "/api/todos");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.Field("Content-Type"), kJson);
  EXPECT_EQ(empty.body, "[]");
  const HttpReply milk = Add("milk");
  EXPECT_EQ(milk.status, 201);
  EXPECT_EQ(milk.Field("Location"), "/api/todos/1");
  EXPECT_EQ(milk.Field("Content-Type"), kJson);
  EXPECT_EQ(json::parse(milk.body), json({{"id", 1}, {"title", "milk"}, {"done", false}}));
  const HttpReply bread = Ask("POST", "/api/todos", R"({"title": "bread", "done": true})",
                              "Application/JSON ; charset=utf-8");
  EXPECT_EQ(bread.status, 201);
  EXPECT_EQ(Read("/api/todos"), json::array({json::parse(milk.body), json::parse(bread.body)}));
  EXPECT_EQ(Read("/api/todos?done=true"), json::array({json::parse(bread.body)}));
  EXPECT_EQ(Read("/api/todos?done=false"), json::array({json::parse(milk.body)}));
  EXPECT_EQ(Read(bread.Field("Location")), json::parse(bread.body));
  EXPECT_EQ(Ask("HEAD", "/api/todos/1").status, 200);
  ExpectError(Ask("GET", "/api/todos?done=maybe"), 400,
              R"(done must be true or false, not "maybe")");
}

TEST_F(TodoTest, APatchChangesWhatItNames) {
  Add("milk");
  const auto patch = [this](const std::string& body) {
    const HttpReply reply = Ask("PATCH", "/api/todos/1", body);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(json::parse(reply.body), Read("/api/todos/1"));
    return json::parse(reply.body);
  };
  EXPECT_EQ(patch(R"({"done": true})"), json({{"id", 1}, {"title", "milk"}, {"done", true}}));
  EXPECT_EQ(patch(R"({"title": "oat milk"})"),
            json({{"id", 1}, {"title", "oat milk"}, {"done", true}}));
  EXPECT_EQ(patch(R"({"title": "rye", "done": false})"),
            json({{"id", 1}, {"title", "rye"}, {"done", false}}));
  EXPECT_EQ(patch("{}"), json({{"id", 1}, {"title", "rye"}, {"done", false}}));
}

TEST_F(TodoTest, AnIdIsNeverUsedAgain) {
  Add("milk");
  Add("bread");
  const HttpReply reply = Ask("DELETE", "/api/todos/2");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(Add("jam").Field("Location"), "/api/todos/3");
}

TEST_F(TodoTest, WhatIsNotThereIs404) {
  for (const std::string method : {"GET", "DELETE"}) {
    ExpectError(Ask(method, "/api/todos/7"), 404, "there is no to-do 7");
  }
  ExpectError(Ask("PATCH", "/api/todos/-7", R"({"done": true})"), 404, "there is no to-do -7");
  for (const std::string path : {"/api", "/api/nothing", "/api/todos/", "/api/todos/milk",
                                 "/api/todos/9223372036854775808"}) {
    ExpectError(Ask("GET", path), 404, "Not Found");
  }
  EXPECT_EQ(Ask("GET", "/nothing").status, 404);
}

TEST_F(TodoTest, AnotherMethodIs405) {
  const HttpReply list = Ask("DELETE", "/api/todos");
  ExpectError(list, 405, "Method Not Allowed");
  EXPECT_EQ(list.Field("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(Ask("PUT", "/api/todos/1").Field("Allow"), "GET, HEAD, PATCH, DELETE, OPTIONS");
  EXPECT_EQ(Ask("OPTIONS", "/api/todos").status, 204);
}

TEST_F(TodoTest, WhatIsNotJsonIs415) {
  Add("milk");
  for (const std::string type : {"text/plain", "application/x-www-form-urlencoded"}) {
    const std::string why = "Content-Type must be application/json, not " + type;
    ExpectError(Ask("POST", "/api/todos", R"({"title": "x"})", type), 415, why);
    ExpectError(Ask("PATCH", "/api/todos/1", R"({"title": "x"})", type), 415, why);
  }
  EXPECT_EQ(Ask("POST", "/api/todos", R"({"title": "x"})", "").status, 415);
  EXPECT_EQ(Read("/api/todos").size(), 1U);
}

TEST_F(TodoTest, WrongInputIsNamed) {
  Add("milk");
  ExpectRefused(R"({"title": 5})", "title must be some text, not 5");
  ExpectRefused(R"({"title": null})", "title must be some text, not null");
  ExpectRefused(R"({"title": ""})", R"(title must be some text, not "")");
  ExpectRefused(R"({"title": " \t"})", R"(title must be some text, not " \t")");
  ExpectRefused(R"({"title": "x", "done": "yes"})", R"(done must be true or false, not "yes")");
  ExpectRefused(R"({"title": "x", "id": 7})", R"(there is no field "id", only title and done)");
  ExpectRefused(R"(["title"])", R"(the body must be an object, not ["title"])");
  ExpectRefused(R"({"title": })", "The JSON is wrong at line 1, column 11: unexpected '}'.");
  ExpectRefused("{\"title\": \"" + std::string(201, 'x') + "\"}",
                "title must have at most 200 characters, not 201");
  ExpectError(Ask("POST", "/api/todos", R"({"done": true})"), 400, "title is missing");
  ExpectError(Ask("POST", "/api/todos", "{}"), 400, "title is missing");
}

TEST_F(TodoTest, ALengthIsCountedInCharacters) {
  std::string turtles;
  for (int i = 0; i < 200; ++i) {
    turtles += "🐢";
  }
  EXPECT_EQ(Add(turtles).status, 201);
  EXPECT_EQ(Read("/api/todos/1")["title"], turtles);
  EXPECT_EQ(Add(turtles + "!").status, 400);
}

TEST_F(TodoTest, AFullListTakesMoreWhenOneIsDeleted) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(Add("x").status, 201);
  }
  ExpectError(Add("one too many"), 409, "there are 1000 to-dos: delete one first");
  EXPECT_EQ(Read("/api/todos").size(), 1000U);
  EXPECT_EQ(Ask("DELETE", "/api/todos/500").status, 204);
  EXPECT_EQ(Add("the last one").status, 201);
}

TEST_F(TodoTest, WhoListensHearsOfEachChange) {
  test::HttpClient listener(Program().Port());
  ASSERT_TRUE(listener.Send(test::Get("/api/events")));
  ASSERT_TRUE(listener.HasInput(test::kPatience)) << "the head: from now on it is told";
  Add("milk");
  Add("");  // changes nothing
  Ask("GET", "/api/todos");
  Ask("PATCH", "/api/todos/1", R"({"done": true})");
  Ask("DELETE", "/api/todos/1");
  Ask("DELETE", "/api/todos/1");
  Program().Signal(SIGTERM);
  const HttpReply heard = listener.ReadReply();
  EXPECT_EQ(heard.Field("Content-Type"), "text/event-stream");
  EXPECT_EQ(heard.body, "data: changed\n\ndata: changed\n\ndata: changed\n\n");
  EXPECT_TRUE(heard.complete);
  EXPECT_EQ(Program().Wait(), 0);
}

TEST_F(TodoTest, ThePageIsServedUnderAStrictPolicy) {
  const HttpReply page = Ask("GET", "/");
  EXPECT_EQ(page.Field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<script type=\"module\" src=\"todo.js\">"), std::string::npos);
  EXPECT_EQ(Ask("GET", "/todo.js").Field("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(Ask("GET", "/todo.css").Field("Content-Type"), "text/css; charset=utf-8");
  EXPECT_EQ(Ask("GET", "/todo.svg").Field("Content-Type"), "image/svg+xml");
  for (const std::string path : {"/", "/todo.js", "/api/todos", "/api/todos/7"}) {
    const HttpReply reply = Ask("GET", path);
    EXPECT_EQ(reply.Field("Content-Security-Policy").rfind("default-src 'none'; ", 0), 0U) << path;
    EXPECT_EQ(reply.Field("X-Content-Type-Options"), "nosniff") << path;
  }
}

TEST(TodoPageTest, AFolderWithoutThePageIsSaidAtOnce) {
  const test::OwnFolder folder;
  test::Child program(test::ExamplePath("todo"), {"0", "/nowhere"});
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_EQ(program.ReadErrors(), "todo: can't read /nowhere/index.html\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
