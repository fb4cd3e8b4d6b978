// The table of functions that a simulated kernel is given: each goes to the
// block of its thread.

#include "runtime/src/devices/sim/SimBlock.h"
#include "runtime/src/devices/sim/WarpOps.h"

using namespace effc;
using namespace effc::rt;

static uint32_t special(SimThread *thread, uint32_t which) {
  return SimSpecial(which) == SimSpecial::ThreadX ? thread->index
                                                  : thread->block->blockIndex();
}

static void *sharedMemory(SimThread *thread) {
  return thread->block->sharedMemory().data();
}

static void access(SimThread *thread, const void *address, uint32_t bytes,
                   uint32_t alignment, uint32_t flags, const char *site) {
  thread->block->access(*thread, address, bytes, alignment, flags, site);
}

static void barrier(SimThread *thread, const char *site) {
  thread->block->barrier(*thread, site);
}

static uint32_t shuffle(SimThread *thread, uint32_t kind, uint32_t mask,
                        uint32_t value, uint32_t lane, uint32_t clamp,
                        const char *site) {
  return thread->block->shuffle(*thread, kind, mask, value, lane, clamp, site);
}

static void mma(SimThread *thread, uint32_t type, const uint32_t *a,
                const uint32_t *b, const float *c, float *d, const char *site) {
  thread->block->mma(*thread, type, {a, b, c, d}, site);
}

static void copyAsync(SimThread *thread, void *shared, const void *global,
                      uint32_t bytes, uint32_t taken, const char *site) {
  thread->block->copyAsync(*thread,
                           {static_cast<uint8_t *>(shared),
                            static_cast<const uint8_t *>(global), bytes, taken,
                            0},
                           site);
}

static void commitGroup(SimThread *thread, const char *) {
  thread->block->commitGroup(*thread);
}

static void waitGroup(SimThread *thread, uint32_t pending, const char *) {
  thread->block->waitGroup(*thread, pending);
}

static void loadMatrixFrom(SimThread *thread, const void *address,
                           uint32_t count, uint32_t transposed, uint32_t *out,
                           const void **origins, const char *site) {
  thread->block->loadMatrix(*thread, address, count, transposed != 0, out,
                            origins, site);
}

static void loadMatrix(SimThread *thread, const void *address, uint32_t count,
                       uint32_t transposed, uint32_t *out, const char *site) {
  loadMatrixFrom(thread, address, count, transposed, out, nullptr, site);
}

static void passOrigins(SimThread *thread, const void *const *origins,
                        uint32_t count) {
  thread->block->passOrigins(*thread, origins, count);
}

static void multiplyGroup(SimThread *thread, uint32_t type, uint32_t count,
                          const uint32_t *a, uint64_t b, float *d,
                          const char *site) {
  thread->block->warpGroupDot(*thread, {{a[0], a[1], a[2], a[3]},
                                        b,
                                        d,
                                        count,
                                        0,
                                        SimMma(type & ~kSimAcross),
                                        (type & kSimAcross) != 0,
                                        site});
}

static void commitProducts(SimThread *thread, const char *) {
  ++thread->productGroups;
}

static void waitProducts(SimThread *thread, const char *site) {
  thread->block->waitProducts(*thread, site);
}

static void fenceProxy(SimThread *thread, const char *) {
  thread->block->fenceProxy(*thread);
}

static void startArrivals(SimThread *thread, void *arrival, uint32_t threads,
                          const char *site) {
  thread->block->startArrivals(*thread, arrival, threads, site);
}

static void expectBytes(SimThread *thread, void *arrival, uint32_t bytes,
                        const char *site) {
  thread->block->expectBytes(*thread, arrival, bytes, site);
}

static void waitArrivals(SimThread *thread, void *arrival, uint32_t parity,
                         const char *site) {
  thread->block->waitArrivals(*thread, arrival, parity, site);
}

static void copyBox(SimThread *thread, void *shared, const void *map,
                    uint32_t column, uint32_t row, void *arrival,
                    const char *site) {
  thread->block->copyBox(
      *thread,
      {static_cast<uint8_t *>(shared), static_cast<const SimBoxMap *>(map),
       static_cast<int32_t>(column), static_cast<int32_t>(row), site},
      arrival);
}

static void awaitLaunches(SimThread *thread, const char *) {
  thread->awaited = true;
}

static float exp2Of(SimThread *, float x) { return approximateExp2(x); }
static float log2Of(SimThread *, float x) { return approximateLog2(x); }
static float reciprocalOf(SimThread *, float x) {
  return approximateReciprocal(x);
}
static float tanhOf(SimThread *, float x) { return approximateTanh(x); }

const SimCalls effc::rt::kSimCalls = {
    special,      sharedMemory,  access,        barrier,        shuffle,
    mma,          copyAsync,     commitGroup,   waitGroup,      loadMatrix,
    exp2Of,       log2Of,        reciprocalOf,  tanhOf,         commitProducts,
    waitProducts, fenceProxy,    startArrivals, expectBytes,    waitArrivals,
    copyBox,      awaitLaunches, multiplyGroup, loadMatrixFrom, passOrigins};
