#include "test/e2e/SafetensorsFile.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

using namespace effc::test;

SafetensorsFile SafetensorsFile::read(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw std::runtime_error("cannot open " + path);
  SafetensorsFile file;
  file.contents.assign(std::istreambuf_iterator<char>(stream), {});
  uint64_t size = 0;
  if (file.contents.size() >= 8)
    std::memcpy(&size, file.contents.data(), 8);
  if (file.contents.size() < 8 || size > file.contents.size() - 8)
    throw std::runtime_error(path + " is no safetensors file");
  auto header = nlohmann::json::parse(file.contents.begin() + 8,
                                      file.contents.begin() + 8 +
                                          static_cast<long>(size));
  std::span<const uint8_t> data(file.contents.data() + 8 + size,
                                file.contents.size() - 8 - size);
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    if (begin > end || end > data.size())
      throw std::runtime_error(path + ": '" + name + "' lies outside the file");
    file.byName[name] = {entry["dtype"], entry["shape"],
                         data.subspan(begin, end - begin)};
  }
  return file;
}

const SafetensorsFile::Tensor &
SafetensorsFile::tensor(const std::string &name) const {
  auto found = byName.find(name);
  if (found == byName.end())
    throw std::runtime_error("there is no tensor '" + name + "'");
  return found->second;
}

template <typename Number>
static std::vector<double> widened(std::span<const uint8_t> bytes) {
  std::vector<double> values(bytes.size() / sizeof(Number));
  for (size_t i = 0; i < values.size(); ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof(Number), sizeof(Number));
    values[i] = number;
  }
  return values;
}

std::vector<double> SafetensorsFile::Tensor::values() const {
  if (dtype == "F32")
    return widened<float>(bytes);
  if (dtype == "F64")
    return widened<double>(bytes);
  throw std::runtime_error("a tensor of " + dtype + " is not compared");
}
