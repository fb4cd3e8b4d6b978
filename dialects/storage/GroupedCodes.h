// Blocks of one scale each: what weights become that other formats keep as codes, scales
// and zeros in tensors apart.
//
// Their names say all of them, CODES_ELEMENTS_SCALE: `int4z_128_f16`.
//
//   CODES      int2 .. int8      integers around 0
//              int2z .. int8z    0, 1, ... less a zero of 0 to 255, one of each block
//              e4m3, e5m2        numbers of 8 bits
//              e2m1              numbers of 4 bits, and
//              nf4, fp4          entries of bitsandbytes' tables: see tableUnit()
//   ELEMENTS   of a block
//   SCALE      f16, bf16 or f32
//
// Codes of less than 8 bits lie in planes of 4, 2 and 1 bits where 8 divides the
// elements, those of 4 bits where 2 does; else in a byte each, but for those of tables,
// which then have no name.
#ifndef EFFC_DIALECTS_STORAGE_GROUPEDCODES_H
#define EFFC_DIALECTS_STORAGE_GROUPEDCODES_H

#include "dialects/storage/StorageDialect.h"

#include <optional>
#include <string>

namespace effc::storage {

struct GroupedCodes {
  enum class Codes { Integers, IntegersLessZero, E4M3, E5M2, E2M1, NF4, FP4 };

  Codes codes;
  int64_t bits; ///< of a code
  int64_t elements;
  FieldKind scale; ///< Half, Brain or Single

  std::string name() const;
  /// None for other names.
  static std::optional<GroupedCodes> parse(llvm::StringRef name);
  /// Up to 1024 elements, an even number with codes of a table.
  BlockType describe(mlir::MLIRContext *context) const;

  /// What integers around 0 are less than their bits: they are unsigned then.
  int64_t bias() const { return int64_t(1) << (bits - 1); }
};

/// Whether blocks are a scale in f32 and a byte for each element, its multiple of the
/// scale plus 128: what kernels write too.
bool isRowOfBytes(BlockType type);

/// The entries of a table are whole multiples of the power of two 2^-unit, and the
/// description has those multiples: so a scale has to be 2^-unit of that of the table. 0
/// for codes without a table.
int64_t tableUnit(GroupedCodes::Codes codes);
llvm::ArrayRef<int64_t> tableOf(GroupedCodes::Codes codes);

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_GROUPEDCODES_H
