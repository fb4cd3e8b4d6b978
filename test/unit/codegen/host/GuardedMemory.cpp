#include "test/unit/codegen/host/GuardedMemory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

using namespace effc::test;

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

static void *map(size_t bytes) {
  void *mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    std::abort(); // a test machine without memory
  return mapping;
}

GuardedMemory::GuardedMemory(size_t size) : bytes(roundUp(size, 64)) {
  size_t page = sysconf(_SC_PAGESIZE), pages = roundUp(bytes, page);
  mapped = pages + page;
  mapping = map(mapped);
  begin = static_cast<uint8_t *>(mapping) + pages - bytes;
  mprotect(static_cast<uint8_t *>(mapping) + pages, page, PROT_NONE);
  fillWithNaN();
}

GuardedMemory &GuardedMemory::operator=(GuardedMemory &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mapped, other.mapped);
  std::swap(bytes, other.bytes);
  std::swap(begin, other.begin);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (mapping)
    munmap(mapping, mapped);
}

MappedCode::MappedCode(std::span<const char> image) : mapped(image.size()) {
  static uint64_t made = 0;
  ownNumber = ++made;
  mapping = map(mapped);
  std::memcpy(mapping, image.data(), image.size());
  mprotect(mapping, mapped, PROT_READ | PROT_EXEC);
}

MappedCode &MappedCode::operator=(MappedCode &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mapped, other.mapped);
  std::swap(ownNumber, other.ownNumber);
  return *this;
}

MappedCode::~MappedCode() {
  if (mapping)
    munmap(mapping, mapped);
}
