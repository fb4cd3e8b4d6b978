// The tensors of a quantised checkpoint as those that a family asks for: each matrix
// that lies in several tensors becomes one, under the name of its weight.
#ifndef EFFC_FRONTEND_QUANTISED_QUANTISEDTENSORS_H
#define EFFC_FRONTEND_QUANTISED_QUANTISEDTENSORS_H

#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/checkpoint/UnreadKeys.h"
#include "frontend/quantised/QuantisedMatrix.h"

#include "llvm/ADT/MapVector.h"

namespace effc::frontend {

class QuantisedTensors {
public:
  using Part = TensorMaker::Part;

  QuantisedTensors(mlir::MLIRContext &context, const Checkpoint &checkpoint)
      : context(context), checkpoint(checkpoint) {}

  /// What stands before `suffix` in the names that end with it, in alphabetical order.
  std::vector<std::string> stemsOf(llvm::StringRef suffix) const;
  /// Null where there is none.
  const TensorEntry *find(llvm::StringRef name) const;

  /// A tensor, which belongs to a matrix. Fails unless the tensor is there and of one of
  /// the types.
  llvm::Expected<Part> part(llvm::StringRef name,
                            llvm::ArrayRef<ElementType> types);
  /// The same, of the shape that `why` asks for.
  llvm::Expected<Part> part(llvm::StringRef name,
                            llvm::ArrayRef<ElementType> types,
                            llvm::ArrayRef<uint64_t> shape,
                            llvm::StringRef why);
  /// A scale for each output and each `group` of the inputs: [groups, outputs].
  llvm::Expected<Part> groupScales(llvm::StringRef name, uint64_t inputs,
                                   uint64_t group, uint64_t outputs);
  /// Fails, naming what was expected, unless a part has the shape.
  llvm::Error checkShape(const Part &part, llvm::ArrayRef<uint64_t> shape,
                         llvm::StringRef why) const;
  /// Fails unless a part has two dimensions, each of 1 or more.
  llvm::Error checkMatrix(const Part &part) const;
  /// An error about a tensor: its file and name, then `message`.
  llvm::Error refuse(const Part &part, const llvm::Twine &message) const;
  llvm::Expected<llvm::ArrayRef<uint8_t>> read(const Part &part) const;

  /// Gives the checkpoint a matrix in the place of the parts, and besides what
  /// InputOrder.h says where its inputs are in another order. Fails where there is a
  /// tensor of that name that is no part.
  llvm::Error define(llvm::StringRef name,
                     const QuantisedMatrix::Description &matrix,
                     llvm::ArrayRef<Part> parts);
  /// The group of each input, which the tensor `name` has; empty where `group` after
  /// `group` inputs are in one.
  llvm::Expected<std::vector<uint32_t>>
  readGroups(llvm::StringRef name, uint64_t inputs, uint64_t group);
  void remark(const llvm::Twine &text) { remarks.push_back(text.str()); }
  /// Leaves aside the bias of a module where it is zeros, which some tools write of every
  /// module: a family may still ask for it.
  llvm::Error leaveZerosAside(llvm::StringRef bias);
  /// Leaves aside what ends with a suffix and is no part.
  void leaveAside(llvm::ArrayRef<llvm::StringRef> suffixes);

  /// How many tensors were defined.
  size_t countDefined() const { return defined.size(); }
  /// Gives the checkpoint the tensors that were defined and all others that are no parts;
  /// one remark for each storage, and one of what was left aside.
  void replace(Checkpoint &checkpoint, Remarks &remarks);

private:
  mlir::MLIRContext &context;
  const Checkpoint &checkpoint;
  llvm::StringSet<> taken, aside;
  /// What a matrix has for products that read its inputs in another order, which nobody
  /// has to ask for (InputOrder.h).
  llvm::StringSet<> besides;
  std::vector<std::string> zeroBiases;
  std::vector<Part> defined; ///< each in the file of its first part
  Remarks remarks;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISED_QUANTISEDTENSORS_H
