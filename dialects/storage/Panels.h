// Matrices of blocks whose rows are interleaved for products of integers.
#ifndef EFFC_DIALECTS_STORAGE_PANELS_H
#define EFFC_DIALECTS_STORAGE_PANELS_H

#include "dialects/storage/StorageDialect.h"

#include <vector>

namespace effc::storage {

/// Rows of a panel; columns whose codes are neighbours; columns of a group of
/// planes, for which an operand of digits has one scale.
inline constexpr int64_t kPanelRows = 16, kQuad = 4, kGroupColumns = 32;

/// Digits of a panel's description (PanelLayout::describe), of which the first is the
/// row.
inline constexpr size_t kPanelDigits = 6;

/// A field of a scale, or of a zero, in a block of a panel.
struct PanelScale {
  FieldAttr field; ///< of the rows
  /// Bytes from the start of the block (where it has one for all columns), or of
  /// each 32 columns' part.
  int64_t offset;
  /// 0: one for the block; else 16 or 32: columns that share one.
  int64_t columns;
};

/// Bits of all codes of 32 columns: 8 / width quads in each byte.
struct PanelPlane {
  int64_t width;
  int64_t offset; ///< bytes from the start of the 32 columns' part
};

/// Where a block of a panel has what.
struct PanelLayout {
  BlockType rows;
  int64_t bytes = 0;  ///< of a block: 16 rows, as many columns as `rows` has
  int64_t groups = 0; ///< of 32 columns
  int64_t firstGroup = 0; ///< bytes before the first of them
  int64_t groupBytes = 0;
  /// Those of `rows.getZero()`, `getScale()`, `getPlus()`, `getMinus()`.
  std::vector<PanelScale> zero, scale, plus, minus;
  std::vector<PanelPlane> planes; ///< lowest bits of the codes first

  static PanelLayout of(BlockType rows);
  /// The same as a description: elements are numbered row by row, the first digit is
  /// the row.
  BlockType describe() const;
  /// Columns that share all scales: 16 or 32.
  int64_t columnsOfScale() const;
};

/// Whether PANEL1 and PANEL2 hold of matrices of `rows`.
bool hasPanels(BlockType rows);

/// Bytes of a matrix in panels; `columns` are whole blocks.
uint64_t panelBytes(BlockType rows, uint64_t rowCount, uint64_t columns);

/// Moves the bits of matrices between the two orders. `bytes` are all blocks of a
/// matrix, row after row or panel after panel.
class PanelOrder {
public:
  explicit PanelOrder(BlockType rows);

  std::vector<uint8_t> pack(uint64_t rowCount, uint64_t columns,
                            llvm::ArrayRef<uint8_t> bytes) const;
  std::vector<uint8_t> unpack(uint64_t rowCount, uint64_t columns,
                              llvm::ArrayRef<uint8_t> bytes) const;

private:
  /// Bits of a block of one row, and where a block of a panel has them in row 0.
  struct Move {
    int64_t row, panel; ///< bits from the start of the block
    int64_t width;      ///< inside a byte of each
    int64_t rowApart;   ///< bits from a row of the panel to the next
  };
  void add(FieldAttr from, FieldAttr to, BlockType panels, int64_t step);
  template <bool kPack>
  std::vector<uint8_t> reorder(uint64_t rowCount, uint64_t columns,
                               llvm::ArrayRef<uint8_t> bytes) const;

  BlockType rows;
  PanelLayout layout;
  std::vector<Move> moves; ///< of all bits
};

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_PANELS_H
