#include "tls/certificate.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/unique_fd.h"

namespace TURTLE_SERVER {

namespace {

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  ERR_clear_error();
  throw std::invalid_argument(path + ": " + why);
}

// A file that was opened, and what fstat(2) says of it.
struct OpenFile {
  BioPtr bio;
  struct stat status {};
};

// Opens without waiting, as a pipe's writer may never come. The status is that of the opened file:
// at the path there may be another one by now.
auto Open(const std::string& path) -> OpenFile {
  OpenFile file;
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd || ::fstat(fd.Get(), &file.status) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  if (!S_ISREG(file.status.st_mode)) {
    Refuse(path, "not a regular file");
  }
  if (file.status.st_size > Certificate::kMaxBytes) {
    Refuse(path, "longer than 1 MiB");
  }
  std::FILE* const stream = ::fdopen(fd.Get(), "r");
  if (stream == nullptr) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  static_cast<void>(fd.Release());  // the stream's
  file.bio.reset(BIO_new_fp(stream, BIO_CLOSE));
  if (!file.bio) {
    static_cast<void>(std::fclose(stream));
    throw std::bad_alloc();
  }
  return file;
}

// A server that starts by itself has nobody to ask.
auto NoPassphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* asked) -> int {
  *static_cast<bool*>(asked) = true;
  return -1;
}

auto Lower(std::string_view text) -> std::string {
  std::string lower(text);
  for (char& each : lower) {
    each = ascii::ToLower(each);
  }
  return lower;
}

// @param path of the file, for a refusal
auto DnsNames(const X509& certificate, const std::string& path) -> std::vector<std::string> {
  constexpr int kNoSuchExtension = -1;
  std::vector<std::string> names;
  int critical = 0;
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, &critical, nullptr));
  const std::unique_ptr<GENERAL_NAMES, OpenSslDeleter<GENERAL_NAMES_free>> owner(all);
  if (all == nullptr && critical != kNoSuchExtension) {
    Refuse(path, "the names of the certificate: " + TakeOpenSslReason());
  }
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all, i);
    const int size = name->type == GEN_DNS ? ASN1_STRING_length(name->d.dNSName) : 0;
    if (size > 0) {
      const auto* const text =
          reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
      names.push_back(Lower({text, static_cast<std::size_t>(size)}));
    }
  }
  return names;
}

// Returns what a response says about a certificate, which is found by its serial number; nullptr if
// it says nothing about it.
auto StatusIn(OCSP_BASICRESP& response, const X509& certificate) -> OCSP_SINGLERESP* {
  for (int i = 0; i < OCSP_resp_count(&response); ++i) {
    OCSP_SINGLERESP* const status = OCSP_resp_get0(&response, i);
    auto* const id =
        const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(status));  // NOLINT: OpenSSL's
    ASN1_INTEGER* serial = nullptr;
    OCSP_id_get0_info(nullptr, nullptr, nullptr, &serial, id);
    if (ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(&certificate)) == 0) {
      return status;
    }
  }
  return nullptr;
}

}  // namespace

auto ReadCertificates(const std::string& path) -> std::vector<X509Ptr> {
  const OpenFile file = Open(path);
  std::vector<X509Ptr> all;
  while (X509Ptr next{PEM_read_bio_X509(file.bio.get(), nullptr, nullptr, nullptr)}) {
    all.push_back(std::move(next));
  }
  const std::uint64_t error = ERR_peek_last_error();
  const bool ended =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (!ended) {
    Refuse(path, "certificate " + std::to_string(all.size() + 1) + ": " + TakeOpenSslReason());
  }
  if (all.empty()) {
    Refuse(path, "it has no certificate in PEM");
  }
  ERR_clear_error();
  return all;
}

Certificate::Certificate(const TlsCertificate& files) : path_(files.chain) {
  ReadChain(files.chain);
  ReadKey(files.key);
  if (X509_check_private_key(chain_.front().get(), key_.get()) != 1) {
    Refuse(files.key, "it is not the key of " + files.chain);
  }
  if (!files.ocsp.empty()) {
    ReadStaple(files.ocsp);
  }
}

void Certificate::ReadChain(const std::string& path) {
  chain_ = ReadCertificates(path);
  if (X509_cmp_current_time(X509_get0_notAfter(chain_.front().get())) < 0) {
    Refuse(path, "the certificate has expired");
  }
  names_ = DnsNames(*chain_.front(), path);
}

void Certificate::ReadKey(const std::string& path) {
  const OpenFile file = Open(path);
  if ((file.status.st_mode & S_IRWXO) != 0) {
    Refuse(path, "everybody on this machine may access this private key: chmod o= " + path);
  }
  bool asked = false;
  key_.reset(PEM_read_bio_PrivateKey(file.bio.get(), nullptr, NoPassphrase, &asked));
  if (!key_) {
    Refuse(path, asked ? "the private key needs a passphrase, which a server can't type"
                       : "it has no private key in PEM");
  }
}

void Certificate::ReadStaple(const std::string& path) {
  const OpenFile file = Open(path);
  const OcspResponsePtr response(d2i_OCSP_RESPONSE_bio(file.bio.get(), nullptr));
  if (!response) {
    Refuse(path, "it is no OCSP response in DER");
  }
  if (OCSP_response_status(response.get()) != OCSP_RESPONSE_STATUS_SUCCESSFUL) {
    Refuse(path, "the OCSP response reports an error");
  }
  ocsp_.reset(OCSP_response_get1_basic(response.get()));
  if (!ocsp_ || OCSP_resp_count(ocsp_.get()) == 0) {
    Refuse(path, "the OCSP response is about no certificate");
  }
  status_ = StatusIn(*ocsp_, *chain_.front());
  if (status_ == nullptr) {
    Refuse(path, "the OCSP response is about another certificate than " + path_);
  }
  const int size = i2d_OCSP_RESPONSE(response.get(), nullptr);
  RequireOpenSsl(size, "i2d_OCSP_RESPONSE");
  staple_.resize(static_cast<std::size_t>(size));
  auto* der = reinterpret_cast<unsigned char*>(staple_.data());
  i2d_OCSP_RESPONSE(response.get(), &der);
}

// A client may end the connection over a response that is out of date, and can do without one.
auto Certificate::Staple() const noexcept -> std::string_view {
  ASN1_GENERALIZEDTIME* next = nullptr;
  if (status_ != nullptr) {
    OCSP_single_get0_status(status_, nullptr, nullptr, nullptr, &next);
  }
  const bool is_late = next != nullptr && X509_cmp_current_time(next) < 0;
  return is_late ? std::string_view() : staple_;
}

void Certificate::Use(SSL_CTX& context) const {
  bool used = SSL_CTX_use_certificate(&context, chain_.front().get()) == 1 &&
              SSL_CTX_use_PrivateKey(&context, key_.get()) == 1;
  used = used && SSL_CTX_clear_chain_certs(&context) == 1;
  for (std::size_t i = 1; used && i < chain_.size(); ++i) {
    used = SSL_CTX_add1_chain_cert(&context, chain_[i].get()) == 1;
  }
  if (!used) {
    Refuse(path_, TakeOpenSslReason());
  }
}

}  // namespace TURTLE_SERVER
