//===- StorageBase.td - how numbers lie in memory -------------------------===//
#ifndef EFFC_DIALECTS_STORAGE_STORAGEBASE_TD
#define EFFC_DIALECTS_STORAGE_STORAGEBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Storage_Dialect : Dialect {
  let name = "storage";
  let cppNamespace = "::effc::storage";
  let summary = "How numbers lie in memory";
  let description = [{
    The numbers of a model are f32 by meaning. How a weight or a state holds them is
    the element type of its tensor: `f32`, `bf16` or `f16`, one number after another,
    or `!storage.block`, which describes blocks of codes with scales as data. Nothing
    computes with such a type: a load turns what is stored into f32.

    A product of the host multiplies integers: `!storage.panel` interleaves the rows of
    a matrix of blocks for it, `!storage.digits` is what its other operand is rounded
    to (dialects/storage/README.md, "Products of integers").
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Storage_FieldKind : I32EnumAttr<"FieldKind", "what the bits of a field mean", [
    I32EnumAttrCase<"Unsigned", 0, "uint">, I32EnumAttrCase<"Signed", 1, "int">,
    I32EnumAttrCase<"Half", 2, "f16">, I32EnumAttrCase<"Brain", 3, "bf16">,
    I32EnumAttrCase<"Single", 4, "f32">, I32EnumAttrCase<"Exponent", 5, "e8m0">,
    I32EnumAttrCase<"E4M3", 6, "e4m3">, I32EnumAttrCase<"E5M2", 7, "e5m2">]> {
  let cppNamespace = "::effc::storage";
}

def Storage_FieldAttr : AttrDef<Storage_Dialect, "Field"> {
  let mnemonic = "field";
  let summary = "Where a block holds a number for each of its elements, and as what";
  let description = [{
    The bits of the field are those of its pieces, the lowest first. A piece
    `w at a [s0, s1, ...]` has `w` bits from bit `a + d0 s0 + d1 s1 + ...` of the block
    on, where `d0, d1, ...` are the digits of the element's number in its block. Bit
    `n` is bit `n mod 8` of byte `n / 8`, the lowest being 0. A stride of 0 means that
    neighbours share the field.

    The bits are an unsigned integer (`uint`), one in two's complement (`int`), an
    `f16`, `bf16` or `f32`, a number of 8 bits with 4 or 5 bits of exponent (`e4m3`,
    which has no infinities, and `e5m2`; OCP 8-bit Floating Point 1.0), or the exponent
    of a power of two (`e8m0`, 2^(e - 127); OCP Microscaling Formats 1.0, 5.4.1). An
    integer has `bias` added, or is looked up in `table`; an exponent has `bias` added
    to it.

    Constraints:

    * (FIELD1) There is a piece, and each has as many strides as the block has digits.
    * (FIELD2) The widths of a field add up to 1..16 for an integer, to 16 for `f16` and
      `bf16`, to 32 for `f32`, to 8 for `e4m3`, `e5m2` and `e8m0`, which are one piece.
    * (FIELD3) Only integers have a table, only they and exponents a bias, and none
      both.
    * (FIELD4) A table has one entry for each value of the bits.

    Example: `#storage.field<uint [4 at 48 [4, 64, 8], 1 at 16 [16, 8, 1]] bias -16>`
  }];
  let parameters = (ins EnumParameter<Storage_FieldKind>:$kind,
    ArrayRefParameter<"int64_t">:$widths, ArrayRefParameter<"int64_t">:$starts,
    ArrayRefParameter<"int64_t">:$strides, "int64_t":$bias,
    ArrayRefParameter<"int64_t">:$table);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isInteger() const {
      return getKind() == FieldKind::Unsigned || getKind() == FieldKind::Signed;
    }
    int64_t pieces() const { return getWidths().size(); }
    /// Bits of all pieces.
    int64_t bits() const;
    /// Bytes of all pieces, which fill them.
    int64_t bytes() const;
    int64_t digits() const { return getStrides().size() / getWidths().size(); }
    /// The first bit of a piece for the element of that number in its block, whose
    /// digits have the radices `digits`.
    int64_t firstBit(int64_t piece, ::llvm::ArrayRef<int64_t> digits,
                     int64_t element) const;
    /// The least and the largest integer that the field may stand for.
    std::pair<int64_t, int64_t> range() const;
    /// One stride for each digit.
    ::llvm::ArrayRef<int64_t> stridesOf(int64_t piece) const {
      return getStrides().slice(piece * digits(), digits());
    }
  }];
}

def Storage_BlockType : TypeDef<Storage_Dialect, "Block"> {
  let mnemonic = "block";
  let summary = "Numbers that lie in blocks, as codes with scales";
  let description = [{
    `elements` neighbours of a row share `bytes` bytes. The digits of an element's
    number in its block, the most significant first, count to `digits`. The element
    stands for

        (code - zero) * scale[0] * scale[1] + plus[0] * plus[1] - minus[0] * minus[1]

    where a product without factors is 1 for `scale` and 0 for the others, and so is a
    `zero` that is not there. All
    products are exact in f32, so that what a block means has one value: the sum
    rounded once (`BlockNumbers.h` evaluates it).

    Constraints:

    * (STORED1) `digits` multiply to `elements`, and `bytes` is at least 1.
    * (STORED2) Each field has a stride for each digit.
    * (STORED3) Every piece lies inside the block for every element, in one byte or as
      whole bytes.
    * (STORED4) No two elements have a bit of their codes in common, nor has a code with
      another field.
    * (STORED5) A code is an integer or has 8 bits, and `scale`, `plus` and `minus` have
      at most two factors. There is at most one `zero`; it and its code are integers.
    * (STORED6) A code, less its zero, and the fields of its scale have at most 24
      significant bits together, so that their product is exact; or the one factor is
      f32, where the product is rounded, and then nothing is added to it.

    Codes of `e4m3` and their scales are promised to be numbers: no code is the NaN
    0x7f or 0xff, and no scale is 2^119 or more. Checkpoints are held to both when they
    are read (`frontend/quantised/QuantisedMatrix.h`), so that kernels need not look.

    Example: `!storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
    code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>`
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$elements, "int64_t":$bytes,
    ArrayRefParameter<"int64_t">:$digits, "::effc::storage::FieldAttr":$code,
    ArrayRefParameter<"::effc::storage::FieldAttr">:$zero,
    ArrayRefParameter<"::effc::storage::FieldAttr">:$scale,
    ArrayRefParameter<"::effc::storage::FieldAttr">:$plus,
    ArrayRefParameter<"::effc::storage::FieldAttr">:$minus);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Storage_PanelType : TypeDef<Storage_Dialect, "Panel"> {
  let mnemonic = "panel";
  let summary = "Blocks of 16 neighbouring rows, interleaved for integer products";
  let description = [{
    A matrix of blocks whose rows lie 16 by 16: what blocks of `rows` in 16 rows at the
    same columns hold is one block of the panel. Of 4 columns the codes of all 16 rows
    are neighbours, so that one vector register takes the codes of 16 outputs. The
    codes and scales are those of `rows`, bit for bit; a matrix whose rows are no
    multiple of 16 ends in rows of zeros.

    A block of a panel has, one after another:

    * the scales that a block has once, 16 rows of each;
    * for each 32 columns: of each scale that belongs to some of them a byte for 16
      rows, a second 16 where it belongs to 16 columns; and the codes, in planes of 8,
      4, 2 or 1 bits. Column `4 j + i` of row `r` lies in byte `4 r + i` of 64: a plane
      of `w` bits has the 8 / w values of j side by side in that byte.

    Constraints:

    * (PANEL1) Blocks of `rows` have 32 elements or a multiple, and codes of integers
      of at most 8 bits; those of a table have at most 4, and entries that are at most
      255 apart.
    * (PANEL2) A scale is one of all elements of a block, not of `e4m3` or `e5m2`, or an
      integer of at most 8 bits for each 16, 32 or more neighbours. A zero is an integer from 0 to 255 of as
      many.

    Example: `!storage.panel<!q4_1>`
  }];
  let parameters = (ins "::effc::storage::BlockType":$rows);
  let assemblyFormat = "`<` $rows `>`";
  let genVerifyDecl = 1;
}

def Storage_DigitsType : TypeDef<Storage_Dialect, "Digits"> {
  let mnemonic = "digits";
  let summary = "Rows as integers with a scale for 32 neighbours";
  let description = [{
    What a product of integers makes of its rows. 32 neighbours are integers of `count`
    signed bytes, `a 256^(count-1) + b 256^(count-2) + ...`, times one f32 scale; sums
    of them lie beside them (dialects/storage/Digits.h).

    With 3 digits the scale is a power of two and what is rounded off is less than
    2^-23 of the largest of the 32 numbers.

    Constraints:

    * (DIGITS1) `count` is 1, 2 or 3.

    Example: `!storage.digits<3>`
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

#endif // EFFC_DIALECTS_STORAGE_STORAGEBASE_TD
