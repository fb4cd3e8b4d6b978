#include "passes/kernel_facts/RecurrenceCost.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/Cost.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/ScanKernels.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace effc;

// What an exponential costs, in FLOPs: range reduction, polynomial of degree 7, two
// scalings.
static constexpr double kExpFlops = 40;

// What reads a state beside queries: the correction of a state along a key.
static int64_t probesOf(seq::LinearAttr linear) {
  return linear.getLowRank() != seq::LowRankPair::None ? 1 : 0;
}

// Reading and decaying a state, and writing it so often; a correction reads the
// state once more for each.
static double stepFlops(seq::LinearAttr linear, double elements) {
  double writing = probesOf(linear) ? 4 : 2;
  return (3 + writing * double(linear.getWrites())) * elements;
}

namespace {
/// FLOPs of a row of a chunk, a token or one of its writes, for an item that has
/// `values` of a head's value channels and looks at the tokens with `readers`: queries,
/// and probes of a correction.
struct ChunkFlops {
  double states; ///< products with the state
  double tokens; ///< products among tokens, as with decays per head
  double system; ///< the triangular system that a correction solves
  double decays; ///< what decays cost beside
  double rows;   ///< making rows of tokens, and tokens of rows

  /// Of `chunk` rows.
  static ChunkFlops of(seq::LinearAttr linear, double keys, double values,
                       double chunk, double readers);
  double products() const { return states + tokens + rows; }
  double sum() const { return products() + system + decays; }
};
} // namespace

// With decays per head a sum of products is half of a block of tokens; with decays
// per key channel tokens are halved (passes/seq_to_tile/builders/linear/KeyDecays.cpp):
// log2 C products and sums of log-decays of whole blocks. Where a correction looks
// both ways, it is written along keys of its own, and readers' decays are summed up
// twice.
ChunkFlops ChunkFlops::of(seq::LinearAttr linear, double keys, double values,
                          double chunk, double readers) {
  double writers = looksBothWays(linear) ? 2 : 1;
  double halvings = llvm::Log2_64_Ceil(uint64_t(chunk));
  double pairs = readers * writers * chunk;
  ChunkFlops flops = {};
  flops.states = (2 * writers + 2 * readers) * keys * values;
  flops.tokens = pairs * (keys + values);
  // Products of as many rows as a chunk has: a product's tile has no fewer
  // (passes/seq_to_tile/builders/linear/TokenRows.h).
  if (auto writes = double(linear.getWrites()); writes > 1)
    flops.rows = 2 * chunk * (keys + values + (keys + values) / writes);
  if (probesOf(linear))
    flops.system = 4 * chunk * chunk * (halvings - 1);
  if (decaysPerHead(linear)) {
    flops.decays = chunk * kExpFlops;
  } else {
    double further = pairs * (2 * halvings - 1) * keys;
    double sums = (halvings * writers + readers) * 2 * chunk * keys;
    double exponentials = (readers * (halvings + 1) + 1) * keys;
    flops.decays = further + sums + exponentials * kExpFlops;
  }
  return flops;
}

// What an item waits for a chunk: its products' terms are keys and rows, for the
// state and for each of the readers. Rows of tokens that write several times add
// up in as many products, of the keys and of the values, and numbers of tokens are
// moved by sums.
static double waitsOfChunk(const CoreCycles &cycles, seq::LinearAttr linear,
                           int64_t readers, int64_t keys, int64_t rows) {
  constexpr int64_t kTermsTogether = 16;
  int64_t barriers = 10, terms = (1 + readers) * (keys + rows),
          writes = linear.getWrites();
  if (writes > 1) {
    barriers += writes + 3;
    terms += kTermsTogether * (2 * writes + 2);
  }
  return cycles.ofWaits(barriers, double(terms));
}

// On a GPU every token waits for its numbers and for sums of all threads, those
// of a probe for each further write.
static double waitsOfToken(const CoreCycles &cycles, int64_t writes = 1) {
  return cycles.ofWaits(/*barriers=*/2 * writes);
}

double HeadCost::ofSteps() const {
  CoreCycles cycles(target);
  return cycles.ofSteps(stepFlops(linear, double(keys * values))) +
         waitsOfToken(cycles, linear.getWrites());
}

// Each item of a head looks at the tokens for itself.
double HeadCost::ofChunks(int64_t chunk) const {
  CoreCycles cycles(target);
  int64_t readers = 1 + probesOf(linear);
  int64_t items =
      llvm::divideCeil(values, mostChunkValues(linear, target, keys, chunk));
  int64_t rows = chunk * linear.getWrites();
  ChunkFlops flops =
      ChunkFlops::of(linear, double(keys), double(values) / double(items),
                     double(rows), double(readers));
  return (double(rows) * cycles.ofProducts(double(items) * flops.sum()) +
          waitsOfChunk(cycles, linear, readers, keys, rows)) /
         double(chunk);
}

double HeadCost::ofScan(int64_t rows) const {
  constexpr int64_t kMostBeside = 8; // pieces that wait beside one another
  CoreCycles cycles(target);
  int64_t beside = std::clamp<int64_t>(rows / kPieceTokens, 1, kMostBeside);
  double flops = stepFlops(linear, double(keys * values));
  return cycles.ofSteps(double(kScanLaunches) * flops) +
         waitsOfToken(cycles) / double(beside);
}

// A state alone is without the queries, so without corrections it has no reader.
// What decays cost beside is work of outputs above all, and speaks for pieces: it
// is left out.
double ChunkPiecesCost::of(int64_t chunks, int64_t pieces,
                           int64_t transitionItems) const {
  CoreCycles cycles(target);
  int64_t probes = probesOf(linear);
  int64_t rows = chunk * linear.getWrites();
  auto ofChunk = [&](int64_t readers) {
    ChunkFlops flops = ChunkFlops::of(linear, double(keys), double(values),
                                      double(rows), double(readers));
    return cycles.ofProducts(double(rows) * flops.products()) +
           waitsOfChunk(cycles, linear, readers, keys, rows);
  };
  double whole = ofChunk(1 + probes);
  if (pieces == 1)
    return double(chunks) * whole;
  auto each = double(llvm::divideCeil(chunks, pieces));
  // The last piece's state and the first one's matrix are nobody's.
  int64_t first =
      heads * ((pieces - 1) * itemsOfHead + (pieces - 2) * transitionItems);
  int64_t products = hasTransitions(linear) ? pieces - 2 : 0;
  // Of a state and the matrix of a piece.
  double product = cycles.ofExactProducts(2.0 * double(keys * keys * values)) +
                   cycles.ofWaits(/*barriers=*/2, double(keys));
  return double(itemsOfCore(first, coresOf(target))) * each * ofChunk(probes) +
         cycles.ofLaunch() + double(products) * product + each * whole;
}

int64_t TokenPiecesCost::residentItems() const {
  int64_t ofWarp = target.getVector() * kThreadElements;
  return std::max<int64_t>(
      target.getCore().getRegisters() / 4 / std::max(elements, ofWarp), 1);
}

// A token waits for its numbers; of a core's items one waits while another
// computes, which takes some five instructions for a warp's elements, by all
// schedulers. Each piece reads the places of those before it, one after another.
double TokenPiecesCost::of(int64_t pieces) const {
  CoreCycles cycles(target);
  double latency = waitsOfToken(cycles),
         work = 5.0 * double(elements) /
                double(BlockRoom::of(target).fewThreads());
  double each = double(llvm::divideCeil(tokens, pieces)) * double(blocks);
  auto ofCore = double(itemsOfCore(items * pieces, coresOf(target)));
  double pass = each * std::max(latency, ofCore * work);
  return pieces == 1 ? pass
                     : kScanLaunches * pass + cycles.ofLaunch() +
                           cycles.ofWaits(/*barriers=*/2) * double(pieces) *
                               double(blocks);
}
