#include "udp/udp_server.h"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::chrono::seconds kLogPause{1};

auto Bound(const NetAddress& local, PortSharing sharing) -> UdpSocket {
  UdpSocket socket;
  socket.Bind(local, sharing);
  return socket;
}

}  // namespace

UdpServer::UdpServer(Looper& looper, const NetAddress& local, const UdpOptions& options)
    : UdpServer(looper, Bound(local, options.sharing), options) {}

UdpServer::UdpServer(Looper& looper, UdpSocket socket, const UdpOptions& options)
    : looper_(looper),
      options_(options),
      socket_(std::move(socket)),
      local_(socket_.LocalAddress()),
      in_(options.batch, options.max_payload),
      out_(options.queue, options.max_payload) {
  if (options.receive_buffer != 0) {
    receive_buffer_ = socket_.SetReceiveBuffer(options.receive_buffer);
  }
  if (options.report_destination && !socket_.ReportDestination()) {
    Log(LogLevel::kWarning, "datagrams to " + local_.ToString() +
                                " don't report their destination here: replies leave from the "
                                "address that the system chooses");
  }
  socket_.ReportDrops();
}

UdpServer::~UdpServer() { Stop(); }

auto UdpServer::OnDatagram(DatagramCallback callback) -> UdpServer& {
  on_datagram_ = std::move(callback);
  return *this;
}

void UdpServer::Start() {
  if (!on_datagram_ || stopped_) {
    throw std::logic_error(stopped_ ? "UdpServer::Start: it was stopped"
                                    : "UdpServer::Start: OnDatagram was not set");
  }
  if (!watch_) {
    watch_ = looper_.Watch(socket_.GetFd(), Interest::kRead,
                           [this](const PollEvent& event) { OnReady(event); });
    SetInterest();  // earlier datagrams may be waiting for room
  }
}

auto UdpServer::Drain(std::size_t most) -> std::size_t {
  const std::uint64_t before = figures_.received;
  while (!stopped_ && !in_round_ && figures_.received - before < most && ReceiveBatch()) {
  }
  return static_cast<std::size_t>(figures_.received - before);
}

void UdpServer::Stop() {
  if (stopped_) {
    return;
  }
  stopped_ = true;
  if (watch_) {
    looper_.Unwatch(*watch_);
    watch_.reset();
  }
  room_wanted_ = false;  // there may be some by now
  Flush();
  figures_.dropped += out_.Size();
  out_.Clear();
  AskForDrops();  // the kernel's count is lost with the socket
  for (std::optional<TimerId>* timer : {&retry_, &flush_}) {
    if (*timer) {
      looper_.Cancel(**timer);
      timer->reset();
    }
  }
  socket_ = UdpSocket();
}

auto UdpServer::Send(std::string_view payload, const NetAddress& peer, const NetAddress& local)
    -> bool {
  if (payload.size() > out_.MaxPayload()) {
    ++figures_.failed;
    return false;
  }
  if (out_.Full() && !room_wanted_) {
    Flush();  // a callback may send many datagrams for a single one
  }
  if (stopped_ || !out_.Add(payload, peer, local)) {
    ++figures_.dropped;
    return false;
  }
  if (!in_round_ && !room_wanted_) {
    FlushSoon();
  }
  return true;
}

auto UdpServer::Figures() noexcept -> UdpFigures {
  AskForDrops();
  UdpFigures figures = figures_;
  figures.kernel_dropped = drops_.Total();
  return figures;
}

void UdpServer::OnReady(const PollEvent& event) {
  if (event.writable && room_wanted_) {
    room_wanted_ = false;
    Flush();
  }
  if (retry_ || (!event.readable && !event.error)) {
    return;
  }
  // The socket stays readable if there is more, and forever if it was shut down.
  if (!ReceiveBatch() && event.peer_closed && !stopped_) {
    Rest(EINVAL);
  }
}

// An ICMP error for an earlier datagram is reported once, and the socket remains usable. An error
// that is reported twice will be reported forever.
auto UdpServer::ReceiveBatch() -> bool {
  BatchResult received = socket_.ReceiveMany(in_);
  if (received.status == IoStatus::kError) {
    ++figures_.errors;
    received = socket_.ReceiveMany(in_);
  }
  if (received.status == IoStatus::kError) {
    Rest(received.error);
  }
  if (received.status != IoStatus::kBytes) {
    return false;  // perhaps a wrong checksum: it was dropped
  }
  drops_.Note(in_.KernelDrops());
  in_round_ = true;
  for (std::size_t i = 0; i < in_.Size(); ++i) {
    if (stopped_) {
      figures_.unread += in_.Size() - i;
      break;
    }
    Deliver(in_[i]);
  }
  in_round_ = false;
  Flush();
  return true;
}

void UdpServer::Deliver(const Datagram& datagram) {
  ++figures_.received;
  figures_.truncated += datagram.truncated ? 1 : 0;
  try {
    on_datagram_(datagram);
  } catch (...) {
    ++figures_.exceptions;
    TellOfException();
  }
}

// Called while the exception is being handled. A line for each would let a stranger flood the log.
void UdpServer::TellOfException() {
  if (!logged_ || looper_.Now() - *logged_ >= kLogPause) {
    logged_ = looper_.Now();
    LogException("on_datagram");
  }
}

// Makes one call for the whole queue, and two more for each datagram that the kernel refuses. The
// first refusal may concern an earlier datagram, so it is offered again. After the second refusal
// it alone has failed: the datagrams after it have other receivers.
void UdpServer::Flush() {
  bool refused = false;
  while (!out_.Empty() && !room_wanted_) {
    const BatchResult taken = socket_.SendMany(out_);
    switch (taken.status) {
      case IoStatus::kBytes:
        figures_.sent += taken.count;
        figures_.errors += refused ? 1 : 0;
        refused = false;
        break;
      case IoStatus::kWouldBlock:
        room_wanted_ = true;
        break;
      default:
        if (refused) {
          ++figures_.failed;
          out_.DropFront(1);
        }
        refused = !refused;
        break;
    }
  }
  SetInterest();
}

// Datagrams sent outside a round, for example by a timer, leave in the next one, all of them in one
// call.
void UdpServer::FlushSoon() {
  if (flush_) {
    return;
  }
  try {
    flush_ = looper_.RunAfter(Clock::duration::zero(), [this] {
      flush_.reset();
      Flush();
    });
  } catch (const std::bad_alloc&) {
    Flush();  // then with a call for each
  }
}

void UdpServer::SetInterest() {
  const Interest wanted = (retry_ ? Interest::kNone : Interest::kRead) |
                          (room_wanted_ ? Interest::kWrite : Interest::kNone);
  if (watch_ && wanted != interest_) {
    looper_.ChangeWatch(*watch_, wanted);
    interest_ = wanted;
  }
}

void UdpServer::AskForDrops() noexcept {
  if (const auto count = socket_.KernelDrops()) {
    drops_.Note(*count);
  }
}

// The kernel has no memory for us, or a rule against us, and the socket stays readable: retrying at
// once would spin.
void UdpServer::Rest(int error) {
  if (retry_) {
    return;
  }
  retry_ = looper_.RunAfter(options_.retry, [this] {
    retry_.reset();
    SetInterest();
  });
  SetInterest();  // not before a timer exists that ends it
  if (!rest_logged_ || looper_.Now() - *rest_logged_ >= kLogPause) {
    rest_logged_ = looper_.Now();
    Log(LogLevel::kWarning, "receive at " + local_.ToString() + ": " +
                                std::generic_category().message(error) + "; again in " +
                                std::to_string(options_.retry.count()) + " ms");
  }
}

}  // namespace TURTLE_SERVER
