// Only this file uses OpenSSL.
#include "engine/hub/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <vector>

#include "models/error.h"

namespace warpchat {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (state_->context == nullptr) throw std::bad_alloc();
  if (EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    throw Error("cannot check downloads: this system's OpenSSL offers no SHA-256");
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) throw Error("cannot compute a SHA-256");
}

std::string Sha256::finish() {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n_bytes = 0;
  if (EVP_DigestFinal_ex(state_->context, digest, &n_bytes) != 1) throw Error("cannot compute a SHA-256");
  std::string text;
  for (unsigned i = 0; i < n_bytes; ++i) text += {kDigits[digest[i] >> 4], kDigits[digest[i] & 15]};
  return text;
}

std::string sha256_of_file(const std::string& path, const std::function<void(uint64_t)>& progress) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(size_t{1} << 20);
  Sha256 hash;
  uint64_t n_bytes = 0;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    const auto n = static_cast<size_t>(file.gcount());
    hash.add(std::as_bytes(std::span(buffer).first(n)));
    progress(n_bytes += n);
  }
  return file.eof() ? hash.finish() : "";
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace warpchat
