// What every part of the compiler asks of an element type: sizes, offsets, and
// the numbers that bytes stand for. No other place knows how wide a type is.
#ifndef EFFC_DIALECTS_STORAGE_STORAGE_H
#define EFFC_DIALECTS_STORAGE_STORAGE_H

#include "dialects/storage/StorageDialect.h"

#include <optional>

namespace effc::storage {

/// How a row of numbers lies in memory: an element type that effc can read.
class Storage {
public:
  /// The storage of an element type: f32, bf16, f16, i32, i64, `!storage.block`,
  /// `!storage.panel` or `!storage.digits`. Absent for any other, which the caller refuses.
  static std::optional<Storage> of(mlir::Type element);
  /// The same where a verifier has seen to it; ends the program for another.
  static Storage get(mlir::Type element);

  mlir::Type type() const { return element; }
  /// "f32", "q8_0": what files and messages call it.
  llvm::StringRef name() const;
  bool isF32() const { return element.isF32(); }
  bool isInteger() const { return element.isInteger(); }
  /// Whether every element has bytes of its own.
  bool isDense() const {
    return !llvm::isa<BlockType, PanelType, DigitsType>(element);
  }
  /// Each null for other storages.
  BlockType block() const { return llvm::dyn_cast<BlockType>(element); }
  PanelType panel() const { return llvm::dyn_cast<PanelType>(element); }
  DigitsType digits() const { return llvm::dyn_cast<DigitsType>(element); }

  /// What a copy has whose elements each have bytes of their own: the type
  /// itself, f32 for others.
  mlir::Type denseType() const;

  /// Neighbours of a row that share bytes, rows that do, and those bytes.
  int64_t blockElements() const;
  int64_t blockRows() const;
  int64_t blockBytes() const;
  /// Bytes of `elements` in whole blocks of all their rows; nothing is padded.
  int64_t bytes(int64_t elements) const;
  /// Bytes of a matrix, whose last block of rows may be padded with zeros.
  int64_t matrixBytes(int64_t rows, int64_t columns) const;
  /// Whether a row of `elements` consists of whole blocks.
  bool divides(int64_t elements) const {
    return elements % blockElements() == 0;
  }
  /// Elements of a row that is padded so that the next begins at a multiple of
  /// `alignment` bytes. Blocks are not padded: kernels read them by bytes.
  int64_t paddedElements(int64_t elements, int64_t alignment) const;

  /// Element `index` of little-endian `bytes`, at any alignment, as f32:
  /// exact, but for the one rounding of a block's sum. Not for integers, nor for
  /// panels, whose elements have no order.
  float number(llvm::ArrayRef<uint8_t> bytes, uint64_t index) const;

  /// Whether encode() has a rule for the storage.
  bool isEncodable() const;
  /// Encoder::encode() of Encoder.h, for a single time.
  std::optional<uint64_t> encode(llvm::ArrayRef<float> numbers,
                                 llvm::MutableArrayRef<uint8_t> bytes) const;

  /// The same for all elements of `bytes`, as many as `numbers`: faster.
  void readNumbers(llvm::ArrayRef<uint8_t> bytes,
                   llvm::MutableArrayRef<float> numbers) const;

  bool operator==(const Storage &other) const = default;

private:
  explicit Storage(mlir::Type element) : element(element) {}
  mlir::Type element;
};

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_STORAGE_H
