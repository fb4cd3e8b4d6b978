// Loads of fragments (ldmatrix), and the places of what products have in them.
#include "runtime/src/devices/sim/SimBlock.h"

#include <cstring>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kMatrixRows = 8, kMatrixRowBytes = 16;

/// Where element `i`, 0 or 1, of what matrixRegister gives lies.
static const void *matrixElement(const void *const *rows, uint32_t lane,
                                 bool transposed, uint32_t i) {
  uint32_t group = lane / 4, place = lane % 4 * 2 + i;
  uint32_t row = transposed ? place : group,
           column = transposed ? group : place;
  return static_cast<const uint16_t *>(rows[row]) + column;
}

/// What lane `lane` gets of an 8 x 8 matrix of 16-bit elements whose rows start
/// at `rows`.
static uint32_t matrixRegister(const void *const *rows, uint32_t lane,
                               bool transposed) {
  uint16_t elements[2];
  for (uint32_t i = 0; i < 2; ++i)
    std::memcpy(&elements[i], matrixElement(rows, lane, transposed, i),
                sizeof elements[i]);
  return elements[0] | uint32_t(elements[1]) << 16;
}

/// What the next product of the thread has in its fragments.
void SimBlock::passOrigins(SimThread &thread, const void *const *origins,
                           uint32_t count) {
  auto at = [&](uint32_t i) {
    return i < count ? static_cast<const uint8_t *>(origins[i]) : nullptr;
  };
  uint32_t i = 0;
  for (const uint8_t *&place : thread.places.a)
    place = at(i++);
  for (const uint8_t *&place : thread.places.b)
    place = at(i++);
  thread.placesPassed = true;
}

void SimBlock::loadMatrix(SimThread &thread, const void *address,
                          uint32_t count, bool transposed, uint32_t *out,
                          const void **origins, const char *site) {
  if (count != 1 && count != 2 && count != 4)
    require(thread, site,
            say("loads ", count, " matrices, but 1, 2 or 4 are expected"));
  LaneWork &work = workOf(thread);
  work.address = address;
  work.out = out;
  work.origins = origins;
  joinOp(thread, Op::LoadMatrix, count | uint32_t(transposed) << 8, site);
}

/// Lane 8 i + r has brought the address of row r of matrix i.
void SimBlock::loadMatrices(Warp &warp, SimThread &last) {
  uint32_t count = warp.detail & 0xFF;
  bool transposed = warp.detail >> 8;
  uint32_t firstThread = last.index / kWarpThreads * kWarpThreads;
  for (uint32_t i = 0; i < count * kMatrixRows; ++i) {
    const void *row = warp.lanes[i].address;
    Fault fault;
    if (reinterpret_cast<uintptr_t>(row) % kMatrixRowBytes != 0)
      fault = say("misaligned: address ", row, " of a row is no multiple of ",
                  kMatrixRowBytes);
    else if (!shared.contains(row))
      fault = say("reads ", kMatrixRowBytes, " bytes at ", row,
                  ", which is not shared memory");
    else
      fault = shared.readTogether(row, kMatrixRowBytes,
                                  {firstThread, kWarpThreads});
    if (fault.empty())
      continue;
    note(threads[firstThread + i], warp.site, std::move(fault));
    Fault().swap(fault);
    halt(last);
  }
  const void *rows[4 * kMatrixRows];
  for (uint32_t i = 0; i < count * kMatrixRows; ++i)
    rows[i] = warp.lanes[i].address;
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane) {
    const LaneWork &work = warp.lanes[lane];
    for (uint32_t matrix = 0; matrix < count; ++matrix) {
      const void *const *ofMatrix = rows + matrix * kMatrixRows;
      work.out[matrix] = matrixRegister(ofMatrix, lane, transposed);
      for (uint32_t i = 0; work.origins && i < 2; ++i)
        work.origins[2 * matrix + i] =
            matrixElement(ofMatrix, lane, transposed, i);
    }
  }
}
