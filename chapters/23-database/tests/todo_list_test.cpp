// The to-do list in a database: as a class, after a SIGKILL of its service, and while its server is
// down.
#include "../examples/todo_list.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "db/sqlite_database.h"
#include "support/child.h"
#include "support/http_client.h"
#include "support/mariadb_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using nlohmann::json;
using test::ExampleServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

using Texts = std::vector<std::string>;

auto Titles(const std::vector<Todo>& todos) -> Texts {
  Texts titles;
  for (const Todo& todo : todos) {
    titles.push_back(todo.title);
  }
  return titles;
}

auto With(const std::string& method, const std::string& target, const std::string& body)
    -> std::string {
  return method + " " + target +
         " HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

class TodoListTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::IsBuiltWith(*SqliteDatabase({}))) {
      GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
    }
  }

  static auto Page() -> std::string { return test::ExamplePath("todo_page"); }
  [[nodiscard]] auto File() const -> std::string { return folder_.Path("todo.db"); }

  [[nodiscard]] auto MakePool() const -> std::unique_ptr<DbPool> {
    SqliteOptions options;
    options.file = File();
    return std::make_unique<DbPool>(SqliteDatabase(options));
  }

  const test::SiteFolder folder_;
};

TEST_F(TodoListTest, AddsChangesAndRemoves) {
  const auto pool = MakePool();
  TodoList todos(*pool, 100);
  EXPECT_TRUE(todos.All().empty());
  const Todo milk = todos.Add("milk", false).value();
  const Todo bread = todos.Add("'; DROP TABLE todos; --", true).value();
  EXPECT_FALSE(milk.done);
  EXPECT_EQ(Titles(todos.All()), (Texts{"milk", bread.title}));
  EXPECT_EQ(Titles(todos.All(false)), Texts{"milk"});
  EXPECT_EQ(Titles(todos.All(true)), Texts{bread.title});
  EXPECT_EQ(todos.Find(bread.id).value().title, "'; DROP TABLE todos; --");
  const auto done = todos.Change(milk.id, {std::nullopt, true});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->title, "milk");
  EXPECT_TRUE(done->done);
  EXPECT_EQ(todos.Change(milk.id, {"oat milk", std::nullopt}).value().title, "oat milk");
  EXPECT_TRUE(todos.Find(milk.id).value().done);
  EXPECT_FALSE(todos.Change(99, {"nothing", true}));
  EXPECT_TRUE(todos.Remove(bread.id));
  EXPECT_FALSE(todos.Remove(bread.id));
  EXPECT_FALSE(todos.Find(bread.id));
  EXPECT_GT(todos.Add("jam", false).value().id, bread.id) << "an id is not given twice";
}

TEST_F(TodoListTest, AFullListIsFullForAllWhoAddAtOnce) {
  constexpr std::size_t kMaxTodos = 10;
  const auto pool = MakePool();
  TodoList todos(*pool, kMaxTodos);
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&todos] {
      for (std::size_t n = 0; n < kMaxTodos; ++n) {
        todos.Add("x", false);
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(todos.All().size(), kMaxTodos);
}

TEST_F(TodoListTest, RemembersAndGivesNoIdTwice) {
  std::int64_t last = 0;
  {
    const auto pool = MakePool();
    TodoList todos(*pool, 100);
    todos.Add("milk", false);
    last = todos.Add("bread", false).value().id;
    todos.Remove(last);
  }
  const auto pool = MakePool();
  TodoList todos(*pool, 100);
  EXPECT_EQ(Titles(todos.All()), Texts{"milk"});
  EXPECT_GT(todos.Add("jam", false).value().id, last);
}

// Four clients add entries while the server is killed. Afterwards, every entry that was
// acknowledged is there.
TEST_F(TodoListTest, WhatWasAcknowledgedSurvivesAKill) {
  constexpr int kClients = 4;
  std::vector<std::vector<std::string>> acknowledged(kClients);
  std::atomic<int> count = 0;
  {
    ExampleServer server("todo", {"0", Page(), File()});
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
  ExampleServer server("todo", {"0", Page(), File()});
  HttpClient client(server.Port());
  const std::string all = client.Ask(Get("/api/todos")).body;
  for (const auto& titles : acknowledged) {
    for (const std::string& title : titles) {
      EXPECT_NE(all.find("\"" + title + "\""), std::string::npos) << title << " is lost";
    }
  }
}

TEST_F(TodoListTest, AServerRemembersAsWell) {
  if (!test::IsBuiltWithMariaDb()) {
    GTEST_SKIP() << "built without this database (TURTLE_SQLITE, TURTLE_MARIADB)";
  }
  test::MariaDbServer mariadb;
  static_cast<void>(mariadb.Options("todo"));
  const std::vector<std::string> arguments = {"0", Page(), "--mariadb", mariadb.Socket(), "todo"};
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
  EXPECT_EQ(unavailable.body, R"({"error":"Service Unavailable"})");
  mariadb.Start();
  EXPECT_EQ(client.Ask(Get("/api/todos")).status, 200) << "on a new connection";
}

}  // namespace
}  // namespace TURTLE_SERVER
