// Products of warp groups (wgmma): begun by each thread, done when all 128 wait.
#include "runtime/src/devices/sim/units/WarpGroupProduct.h"

#include "runtime/src/devices/sim/SimBlock.h"
#include "runtime/src/devices/sim/units/TensorCore.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kGroupWarps = 4, kPatternRows = 8, kRowBytes = 128,
                          kPanelColumns = 64;
static constexpr uint32_t kPieceBytes = SharedMemory::kPieceBytes;
/// Of an H100, which alone has these products.
static constexpr Adder kH100 = {16, 2};

namespace {
/// The product of A with some columns of B.
struct Part {
  float a[WarpGroupProduct::kRows][WarpGroupProduct::kDepth];
  float b[WarpGroupProduct::kDepth][kSumsTogether];
  float d[WarpGroupProduct::kRows][kSumsTogether];

  [[gnu::always_inline]] inline void add() {
    for (uint32_t row = 0; row < WarpGroupProduct::kRows; ++row)
      addProducts<kH100>(a[row], b, WarpGroupProduct::kDepth, d[row]);
  }
};
} // namespace

static void addPlainly(Part &part) { part.add(); }
EFFC_WIDE static void addWidely(Part &part) { part.add(); }

void WarpGroupProduct::run() const {
  auto widen = type == SimMma::M16N8K16F16 ? fromHalf : fromBf16;
  // Of a warp's 16 rows, a thread has one of the first eight and of the last.
  auto threadOf = [](uint32_t row) { return row / 16 * 32 + row % 8 * 4; };
  auto halfOf = [](uint32_t row) { return row / 8 % 2; };
  Part part;
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t k = 0; k < kDepth; ++k) {
      uint32_t pair = a[threadOf(row) + k % 8 / 2][halfOf(row) + k / 8 * 2];
      part.a[row][k] = widen(pair >> k % 2 * 16 & 0xFFFF);
    }
  for (uint32_t first = 0; first < columns; first += kSumsTogether) {
    auto sum = [&](uint32_t row, uint32_t column) -> float & {
      return d[threadOf(row) + column / 2]
              [first / 8 * 4 + halfOf(row) * 2 + column % 2];
    };
    for (uint32_t column = 0; column < kSumsTogether; ++column) {
      for (uint32_t k = 0; k < kDepth; ++k)
        part.b[k][column] = widen(b[first + column][k]);
      for (uint32_t row = 0; row < kRows; ++row)
        part.d[row][column] = sum(row, column);
    }
    (hasWideVectors() ? addWidely : addPlainly)(part);
    for (uint32_t row = 0; row < kRows; ++row)
      for (uint32_t column = 0; column < kSumsTogether; ++column)
        sum(row, column) = part.d[row][column];
  }
}

void SimBlock::warpGroupDot(SimThread &thread, SimProduct product) {
  if (product.count == 0 || product.count % 4 != 0 ||
      product.count > 2 * WarpGroupProduct::kMostColumns / 4)
    require(thread, product.site,
            say("multiplies ", 2 * product.count,
                " columns, but multiples of 8 up to ",
                WarpGroupProduct::kMostColumns, " are expected"));
  if (product.b >> 62 != 1)
    require(thread, product.site,
            say("describes shared memory by ", product.b,
                ", but swizzling in 128 bytes is expected"));
  if (product.b >> 49 & 7)
    require(thread, product.site,
            say("describes a pattern that does not begin at a multiple of 1024 "
                "bytes"));
  if (launch->threads % (kGroupWarps * kWarpThreads) != 0)
    require(thread, product.site,
            say("a product of a warp group in a block of ", launch->threads,
                " threads"));
  product.group = thread.productGroups;
  if (std::exchange(thread.placesPassed, false))
    product.places = thread.places;
  thread.products.push_back(product);
}

void SimBlock::waitProducts(SimThread &thread, const char *site) {
  joinOp(thread, Op::WaitProducts, 0, site);
}

/// Whether all warps of the group wait; if so, does what they have committed
/// and lets the others go on.
bool SimBlock::completeGroup(SimThread &last) {
  uint32_t firstWarp = last.index / kWarpThreads / kGroupWarps * kGroupWarps;
  if (firstWarp + kGroupWarps > launch->threads / kWarpThreads)
    return true; // no warp group: it has no products
  std::span<Warp> others = std::span(warps).subspan(firstWarp, kGroupWarps);
  for (const Warp &warp : others)
    if (warp.arrived != UINT32_MAX || warp.op != Op::WaitProducts)
      return false;
  std::span<SimThread> group = std::span(threads).subspan(
      firstWarp * kWarpThreads, kGroupWarps * kWarpThreads);
  auto done = [](const SimThread &thread) {
    return static_cast<size_t>(
        std::ranges::count_if(thread.products, [&](const SimProduct &product) {
          return product.group < thread.productGroups;
        }));
  };
  size_t count = done(group[0]);
  for (SimThread &thread : group)
    if (done(thread) != count) {
      note(thread, warpOf(thread).site,
           say("divergent: the thread waits for ", done(thread),
               " products, thread ", group[0].index, " for ", count));
      halt(last);
    }
  for (size_t i = 0; i < count; ++i)
    multiplyGroup(group, i, last);
  for (SimThread &thread : group)
    thread.products.erase(thread.products.begin(),
                          thread.products.begin() +
                              static_cast<ptrdiff_t>(count));
  for (Warp &warp : others)
    if (&warp != &warpOf(last)) {
      warp.arrived = 0;
      warp.ready = UINT32_MAX;
    }
  return true;
}

/// What asynchronous copies have brought to a row of a panel, which the
/// product takes for neighbours, has to have been neighbours where it came
/// from: otherwise the copies and the product disagree on places. `at`: a byte
/// of the row, before it is swizzled.
Fault SimBlock::checkRow(uint64_t at) const {
  uint64_t start = at & ~uint64_t(kRowBytes - 1);
  const uint8_t *source = nullptr; // of the first piece that has one
  uint32_t first = 0;
  for (uint32_t piece = 0; piece < kRowBytes / kPieceBytes; ++piece) {
    const uint8_t *from =
        shared.sourceAt(swizzled(start + uint64_t(piece) * kPieceBytes));
    if (!from)
      continue;
    if (!source) {
      source = from;
      first = piece;
    } else if (int64_t(from - source) != int64_t(piece - first) * kPieceBytes) {
      return say("misplaced: reads a row of 128 swizzled bytes at byte ", start,
                 " of shared memory, whose bytes from ", piece * kPieceBytes,
                 " on were copied from ", from - source,
                 " bytes behind those from ", first * kPieceBytes, " on, but ",
                 (piece - first) * kPieceBytes, " are expected");
    }
  }
  return {};
}

/// B of a product, as its descriptor says: start, distance of panels and of
/// groups of eight rows, in 16 bytes each; exchanged are bits 4 to 6 of the
/// address by bits 7 to 9.
Fault SimBlock::readColumns(std::span<SimThread> group, const SimProduct &from,
                            WarpGroupProduct &product) {
  auto field = [&](unsigned bit) {
    return (from.b >> bit & 0x3FFF) * kPieceBytes;
  };
  uint64_t start = field(0), panels = field(16), groups = field(32);
  // Elements of a row from one on that is a multiple of eight.
  auto read = [&](uint64_t row, uint64_t element, uint16_t *elements) -> Fault {
    uint64_t at = start + element / kPanelColumns * panels +
                  row / kPatternRows * groups + row % kPatternRows * kRowBytes +
                  element % kPanelColumns * sizeof(uint16_t);
    const uint8_t *piece = shared.data() + swizzled(at);
    if (Fault fault = shared.readByUnit(
            piece, kPieceBytes,
            {group[0].index, static_cast<uint32_t>(group.size())});
        !fault.empty())
      return fault;
    std::memcpy(elements, piece, kPieceBytes);
    return checkRow(at);
  };
  constexpr uint32_t kPiece = kPieceBytes / sizeof(uint16_t);
  if (!from.across) {
    for (uint32_t column = 0; column < product.columns; ++column)
      for (uint32_t k = 0; k < WarpGroupProduct::kDepth; k += kPiece)
        if (Fault fault = read(column, k, &product.b[column][k]);
            !fault.empty())
          return fault;
    return {};
  }
  for (uint32_t k = 0; k < WarpGroupProduct::kDepth; ++k)
    for (uint32_t column = 0; column < product.columns; column += kPiece) {
      uint16_t elements[kPiece];
      if (Fault fault = read(k, column, elements); !fault.empty())
        return fault;
      for (uint32_t i = 0; i < kPiece; ++i)
        product.b[column + i][k] = elements[i];
    }
  return {};
}

/// Number `number` of the products that each thread has begun.
void SimBlock::multiplyGroup(std::span<SimThread> group, size_t number,
                             SimThread &last) {
  const SimProduct &first = group[0].products[number];
  auto stop = [&](SimThread &thread, Fault fault) {
    note(thread, first.site, std::move(fault));
    Fault().swap(fault);
    halt(last);
  };
  WarpGroupProduct product;
  product.type = first.type;
  product.columns = 2 * first.count;
  for (uint32_t i = 0; i < group.size(); ++i) {
    const SimProduct &own = group[i].products[number];
    if (own.b != first.b || own.count != first.count ||
        own.type != first.type || own.across != first.across ||
        own.places.has_value() != first.places.has_value() ||
        std::strcmp(own.site, first.site) != 0)
      stop(group[i], say("divergent: the product's columns or place are not "
                         "those of thread ",
                         group[0].index));
    product.a[i] = own.a;
    product.d[i] = own.d;
  }
  if (Fault fault = readColumns(group, first, product); !fault.empty())
    stop(group[0], std::move(fault));
  for (uint32_t warp = 0; first.places && warp < kGroupWarps; ++warp) {
    const FragmentPlaces *places[kWarpThreads];
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane) {
      const SimThread &thread = group[warp * kWarpThreads + lane];
      places[lane] = &*thread.products[number].places;
    }
    if (Fault fault = checkPlaces(first.type, places, /*isDense=*/true);
        !fault.empty())
      stop(group[warp * kWarpThreads], std::move(fault));
  }
  product.run();
}
