// Memory that ends where reading on is a fault.
#ifndef EFFC_TEST_UNIT_CODEGEN_HOST_GUARDEDMEMORY_H
#define EFFC_TEST_UNIT_CODEGEN_HOST_GUARDEDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace effc::test {

/// Bytes on a multiple of 64, filled with NaN, whose end, rounded up to 64, is
/// followed by a page that cannot be touched.
class GuardedMemory {
public:
  GuardedMemory() = default;
  explicit GuardedMemory(size_t bytes);
  GuardedMemory(GuardedMemory &&other) noexcept { *this = std::move(other); }
  GuardedMemory &operator=(GuardedMemory &&other) noexcept;
  ~GuardedMemory();

  uint8_t *data() const { return begin; }
  size_t size() const { return bytes; }
  template <typename T> T *as() const { return reinterpret_cast<T *>(begin); }
  /// Makes every f32, and every pair of bf16, a NaN.
  void fillWithNaN() { std::memset(begin, 0xff, bytes); }

private:
  void *mapping = nullptr;
  size_t mapped = 0, bytes = 0;
  uint8_t *begin = nullptr;
};

/// Code that may be called where it lies.
class MappedCode {
public:
  MappedCode() = default;
  explicit MappedCode(std::span<const char> image);
  MappedCode(MappedCode &&other) noexcept { *this = std::move(other); }
  MappedCode &operator=(MappedCode &&other) noexcept;
  ~MappedCode();

  const uint8_t *data() const { return static_cast<const uint8_t *>(mapping); }
  size_t size() const { return mapped; }
  /// No other code of this process has it.
  uint64_t number() const { return ownNumber; }

private:
  void *mapping = nullptr;
  size_t mapped = 0;
  uint64_t ownNumber = 0;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CODEGEN_HOST_GUARDEDMEMORY_H
