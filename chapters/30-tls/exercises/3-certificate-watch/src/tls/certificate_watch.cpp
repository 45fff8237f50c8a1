#include "tls/certificate_watch.h"

namespace TURTLE_SERVER {

CertificateWatch::CertificateWatch(Looper& /*looper*/, Tls& /*tls*/, TlsOptions /*options*/,
                                   std::chrono::seconds /*period*/) {
  // TODO: check the period, note the files, read them, and look at them in each period
}

CertificateWatch::~CertificateWatch() = default;  // TODO: no further look

auto CertificateWatch::Replaced() const noexcept -> std::uint64_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
