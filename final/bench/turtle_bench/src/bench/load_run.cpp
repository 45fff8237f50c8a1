#include "bench/load_run.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/cpu_time.h"
#include "bench/descriptor_limit.h"
#include "bench/input_end.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/tls_client_context.h"
#include "bench/worker.h"
#include "core/signal_watch.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::chrono::seconds kProgress{1};
// LoadMode::kIdle: how long it may take until all connections are held.
constexpr std::chrono::seconds kOpeningTime{60};
// The descriptors of a worker besides its connections: poller, wake-up, timer. And the program:
// stdin, stdout, stderr, its own loop, the JSON file.
constexpr std::uint64_t kDescriptorsPerThread = 4;
constexpr std::uint64_t kDescriptorsBesides = 16;

class LoadRun {
 public:
  LoadRun(const BenchOptions& options, std::ostream& out, std::ostream& errors);
  ~LoadRun();

  LoadRun(const LoadRun&) = delete;
  auto operator=(const LoadRun&) -> LoadRun& = delete;

  // Throws std::runtime_error if no server could be put under load, and std::system_error if the
  // system has no room for the threads.
  void Run();
  [[nodiscard]] auto MakeReport() const -> Report;

 private:
  auto MakeEvents() -> WorkerEvents;
  void StartThreads();
  void Begin();
  void ShowProgress();
  void OnReady();
  void Give(std::string error);
  void RunWorker(Worker& worker) noexcept;
  void Join() noexcept;
  auto Sum() const noexcept -> Totals;

  const BenchOptions& options_;
  std::ostream& out_;
  std::ostream& errors_;
  SharedRun shared_;
  std::optional<TlsClientContext> tls_;  // https
  Looper control_;
  std::optional<SignalWatch> signals_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::size_t not_ready_;
  bool held_ = false;  // READY has been printed
  std::optional<InputEnd> input_;
  Progress progress_;
  TimePoint begin_time_{};
  CpuTime begin_cpu_{};
  CpuTime end_cpu_{};
  std::string error_;  // why it can't go on
};

LoadRun::LoadRun(const BenchOptions& options, std::ostream& out, std::ostream& errors)
    : options_(options), out_(out), errors_(errors), not_ready_(options.threads) {
  const NetAddress server(options.url.host, options.url.port);
  if (options.url.secure) {
    tls_.emplace(TlsClientOptions{options.url.host, options.ca, options.verify, options.resume});
  }
  const std::uint64_t needed =
      options.connections + options.threads * kDescriptorsPerThread + kDescriptorsBesides;
  const std::uint64_t granted = RequireDescriptors(needed, needed + options.connections);
  const auto spare = static_cast<std::size_t>(granted - needed) / options.threads;
  for (std::size_t i = 0; i < options.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(
        MakePlan(options, server, tls_ ? &*tls_ : nullptr, i, spare), shared_, MakeEvents()));
  }
  control_.SetStopTimeout(std::chrono::milliseconds(0));
}

LoadRun::~LoadRun() { Join(); }

// The events come from the workers' threads; if our loop has ended they don't matter.
auto LoadRun::MakeEvents() -> WorkerEvents {
  WorkerEvents events;
  events.on_unreachable = [this](const std::string& why) {
    static_cast<void>(control_.Post([this, why] { Give(why); }));
  };
  events.on_ready = [this] { static_cast<void>(control_.Post([this] { OnReady(); })); };
  return events;
}

void LoadRun::Run() {
  signals_.emplace(control_, std::vector<int>{SIGINT, SIGTERM}, [this](int) {
    control_.Stop();
    signals_.reset();  // a second signal means that no report is wanted
  });
  StartThreads();
  const bool posted = control_.Post([this] { Begin(); });
  static_cast<void>(posted);  // the loop has not ended: it has not begun
  control_.Loop();
  Join();
  end_cpu_ = UsedCpu();
  if (!error_.empty()) {
    throw std::runtime_error(error_);
  }
}

// Not in Begin(): what a task throws would only be logged, and the run would have no end.
void LoadRun::StartThreads() try {
  for (const auto& worker : workers_) {
    threads_.emplace_back([this, &worker] { RunWorker(*worker); });
  }
} catch (const std::system_error& error) {
  throw std::system_error(error.code(), "thread " + std::to_string(threads_.size() + 1) + " of " +
                                            std::to_string(workers_.size()));
}

void LoadRun::Begin() {
  begin_cpu_ = UsedCpu();
  begin_time_ = Clock::now();
  progress_.Begin(begin_time_);
  for (const auto& worker : workers_) {
    worker->Begin();
  }
  if (options_.mode == LoadMode::kIdle) {
    control_.RunAfter(kOpeningTime, [this] {
      if (!held_) {
        const Totals totals = Sum();
        Give(std::to_string(options_.connections) + " connections could not be held within " +
             std::to_string(kOpeningTime.count()) + " seconds: " + std::to_string(totals.requests) +
             " replies on " + std::to_string(totals.connections) + " connections, " +
             std::to_string(totals.Errors()) + " errors");
      }
    });
  } else {
    control_.RunAfter(options_.time, [this] { control_.Stop(); });
  }
  if (!options_.quiet) {
    control_.RunAfter(kProgress, [this] { ShowProgress(); });
  }
}

void LoadRun::RunWorker(Worker& worker) noexcept {
  try {
    worker.Run();
  } catch (const std::exception& error) {
    static_cast<void>(control_.Post([this, why = std::string(error.what())] { Give(why); }));
  }
}

// Every worker reports once that all its connections are held.
void LoadRun::OnReady() {
  if (--not_ready_ != 0) {
    return;
  }
  held_ = true;
  out_ << "READY" << std::endl;
  control_.RunAfter(options_.time, [this] { control_.Stop(); });
  input_.emplace(control_, [this] { control_.Stop(); });
}

void LoadRun::ShowProgress() {
  errors_ << progress_.Line(Clock::now(), Sum()) << std::endl;
  control_.RunAfter(kProgress, [this] { ShowProgress(); });
}

void LoadRun::Give(std::string error) {
  if (error_.empty()) {
    error_ = std::move(error);
  }
  control_.Stop();
}

void LoadRun::Join() noexcept {
  for (const auto& worker : workers_) {
    worker->Stop();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

auto LoadRun::Sum() const noexcept -> Totals {
  Totals totals;
  for (const auto& worker : workers_) {
    worker->Measured().tally.AddTo(totals);
  }
  return totals;
}

auto LoadRun::MakeReport() const -> Report {
  Report report;
  report.url = options_.url_text;
  report.mode = options_.mode;
  report.depth = options_.depth;
  report.connections = options_.connections;
  report.threads = options_.threads;
  report.rate = options_.rate;
  report.totals = Sum();
  report.connect_error = shared_.connect_error;
  report.secure = options_.url.secure;
  report.handshake_error = shared_.handshake_error.Get();
  TimePoint end = begin_time_;
  for (const auto& worker : workers_) {
    report.connect.Merge(worker->Measured().connect);
    report.handshake.Merge(worker->Measured().handshake);
    if (*worker->Measured().tls.version != '\0') {
      report.tls = worker->Measured().tls;
    }
    report.first_byte.Merge(worker->Measured().first_byte);
    report.latency.Merge(worker->Measured().latency);
    report.unanswered += worker->Unanswered();
    report.overdue += worker->Overdue();
    end = std::max(end, worker->EndTime());
  }
  // A run that was stopped before it began took no time, and nothing is divided by that.
  report.seconds = std::max(std::chrono::duration<double>(end - begin_time_).count(), 1e-6);
  report.user_seconds = end_cpu_.user - begin_cpu_.user;
  report.system_seconds = end_cpu_.system - begin_cpu_.system;
  return report;
}

}  // namespace

auto RunLoad(const BenchOptions& options, std::ostream& out, std::ostream& errors) -> int try {
  std::ofstream file;
  const bool json_to_out = options.json == "-";
  if (!options.json.empty() && !json_to_out) {
    file.open(options.json);  // before the measurement, not after it
    if (!file) {
      throw std::system_error(errno, std::generic_category(), "open " + options.json);
    }
  }
  LoadRun run(options, out, errors);
  run.Run();
  const Report report = run.MakeReport();
  PrintReport(report, json_to_out ? errors : out);
  if (!options.json.empty()) {
    std::ostream& json = json_to_out ? out : file;
    WriteJson(report, json);
    if (!json.flush()) {
      throw std::runtime_error("write " + options.json + ": failed");
    }
  }
  if (report.totals.requests == 0) {
    errors << "turtle-bench: no request succeeded\n";
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  errors << "turtle-bench: " << error.what() << '\n';
  return 1;
}

}  // namespace TURTLE_SERVER
