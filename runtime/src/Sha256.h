//===- Sha256.h - The SHA-256 of a file's bytes ---------------------------===//
//
// FIPS 180-4. What an artifact says of itself is compared by XXH3 (Checksum.h),
// which finds damage; whoever wants a file that nobody has exchanged names its
// SHA-256.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SHA256_H
#define EFFC_RUNTIME_SRC_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace effc::rt {

using Sha256Digest = std::array<uint8_t, 32>;
inline constexpr size_t kSha256Digits = 64;

/// Calls `progress(user, done, total)` in bytes now and then; it may be null.
Sha256Digest sha256(std::span<const uint8_t> bytes,
                    void (*progress)(void *, uint64_t, uint64_t) = nullptr,
                    void *user = nullptr);

/// The same without the processor's own instructions for it.
Sha256Digest sha256Portable(std::span<const uint8_t> bytes);

/// 64 hexadecimal digits in lower case.
std::string describeSha256(const Sha256Digest &digest);

/// 64 hexadecimal digits of either case as a digest; none where `text` is
/// something else.
std::optional<Sha256Digest> readSha256(std::string_view text);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SHA256_H
