#include "runtime/src/devices/sim/Fiber.h"

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EFFC_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define EFFC_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EFFC_ADDRESS_SANITIZER 1
#endif
#if defined(EFFC_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(EFFC_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

using namespace effc;
using namespace effc::rt;
namespace context = boost::context::detail;

size_t rt::pageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

static size_t roundUp(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

GuardedPages::GuardedPages(GuardedPages &&other) noexcept {
  *this = std::move(other);
}

GuardedPages &GuardedPages::operator=(GuardedPages &&other) noexcept {
  std::swap(base, other.base);
  std::swap(mapped, other.mapped);
  std::swap(start, other.start);
  std::swap(length, other.length);
  return *this;
}

GuardedPages::~GuardedPages() {
  if (base)
    munmap(base, mapped);
}

Result<GuardedPages> GuardedPages::reserve(size_t bytes, size_t alignment) {
  GuardedPages pages;
  pages.length = roundUp(bytes, pageBytes());
  // A guard on each side, and room to choose the start from.
  pages.mapped = pages.length + 2 * pageBytes() + alignment;
  void *base = mmap(nullptr, pages.mapped, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail(EFFC_OUT_OF_MEMORY, "cannot reserve ", pages.mapped,
                " bytes for the simulated GPU: ", std::strerror(errno));
  pages.base = base;
  uintptr_t first = reinterpret_cast<uintptr_t>(base) + pageBytes();
  pages.start = reinterpret_cast<uint8_t *>(roundUp(first, alignment));
  return pages;
}

Check GuardedPages::open(size_t offset, size_t bytes) {
  if (bytes != 0 && mprotect(start + offset, bytes, PROT_READ | PROT_WRITE))
    return fail(EFFC_OUT_OF_MEMORY, "cannot use ", bytes,
                " bytes for the simulated GPU: ", std::strerror(errno));
  return {};
}

Result<FiberStacks> FiberStacks::create(size_t count, size_t bytes) {
  FiberStacks stacks;
  stacks.number = count;
  // One page more, for the tops to differ in.
  stacks.size = roundUp(bytes, pageBytes()) + pageBytes();
  size_t stride = stacks.size + pageBytes();
  Result<GuardedPages> pages =
      GuardedPages::reserve(count * stride, pageBytes());
  if (!pages)
    return pages.error();
  for (size_t i = 0; i < count; ++i)
    if (Check error = pages->open(i * stride + pageBytes(), stacks.size))
      return *error;
  stacks.pages = std::move(*pages);
  return stacks;
}

uint8_t *FiberStacks::top(size_t index) const {
  constexpr size_t kStagger = 192, kPlaces = 20; // within a page of 4096
  return pages.data() + (index + 1) * (size + pageBytes()) -
         index % kPlaces * kStagger;
}

namespace effc::rt {
/// What runs first on a new stack.
struct FiberStart {
  static void main(context::transfer_t from) {
    auto *fiber = static_cast<Fiber *>(from.data);
    fiber->scheduler = from.fctx;
#if defined(EFFC_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(nullptr, &fiber->schedulerBottom,
                                    &fiber->schedulerBytes);
#endif
    fiber->entry(fiber->argument);
  }
};
} // namespace effc::rt

void Fiber::start(uint8_t *top, size_t bytes, Entry begin, void *given) {
  entry = begin;
  argument = given;
  stackBottom = top - bytes;
  stackBytes = bytes;
  fiberShadow = nullptr;
#if defined(EFFC_THREAD_SANITIZER)
  // Anew each time: it keeps what was called, and a fiber's calls never return.
  threadShadow.reset();
  threadShadow = {__tsan_create_fiber(0), __tsan_destroy_fiber};
#endif
  context = context::make_fcontext(top, bytes, FiberStart::main);
}

void Fiber::resume() {
#if defined(EFFC_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&schedulerShadow, stackBottom, stackBytes);
#endif
#if defined(EFFC_THREAD_SANITIZER)
  schedulerShadow = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(threadShadow.get(), 0);
#endif
  context::transfer_t back = context::jump_fcontext(context, this);
  context = back.fctx;
#if defined(EFFC_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(schedulerShadow, nullptr, nullptr);
#endif
}

void Fiber::switchBack() {
#if defined(EFFC_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&fiberShadow, schedulerBottom, schedulerBytes);
#endif
#if defined(EFFC_THREAD_SANITIZER)
  __tsan_switch_to_fiber(schedulerShadow, 0);
#endif
  context::transfer_t back = context::jump_fcontext(scheduler, this);
  scheduler = back.fctx;
#if defined(EFFC_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fiberShadow, &schedulerBottom,
                                  &schedulerBytes);
#endif
}
