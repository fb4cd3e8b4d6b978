#include "frontend/quantised/QuantisedTensors.h"

#include "dialects/seq/Remarks.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/quantised/InputOrder.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace effc::frontend;

std::vector<std::string>
QuantisedTensors::stemsOf(llvm::StringRef suffix) const {
  std::vector<std::string> stems;
  for (const auto &file : checkpoint.getFiles())
    for (const TensorEntry &entry : file->getEntries())
      if (llvm::StringRef name = entry.name; name.consume_back(suffix))
        stems.push_back(name.str());
  llvm::sort(stems);
  return stems;
}

const TensorEntry *QuantisedTensors::find(llvm::StringRef name) const {
  const CheckpointTensor *tensor = checkpoint.find(name);
  return tensor ? tensor->entry : nullptr;
}

static std::string join(llvm::ArrayRef<ElementType> types) {
  std::string text;
  for (auto [i, type] : llvm::enumerate(types))
    text += (i == 0                  ? ""
             : i + 1 == types.size() ? " or "
                                     : ", ") +
            getName(type).str();
  return text;
}

llvm::Error QuantisedTensors::refuse(const Part &part,
                                     const llvm::Twine &message) const {
  const auto &file = checkpoint.getFiles()[part.file];
  return frontend::refuse(file->getFile().getName() + ": tensor " +
                          quote(part.entry.name) + ": " + message);
}

llvm::Expected<QuantisedTensors::Part>
QuantisedTensors::part(llvm::StringRef name,
                       llvm::ArrayRef<ElementType> types) {
  auto tensor = checkpoint.get(name);
  if (!tensor)
    return tensor.takeError();
  Part part{tensor->fileNumber, *tensor->entry};
  if (llvm::none_of(types, [&](ElementType type) {
        return part.entry.type == TensorType(type);
      }))
    return refuse(part, "expects elements of " + join(types) + ", but got " +
                            part.entry.type.getName());
  taken.insert(name);
  return part;
}

llvm::Error QuantisedTensors::checkShape(const Part &part,
                                         llvm::ArrayRef<uint64_t> shape,
                                         llvm::StringRef why) const {
  if (llvm::ArrayRef(part.entry.shape) == shape)
    return llvm::Error::success();
  return refuse(part, "expects shape " + describeShape(shape) + " (" + why +
                          "), but got " + describeShape(part.entry.shape));
}

llvm::Error QuantisedTensors::checkMatrix(const Part &part) const {
  llvm::ArrayRef<uint64_t> shape = part.entry.shape;
  if (shape.size() == 2 && shape[0] > 0 && shape[1] > 0)
    return llvm::Error::success();
  return refuse(part, "expects two dimensions of 1 or more, but got " +
                          describeShape(shape));
}

llvm::Expected<QuantisedTensors::Part>
QuantisedTensors::part(llvm::StringRef name, llvm::ArrayRef<ElementType> types,
                       llvm::ArrayRef<uint64_t> shape, llvm::StringRef why) {
  auto found = part(name, types);
  if (found)
    if (llvm::Error error = checkShape(*found, shape, why))
      return std::move(error);
  return found;
}

llvm::Expected<QuantisedTensors::Part>
QuantisedTensors::groupScales(llvm::StringRef name, uint64_t inputs,
                              uint64_t group, uint64_t outputs) {
  return part(name, {ElementType::F16, ElementType::BF16, ElementType::F32},
              {llvm::divideCeil(inputs, group), outputs},
              "a scale for each group of " + std::to_string(group) + " of " +
                  std::to_string(inputs) + " inputs");
}

llvm::Expected<llvm::ArrayRef<uint8_t>>
QuantisedTensors::read(const Part &part) const {
  return checkpoint.getFiles()[part.file]->view(part.entry);
}

llvm::Error QuantisedTensors::define(llvm::StringRef name,
                                     const QuantisedMatrix::Description &matrix,
                                     llvm::ArrayRef<Part> parts) {
  if (find(name) && !taken.contains(name))
    return frontend::refuse("tensor " + quote(name) +
                            " is there beside its codes, " +
                            quote(parts.front().entry.name));
  auto add = [&](std::string named, TensorType type,
                 std::vector<uint64_t> shape,
                 std::shared_ptr<const TensorMaker> maker) {
    Part made = parts.front();
    made.entry.name = std::move(named);
    made.entry.type = type;
    made.entry.shape = std::move(shape);
    made.entry.maker = std::move(maker);
    defined.push_back(std::move(made));
  };
  auto addMatrix = [&](std::string named,
                       const QuantisedMatrix::Description &as) {
    auto maker = std::make_shared<QuantisedMatrix>(context, as, parts.vec());
    add(std::move(named), maker->type(), {as.packed.rows, as.packed.columns},
        maker);
  };
  addMatrix(name.str(), matrix);
  if (matrix.groups.empty())
    return llvm::Error::success();
  auto order = orderByGroups(matrix.groups, matrix.grid.columnsEach);
  if (!order)
    return llvm::Error::success();
  QuantisedMatrix::Description inGroups = matrix;
  inGroups.groups.clear();
  inGroups.order = *order;
  addMatrix(inGroupsName(name), inGroups);
  add(inputOrderName(name), ElementType::F32, {order->size()},
      std::make_shared<InputOrder>(*order, parts.vec()));
  for (const std::string &named : {inGroupsName(name), inputOrderName(name)})
    besides.insert(named);
  return llvm::Error::success();
}

llvm::Expected<std::vector<uint32_t>>
QuantisedTensors::readGroups(llvm::StringRef name, uint64_t inputs,
                             uint64_t group) {
  auto groups =
      part(name, {ElementType::I32}, {inputs}, "the group of each input");
  if (!groups)
    return groups.takeError();
  auto bytes = read(*groups);
  if (!bytes)
    return bytes.takeError();
  auto count = int64_t(llvm::divideCeil(inputs, group));
  std::vector<uint32_t> all(inputs);
  bool isInOrder = true;
  for (uint64_t k = 0; k < inputs; ++k) {
    auto found =
        int32_t(llvm::support::endian::read32le(bytes->data() + 4 * k));
    if (found < 0 || found >= count)
      return refuse(*groups, "expects groups of 0 to " +
                                 llvm::Twine(count - 1) + ", but got " +
                                 llvm::Twine(found) + " of input " +
                                 llvm::Twine(k));
    all[k] = uint32_t(found);
    isInOrder &= all[k] == k / group;
  }
  if (isInOrder)
    all.clear();
  return all;
}

llvm::Error QuantisedTensors::leaveZerosAside(llvm::StringRef bias) {
  const CheckpointTensor *tensor = checkpoint.find(bias);
  if (!tensor)
    return llvm::Error::success();
  auto bytes = read({tensor->fileNumber, *tensor->entry});
  if (!bytes)
    return bytes.takeError();
  if (llvm::all_of(*bytes, [](uint8_t byte) { return byte == 0; }))
    zeroBiases.push_back(bias.str());
  return llvm::Error::success();
}

void QuantisedTensors::leaveAside(llvm::ArrayRef<llvm::StringRef> suffixes) {
  for (const auto &file : checkpoint.getFiles())
    for (const TensorEntry &entry : file->getEntries())
      if (!taken.contains(entry.name) &&
          llvm::any_of(suffixes, [&](llvm::StringRef suffix) {
            return llvm::StringRef(entry.name).ends_with(suffix);
          }))
        aside.insert(entry.name);
}

void QuantisedTensors::replace(Checkpoint &checkpoint, Remarks &remarks) {
  std::vector<std::vector<TensorEntry>> entries(checkpoint.getFiles().size());
  std::string firstAside;
  for (auto [file, own] : llvm::zip_equal(checkpoint.getFiles(), entries))
    for (const TensorEntry &entry : file->getEntries()) {
      if (aside.contains(entry.name) &&
          (firstAside.empty() || entry.name < firstAside))
        firstAside = entry.name;
      if (!taken.contains(entry.name) && !aside.contains(entry.name))
        own.push_back(entry);
    }
  llvm::MapVector<llvm::StringRef, size_t> storages;
  for (Part &made : defined) {
    // Those with an order of inputs are told by how they are used.
    if (!besides.contains(made.entry.name) &&
        !besides.contains(inGroupsName(made.entry.name)))
      ++storages[made.entry.type.getName()];
    entries[made.file].push_back(made.entry);
  }
  llvm::append_range(remarks, this->remarks);
  for (const auto &[storage, count] : storages) {
    std::string text = std::to_string(count) +
                       (count == 1 ? " quantised matrix is read as "
                                   : " quantised matrices are read as ");
    if (storage == "F32")
      remarks.push_back(
          seq::kFallbackRemark.str() + text +
          "f32, number for number: groups of inputs in an order of activations "
          "('desc_act') have no blocks where they differ in size; "
          "--weights-type gives them fewer bits");
    else
      remarks.push_back(text + storage.str() + ", number for number");
  }
  if (!firstAside.empty())
    remarks.push_back(
        "tensor " + quote(firstAside) +
        (aside.size() == 1
             ? ""
             : " and " + std::to_string(aside.size() - 1) + " like it") +
        (aside.size() == 1 ? " is" : " are") +
        " left aside: activations, keys and values are not rounded");
  checkpoint.replaceTensors(std::move(entries));
  for (const std::string &bias : zeroBiases)
    checkpoint.leaveAside(bias);
  for (llvm::StringRef name : besides.keys())
    checkpoint.leaveAside(name);
}
