// The order of bits in panels, and the way there and back.
#include "dialects/storage/Panels.h"

#include "dialects/storage/Bytes.h"
#include "dialects/storage/FieldBits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace effc;
using namespace effc::storage;

static bool fits(FieldAttr field, BlockType rows) {
  int64_t columns = columnsOf(field, rows.getDigits());
  if (field.getKind() == FieldKind::E4M3 || field.getKind() == FieldKind::E5M2)
    return false;
  if (columns == 0)
    return field.bits() % 8 == 0;
  return field.isInteger() && field.bits() <= 8 &&
         (columns == 16 || columns % kGroupColumns == 0);
}

bool storage::hasPanels(BlockType rows) {
  // Codes become unsigned bytes, and a table is looked up in 16 of them.
  FieldAttr code = rows.getCode();
  if (!code.isInteger() || code.bits() > 8 ||
      (!code.getTable().empty() && code.bits() > 4))
    return false;
  auto [least, largest] = code.range();
  if (largest - least > 255)
    return false;
  for (FieldAttr zero : rows.getZero())
    if (zero.bits() > 8 || zero.range().first < 0 || zero.range().second > 255)
      return false;
  auto allFit = [&](llvm::ArrayRef<FieldAttr> fields) {
    return llvm::all_of(fields,
                        [&](FieldAttr field) { return fits(field, rows); });
  };
  return rows.getElements() % kGroupColumns == 0 && allFit(rows.getZero()) &&
         allFit(rows.getScale()) && allFit(rows.getPlus()) &&
         allFit(rows.getMinus());
}

PanelLayout PanelLayout::of(BlockType rows) {
  PanelLayout layout;
  layout.rows = rows;
  layout.groups = rows.getElements() / kGroupColumns;
  auto place = [&](llvm::ArrayRef<FieldAttr> fields,
                   std::vector<PanelScale> &into) {
    for (FieldAttr field : fields) {
      int64_t columns =
          std::min<int64_t>(columnsOf(field, rows.getDigits()), kGroupColumns);
      int64_t &end = columns == 0 ? layout.firstGroup : layout.groupBytes;
      into.push_back({field, end, columns});
      end += columns == 0 ? kPanelRows * field.bytes()
                          : kPanelRows * kGroupColumns / columns;
    }
  };
  place(rows.getZero(), layout.zero);
  place(rows.getScale(), layout.scale);
  place(rows.getPlus(), layout.plus);
  place(rows.getMinus(), layout.minus);
  int64_t left = rows.getCode().bits();
  for (int64_t width : {8, 4, 2, 1})
    if (left & width) {
      layout.planes.push_back({width, layout.groupBytes});
      layout.groupBytes += wholeBytes(kPanelRows * kGroupColumns * width);
    }
  layout.bytes = layout.firstGroup + layout.groups * layout.groupBytes;
  return layout;
}

int64_t PanelLayout::columnsOfScale() const {
  for (const auto *fields : {&zero, &scale, &plus, &minus})
    for (const PanelScale &each : *fields)
      if (each.columns == 16)
        return 16;
  return kGroupColumns;
}

BlockType PanelLayout::describe() const {
  // Row, group of 32, half of it, quad of the half in two digits, column of the quad.
  int64_t digits[kPanelDigits] = {kPanelRows, groups, 2, 2, 2, kQuad};
  int64_t groupBits = groupBytes * 8;
  auto field = [&](FieldAttr of, llvm::ArrayRef<int64_t> widths,
                   llvm::ArrayRef<int64_t> starts,
                   llvm::ArrayRef<int64_t> strides) {
    return FieldAttr::get(of.getContext(), of.getKind(), widths, starts,
                          strides, of.getBias(), of.getTable());
  };
  auto describeAll = [&](const std::vector<PanelScale> &scales) {
    llvm::SmallVector<FieldAttr> fields;
    for (const PanelScale &each : scales) {
      int64_t bits = each.field.bits();
      if (each.columns == 0)
        fields.push_back(field(each.field, {bits}, {each.offset * 8},
                               {bits, 0, 0, 0, 0, 0}));
      else
        fields.push_back(field(
            each.field, {bits}, {(firstGroup + each.offset) * 8},
            {8, groupBits, each.columns == 16 ? kPanelRows * 8 : 0, 0, 0, 0}));
    }
    return fields;
  };
  llvm::SmallVector<int64_t> widths, starts, strides;
  for (const PanelPlane &plane : planes) {
    widths.push_back(plane.width);
    starts.push_back((firstGroup + plane.offset) * 8);
    // Quads that share a byte lie `width` bits apart, others 64 bytes.
    auto quads = [&](int64_t apart) {
      int64_t each = 8 / plane.width;
      return apart < each ? apart * plane.width : apart / each * 512;
    };
    llvm::append_range(strides, llvm::ArrayRef<int64_t>{32, groupBits, quads(4),
                                                        quads(2), quads(1), 8});
  }
  return BlockType::get(
      rows.getContext(), rows.getName(), kPanelRows * rows.getElements(), bytes,
      digits, field(rows.getCode(), widths, starts, strides), describeAll(zero),
      describeAll(scale), describeAll(plus), describeAll(minus));
}

uint64_t storage::panelBytes(BlockType rows, uint64_t rowCount,
                             uint64_t columns) {
  return llvm::divideCeil(rowCount, uint64_t(kPanelRows)) *
         (columns / rows.getElements()) * PanelLayout::of(rows).bytes;
}

PanelOrder::PanelOrder(BlockType rows)
    : rows(rows), layout(PanelLayout::of(rows)) {
  BlockType panels = layout.describe();
  add(rows.getCode(), panels.getCode(), panels, 1);
  auto addAll = [&](llvm::ArrayRef<FieldAttr> from,
                    llvm::ArrayRef<FieldAttr> to) {
    for (auto [a, b] : llvm::zip_equal(from, to)) {
      int64_t columns = columnsOf(a, rows.getDigits());
      add(a, b, panels,
          columns == 0 ? rows.getElements() : std::min(columns, kGroupColumns));
    }
  };
  addAll(rows.getZero(), panels.getZero());
  addAll(rows.getScale(), panels.getScale());
  addAll(rows.getPlus(), panels.getPlus());
  addAll(rows.getMinus(), panels.getMinus());
}

// Of every `step`th element the bits, in runs that lie inside bytes of both orders.
void PanelOrder::add(FieldAttr from, FieldAttr to, BlockType panels,
                     int64_t step) {
  int64_t apart = to.stridesOf(0).front();
  for (int64_t element = 0; element < rows.getElements(); element += step) {
    for (BitRun run : runsOf(bitsOf(from, rows.getDigits(), element),
                             bitsOf(to, panels.getDigits(), element)))
      moves.push_back({run.from, run.to, run.width, apart});
  }
}

template <bool kPack>
std::vector<uint8_t> PanelOrder::reorder(uint64_t rowCount, uint64_t columns,
                                         llvm::ArrayRef<uint8_t> bytes) const {
  uint64_t blocks = columns / rows.getElements();
  std::vector<uint8_t> result(kPack ? panelBytes(rows, rowCount, columns)
                                    : rowCount * blocks * rows.getBytes());
  for (uint64_t row = 0; row < rowCount; ++row)
    for (uint64_t block = 0; block < blocks; ++block) {
      uint64_t inRows = (row * blocks + block) * rows.getBytes();
      uint64_t inPanels = (row / kPanelRows * blocks + block) * layout.bytes;
      auto lane = int64_t(row % kPanelRows);
      for (const Move &move : moves) {
        int64_t panelBit = move.panel + lane * move.rowApart;
        if constexpr (kPack)
          moveBits(bytes.data() + inRows, move.row, result.data() + inPanels,
                   panelBit, move.width);
        else
          moveBits(bytes.data() + inPanels, panelBit, result.data() + inRows,
                   move.row, move.width);
      }
    }
  return result;
}

std::vector<uint8_t> PanelOrder::pack(uint64_t rowCount, uint64_t columns,
                                      llvm::ArrayRef<uint8_t> bytes) const {
  return reorder<true>(rowCount, columns, bytes);
}

std::vector<uint8_t> PanelOrder::unpack(uint64_t rowCount, uint64_t columns,
                                        llvm::ArrayRef<uint8_t> bytes) const {
  return reorder<false>(rowCount, columns, bytes);
}
