// The order of bits in bundles, and the way there and back.
#include "dialects/storage/Bundles.h"

#include "dialects/storage/Bytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace effc;
using namespace effc::storage;

// The factors and zeros of a block, in the order of its parameters.
static llvm::SmallVector<FieldAttr> factorsOf(BlockType block) {
  llvm::SmallVector<FieldAttr> fields;
  for (llvm::ArrayRef<FieldAttr> part :
       {block.getZero(), block.getScale(), block.getPlus(), block.getMinus()})
    llvm::append_range(fields, part);
  return fields;
}

// The elements that share a field.
static int64_t sharedBy(FieldAttr field, BlockType block) {
  int64_t columns = columnsOf(field, block.getDigits());
  return columns == 0 ? block.getElements() : columns;
}

// How many elements share a field, the most first. The number of an element in a bundle
// has a digit for each step from one of them to the next.
static llvm::SmallVector<int64_t> sharesOf(BlockType block) {
  llvm::SmallVector<int64_t> shares = {block.getElements()};
  for (FieldAttr field : factorsOf(block))
    shares.push_back(sharedBy(field, block));
  llvm::sort(shares, std::greater<>());
  shares.erase(llvm::unique(shares), shares.end());
  return shares;
}

// A field is moved as whole bytes, of which a narrow one fills a part.
static bool isInBytes(FieldAttr field) {
  return field.bits() <= 8 || field.bits() % 8 == 0;
}

bool storage::canBundle(BlockType block, int64_t most) {
  llvm::SmallVector<int64_t> shares = sharesOf(block);
  for (size_t i = 1; i < shares.size(); ++i)
    if (shares[i - 1] % shares[i] != 0)
      return false;
  return block.getElements() <= most &&
         llvm::all_of(factorsOf(block), isInBytes);
}

int64_t storage::blocksOfBundle(BlockType block, int64_t columns,
                                int64_t most) {
  if (!canBundle(block, most))
    return 0;
  int64_t blocks = 0;
  for (int64_t next = 1; next * block.getElements() <= most; next *= 2)
    if (next * block.getElements() % kBundleElements == 0 &&
        columns % (next * block.getElements()) == 0)
      blocks = next;
  // Readers tell a bundle from a block by its elements or its bytes.
  if (blocks == 1 && bundleOf(block, blocks).getBytes() == block.getBytes())
    return 0;
  return blocks;
}

BlockType storage::bundleOf(BlockType block, int64_t blocks) {
  llvm::SmallVector<int64_t> shares = sharesOf(block);
  int64_t elements = blocks * block.getElements();
  // Blocks, then parts of what is left of them; the elements that each step is worth.
  llvm::SmallVector<int64_t> digits = {blocks}, worth = shares;
  for (size_t i = 1; i < shares.size(); ++i)
    digits.push_back(shares[i - 1] / shares[i]);
  digits.push_back(shares.back());
  worth.push_back(1);

  // A field whose numbers, one for `share` elements, lie `apart` bits from one another.
  auto strides = [&](int64_t share, int64_t apart) {
    llvm::SmallVector<int64_t> result;
    for (int64_t each : worth)
      result.push_back(each / share * apart);
    return result;
  };
  auto field = [](FieldAttr of, llvm::ArrayRef<int64_t> widths,
                  llvm::ArrayRef<int64_t> starts,
                  llvm::ArrayRef<int64_t> strides) {
    return FieldAttr::get(of.getContext(), of.getKind(), widths, starts,
                          strides, of.getBias(), of.getTable());
  };

  int64_t end = 0; // bits
  llvm::SmallVector<int64_t> widths, starts, codeStrides;
  for (int64_t width : {16, 8, 4, 2, 1}) {
    if (!(block.getCode().bits() & width))
      continue;
    widths.push_back(width);
    starts.push_back(end);
    llvm::append_range(codeStrides, strides(/*share=*/1, width));
    end += elements * width;
  }
  llvm::SmallVector<FieldAttr> factors = factorsOf(block), placed = factors;
  for (int64_t share : shares) {
    // The widest first, and as many bytes as are a multiple of its own, so that each
    // lies at a multiple of its bytes.
    llvm::SmallVector<size_t> beside;
    for (auto [i, each] : llvm::enumerate(factors))
      if (sharedBy(each, block) == share)
        beside.push_back(i);
    if (beside.empty())
      continue;
    llvm::stable_sort(beside, [&](size_t a, size_t b) {
      return factors[a].bits() > factors[b].bits();
    });
    int64_t widest = llvm::alignTo(factors[beside.front()].bits(), 8);
    int64_t apart = 0;
    for (size_t i : beside)
      apart += llvm::alignTo(factors[i].bits(), 8);
    apart = llvm::alignTo(apart, widest);
    end = llvm::alignTo(end, widest);
    int64_t start = end;
    for (size_t i : beside) {
      placed[i] = field(factors[i], {factors[i].bits()}, {start},
                        strides(share, apart));
      start += llvm::alignTo(factors[i].bits(), 8);
    }
    end += elements / share * apart;
  }
  llvm::ArrayRef<FieldAttr> left = placed;
  auto take = [&](llvm::ArrayRef<FieldAttr> as) {
    llvm::ArrayRef<FieldAttr> part = left.take_front(as.size());
    left = left.drop_front(as.size());
    return part;
  };
  llvm::ArrayRef<FieldAttr> zero = take(block.getZero()),
                            scale = take(block.getScale()),
                            plus = take(block.getPlus()),
                            minus = take(block.getMinus());
  return BlockType::get(block.getContext(), block.getName(), elements,
                        llvm::alignTo(wholeBytes(end), kBundleAlignment),
                        digits,
                        field(block.getCode(), widths, starts, codeStrides),
                        zero, scale, plus, minus);
}

bool storage::liesInRuns(BlockType block) {
  FieldAttr code = block.getCode();
  for (int64_t piece = 0; piece < code.pieces(); ++piece)
    if (code.stridesOf(piece).back() != code.getWidths()[piece])
      return false;
  return block.getDigits().back() % kBundleRun == 0;
}

BundleOrder::BundleOrder(BlockType block, int64_t blocks)
    : block(block), bundle(bundleOf(block, blocks)) {
  add(block.getCode(), bundle.getCode(), /*step=*/1);
  for (auto [from, to] : llvm::zip_equal(factorsOf(block), factorsOf(bundle)))
    add(from, to, sharedBy(from, block));
}

// Of every `step`th element of the bundle.
void BundleOrder::add(FieldAttr from, FieldAttr to, int64_t step) {
  int64_t each = block.getElements(), bits = block.getBytes() * 8;
  for (int64_t element = 0; element < bundle.getElements(); element += step) {
    std::vector<int64_t> places =
        bitsOf(from, block.getDigits(), element % each);
    for (int64_t &bit : places)
      bit += element / each * bits;
    llvm::append_range(runs,
                       runsOf(places, bitsOf(to, bundle.getDigits(), element)));
  }
}

std::vector<uint8_t> BundleOrder::pack(llvm::ArrayRef<uint8_t> bytes) const {
  uint64_t apart =
      bundle.getElements() / block.getElements() * uint64_t(block.getBytes());
  uint64_t count = bytes.size() / apart;
  std::vector<uint8_t> result(count * bundle.getBytes());
  for (uint64_t i = 0; i < count; ++i)
    for (const BitRun &run : runs)
      moveBits(bytes.data() + i * apart, run.from,
               result.data() + i * bundle.getBytes(), run.to, run.width);
  return result;
}

std::vector<uint8_t> BundleOrder::unpack(llvm::ArrayRef<uint8_t> bytes) const {
  uint64_t apart =
      bundle.getElements() / block.getElements() * uint64_t(block.getBytes());
  uint64_t count = bytes.size() / bundle.getBytes();
  std::vector<uint8_t> result(count * apart);
  for (uint64_t i = 0; i < count; ++i)
    for (const BitRun &run : runs)
      moveBits(bytes.data() + i * bundle.getBytes(), run.to,
               result.data() + i * apart, run.from, run.width);
  return result;
}
