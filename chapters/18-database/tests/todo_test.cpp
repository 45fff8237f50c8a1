// The to-do list: as a class, as a service, and after a SIGKILL.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../examples/todo_store.h"
#include "db/sqlite_database.h"
#include "support/child.h"
#include "support/http_client.h"
#include "support/mariadb_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using example::Todo;
using example::TodoStore;
using nlohmann::json;
using test::ExampleServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

auto With(const std::string& method, const std::string& target, const std::string& body)
    -> std::string {
  return method + " " + target +
         " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

class TodoTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::IsBuiltWith(*SqliteDatabase({}))) {
      GTEST_SKIP() << "built without";
    }
  }

  [[nodiscard]] auto File() const -> std::string { return folder_.Path("todo.db"); }

  [[nodiscard]] auto MakePool() const -> std::unique_ptr<DbPool> {
    SqliteOptions options;
    options.file = File();
    return std::make_unique<DbPool>(SqliteDatabase(options));
  }

  const test::SiteFolder folder_;
};

TEST_F(TodoTest, TheStoreAddsChangesAndRemoves) {
  const auto pool = MakePool();
  TodoStore store(*pool);
  EXPECT_TRUE(store.All().empty());
  const Todo milk = store.Add("milk");
  const Todo bread = store.Add("'; DROP TABLE todos; --");
  EXPECT_FALSE(milk.done);
  EXPECT_EQ(store.All().size(), 2U);
  EXPECT_EQ(store.Find(bread.id)->title, "'; DROP TABLE todos; --");
  const auto done = store.Change(milk.id, std::nullopt, true);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->title, "milk");
  EXPECT_TRUE(done->done);
  EXPECT_EQ(store.Change(milk.id, "oat milk", std::nullopt)->title, "oat milk");
  EXPECT_TRUE(store.Find(milk.id)->done);
  EXPECT_FALSE(store.Change(99, "nothing", true));
  EXPECT_TRUE(store.Remove(bread.id));
  EXPECT_FALSE(store.Remove(bread.id));
  EXPECT_FALSE(store.Find(bread.id));
  EXPECT_GT(store.Add("jam").id, bread.id) << "an id is not given twice";
}

TEST_F(TodoTest, TheStoreRemembers) {
  {
    const auto pool = MakePool();
    TodoStore(*pool).Add("milk");
  }
  const auto pool = MakePool();
  EXPECT_EQ(TodoStore(*pool).All().at(0).title, "milk");
}

TEST_F(TodoTest, TheServiceSaysWhatIsWrong) {
  ExampleServer server("todo", {"0", File()});
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/api/todos")).body, "[]");
  const HttpReply added = client.Ask(With("POST", "/api/todos", R"({"title": "milk"})"));
  EXPECT_EQ(added.status, 201);
  EXPECT_EQ(added.Field("Location"), "/api/todos/1");
  EXPECT_EQ(json::parse(added.body), json({{"id", 1}, {"title", "milk"}, {"done", false}}));
  EXPECT_EQ(client.Ask(With("POST", "/api/todos", "{}")).status, 400);
  EXPECT_EQ(client.Ask(With("POST", "/api/todos", "[1]")).status, 400);
  EXPECT_EQ(client.Ask(With("POST", "/api/todos", R"({"title": ""})")).status, 400);
  EXPECT_EQ(client.Ask(With("PATCH", "/api/todos/1", R"({"done": 1})")).status, 400);
  const HttpReply patched = client.Ask(With("PATCH", "/api/todos/1", R"({"done": true})"));
  EXPECT_EQ(json::parse(patched.body)["done"], true);
  EXPECT_EQ(json::parse(client.Ask(Get("/api/todos/1")).body)["title"], "milk");
  EXPECT_EQ(client.Ask(Get("/api/todos/2")).status, 404);
  EXPECT_EQ(client.Ask(With("DELETE", "/api/todos/1", "")).status, 204);
  EXPECT_EQ(client.Ask(With("DELETE", "/api/todos/1", "")).status, 404);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(TodoTest, WithoutAFileItForgets) {
  for (int i = 0; i < 2; ++i) {
    ExampleServer server("todo", {"0"});
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Get("/api/todos")).body, "[]");
    EXPECT_EQ(client.Ask(With("POST", "/api/todos", R"({"title": "milk"})")).status, 201);
  }
}

// Four clients add while the server is killed. What a client was told is there, it finds again.
TEST_F(TodoTest, WhatWasAcknowledgedSurvivesAKill) {
  constexpr int kClients = 4;
  std::vector<std::vector<std::string>> acknowledged(kClients);
  std::atomic<int> count = 0;
  {
    ExampleServer server("todo", {"0", File()});
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&, i] {
        HttpClient client(server.Port());
        for (int n = 0;; ++n) {
          const std::string title = std::to_string(i) + "/" + std::to_string(n);
          const std::string body = json{{"title", title}}.dump();
          if (client.Ask(With("POST", "/api/todos", body)).status != 201) {
            break;  // it has been killed
          }
          acknowledged[static_cast<std::size_t>(i)].push_back(title);
          ++count;
        }
      });
    }
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    while (count < 100 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    server.Signal(SIGKILL);
    for (std::thread& client : clients) {
      client.join();
    }
    EXPECT_EQ(server.Wait(), 128 + SIGKILL);
  }
  EXPECT_GE(count, 100);
  ExampleServer server("todo", {"0", File()});
  HttpClient client(server.Port());
  const std::string all = client.Ask(Get("/api/todos")).body;
  for (const auto& titles : acknowledged) {
    for (const std::string& title : titles) {
      EXPECT_NE(all.find("\"" + title + "\""), std::string::npos) << title << " is lost";
    }
  }
}

TEST_F(TodoTest, AServerRemembersAsWell) {
  if (!test::IsBuiltWithMariaDb()) {
    GTEST_SKIP() << "built without";
  }
  test::MariaDbServer mariadb;
  static_cast<void>(mariadb.Options("todo"));
  const std::vector<std::string> arguments = {"0", "--mariadb", mariadb.Socket(), "todo"};
  {
    ExampleServer server("todo", arguments);
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(With("POST", "/api/todos", R"({"title": "🐢"})")).status, 201);
  }
  ExampleServer server("todo", arguments);
  HttpClient client(server.Port());
  const json all = json::parse(client.Ask(Get("/api/todos")).body);
  EXPECT_EQ(all, json::array({{{"id", 1}, {"title", "🐢"}, {"done", false}}}));
  mariadb.Kill();
  const HttpReply unavailable = client.Ask(Get("/api/todos"));
  EXPECT_EQ(unavailable.status, 503);
  EXPECT_EQ(unavailable.Field("Retry-After"), "1");
  mariadb.Start();
  EXPECT_EQ(client.Ask(Get("/api/todos")).status, 200) << "on a new connection";
}

}  // namespace
}  // namespace TURTLE_SERVER
