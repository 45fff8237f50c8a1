// The test's own MariaDB server: on a socket in a temporary directory, without a network.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "core/socket_calls.h"
#include "db/mariadb_database.h"
#include "support/child.h"
#include "support/db_failure.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER::test {

/// Runs from construction to destruction. Every wait for it is bounded, and throws at its end.
class MariaDbServer {
 public:
  /// For mariadb-install-db on a busy machine, and for recovery after a kill.
  static constexpr std::chrono::seconds kLimit{50};

  MariaDbServer() {
    std::filesystem::copy(Template(), folder_.Path("data"),
                          std::filesystem::copy_options::recursive);
    Start();
  }

  MariaDbServer(const MariaDbServer&) = delete;
  auto operator=(const MariaDbServer&) -> MariaDbServer& = delete;

  /// Starts it, or starts it again. It accepts connections when this returns.
  void Start() {
    server_.reset();
    // setpriv: if the test is killed, the server ends with it.
    server_ = std::make_unique<Child>(
        "/usr/bin/env",
        std::vector<std::string>{
            "setpriv", "--pdeathsig", "KILL", "--", Program({"mariadbd", "mysqld"}),
            "--no-defaults", "--user=" + UserName(), "--datadir=" + folder_.Path("data"),
            "--socket=" + Socket(), "--pid-file=" + folder_.Path("pid"),
            "--log-error=" + folder_.Path("log"), "--skip-networking", "--performance-schema=OFF",
            "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M",
            "--innodb-buffer-pool-load-at-startup=OFF", "--innodb-flush-log-at-trx-commit=1"});
    const auto end = std::chrono::steady_clock::now() + kLimit;
    while (!Answers()) {
      if (server_->Wait(std::chrono::milliseconds(0)) || std::chrono::steady_clock::now() > end) {
        throw std::runtime_error("the MariaDB server does not start: " + folder_.Read("log") +
                                 server_->ReadErrors(std::chrono::milliseconds(100)));
      }
      ::poll(nullptr, 0, 10);  // before it listens, there is nothing to wait on
    }
  }

  /// Stops it where it is. When this returns, none of its threads runs.
  void Stall() const {
    server_->Signal(SIGSTOP);
    const auto end = std::chrono::steady_clock::now() + kLimit;
    int status = 0;
    while (::waitpid(server_->Pid(), &status, WUNTRACED | WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        throw std::runtime_error("the MariaDB server does not stop");
      }
      ::poll(nullptr, 0, 1);
    }
  }

  /// Lets it go on.
  void Resume() const { server_->Signal(SIGCONT); }

  /// Kills it at once, like a power failure, except for data that the kernel still writes.
  void Kill() {
    server_->Signal(SIGKILL);
    if (!server_->Wait(kLimit)) {
      throw std::runtime_error("the MariaDB server does not end");
    }
  }

  /// Returns the path of its socket.
  [[nodiscard]] auto Socket() const -> std::string { return folder_.Path("socket"); }

  /// Returns how to reach it, with a database that is created for the test.
  /// @param name the database; "": none
  [[nodiscard]] auto Options(const std::string& name) const -> MariaDbOptions {
    MariaDbOptions options;
    options.unix_socket = Socket();
    options.user = "root";
    if (!name.empty()) {
      const std::string text = "CREATE DATABASE IF NOT EXISTS " + name + " CHARACTER SET utf8mb4";
      MariaDbDatabase(options)->Open()->Execute(Sql::Trusted(text));
    }
    options.database_name = name;
    return options;
  }

  /// Returns the text of its log.
  [[nodiscard]] auto LogText() const -> std::string { return folder_.Read("log"); }

 private:
  static auto UserName() -> std::string {
    const passwd* const user = ::getpwuid(::geteuid());
    return user == nullptr ? "root" : user->pw_name;
  }

  static auto Program(const std::vector<std::string>& names) -> std::string {
    std::string folders = "/usr/sbin:/usr/local/sbin:";
    folders += std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
    for (std::size_t begin = 0; begin <= folders.size();) {
      const std::size_t end = std::min(folders.find(':', begin), folders.size());
      for (const std::string& name : names) {
        const std::string path = folders.substr(begin, end - begin).append("/").append(name);
        if (::access(path.c_str(), X_OK) == 0) {
          return path;
        }
      }
      begin = end + 1;
    }
    throw std::runtime_error("there is no " + names.front() +
                             ": these tests need a MariaDB server, apt-get install mariadb-server, "
                             "or a build without, -DTURTLE_MARIADB=OFF");
  }

  // Returns the data directory of a server that has never run. Creating it takes seconds, so it is
  // created once per build, and copied.
  static auto Template() -> std::string {
    const std::string made = std::string(kExamplesDir) + "/../mariadb_template";
    const UniqueFd lock(::open((made + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock || ::flock(lock.Get(), LOCK_EX) != 0) {  // other tests run at the same time
      throw std::runtime_error("lock " + made);
    }
    if (!std::filesystem::exists(made)) {
      const std::string half = made + ".half";
      std::filesystem::remove_all(half);
      Child install("/usr/bin/env",
                    {Program({"mariadb-install-db", "mysql_install_db"}), "--no-defaults",
                     "--user=" + UserName(), "--datadir=" + half, "--skip-test-db",
                     "--auth-root-authentication-method=normal", "--innodb-log-file-size=4M"});
      const std::string said = install.ReadOutput(kLimit);
      if (install.Wait(kLimit) != 0) {
        throw std::runtime_error("mariadb-install-db: " + said +
                                 install.ReadErrors(std::chrono::milliseconds(100)));
      }
      std::filesystem::rename(half, made);
    }
    return made;
  }

  [[nodiscard]] auto Answers() const -> bool {
    const UniqueFd client(OpenSocket(AF_UNIX, FdMode::kBlocking));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    Socket().copy(address.sun_path, sizeof address.sun_path - 1);
    return ::connect(client.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
           0;
  }

  const LogFolder folder_;
  std::unique_ptr<Child> server_;  // destroyed before its directory
};

}  // namespace TURTLE_SERVER::test
