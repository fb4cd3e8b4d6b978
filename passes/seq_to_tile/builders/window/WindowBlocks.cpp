// Blocks of queries and keys: what a block's memory holds, and a call's items.
#include "passes/seq_to_tile/builders/window/WindowBlocks.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/HostSizes.h"
#include "passes/kernel_facts/RoundedOperands.h"
#include "passes/kernel_facts/WindowPieces.h"
#include "passes/seq_to_tile/builders/window/Window.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace effc;

static int64_t sizeOf(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

int64_t effc::sharedHeadsOf(seq::MixerOpInterface mixer) {
  seq::WindowAttr record = mixer.getStructure().getWindow();
  seq::WindowTokens tokens = windowTokensOf(mixer);
  int64_t shared = std::min(record.getHeadsPerKey(), record.getHeadsPerValue());
  // The same of those that have a number per key, or a choice of blocks, together.
  for (Value grouped : {tokens.keyScore, tokens.blocks})
    if (grouped)
      shared = std::gcd(shared, sizeOf(tokens.query, 1) / sizeOf(grouped, 1));
  return shared;
}

// The pieces of a decode call's keys, of which each item has as few as fill the
// cores. Their positions do not depend on the call.
static void choosePieces(seq::MixerOpInterface mixer, const CallContext &call,
                         WindowBlocks &blocks) {
  seq::WindowAttr record = mixer.getStructure().getWindow();
  seq::WindowTokens tokens = windowTokensOf(mixer);
  int64_t groups = sizeOf(tokens.query, 1) / sharedHeadsOf(mixer);
  int64_t ringRows = sizeOf(windowStateOf(mixer, tokens.keyState), 0);
  int64_t keys = record.getWindow() ? record.getWindow() : ringRows;
  // Each item would search all keys for those that are kept. Prefill adds up
  // without pieces.
  if (record.getKeep() || call.bitStable)
    return;
  blocks.piece = windowPieceOf(call.target, keys, groups);
  if (blocks.piece == 0)
    return;
  blocks.items = std::clamp<int64_t>(
      windowItemsThatFill(call.target) / (groups * call.entry.getRows()), 1,
      WindowPieces::most(record.getWindow(), ringRows, blocks.piece));
}

WindowBlocks effc::windowBlocksOf(seq::MixerOpInterface mixer,
                                  const CallContext &call) {
  seq::WindowTokens tokens = windowTokensOf(mixer);
  int64_t heads = sizeOf(tokens.query, 1), channels = sizeOf(tokens.query, 2);
  int64_t valueChannels = sizeOf(mixer->getResult(0), 2);
  // Those that choose keys together.
  int64_t groups = mixer.getStructure().getWindow().getKeep()
                       ? sizeOf(tokens.keyScore, 1)
                       : heads;
  WindowBlocks blocks;
  blocks.keys = mostWindowKeys(call.target);
  // A block never wraps around in the ring.
  int64_t ringRows = sizeOf(windowStateOf(mixer, tokens.keyState), 0);
  while (ringRows % blocks.keys != 0)
    blocks.keys /= 2;
  // Nor does it lie in two blocks of which a query may choose one.
  while (mixer.getStructure().getWindow().getBlock() % blocks.keys != 0)
    blocks.keys /= 2;
  // Heads times parts of a segment's queries: a call may have one segment and a
  // model few heads.
  int64_t fill = itemsThatFill(call.target);
  bool isDecode = call.kind == seq::EntryKind::Decode;
  if (!call.isGpu()) {
    if (!isDecode) {
      blocks.queries = kHostQueries;
      blocks.items = llvm::divideCeilSigned(fill, groups);
    }
    return blocks;
  }
  BlockRoom room = BlockRoom::of(call.target);
  int64_t bytes = operandBytes(call.device(), call.roundedTo()),
          rows = call.entry.getRows();
  // Any head may have a key for each lane of a warp. Of more than these, keys and values
  // pass through the registers of a small block's threads on their way to shared memory.
  auto isTooLarge = [&](int64_t keys) {
    int64_t elements = keys * (channels + valueChannels);
    return elements * bytes > room.windowKeyBytes() ||
           (keys > room.lanes && elements > 2 * room.fewElements());
  };
  while (blocks.keys > 8 && isTooLarge(blocks.keys))
    blocks.keys /= 2;
  if (isDecode) {
    choosePieces(mixer, call, blocks);
    return blocks;
  }
  // Of queries there are two tiles where first tokens stay. How warps share the
  // sum of a row's weights follows from the block's rows, and a query in decode
  // has 16.
  int64_t fewest = tile::kPieceRows,
          most = call.bitStable ? fewest : room.tileRows(),
          tiles = tokens.sinkQuery ? 2 : 1;
  blocks.queries = std::min<int64_t>(llvm::alignTo(rows, fewest), most);
  while (blocks.queries > fewest &&
         (blocks.queries * channels * tiles * bytes > room.windowQueryBytes() ||
          blocks.queries * valueChannels > room.heldElements()))
    blocks.queries /= 2;
  // A few more than fill the cores would take as long again. No more than an
  // entry's rows have blocks.
  blocks.items = std::clamp<int64_t>(
      fill / groups, 1, llvm::divideCeilSigned(rows, blocks.queries));
  return blocks;
}
