#include "test/e2e/RandomWeights.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <sstream>

std::string effc::test::readText(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void effc::test::writeRandomWeights(const std::string &module,
                                    const std::string &path) {
  std::mt19937 random(20261122);
  std::uniform_real_distribution<float> number(-0.5, 0.5);
  nlohmann::json header;
  std::vector<float> data;
  std::regex weight(
      "source\\(\"([a-z]+)\"\\)( transposed)? : tensor<([0-9x]+)xf32>");
  for (std::sregex_iterator at(module.begin(), module.end(), weight), end;
       at != end; ++at) {
    std::vector<int64_t> shape;
    std::stringstream extents((*at)[3]);
    size_t count = 1;
    for (std::string extent; std::getline(extents, extent, 'x');) {
      shape.push_back(std::stoll(extent));
      count *= shape.back();
    }
    size_t begin = data.size() * sizeof(float), first = data.size();
    data.resize(first + count);
    // What the model reads is drawn in its own order, wherever it lies.
    bool transposed = (*at)[2].matched;
    size_t columns = shape.back();
    size_t rows = transposed ? shape[shape.size() - 2] : 1;
    if (transposed)
      std::swap(shape[shape.size() - 2], shape.back());
    for (size_t block = first; block < first + count; block += rows * columns)
      for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column)
          data[block + (transposed ? column * rows + row : column)] =
              number(random);
    header[std::string((*at)[1])] = {
        {"dtype", "F32"},
        {"shape", shape},
        {"data_offsets", {begin, data.size() * sizeof(float)}}};
  }
  std::string text = header.dump();
  // Tensors begin at a multiple of eight bytes, as public writers place them.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t size = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&size), sizeof(size));
  file << text;
  file.write(reinterpret_cast<const char *>(data.data()),
             data.size() * sizeof(float));
}
