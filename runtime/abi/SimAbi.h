//===- SimAbi.h - Between simulated GPU code and the simulator ------------===//
//
// Depends on nothing: codegen/sim emits calls of this table, and the simulator
// fills it. From the first release on, entries are only added, at the end, which
// raises FileHeader::kMinor: a runtime refuses files of a later one than its own. Any
// other change raises kMajor.
//
// A simulated kernel is what one CUDA thread does, as code of the host. Every
// NVVM op is a call through `SimCalls`, whose entries are addressed by their
// place in the struct. `thread` is the simulator's, passed through. `site`
// names the op that the call stands for ("layers.0.ssd: tile.store"); it lives
// as long as the code.
//
// Pointers of all address spaces are plain 64-bit ones. The block's shared
// memory starts at shared(thread) and is 256 KiB aligned, so that the low 18
// bits of such a pointer are the offset.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_ABI_SIMABI_H
#define EFFC_RUNTIME_ABI_SIMABI_H

#include <cstdint>

namespace effc::rt {

struct SimThread;

/// What SimCalls::special reads.
enum class SimSpecial : uint32_t { ThreadX = 0, BlockX = 1 };

/// Flags of SimCalls::access.
enum SimAccess : uint32_t { kSimRead = 0, kSimWrite = 1, kSimShared = 2 };

enum class SimShuffle : uint32_t { Butterfly = 0, Index = 1, Up = 2, Down = 3 };

/// Warp-wide products D = A B + C, A row-major and B column-major, with the
/// fragments of the PTX ISA's mma.sync: A in four 32-bit registers, B in two, C
/// and D in four f32.
enum class SimMma : uint32_t {
  M16N8K8Tf32 = 0, // each register is the bits of an f32, read as tf32
  M16N8K16Bf16 = 1,
  M16N8K16F16 = 2
};

/// Beside the SimMma that multiplyGroup is passed: rows of B have its columns
/// side by side.
inline constexpr uint32_t kSimAcross = 16;

/// A tensor map, as the simulator has it: `rows` of `columns` elements of
/// `elementBytes`, which begin `pitch` bytes apart from `base` on, of which a
/// box has `boxRows` of `boxColumns`.
struct SimBoxMap {
  const void *base;
  uint64_t rows, columns, pitch;
  uint32_t boxRows, boxColumns, elementBytes;
};

struct SimCalls {
  uint32_t (*special)(SimThread *thread, uint32_t which);
  void *(*shared)(SimThread *thread);
  /// Before each load and store of `bytes` at `address`, which has to be a
  /// multiple of `alignment`: checks bounds, alignment, what was never written,
  /// and, in shared memory, races between threads since the last barrier.
  void (*access)(SimThread *thread, const void *address, uint32_t bytes,
                 uint32_t alignment, uint32_t flags, const char *site);
  /// bar.sync 0 of the whole block.
  void (*barrier)(SimThread *thread, const char *site);
  /// shfl.sync of all 32 lanes (`mask` all ones); returns the 32 bits.
  uint32_t (*shuffle)(SimThread *thread, uint32_t kind, uint32_t mask,
                      uint32_t value, uint32_t lane, uint32_t clamp,
                      const char *site);
  /// mma.sync: `type` is a SimMma; d may be c.
  void (*mma)(SimThread *thread, uint32_t type, const uint32_t *a,
              const uint32_t *b, const float *c, float *d, const char *site);
  /// cp.async of 4, 8 or 16 bytes from global to shared memory, of which the
  /// first `taken` are read and the rest are zeros; done at the latest moment
  /// that the waits allow.
  void (*copyAsync)(SimThread *thread, void *shared, const void *global,
                    uint32_t bytes, uint32_t taken, const char *site);
  void (*commitGroup)(SimThread *thread, const char *site);
  /// Waits until at most `pending` of the thread's latest groups are under way.
  void (*waitGroup)(SimThread *thread, uint32_t pending, const char *site);
  /// ldmatrix: `count` (1, 2 or 4) 8 x 8 matrices of 16-bit elements, lane
  /// 8 i + r giving the address of row r of matrix i; `out` gets `count`
  /// registers.
  void (*loadMatrix)(SimThread *thread, const void *address, uint32_t count,
                     uint32_t transposed, uint32_t *out, const char *site);
  // The hardware's approximations, each within its documented error.
  float (*exp2)(SimThread *thread, float x);
  float (*log2)(SimThread *thread, float x);
  float (*reciprocal)(SimThread *thread, float x);
  float (*tanh)(SimThread *thread, float x);
  // Library functions without such an instruction (sin, cos, erf, ...) never
  // reach the simulator: codegen expands them.
  /// wgmma.commit_group.
  void (*commitProducts)(SimThread *thread, const char *site);
  /// wgmma.wait_group 0, by all threads of the warp group.
  void (*waitProducts)(SimThread *thread, const char *site);
  /// fence.proxy.async of shared memory: asynchronous units see what the thread
  /// wrote before.
  void (*fenceProxy)(SimThread *thread, const char *site);
  /// mbarrier.init: `arrival`, 8 bytes of shared memory, has a phase when so
  /// many threads and the bytes that they expect have come.
  void (*startArrivals)(SimThread *thread, void *arrival, uint32_t threads,
                        const char *site);
  /// mbarrier.arrive.expect_tx: the phase waits for `bytes` more; arrives.
  void (*expectBytes)(SimThread *thread, void *arrival, uint32_t bytes,
                      const char *site);
  /// mbarrier.try_wait.parity, until the phase of that parity is over.
  void (*waitArrivals)(SimThread *thread, void *arrival, uint32_t parity,
                       const char *site);
  /// cp.async.bulk.tensor.2d: the box of the SimBoxMap `map` whose first
  /// element is (`row`, `column`) to `shared`, in 128-byte swizzled rows, with
  /// zeros past the tensor; its bytes come to `arrival`, when that is waited
  /// for.
  void (*copyBox)(SimThread *thread, void *shared, const void *map,
                  uint32_t column, uint32_t row, void *arrival,
                  const char *site);
  /// griddepcontrol.wait: launches before this one are over, and what they
  /// wrote is there.
  void (*awaitLaunches)(SimThread *thread, const char *site);
  /// wgmma.mma_async m64nNk16 by the 128 threads of a warp group, where N is 2
  /// `count`: adds A B to D. `type`, a SimMma of depth 16, says what A and B
  /// are of; with kSimAcross B's rows have columns side by side, else they are
  /// columns in depth. `a` are the thread's four registers of A, `b` describes
  /// B in shared memory (PTX ISA, matrix descriptor format; 128-byte swizzled
  /// rows), `d` are its `count` f32 of D. B is read and D written when the
  /// product is waited for; `d` lives until then.
  void (*multiplyGroup)(SimThread *thread, uint32_t type, uint32_t count,
                        const uint32_t *a, uint64_t b, float *d,
                        const char *site);
  /// As loadMatrix; `origins` gets the places of what is in `out`, two elements
  /// for each register.
  void (*loadMatrixFrom)(SimThread *thread, const void *address, uint32_t count,
                         uint32_t transposed, uint32_t *out,
                         const void **origins, const char *site);
  /// Of the thread's next product, the places in shared memory from which the
  /// `count` elements of its fragments have come, two for each register of A,
  /// then of B (12; of a warp group's product, 8; of tf32 the second ones are
  /// null); null: not known. The simulator reports places that cannot be those
  /// of one product.
  void (*passOrigins)(SimThread *thread, const void *const *origins,
                      uint32_t count);
};

/// `operands[i]` is the address of operand i of the launch, its offset added;
/// behind them lie the addresses of the launch's tensor maps, each a SimBoxMap.
/// `counts` are the call's rows, segments, outputs and 1. Called once for each
/// thread of each block.
using SimKernel = void (*)(const SimCalls *calls, SimThread *thread,
                           const void *const *operands, const int64_t *counts);

} // namespace effc::rt

#endif // EFFC_RUNTIME_ABI_SIMABI_H
