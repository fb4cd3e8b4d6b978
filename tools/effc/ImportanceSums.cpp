#include "tools/effc/ImportanceSums.h"

#include "runtime/include/effc/product_inputs.h"
#include "tools/effc/RowParts.h"
#include "tools/terminal/Failure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

using namespace effc;
using namespace effc::cli;

/// Of ".in_sum2", behind the names of matrices.
static constexpr size_t kLongestEnd = 8;

/// Of a value's name, where it ends so.
static std::optional<std::string> stemOf(const std::string &name,
                                         std::string_view suffix) {
  if (!name.ends_with(suffix))
    return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

/// The matrices that are multiplied by one value.
static std::vector<std::string> namesIn(const std::string &names) {
  std::vector<std::string> each;
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, *EFFC_INPUT_SEPARATOR);)
    each.push_back(name);
  return each;
}

ImportanceSums::ImportanceSums(const Model &model) : width(model.rowWidth()) {
  size_t experts = 0;
  for (const RowPart &value : partsOf(model)) {
    Part part = {Part::Input,
                 value.first,
                 size_t(value.shape.back()),
                 value.count / size_t(value.shape.back()),
                 {}};
    size_t rows = part.rows;
    auto name = stemOf(value.name, EFFC_INPUT_SUFFIX);
    if (!name && stemOf(value.name, EFFC_EXPERT_SCORES_SUFFIX)) {
      part.kind = Part::Scores;
      experts = part.width;
      taken.push_back(0);
    } else if (!name && experts > 0) {
      name = stemOf(value.name, EFFC_EXPERT_INPUT_SUFFIX);
      part.kind = Part::ExpertInput;
      rows = experts;
      if (value.shape.size() > 1)
        taken.back() = part.rows;
    }
    if (!name && part.kind != Part::Scores)
      throw Failure("the file gives '" + value.name +
                    "', which is not what a matrix is multiplied by: effc "
                    "compile --product-inputs makes a file that gives that");
    if (name)
      for (const std::string &matrix : namesIn(*name)) {
        if (matrix.size() + kLongestEnd > GgufWriter::kMostNameBytes)
          throw Failure("a GGUF file has no room for so long a name as '" +
                        matrix + "'");
        Entry &entry = entries[matrix];
        entry.sums.resize(rows * part.width);
        entry.counts.resize(rows);
        part.entries.push_back(&entry);
      }
    parts.push_back(std::move(part));
  }
  for (const Part &part : parts)
    for (const Entry *entry : part.entries)
      if (entry->sums.size() != entry->counts.size() * part.width)
        throw Failure("the file gives inputs of several sizes for one matrix");
}

void ImportanceSums::choose(std::span<const float> scores, size_t count) {
  if (std::ranges::any_of(scores, [](float s) { return std::isnan(s); }))
    throw Failure("the model chooses experts by what is not a number");
  order.resize(scores.size());
  std::iota(order.begin(), order.end(), size_t(0));
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + ptrdiff_t(count),
                    order.end(), [&](size_t a, size_t b) {
                      return scores[a] != scores[b] ? scores[a] > scores[b]
                                                    : a < b;
                    });
  chosen.assign(order.begin(), order.begin() + ptrdiff_t(count));
}

void ImportanceSums::addRow(std::span<const float> row) {
  size_t group = 0;
  auto count = [](const Part &part, size_t matrix,
                  std::span<const float> input) {
    for (Entry *entry : part.entries) {
      for (size_t i = 0; i < input.size(); ++i)
        entry->sums[matrix * input.size() + i] += double(input[i]) * input[i];
      entry->counts[matrix] += 1;
    }
  };
  for (const Part &part : parts) {
    std::span<const float> numbers =
        row.subspan(part.first, part.rows * part.width);
    auto input = [&](size_t index) {
      return numbers.subspan(index * part.width, part.width);
    };
    if (part.kind == Part::Scores)
      choose(numbers, taken[group++]);
    else if (part.kind == Part::ExpertInput)
      for (size_t slot = 0; slot < chosen.size(); ++slot)
        count(part, chosen[slot], input(part.rows > 1 ? slot : 0));
    else
      for (size_t block = 0; block < part.rows; ++block)
        count(part, block, input(block));
  }
}

void ImportanceSums::add(std::span<const float> rows) {
  for (size_t first = 0; first < rows.size(); first += width)
    addRow(rows.subspan(first, width));
}

size_t ImportanceSums::unread() const {
  size_t count = 0;
  for (const auto &[name, entry] : entries)
    count += size_t(std::ranges::count(entry.counts, 0));
  return count;
}

void ImportanceSums::write(GgufWriter &writer, const std::string &text,
                           uint32_t tokens, uint32_t calls) const {
  writer.text("general.type", "imatrix");
  writer.texts("imatrix.datasets", {text});
  writer.number("imatrix.chunk_count", calls);
  writer.number("imatrix.chunk_size", tokens);
  auto floats = [](const std::vector<double> &numbers) {
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  for (const auto &[name, entry] : entries) {
    uint64_t rows = entry.counts.size();
    writer.floats(name + ".in_sum2", {rows, entry.sums.size() / rows},
                  floats(entry.sums));
    writer.floats(name + ".counts", {rows, 1}, floats(entry.counts));
  }
  writer.finish();
}
