// Moves one datagram per call, for systems that don't have recvmmsg(2), or got it late. They report
// neither the real length of a truncated datagram nor how many were dropped.
#ifndef __linux__

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "core/socket_calls.h"
#include "udp/datagram_message.h"
#include "udp/udp_calls.h"

namespace TURTLE_SERVER {

namespace {

auto TurnOn(int fd, int level, int option) noexcept -> int {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof on) == 0 ? 0 : errno;
}

}  // namespace

const int kTellLength = 0;

auto OpenUdp(int family) noexcept -> int {
  UniqueFd fd(::socket(family, SOCK_DGRAM, 0));
  if (!fd || ::fcntl(fd.Get(), F_SETFL, O_NONBLOCK) != 0 ||
      ::fcntl(fd.Get(), F_SETFD, FD_CLOEXEC) != 0) {
    return -1;
  }
  MuteSigpipe(fd.Get());
  return fd.Release();
}

// With SO_REUSEPORT of the BSDs, the last socket gets everything. FreeBSD has another option that
// spreads the load.
auto ShareUdpPort([[maybe_unused]] int fd) noexcept -> int {
#ifdef SO_REUSEPORT_LB
  return TurnOn(fd, SOL_SOCKET, SO_REUSEPORT_LB);
#else
  return ENOPROTOOPT;
#endif
}

auto ReportUdpDestination(int fd, int family) noexcept -> int {
#ifdef IPV6_RECVPKTINFO
  if (family == AF_INET6) {
    return TurnOn(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO);
  }
#endif
  return family == AF_INET ? TurnOn(fd, IPPROTO_IP, IP_RECVDSTADDR) : ENOPROTOOPT;
}

auto ReportUdpDrops(int /*fd*/) noexcept -> int { return ENOPROTOOPT; }

auto AskUdpDrops(int /*fd*/) noexcept -> std::optional<std::uint32_t> { return std::nullopt; }

void ReadSystemControl(const cmsghdr& control, DatagramBatch& /*batch*/,
                       NetAddress& local) noexcept {
  if (control.cmsg_level == IPPROTO_IP && control.cmsg_type == IP_RECVDSTADDR) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    std::memcpy(&address.sin_addr, CMSG_DATA(&control), sizeof address.sin_addr);
    std::memcpy(local.Data(), &address, sizeof address);
    *local.Length() = sizeof address;
  }
}

auto WriteIpv4Source(cmsghdr& control, const in_addr& source) noexcept -> std::size_t {
  control.cmsg_level = IPPROTO_IP;
#if defined(IP_SENDSRCADDR)
  control.cmsg_type = IP_SENDSRCADDR;
  const in_addr info = source;
#elif defined(IP_PKTINFO)
  control.cmsg_type = IP_PKTINFO;
  in_pktinfo info{};
  info.ipi_spec_dst = source;
#else
  const in_addr info = source;
  return 0;  // the kernel chooses
#endif
  control.cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(&control), &info, sizeof info);
  return CMSG_SPACE(sizeof info);
}

auto ReceiveDatagrams(int fd, DatagramBatch& batch, in_port_t local_port) noexcept -> int {
  batch.Clear();
  std::size_t total = 0;
  while (total < batch.Capacity()) {
    msghdr header;
    DatagramParts parts;
    PrepareReceive(header, parts, batch, total);
    const ssize_t bytes = ::recvmsg(fd, &header, MSG_DONTWAIT);
    if (bytes >= 0) {
      FinishReceive(header, static_cast<std::size_t>(bytes), batch, total, local_port);
      ++total;
    } else if (errno != EINTR) {
      break;  // an error that persists will be reported again
    }
  }
  batch.SetSize(total);
  return total == 0 ? -1 : static_cast<int>(total);
}

auto SendDatagrams(int fd, DatagramBatch& batch) noexcept -> int {
  int total = 0;
  while (static_cast<std::size_t>(total) < batch.Size()) {
    msghdr header;
    DatagramParts parts;
    PrepareSend(header, parts, batch, static_cast<std::size_t>(total));
    if (::sendmsg(fd, &header, MSG_DONTWAIT | kNoSignal) >= 0) {
      ++total;
    } else if (errno != EINTR) {
      break;
    }
  }
  return total == 0 && !batch.Empty() ? -1 : total;
}

}  // namespace TURTLE_SERVER

#endif  // not __linux__
