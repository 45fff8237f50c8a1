#include "bench/worker.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace TURTLE_SERVER {

namespace {

// Connections that are opened for the first time in one round.
constexpr std::size_t kBurst = 256;
// LoadMode::kIdle: connections that may wait for their first reply. Beyond the length of a server's
// queue they would only be dropped, and tried again after a second.
constexpr std::size_t kWaitingMost = 256;
constexpr std::chrono::milliseconds kRest{10};
// After a reply the loop looks for more so many times before it sleeps, a few microseconds. Else a
// server that is slower than this program would have to wake it for nearly every reply, and that
// is work of the server's processor: nginx on one core took 12.7 us for each request, 10.1 with
// this, and this program 11.7 and 9.6 (one run, medians of three rounds in turn).
constexpr unsigned kLooks = 10;

}  // namespace

Worker::Worker(WorkerPlan plan, SharedRun& shared, WorkerEvents events)
    : plan_(std::move(plan)),
      shared_(shared),
      events_(std::move(events)),
      check_(shared.reference),
      connector_(looper_, plan_.server, plan_.timeout,
                 [this](std::uint32_t number, UniqueFd socket, int error) {
                   OnConnect(number, std::move(socket), error);
                 }),
      input_(plan_.read_size) {
  context_.memo.to_head = plan_.to_head;
  context_.check = plan_.any_body ? nullptr : &check_;
  context_.one_request = plan_.mode == LoadMode::kClose;
  context_.measured = &measured_;
  callbacks_.on_handle = [this](Connection* connection) { OnHandle(*connection); };
  callbacks_.on_timeout = [this](Connection* connection) { OnTimeout(*connection); };
  clients_.reserve(plan_.connections);
  for (std::size_t i = 0; i < plan_.connections; ++i) {
    clients_.emplace_back(context_);
  }
  looper_.SetStopTimeout(std::chrono::milliseconds(0));
  looper_.AtStop([this] { OnStop(); });
  if (HasRate()) {
    alarm_.emplace(looper_, [this] {
      alarm_time_ = TimePoint();
      SendDue();
    });
  }
}

void Worker::Begin() {
  const bool posted = looper_.Post([this] {
    if (HasRate()) {
      pace_.emplace(Clock::now() + plan_.first_due, plan_.rate);
    }
    if (HasRate() && plan_.mode == LoadMode::kClose) {
      while (begun_ < clients_.size()) {
        Offer(begun_++);
      }
    }
    InNextRound();
  });
  static_cast<void>(posted);  // if the loop has ended there is nothing to begin
}

// --- opening and closing -------------------------------------------------------------------------

// A client is without a connection. With a rate and a connection for each request it gets one when
// a request is due.
void Worker::OpenLater(std::uint32_t number) {
  if (HasRate() && plan_.mode == LoadMode::kClose) {
    Offer(number);
  } else {
    to_open_.push_back(number);
  }
  InNextRound();
}

void Worker::InNextRound() {
  if (!std::exchange(in_next_round_, true)) {
    looper_.RunAfter(Clock::duration::zero(), [this] {
      in_next_round_ = false;
      closing_ = 0;
      if (looks_ != 0) {
        --looks_;
        InNextRound();
      }
      SendQueued();
      OpenSome();
      if (pace_) {
        SendDue();
      }
    });
  }
}

// Those whose connection has ended first, all of them: there are to be as many connections as were
// asked for. The new ones little by little, since those that stand want to be served too.
void Worker::OpenSome() {
  for (std::size_t again = to_open_.size(); again != 0 && MayOpen(); --again) {
    const std::uint32_t number = to_open_.front();
    to_open_.pop_front();
    Open(number, TimePoint());
  }
  for (std::size_t i = 0; i < kBurst && begun_ < clients_.size() && MayOpen(); ++i) {
    Open(begun_++, TimePoint());
  }
  if ((!to_open_.empty() || begun_ < clients_.size()) && MayOpen()) {
    InNextRound();
  }
}

// Whoever gets its reply makes room for the next.
auto Worker::MayOpen() const noexcept -> bool {
  return plan_.mode != LoadMode::kIdle || opened_ - ready_ < kWaitingMost;
}

void Worker::Open(std::uint32_t number, TimePoint due) {
  Client& client = clients_[number];
  ++opened_;
  client.phase = Phase::kConnecting;
  client.opened = Clock::now();
  client.due = due;
  connector_.Connect(number);
}

void Worker::OnConnect(std::uint32_t number, UniqueFd socket, int error) {
  if (error != 0) {
    OnNoConnection(number, error);
    return;
  }
  Client& client = clients_[number];
  const TimePoint now = Clock::now();
  measured_.connect.Add(now - client.opened);
  measured_.tally.connections.Add();
  if (!shared_.reached.load(std::memory_order_relaxed)) {
    shared_.reached.store(true, std::memory_order_relaxed);
  }
  const auto descriptor = static_cast<std::size_t>(socket.Get());
  if (descriptor >= by_descriptor_.size()) {
    by_descriptor_.resize(descriptor + 1);
  }
  by_descriptor_[descriptor] = number;
  client.connection = looper_.AddConnection(std::move(socket), callbacks_);
  client.is_new = true;
  client.session.Open();
  if (!HasRate()) {
    Send(client, plan_.mode == LoadMode::kClose ? client.opened : now, now);
  } else if (plan_.mode == LoadMode::kClose) {
    Send(client, client.due, now);
  } else {
    Rest(number, client);
  }
}

void Worker::OnNoConnection(std::uint32_t number, int error) {
  measured_.tally.Fail(ErrorKind::kConnect);
  clients_[number].phase = Phase::kClosed;
  if (!shared_.reached.load(std::memory_order_relaxed)) {
    events_.on_unreachable("connect " + plan_.server.ToString() + ": " +
                           std::generic_category().message(error));
  }
  --opened_;
  looper_.RunAfter(kRest, [this, number] { OpenLater(number); });
}

void Worker::Close(std::uint32_t number, Closing closing) {
  Client& client = clients_[number];
  client.phase = Phase::kClosed;
  looper_.DeleteConnection(std::exchange(client.connection, nullptr)->GetFd(), closing);
  --opened_;
  if (!HasRate() && MayOpen() && closing_ < plan_.spare) {
    ++closing_;
    InNextRound();  // which begins to count anew
    Open(number, TimePoint());
  } else {
    OpenLater(number);
  }
}

// --- requests and replies ------------------------------------------------------------------------

void Worker::Send(Client& client, TimePoint due, TimePoint now) {
  client.phase = Phase::kBusy;
  client.session.Ask(plan_.depth, due, now);
  client.connection->WriteToWriteBuffer(plan_.requests);
  client.connection->Send();
  looper_.SetDeadline(client.connection, now + plan_.timeout);
}

// Not at once, but together with the others whose replies this round brings. A request that leaves
// alone wakes a server that is asleep, or finds it between two looks at its sockets; one after the
// other they make a server look after every single request, which costs it more than the load of
// many clients would.
void Worker::SendLater(std::uint32_t number, Client& client) {
  client.phase = Phase::kIdle;
  to_send_.push_back(number);
  looks_ = kLooks;
  InNextRound();
}

void Worker::SendQueued() {
  for (const std::uint32_t number : to_send_) {
    Client& client = clients_[number];
    if (client.phase == Phase::kIdle) {  // else the connection has ended meanwhile
      const TimePoint now = Clock::now();
      Send(client, now, now);
    }
  }
  to_send_.clear();
}

void Worker::OnHandle(Connection& connection) {
  const std::uint32_t number = NumberOf(connection);
  if (std::exchange(clients_[number].is_new, false)) {
    return;  // a reply that has come meanwhile is reported when the connection is registered
  }
  if (!input_.empty()) {
    Receive(number, connection);
    return;
  }
  do {
    const RecvResult result = connection.Recv();
    if (result.exit) {
      End(number, connection.Broken());
      return;
    }
    if (result.read == 0) {
      return;
    }
    Take(number, connection.Read());
    connection.ClearReadBuffer();
  } while (clients_[number].phase == Phase::kEnding);  // its end is often there already
}

// Reads in pieces of another size than the library does.
void Worker::Receive(std::uint32_t number, Connection& connection) {
  for (;;) {
    const ssize_t count = ::recv(connection.GetFd(), input_.data(), input_.size(), 0);
    if (count > 0) {
      const auto size = static_cast<std::size_t>(count);
      Take(number, {input_.data(), size});
      if (clients_[number].connection != &connection) {
        return;
      }
      if (size == input_.size()) {
        looper_.Schedule(&connection);  // the rest, after the neighbours had their turn
        return;
      }
      if (!clients_[number].session.ExpectsMore()) {
        return;
      }
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      End(number, count < 0);
      return;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void Worker::Take(std::uint32_t number, std::string_view input) {
  GoOn(number, clients_[number].session.Take(input, Clock::now()));
}

void Worker::End(std::uint32_t number, bool broken) {
  const bool was_held = plan_.mode == LoadMode::kIdle && clients_[number].phase == Phase::kIdle;
  if (was_held) {
    --ready_;
    measured_.tally.Fail(ErrorKind::kReset);  // it was to be kept
  }
  GoOn(number, clients_[number].session.End(broken, Clock::now()));
}

void Worker::GoOn(std::uint32_t number, Outcome outcome) {
  Client& client = clients_[number];
  switch (outcome) {
    case Outcome::kWait:
      break;
    case Outcome::kAnswer:
      if (HasRate() || plan_.mode == LoadMode::kIdle) {
        Rest(number, client);
      } else {
        SendLater(number, client);
      }
      break;
    case Outcome::kLast:
      client.phase = Phase::kEnding;
      break;
    case Outcome::kClosed:
      Close(number, Closing::kAuto);
      break;
    case Outcome::kFail:
      Close(number, Closing::kReset);
      break;
  }
}

void Worker::OnTimeout(Connection& connection) {
  const std::uint32_t number = NumberOf(connection);
  clients_[number].session.TimeOut();
  Close(number, Closing::kReset);
}

// --- connections that wait -----------------------------------------------------------------------

// The connection has nothing to do for now.
void Worker::Rest(std::uint32_t number, Client& client) {
  client.phase = Phase::kIdle;
  looper_.SetDeadline(client.connection, TimePoint::max());
  if (HasRate()) {
    Offer(number);
    SendDue();
    return;
  }
  ++ready_;
  if (ready_ == clients_.size()) {
    events_.on_ready();
  }
  InNextRound();  // to open one more
}

void Worker::Offer(std::uint32_t number) {
  if (!std::exchange(clients_[number].is_listed, true)) {
    available_.push_back(number);
  }
}

void Worker::SendDue() {
  const TimePoint now = Clock::now();
  while (!available_.empty() && pace_->Next() <= now) {
    const std::uint32_t number = available_.front();
    available_.pop_front();
    Client& client = clients_[number];
    client.is_listed = false;
    if (client.phase == Phase::kIdle) {
      Send(client, pace_->Take(), now);
    } else if (client.phase == Phase::kClosed && plan_.mode == LoadMode::kClose) {
      Open(number, pace_->Take());
    }
  }
  if (!available_.empty() && alarm_time_ != pace_->Next()) {
    alarm_time_ = pace_->Next();
    alarm_->Set(alarm_time_);
  }
}

void Worker::OnStop() {
  end_time_ = Clock::now();
  for (const Client& client : clients_) {
    const bool connects = client.phase == Phase::kConnecting;
    unanswered_ += connects ? 1 : client.session.Pending();
  }
  overdue_ = pace_ ? pace_->Overdue(end_time_) : 0;
}

}  // namespace TURTLE_SERVER
