#include "bench/clients.h"

#include <chrono>
#include <memory>
#include <utility>

#include "bench/tls_client_context.h"

namespace TURTLE_SERVER {

namespace {

// After a connect(2) or a handshake that failed.
constexpr std::chrono::milliseconds kRest{10};

}  // namespace

Clients::Clients(Looper& looper, const WorkerPlan& plan, SharedRun& shared,
                 const WorkerEvents& events, SessionContext& context)
    : looper_(looper),
      plan_(plan),
      shared_(shared),
      events_(events),
      measured_(*context.measured),
      round_(looper, [this] { OnRound(); }),
      opener_(looper, round_, plan, shared, measured_, events.on_unreachable,
              {[this](std::uint32_t number) { clients_[number].phase = Phase::kConnecting; },
               [this](std::uint32_t number, Opened opened) { OnOpen(number, std::move(opened)); },
               [this](std::uint32_t number) { OnNoConnection(number); }}),
      sessions_(plan.connections),
      clients_(plan.connections, Client(context)),
      pieces_(looper.GetEngine().ReceivesAhead() ? 0 : plan.read_size),  // 0: the kernel chooses
      batch_(round_) {
  callbacks_.on_handle = [this](Connection* connection) { OnHandle(*connection); };
  callbacks_.on_timeout = [this](Connection* connection) { OnTimeout(*connection); };
  if (plan.rate > 0) {
    timetable_.emplace(looper, plan.connections, plan.rate,
                       [this](std::uint32_t number, TimePoint due) { return Start(number, due); });
  }
}

void Clients::Begin() {
  if (OpensWhenDue()) {
    for (std::uint32_t number = 0; number < clients_.size(); ++number) {
      timetable_->Offer(number);
    }
  } else {
    opener_.Start();
  }
  if (timetable_) {
    timetable_->Begin(Clock::now() + plan_.first_due);
  }
}

void Clients::OnRound() {
  batch_.Run([this](std::uint32_t number) {
    Client& client = clients_[number];
    if (client.phase == Phase::kIdle) {  // else the connection has ended meanwhile
      const TimePoint now = Clock::now();
      Send(client, now, now);
    }
  });
  opener_.Run();
  if (timetable_) {
    timetable_->Run();
  }
}

// --- opening and closing -------------------------------------------------------------------------

void Clients::OpenLater(std::uint32_t number) {
  if (OpensWhenDue()) {
    timetable_->Offer(number);
    round_.Request();
  } else {
    opener_.Queue(number);
  }
}

void Clients::OnOpen(std::uint32_t number, Opened opened) {
  Client& client = clients_[number];
  const auto descriptor = static_cast<std::size_t>(opened.socket.Get());
  if (descriptor >= by_descriptor_.size()) {
    by_descriptor_.resize(descriptor + 1);
  }
  by_descriptor_[descriptor] = number;
  client.connection = looper_.AddConnection(std::move(opened.socket), callbacks_);
  client.session.Open();
  if (!OpensWhenDue()) {
    client.due = opened.begun;
  }
  if (plan_.tls == nullptr) {
    client.is_new = true;
    Establish(number, opened.done);
    return;
  }
  auto channel = std::make_unique<TlsClientChannel>(plan_.tls->NewSession(sessions_));
  client.channel = channel.get();
  client.connection->SetChannel(std::move(channel));
  client.opened = opened.done;
  client.phase = Phase::kShaking;
  looper_.SetDeadline(client.connection, opened.done + plan_.timeout);
}

// The connection can take requests.
void Clients::Establish(std::uint32_t number, TimePoint now) {
  Client& client = clients_[number];
  if (!plan_.handshake.empty()) {
    SendText(client, plan_.handshake, 1, now, now);
  } else if (plan_.mode == LoadMode::kClose) {
    Send(client, client.due, now);
  } else if (timetable_) {
    Rest(number);
  } else {
    Send(client, now, now);
  }
}

// Called after each Recv() of the handshake. @return true: it is complete, and the connection is in
// use
auto Clients::Shake(std::uint32_t number, bool exit) -> bool {
  Client& client = clients_[number];
  if (client.connection->IsOpening()) {
    if (exit) {
      const std::string& why = client.channel->Failure();
      OnNoHandshake(number, !why.empty()                  ? why
                            : client.connection->Broken() ? "the connection was reset"
                                                          : "the server closed the connection");
    }
    return false;
  }
  const TimePoint now = Clock::now();
  measured_.handshake.Add(now - client.opened);
  measured_.tls = client.channel->Names();
  ++(client.channel->IsResumed() ? measured_.tally.resumed : measured_.tally.full);
  if (!shared_.secured.load(std::memory_order_relaxed)) {
    shared_.secured.store(true, std::memory_order_relaxed);
  }
  Establish(number, now);
  return true;
}

void Clients::OnNoHandshake(std::uint32_t number, const std::string& why) {
  Client& client = clients_[number];
  measured_.tally.Fail(ErrorKind::kHandshake);
  shared_.handshake_error.Note(why);
  if (client.channel->IsRefused()) {
    events_.on_unreachable("certificate of " + plan_.tls->Host() + ": " + why);
  } else if (!shared_.secured.load(std::memory_order_relaxed)) {
    events_.on_unreachable("TLS with " + plan_.server.ToString() + ": " + why);
  }
  client.channel = nullptr;
  looper_.DeleteConnection(std::exchange(client.connection, nullptr)->GetFd());
  opener_.Settled();
  OnNoConnection(number);
}

void Clients::OnNoConnection(std::uint32_t number) {
  clients_[number].phase = Phase::kClosed;
  looper_.RunAfter(kRest, [this, number] { OpenLater(number); });
}

void Clients::Close(std::uint32_t number, Closing closing) {
  Client& client = clients_[number];
  client.channel = nullptr;
  looper_.DeleteConnection(std::exchange(client.connection, nullptr)->GetFd(), closing);
  if (std::exchange(client.phase, Phase::kClosed) == Phase::kHeld) {
    --held_;
  } else {
    opener_.Settled();
  }
  if (!opener_.TakeSpare()) {
    OpenLater(number);
  } else if (OpensWhenDue()) {
    timetable_->Offer(number);
    timetable_->Run();
  } else {
    opener_.Open(number);
  }
}

// --- requests and replies ------------------------------------------------------------------------

void Clients::Send(Client& client, TimePoint due, TimePoint now) {
  SendText(client, plan_.requests, plan_.depth, due, now);
}

void Clients::SendText(Client& client, std::string_view text, std::uint32_t requests, TimePoint due,
                       TimePoint now) {
  client.phase = Phase::kBusy;
  client.session.Ask(requests, due, now);
  client.connection->WriteToWriteBuffer(text);
  client.connection->Send();
  looper_.SetDeadline(client.connection, now + plan_.timeout);
}

auto Clients::Start(std::uint32_t number, TimePoint due) -> bool {
  Client& client = clients_[number];
  if (client.phase == Phase::kIdle) {
    Send(client, due, Clock::now());
    return true;
  }
  if (client.phase == Phase::kClosed && OpensWhenDue()) {
    client.due = due;
    opener_.Open(number);
    return true;
  }
  return false;
}

void Clients::OnHandle(Connection& connection) {
  const std::uint32_t number = NumberOf(connection);
  if (std::exchange(clients_[number].is_new, false)) {
    return;  // a response received meanwhile is reported when the connection is registered
  }
  if (pieces_.Size() != 0) {
    Receive(number, connection);
    return;
  }
  do {
    const RecvResult result = connection.Recv();
    if (clients_[number].phase == Phase::kShaking && !Shake(number, result.exit)) {
      return;
    }
    if (result.exit) {
      End(number, connection.Broken());
      return;
    }
    if (result.read == 0) {
      return;
    }
    Take(number, connection.Read());
    connection.ClearReadBuffer();
  } while (clients_[number].phase == Phase::kEnding);  // its end has often arrived already
}

// Reads in pieces of another size than the library does.
void Clients::Receive(std::uint32_t number, Connection& connection) {
  for (;;) {
    const IoResult result = pieces_.Read(connection.GetFd());
    if (result.status == IoStatus::kWouldBlock) {
      return;
    }
    if (result.status != IoStatus::kBytes) {
      End(number, result.status == IoStatus::kError);
      return;
    }
    Take(number, pieces_.Piece(result.bytes));
    const Client& client = clients_[number];
    if (client.connection != &connection) {
      return;
    }
    if (result.bytes == pieces_.Size()) {
      looper_.Schedule(&connection);  // the rest, after the loop's other connections
      return;
    }
    if (!client.session.ExpectsMore()) {
      return;
    }
  }
}

void Clients::Take(std::uint32_t number, std::string_view input) {
  GoOn(number, clients_[number].session.Take(input, Clock::now()));
}

void Clients::End(std::uint32_t number, bool broken) {
  Client& client = clients_[number];
  if (client.phase == Phase::kHeld) {
    measured_.tally.Fail(ErrorKind::kReset);  // it was to be kept
  }
  const bool is_cut = client.channel != nullptr && !client.channel->SawEnd();
  const LineEnd end = broken ? LineEnd::kBroken : is_cut ? LineEnd::kCut : LineEnd::kEnd;
  GoOn(number, client.session.End(end, Clock::now()));
}

void Clients::GoOn(std::uint32_t number, Outcome outcome) {
  switch (outcome) {
    case Outcome::kWait:
      break;
    case Outcome::kAnswer:
      if (plan_.mode == LoadMode::kIdle) {
        Hold(number);
      } else if (timetable_) {
        Rest(number);
      } else {
        clients_[number].phase = Phase::kIdle;
        batch_.Add(number);
      }
      break;
    case Outcome::kLast:
      clients_[number].phase = Phase::kEnding;
      break;
    case Outcome::kClosed:
      Close(number, Closing::kAuto);
      break;
    case Outcome::kFail:
      Close(number, Closing::kReset);
      break;
  }
}

void Clients::OnTimeout(Connection& connection) {
  const std::uint32_t number = NumberOf(connection);
  if (clients_[number].phase == Phase::kShaking) {
    OnNoHandshake(number, "no response in time");
    return;
  }
  clients_[number].session.TimeOut();
  Close(number, Closing::kReset);
}

// With a rate: the connection has nothing to do until a request is due.
void Clients::Rest(std::uint32_t number) {
  Client& client = clients_[number];
  client.phase = Phase::kIdle;
  looper_.SetDeadline(client.connection, TimePoint::max());
  timetable_->Offer(number);
  timetable_->Run();
}

// LoadMode::kIdle: the connection is finished.
void Clients::Hold(std::uint32_t number) {
  Client& client = clients_[number];
  client.phase = Phase::kHeld;
  looper_.SetDeadline(client.connection, TimePoint::max());
  opener_.Settled();
  if (++held_ == clients_.size() && !std::exchange(told_ready_, true)) {
    events_.on_ready();
  }
}

void Clients::CountWaits(TimePoint now) noexcept {
  if (!timetable_) {
    return;
  }
  for (Client& client : clients_) {
    if (client.phase == Phase::kBusy) {
      client.session.CountWait(now);
    } else if (Opens(client) && OpensWhenDue()) {
      measured_.latency.Record(now - client.due);
    }
  }
  timetable_->CountWaits(now, measured_.latency);
}

auto Clients::Unanswered() const noexcept -> std::uint64_t {
  std::uint64_t sum = 0;
  for (const Client& client : clients_) {
    sum += Opens(client) && plan_.mode == LoadMode::kClose ? 1 : client.session.Pending();
  }
  return sum;
}

}  // namespace TURTLE_SERVER
