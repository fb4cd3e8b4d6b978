// Products of rows with a matrix in panels, in integers.
//
// Rows are digits (dialects/storage/Digits.h): A = 256 h + l times a scale s for 32
// columns. Columns that share the scales of both operands form a group, 16 or 32 of
// them. Of the codes q of a row of the matrix, less their zero, and its scale d (or
// minus a least number m)
//
//   H = sum q h, L = sum q l                     exact, in 32 bits
//   z = fma(256, f32(H), f32(L))                 f32(H) with fewer digits
//   y = fma(d s, z, y), y = fma(m, sum x, y)     group after group from column 0 on
//
// so that bits depend neither on the ISA level nor on how many rows there are. d s is
// exact where s is a power of two.
//
// Lanes are the 16 rows of a panel. Their codes come as words of four columns, which
// meet the same four digits of a row.
#include "codegen/host/PanelDots.h"
#include "codegen/host/ByteDots.h"
#include "codegen/host/Digits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "dialects/storage/Panels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;
using storage::DigitsLayout;
using storage::kGroupColumns;
using storage::kPanelRows;
using storage::kQuad;
using storage::PanelLayout;
using storage::PanelPlane;
using storage::PanelScale;

namespace {

/// Codes as bytes: the code is the byte less `offset`. Bytes are unsigned, or signed
/// where the level takes codes of 8 bits so.
struct CodeBytes {
  int64_t most, offset;
  SmallVector<int64_t> table; ///< of 16 bytes; empty: the bits are the byte
  int64_t flipped = 0;        ///< bits of each byte that are inverted

  static CodeBytes of(storage::FieldAttr code, bool isSigned) {
    int64_t values = int64_t(1) << code.bits();
    if (!code.getTable().empty()) {
      ArrayRef<int64_t> entries = code.getTable();
      int64_t least = *llvm::min_element(entries);
      // Of the lowest byte there is.
      int64_t lowest = isSigned ? std::max<int64_t>(least, -128) : 0;
      if (isSigned && *llvm::max_element(entries) > 127)
        lowest = -128;
      SmallVector<int64_t> table(16, 0);
      for (auto [i, entry] : llvm::enumerate(entries))
        table[i] = entry - least + lowest;
      return {*llvm::max_element(table), lowest - least, table};
    }
    if (isSigned && values == 256) {
      // As the field's own signed bytes, or those of unsigned ones less 128.
      if (code.getKind() == storage::FieldKind::Signed)
        return {127, -code.getBias(), {}};
      return {127, -128 - code.getBias(), {}, 128};
    }
    if (code.getKind() == storage::FieldKind::Signed)
      return {values - 1, values / 2 - code.getBias(), {}, values / 2};
    return {values - 1, -code.getBias(), {}};
  }
};

/// One panel times a few rows.
class PanelProduct {
public:
  PanelProduct(OpBuilder &b, Location loc, Memory &memory, Operation *op,
               const PanelOperands &operands)
      : b(b), loc(loc), memory(memory), operands(operands),
        panel(PanelLayout::of(operands.panel)), digits{operands.digits},
        lanes(memory.shape.lanes), parts(kPanelRows / lanes),
        dots(ByteDots::of(b, loc, op, lanes)),
        codes(CodeBytes::of(operands.panel.getCode(),
                            dots->takesSignedCodes())) {}

  /// Sums of `rows` rows, whose digits begin at the addresses, with the panel at
  /// `base`: `parts` vectors of each row.
  SmallVector<Value> multiply(Value base, ArrayRef<Value> rows);

private:
  Value word(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  VectorType vectorOf(Type element) {
    return VectorType::get({lanes}, element);
  }
  Value words(int64_t value) { return memory.broadcast(word(value), lanes); }
  Value floats(float value) {
    return memory.broadcast(memory.constantF32(value), lanes);
  }
  Value at(Value base, int64_t bytes) {
    if (bytes == 0)
      return base;
    return LLVM::GEPOp::create(
        b, loc, base.getType(), b.getI8Type(), base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  /// The address `index` times `bytes` on.
  Value further(Value base, Value index, int64_t bytes) {
    Value offset = arith::MulIOp::create(
        b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), index),
        arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes)));
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
  Value load(Type type, Value base, int64_t bytes) {
    return LLVM::LoadOp::create(b, loc, type, at(base, bytes),
                                /*alignment=*/1);
  }
  /// An i32 or f32 of a row's digits, in all lanes.
  Value spread(Type element, Value row, int64_t bytes) {
    return memory.broadcast(load(element, row, bytes), lanes);
  }

  Value codesOf(Value group, int64_t quad, int64_t part);
  Value bitsOf(const PanelScale &scale, Value block, Value group, int64_t half,
               int64_t part);
  Value integerOf(storage::FieldAttr field, Value bits);
  Value offsetOf(Value block, Value group, int64_t half, int64_t part);
  Value scaleOf(const PanelScale &scale, Value block, Value group, int64_t half,
                int64_t part);
  Value productOf(const std::vector<PanelScale> &scales, Value block,
                  Value group, int64_t half, int64_t part);
  Value withoutOffset(Value sum, Value offset, Value row, int64_t ofDigits);
  SmallVector<Value> addGroup(Value block, Value group, ArrayRef<Value> rows,
                              SmallVector<Value> sums);
  SmallVector<Value> multiplyParts(Value base, ArrayRef<Value> rows);
  void prefetch(Value address, int64_t bytes);

  OpBuilder &b;
  Location loc;
  Memory &memory;
  const PanelOperands &operands;
  PanelLayout panel;
  DigitsLayout digits;
  int64_t lanes, parts;
  int64_t firstPart = 0, together = 0; ///< those that are being multiplied
  std::unique_ptr<ByteDots> dots;
  CodeBytes codes;
};

// Four columns of the rows of a part, as words of unsigned bytes.
Value PanelProduct::codesOf(Value group, int64_t quad, int64_t part) {
  Type type = vectorOf(b.getI32Type());
  Value all;
  int64_t below = 0;
  for (const PanelPlane &plane : panel.planes) {
    int64_t perByte = 8 / plane.width;
    constexpr int64_t kLine = kPanelRows * kQuad;
    Value bits =
        load(type, group,
             plane.offset + quad / perByte * kLine + part * lanes * kQuad);
    // To where the code has them.
    int64_t shift = quad % perByte * plane.width - below;
    if (shift > 0)
      bits = arith::ShRUIOp::create(b, loc, bits, words(shift));
    else if (shift < 0)
      bits = arith::ShLIOp::create(b, loc, bits, words(-shift));
    if (plane.width < 8) {
      int64_t mask = ((int64_t(1) << plane.width) - 1) << below;
      bits = arith::AndIOp::create(b, loc, bits, words(mask * 0x01010101));
    }
    all = all ? Value(arith::OrIOp::create(b, loc, all, bits)) : bits;
    below += plane.width;
  }
  if (codes.flipped)
    all = arith::XOrIOp::create(
        b, loc, all, words(int32_t(uint32_t(codes.flipped * 0x01010101))));
  return codes.table.empty() ? all : dots->lookup(all, codes.table);
}

// The bits of a scale or zero of the rows of a part, in as many bytes as they have.
Value PanelProduct::bitsOf(const PanelScale &scale, Value block, Value group,
                           int64_t half, int64_t part) {
  bool each = scale.columns != 0;
  int64_t bytes = each ? 1 : scale.field.bytes();
  int64_t offset = scale.offset + part * lanes * bytes;
  if (scale.columns == 16)
    offset += half * kPanelRows;
  return load(vectorOf(b.getIntegerType(unsigned(bytes * 8))),
              each ? group : block, offset);
}

// As i32.
Value PanelProduct::integerOf(storage::FieldAttr field, Value bits) {
  Type i32 = vectorOf(b.getI32Type());
  bool isSigned = field.getKind() == storage::FieldKind::Signed;
  int64_t width = cast<VectorType>(bits.getType()).getElementTypeBitWidth();
  Value integer = bits;
  if (width < 32) {
    integer = isSigned && field.bits() == width
                  ? Value(arith::ExtSIOp::create(b, loc, i32, bits))
                  : Value(arith::ExtUIOp::create(b, loc, i32, bits));
    if (isSigned && field.bits() != width) {
      Value unused = words(32 - field.bits());
      integer = arith::ShRSIOp::create(
          b, loc, arith::ShLIOp::create(b, loc, integer, unused), unused);
    }
  }
  if (field.getBias() != 0)
    integer = arith::AddIOp::create(b, loc, integer, words(field.getBias()));
  return integer;
}

// What bytes are more than the codes less their zeros, as i32 of the rows of a part;
// null where all rows have the offset of the codes.
Value PanelProduct::offsetOf(Value block, Value group, int64_t half,
                             int64_t part) {
  if (panel.zero.empty())
    return {};
  const PanelScale &zero = panel.zero.front();
  Value bits = bitsOf(zero, block, group, half, part);
  Value offset = integerOf(zero.field, bits);
  if (codes.offset != 0)
    offset = arith::AddIOp::create(b, loc, offset, words(codes.offset));
  return offset;
}

// A scale of the rows of a part, as f32.
Value PanelProduct::scaleOf(const PanelScale &scale, Value block, Value group,
                            int64_t half, int64_t part) {
  storage::FieldAttr field = scale.field;
  Value stored = bitsOf(scale, block, group, half, part);
  Type i32 = vectorOf(b.getI32Type());
  switch (field.getKind()) {
  case storage::FieldKind::Half:
    return stored::widen(b, loc, stored, b.getF16Type());
  case storage::FieldKind::Brain:
    return stored::widen(b, loc, stored, b.getBF16Type());
  case storage::FieldKind::Single:
    return LLVM::BitcastOp::create(b, loc, vectorOf(b.getF32Type()), stored);
  case storage::FieldKind::Exponent: {
    // 2^(e - 127 + bias): of a biased exponent below 1 a subnormal number.
    Value e = arith::ExtUIOp::create(b, loc, i32, stored);
    Value biased = arith::AddIOp::create(b, loc, e, words(field.getBias()));
    Value normal = arith::ShLIOp::create(b, loc, biased, words(23));
    Value shift = arith::MinSIOp::create(
        b, loc,
        arith::MaxSIOp::create(
            b, loc, arith::SubIOp::create(b, loc, words(1), biased), words(0)),
        words(24));
    Value subnormal = arith::ShRUIOp::create(b, loc, words(0x00800000), shift);
    Value isNormal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                           biased, words(1));
    Value power = arith::SelectOp::create(b, loc, isNormal, normal, subnormal);
    Value isNone =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, e, words(255));
    power = arith::SelectOp::create(b, loc, isNone, words(0x7fc00000), power);
    return LLVM::BitcastOp::create(b, loc, vectorOf(b.getF32Type()), power);
  }
  case storage::FieldKind::E4M3:
  case storage::FieldKind::E5M2:
    break; // PANEL2
  case storage::FieldKind::Unsigned:
  case storage::FieldKind::Signed:
    return arith::SIToFPOp::create(b, loc, vectorOf(b.getF32Type()),
                                   integerOf(field, stored));
  }
  llvm_unreachable("panels have no scale of such a kind");
}

Value PanelProduct::productOf(const std::vector<PanelScale> &scales,
                              Value block, Value group, int64_t half,
                              int64_t part) {
  Value product;
  for (const PanelScale &scale : scales) {
    Value factor = scaleOf(scale, block, group, half, part);
    product = product ? Value(arith::MulFOp::create(b, loc, product, factor))
                      : factor;
  }
  return product;
}

// The bytes are `offset` more than the codes, or where that is null as much as all
// codes are.
Value PanelProduct::withoutOffset(Value sum, Value offset, Value row,
                                  int64_t ofDigits) {
  if (!offset && codes.offset == 0)
    return sum;
  Value digits = spread(b.getI32Type(), row, ofDigits);
  if (offset)
    return arith::SubIOp::create(b, loc, sum,
                                 arith::MulIOp::create(b, loc, digits, offset));
  bool isPower = codes.offset > 0 && (codes.offset & (codes.offset - 1)) == 0;
  Value scaled =
      isPower
          ? Value(arith::ShLIOp::create(b, loc, digits,
                                        words(llvm::Log2_64(codes.offset))))
          : Value(arith::MulIOp::create(b, loc, digits, words(codes.offset)));
  return arith::SubIOp::create(b, loc, sum, scaled);
}

// The 32 columns from `group` on, of a block that begins at `block`.
SmallVector<Value> PanelProduct::addGroup(Value block, Value group,
                                          ArrayRef<Value> rows,
                                          SmallVector<Value> sums) {
  Type f32 = vectorOf(b.getF32Type());
  int64_t columns = panel.columnsOfScale();
  SmallVector<ByteDots::Row> digitRows;
  for (Value row : rows)
    for (int64_t digit = 0; digit < digits.count; ++digit)
      digitRows.push_back({row, digits.digit(digit)});
  for (int64_t first = 0; first < kGroupColumns; first += columns) {
    int64_t half = columns == kGroupColumns ? 2 : first / columns;
    // Of each part, the sums of all digits of all rows.
    SmallVector<ByteDots::Sums, 2> found(
        together, dots->zeros(rows.size() * digits.count));
    for (int64_t quad = first / kQuad; quad < (first + columns) / kQuad;
         ++quad) {
      SmallVector<Value> digitsOfRows = dots->load(digitRows, quad);
      for (int64_t i = 0; i < together; ++i)
        dots->add(found[i], codesOf(group, quad, firstPart + i), codes.most,
                  digitsOfRows);
    }
    for (int64_t part = firstPart; part < firstPart + together; ++part) {
      SmallVector<Value> integers = dots->finish(found[part - firstPart]);
      Value offset = offsetOf(block, group, first / 16, part);
      Value scale = productOf(panel.scale, block, group, first / 16, part);
      Value plus = productOf(panel.plus, block, group, first / 16, part);
      Value minus = productOf(panel.minus, block, group, first / 16, part);
      if (minus)
        minus = arith::NegFOp::create(b, loc, minus);
      for (auto [i, row] : llvm::enumerate(rows)) {
        auto digit = [&](int64_t number) {
          return integers[i * digits.count + number];
        };
        Value high = digit(0);
        if (digits.count > 1)
          high = arith::AddIOp::create(
              b, loc, arith::ShLIOp::create(b, loc, high, words(8)), digit(1));
        high = withoutOffset(high, offset, row, digits.sumHigh(half));
        Value z = arith::SIToFPOp::create(b, loc, f32, high);
        if (digits.count == 3) {
          Value low = withoutOffset(digit(2), offset, row, digits.sumLow(half));
          z = math::FmaOp::create(b, loc, floats(256), z,
                                  arith::SIToFPOp::create(b, loc, f32, low));
        }
        Value &sum = sums[i * together + part - firstPart];
        Value factor = spread(b.getF32Type(), row, digits.scale());
        if (scale)
          factor = arith::MulFOp::create(b, loc, scale, factor);
        sum = math::FmaOp::create(b, loc, factor, z, sum);
        for (Value added : {plus, minus})
          if (added)
            sum = math::FmaOp::create(
                b, loc, added, spread(b.getF32Type(), row, digits.sum(half)),
                sum);
      }
    }
  }
  return sums;
}

// What lies kFetchAheadBytes behind `bytes` from `address` on. A group fetches as much
// as it reads: the lines of a whole block at once are more than a core has misses for.
void PanelProduct::prefetch(Value address, int64_t bytes) {
  if (!operands.fetchNext || firstPart > 0)
    return;
  for (int64_t line = 0; line < bytes; line += kLineBytes)
    LLVM::Prefetch::create(b, loc, at(address, kFetchAheadBytes + line),
                           /*rw=*/b.getI32IntegerAttr(0),
                           /*hint=*/b.getI32IntegerAttr(2),
                           /*cache=*/b.getI32IntegerAttr(1));
}

SmallVector<Value> PanelProduct::multiply(Value base, ArrayRef<Value> rows) {
  together = dots->partsAtOnce(parts, rows.size() * digits.count);
  SmallVector<Value> sums(rows.size() * parts);
  for (firstPart = 0; firstPart < parts; firstPart += together) {
    SmallVector<Value> some = multiplyParts(base, rows);
    for (size_t i = 0; i < rows.size(); ++i)
      llvm::copy(ArrayRef(some).slice(i * together, together),
                 sums.begin() + i * parts + firstPart);
  }
  return sums;
}

SmallVector<Value> PanelProduct::multiplyParts(Value base,
                                               ArrayRef<Value> rows) {
  auto loopOver = [&](int64_t count, SmallVector<Value> sums, auto body) {
    if (count == 1)
      return body(memory.constant(0), sums);
    auto loop =
        scf::ForOp::create(b, loc, memory.constant(0), memory.constant(count),
                           memory.constant(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, body(loop.getInductionVar(), carried));
    return SmallVector<Value>(loop.getResults());
  };
  SmallVector<Value> sums(rows.size() * together, floats(0));
  int64_t blocks = operands.columns / operands.panel.getElements();
  return loopOver(blocks, sums, [&](Value number, SmallVector<Value> sums) {
    Value block = further(base, number, panel.bytes);
    if (panel.firstGroup > 0)
      prefetch(block, panel.firstGroup);
    SmallVector<Value> ofBlock;
    for (Value row : rows)
      ofBlock.push_back(further(row, number, panel.groups * digits.bytes()));
    return loopOver(panel.groups, sums,
                    [&](Value number, SmallVector<Value> sums) {
                      Value group = at(block, panel.firstGroup);
                      SmallVector<Value> ofGroup = ofBlock;
                      if (panel.groups > 1) {
                        group = further(group, number, panel.groupBytes);
                        for (Value &row : ofGroup)
                          row = further(row, number, digits.bytes());
                      }
                      prefetch(group, panel.groupBytes);
                      return addGroup(block, group, ofGroup, sums);
                    });
  });
}

} // namespace

int64_t host::panelRowsAtOnce(OpBuilder &b, Memory &memory, Operation *op) {
  return ByteDots::of(b, op->getLoc(), op, memory.shape.lanes)
      ->rowsAtOnce(memory.shape.registers);
}

SmallVector<Value> host::multiplyPanel(OpBuilder &b, Location loc,
                                       Memory &memory, Operation *op,
                                       const PanelOperands &operands,
                                       Value base, ArrayRef<Value> rows) {
  return PanelProduct(b, loc, memory, op, operands).multiply(base, rows);
}
