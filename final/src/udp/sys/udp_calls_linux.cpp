// Moves datagrams by recvmmsg(2) and sendmmsg(2), which Linux has, with their extra data.
#ifdef __linux__

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "udp/datagram_message.h"
#include "udp/udp_calls.h"

namespace TURTLE_SERVER {

namespace {

// For one call. Their headers are on the stack, 13 KiB of it, and are not initialised.
constexpr std::size_t kPerCall = 64;
constexpr std::size_t kLeast = 16;

// Returns how many slots the first call offers, if `last` of them were filled the time before.
// Preparing one takes some nanoseconds: a single datagram must not pay for 64. If more than
// expected have arrived, a second call gets them.
auto FirstQuestion(std::size_t last) noexcept -> std::size_t {
  return std::clamp(2 * last, kLeast, kPerCall);
}

auto TurnOn(int fd, int level, int option) noexcept -> int {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof on) == 0 ? 0 : errno;
}

}  // namespace

const int kTellLength = MSG_TRUNC;

auto OpenUdp(int family) noexcept -> int {
  return ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

auto ShareUdpPort(int fd) noexcept -> int { return TurnOn(fd, SOL_SOCKET, SO_REUSEPORT); }

auto ReportUdpDestination(int fd, int family) noexcept -> int {
  return family == AF_INET6 ? TurnOn(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO)
                            : TurnOn(fd, IPPROTO_IP, IP_PKTINFO);
}

auto ReportUdpDrops(int fd) noexcept -> int { return TurnOn(fd, SOL_SOCKET, SO_RXQ_OVFL); }

auto AskUdpDrops(int fd) noexcept -> std::optional<std::uint32_t> {
  std::array<std::uint32_t, SK_MEMINFO_VARS> counts{};
  socklen_t size = sizeof counts;
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, counts.data(), &size) != 0) {
    return std::nullopt;  // Linux before 4.12
  }
  return counts[SK_MEMINFO_DROPS];
}

void ReadSystemControl(const cmsghdr& control, DatagramBatch& batch, NetAddress& local) noexcept {
  if (control.cmsg_level == IPPROTO_IP && control.cmsg_type == IP_PKTINFO) {
    in_pktinfo info;
    std::memcpy(&info, CMSG_DATA(&control), sizeof info);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr = info.ipi_spec_dst;  // ours, even if it was sent to a group or to all
    std::memcpy(local.Data(), &address, sizeof address);
    *local.Length() = sizeof address;
  } else if (control.cmsg_level == SOL_SOCKET && control.cmsg_type == SO_RXQ_OVFL) {
    std::uint32_t count = 0;
    std::memcpy(&count, CMSG_DATA(&control), sizeof count);
    batch.SetKernelDrops(count);
  }
}

auto WriteIpv4Source(cmsghdr& control, const in_addr& source) noexcept -> std::size_t {
  in_pktinfo info{};
  info.ipi_spec_dst = source;
  control.cmsg_level = IPPROTO_IP;
  control.cmsg_type = IP_PKTINFO;
  control.cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(&control), &info, sizeof info);
  return CMSG_SPACE(sizeof info);
}

// MSG_DONTWAIT, because the socket may have been made elsewhere.
auto ReceiveDatagrams(int fd, DatagramBatch& batch, in_port_t local_port) noexcept -> int {
  std::array<mmsghdr, kPerCall> headers;
  std::array<DatagramParts, kPerCall> parts;
  std::size_t most = FirstQuestion(batch.Size());
  batch.Clear();
  std::size_t total = 0;
  while (total < batch.Capacity()) {
    const std::size_t wanted = std::min(most, batch.Capacity() - total);
    for (std::size_t i = 0; i < wanted; ++i) {
      PrepareReceive(headers[i].msg_hdr, parts[i], batch, total + i);
    }
    int count = 0;
    do {
      count = ::recvmmsg(fd, headers.data(), static_cast<unsigned>(wanted),
                         MSG_DONTWAIT | kTellLength, nullptr);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      batch.SetSize(total);
      return total == 0 ? -1 : static_cast<int>(total);  // an error that persists comes again
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      FinishReceive(headers[i].msg_hdr, headers[i].msg_len, batch, total + i, local_port);
    }
    total += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < wanted) {
      break;  // there are no more
    }
    most = kPerCall;
  }
  batch.SetSize(total);
  return static_cast<int>(total);
}

auto SendDatagrams(int fd, DatagramBatch& batch) noexcept -> int {
  std::array<mmsghdr, kPerCall> headers;
  std::array<DatagramParts, kPerCall> parts;
  const std::size_t wanted = std::min(kPerCall, batch.Size());
  for (std::size_t i = 0; i < wanted; ++i) {
    PrepareSend(headers[i].msg_hdr, parts[i], batch, i);
  }
  for (;;) {
    const int count =
        ::sendmmsg(fd, headers.data(), static_cast<unsigned>(wanted), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0 || errno != EINTR) {
      return count;
    }
  }
}

}  // namespace TURTLE_SERVER

#endif  // __linux__
