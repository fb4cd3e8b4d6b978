// A matrix of codes, scales and zeros in tensors of their own, made into blocks that
// have them together (dialects/storage/GroupedCodes.h): the same numbers, to the bit.
#ifndef EFFC_FRONTEND_QUANTISED_QUANTISEDMATRIX_H
#define EFFC_FRONTEND_QUANTISED_QUANTISEDMATRIX_H

#include "dialects/storage/BlockAssembler.h"
#include "dialects/storage/GroupedCodes.h"
#include "frontend/checkpoint/TensorFile.h"
#include "frontend/quantised/PackedIntegers.h"

#include <functional>

namespace effc::frontend {

/// Which scale an element has.
struct ScaleGrid {
  /// Rows and columns that share a scale.
  uint64_t rowsEach, columnsEach;
  /// Scales from one to that of the next rows, and of the next columns.
  uint64_t rowStride, columnStride;
  /// Where runs of `columnsEach` go on in the next row: columns of a row; else 0.
  uint64_t columnsOfRow = 0;

  uint64_t indexOf(uint64_t row, uint64_t column) const {
    column += row * columnsOfRow;
    return row / rowsEach * rowStride + column / columnsEach * columnStride;
  }
};

class QuantisedMatrix : public TensorMaker {
public:
  using Codes = storage::GroupedCodes::Codes;
  using Bytes = llvm::ArrayRef<llvm::ArrayRef<uint8_t>>;

  /// What a method says of a matrix; parts are named by their numbers.
  struct Description {
    Codes codes = Codes::Integers;
    /// Of a row of Formats.cpp, in the place of `codes`, whose scale is what part 1 has.
    llvm::StringRef storage = "";
    PackedIntegers packed; ///< of the rows and columns of the matrix; part 0
    uint8_t flipped = 0;   ///< bits of a code that are inverted to be a block's
    ScaleGrid grid;
    ElementType
        scaleType; ///< of part 1: F16, BF16, F32, F8_E8M0, or U8 as the last
    uint64_t scaleCount;
    /// What scales are where part 1 does not have them as they are: the bits of
    /// `scaleCount` f32. `scaleType` is F32 then.
    std::function<llvm::Expected<std::vector<uint32_t>>(Bytes parts)> scales;
    /// Of the rows and of each `columnsEach` columns; part 2, where there is one.
    std::optional<PackedIntegers> zeros;
    uint8_t flippedZero = 0;
    unsigned zeroBias = 0; ///< added to what is stored
    /// What every zero is where a configuration says that there are none.
    std::optional<unsigned> zero;
    /// The group of each column, where groups are no runs of columns; of integers.
    std::vector<uint32_t> groups;
    /// The column of the codes that each column is, where that is another one.
    std::vector<uint32_t> order;
  };

  /// No more elements share a block than share a scale, and at most kMostElements;
  /// blocks of a named storage divide both.
  QuantisedMatrix(mlir::MLIRContext &context, Description description,
                  std::vector<Part> parts);

  static constexpr uint64_t kMostElements = 256;

  /// Blocks, or F32 where groups are no runs of columns: no block has one scale then.
  TensorType type() const;

  llvm::Expected<std::vector<uint8_t>> make(Bytes bytes) const override;

private:
  llvm::Expected<std::vector<uint32_t>> readScales(Bytes bytes) const;
  /// The codes and zeros of a row, as blocks have them.
  llvm::Error readCodes(Bytes bytes, uint64_t row,
                        llvm::MutableArrayRef<uint8_t> codes) const;
  llvm::Error readZeros(Bytes bytes, uint64_t row,
                        std::vector<uint8_t> &zeros) const;
  float numberOf(uint32_t scale) const;
  llvm::Expected<std::vector<uint8_t>> makeWide(Bytes bytes) const;

  Description is;
  std::string name;
  uint64_t elements, blockBytes;
  std::optional<storage::BlockAssembler> assembler;
};

/// The number that a F8_E4M3 stands for.
float numberOfE4M3(uint8_t bits);

/// How many of `columns` make a block where runs of `group` share a scale: a number
/// that divides both, of 32 if one does.
uint64_t blockElements(uint64_t group, uint64_t columns);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISED_QUANTISEDMATRIX_H
