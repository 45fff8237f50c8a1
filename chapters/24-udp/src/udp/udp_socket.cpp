#include "udp/udp_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <system_error>

#include "core/socket_calls.h"
#include "udp/udp_calls.h"

namespace TURTLE_SERVER {

namespace {

[[noreturn]] void Fail(int error, const char* what, const NetAddress& where) {
  throw std::system_error(error, std::generic_category(), what + (" " + where.ToString()));
}

// EINVAL for an empty batch would be confusing, and 0 sent datagrams would cause an endless loop.
auto ResultOf(int count) noexcept -> BatchResult {
  if (count > 0) {
    return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
  }
  const IoResult failure = IoFailure(count == 0 ? EAGAIN : errno);
  return {failure.status, 0, failure.error};
}

auto SetV6Only(int fd) noexcept -> int {
  const int on = 1;
  return ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0 ? 0 : errno;
}

}  // namespace

UdpSocket::UdpSocket(UniqueFd fd) noexcept : fd_(std::move(fd)) {
  NetAddress local;
  if (::getsockname(fd_.Get(), local.Data(), local.Length()) == 0) {
    port_ = htons(static_cast<in_port_t>(local.Port()));
  }
  MuteSigpipe(fd_.Get());
}

void UdpSocket::Open(const NetAddress& address) {
  if (!fd_) {
    fd_.Reset(OpenUdp(address.Family()));
  }
  if (!fd_) {
    Fail(errno, "socket", address);
  }
}

void UdpSocket::Bind(const NetAddress& local, PortSharing sharing) {
  Open(local);
  const int fd = fd_.Get();
  int error = local.Family() == AF_INET6 ? SetV6Only(fd) : 0;
  if (error == 0 && sharing == PortSharing::kBalanced) {
    error = ShareUdpPort(fd);
  }
  if (error == 0 && ::bind(fd, local.Data(), local.Size()) != 0) {
    error = errno;
  }
  if (error != 0) {
    fd_.Reset();
    Fail(error, "bind", local);
  }
  port_ = htons(static_cast<in_port_t>(LocalAddress().Port()));
}

void UdpSocket::Connect(const NetAddress& peer) {
  Open(peer);
  if (::connect(fd_.Get(), peer.Data(), peer.Size()) != 0) {  // never waits: UDP has no handshake
    Fail(errno, "connect", peer);
  }
  port_ = htons(static_cast<in_port_t>(LocalAddress().Port()));
}

auto UdpSocket::LocalAddress() const -> NetAddress {
  NetAddress local;
  if (::getsockname(fd_.Get(), local.Data(), local.Length()) != 0) {
    throw std::system_error(errno, std::generic_category(), "getsockname");
  }
  return local;
}

auto UdpSocket::SetReceiveBuffer(std::size_t bytes) -> std::size_t {
  const auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  int size = static_cast<int>(std::min(bytes, most));
  socklen_t length = sizeof size;
  if (::setsockopt(fd_.Get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0 ||
      ::getsockopt(fd_.Get(), SOL_SOCKET, SO_RCVBUF, &size, &length) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "receive buffer of " + std::to_string(bytes) + " bytes");
  }
  return static_cast<std::size_t>(size);
}

auto UdpSocket::ReportDestination() noexcept -> bool {
  NetAddress local;
  return ::getsockname(fd_.Get(), local.Data(), local.Length()) == 0 &&
         ReportUdpDestination(fd_.Get(), local.Family()) == 0;
}

auto UdpSocket::ReportDrops() noexcept -> bool { return ReportUdpDrops(fd_.Get()) == 0; }

auto UdpSocket::KernelDrops() const noexcept -> std::optional<std::uint32_t> {
  return AskUdpDrops(fd_.Get());
}

auto UdpSocket::Receive(char* into, std::size_t room, NetAddress& peer) noexcept -> ReceiveResult {
  iovec payload{};
  payload.iov_base = into;
  payload.iov_len = room;
  msghdr header{};
  header.msg_iov = &payload;
  header.msg_iovlen = 1;
  for (;;) {
    peer = NetAddress();
    header.msg_name = peer.Data();
    header.msg_namelen = *peer.Length();
    const ssize_t count = ::recvmsg(fd_.Get(), &header, MSG_DONTWAIT | kTellLength);
    if (count >= 0) {
      const auto size = static_cast<std::size_t>(count);
      *peer.Length() = header.msg_namelen;
      return {IoStatus::kBytes, std::min(size, room), size, (header.msg_flags & MSG_TRUNC) != 0, 0};
    }
    if (errno != EINTR) {
      const IoResult failure = IoFailure(errno);
      return {failure.status, 0, 0, false, failure.error};
    }
  }
}

auto UdpSocket::Send(std::string_view payload, const NetAddress& peer) noexcept -> IoResult {
  if (!fd_) {
    fd_.Reset(OpenUdp(peer.Family()));
  }
  if (!fd_) {
    return IoFailure(errno);
  }
  const bool connected = peer.Family() == AF_UNSPEC;
  for (;;) {
    const ssize_t count =
        ::sendto(fd_.Get(), payload.data(), payload.size(), MSG_DONTWAIT | kNoSignal,
                 connected ? nullptr : peer.Data(), connected ? 0 : peer.Size());
    if (count >= 0) {
      return {IoStatus::kBytes, static_cast<std::size_t>(count), 0};
    }
    if (errno != EINTR) {
      return IoFailure(errno);
    }
  }
}

auto UdpSocket::ReceiveMany(DatagramBatch& batch) noexcept -> BatchResult {
  return ResultOf(ReceiveDatagrams(fd_.Get(), batch, port_));
}

auto UdpSocket::SendMany(DatagramBatch& batch) noexcept -> BatchResult {
  const BatchResult result = ResultOf(SendDatagrams(fd_.Get(), batch));
  batch.DropFront(result.count);
  return result;
}

}  // namespace TURTLE_SERVER
