#include "runtime/src/system/ControlGroups.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

using namespace effc::rt;

/// No list of mounts that a process could be in is longer.
static constexpr size_t kMostBytes = size_t(16) << 20;

/// What the file holds; "" where it cannot be read.
static std::string contentOf(const std::string &path) {
  std::string text;
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return text;
  char buffer[4096];
  while (text.size() < kMostBytes) {
    size_t count = std::fread(buffer, 1, sizeof buffer, file);
    if (count == 0)
      break;
    text.append(buffer, count);
  }
  std::fclose(file);
  return text;
}

/// The parts of `text` between `separator`; a last empty one is left out.
static std::vector<std::string_view> split(std::string_view text,
                                           char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return parts;
}

static bool contains(std::string_view list, std::string_view word) {
  std::vector<std::string_view> words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A whole number and nothing else; "max" and "-1" are none, which is no limit.
static std::optional<uint64_t> numberIn(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// The numbers in a file of a group: one line, separated by spaces.
static std::vector<std::optional<uint64_t>> numbersIn(const std::string &path) {
  std::string text = contentOf(path);
  std::vector<std::optional<uint64_t>> numbers;
  for (std::string_view word :
       split(std::string_view(text).substr(0, text.find('\n')), ' '))
    numbers.push_back(numberIn(word));
  return numbers;
}

static void lower(uint64_t &limit, const std::string &path) {
  auto numbers = numbersIn(path);
  if (numbers.size() == 1 && numbers[0])
    limit = std::min(limit, *numbers[0]);
}

static void lowerCores(uint64_t &cores, std::optional<uint64_t> quota,
                       std::optional<uint64_t> period) {
  if (quota && period && *quota > 0 && *period > 0)
    cores = std::min(cores, std::max<uint64_t>(1, *quota / *period));
}

namespace {
/// A folder in which a tree of groups can be seen.
struct Mount {
  bool isVersion2;
  std::string_view controllers; // of version 1
  std::string root;             // the group that the folder is
  std::string point;            // the folder
};
} // namespace

/// The kernel writes spaces, tabs, line breaks and backslashes as "\040".
static std::string unescaped(std::string_view text) {
  auto isOctal = [](char digit) { return digit >= '0' && digit <= '7'; };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && isOctal(text[i + 1]) &&
        isOctal(text[i + 2]) && isOctal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 +
                                 (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// "36 35 98:0 /root /point rw,noatime shared:1 - cgroup2 cgroup rw,nsdelegate"
static std::optional<Mount> mountIn(std::string_view line) {
  std::vector<std::string_view> fields = split(line, ' ');
  auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4)
    return std::nullopt;
  bool isVersion2 = dash[1] == "cgroup2";
  if (!isVersion2 && dash[1] != "cgroup")
    return std::nullopt;
  return Mount{isVersion2, dash[3], unescaped(fields[3]), unescaped(fields[4])};
}

/// `group` as it is called from the mount's folder: "" is the folder itself, also
/// where the group lies outside of what can be seen, as it may for a process
/// that was moved, or that kept the host's names in a container.
static std::string placeBelow(const Mount &mount, std::string_view group) {
  if (mount.root != "/") {
    if (group.substr(0, mount.root.size()) != mount.root)
      return "";
    group.remove_prefix(mount.root.size());
    if (!group.empty() && group[0] != '/')
      return "";
  }
  if (group == "/" || group.find("/..") != group.npos)
    return "";
  return std::string(group);
}

/// What the one group in `folder` grants.
static void readGroup(const std::string &folder, const Mount &mount,
                      GroupLimits &limits) {
  if (mount.isVersion2) {
    lower(limits.memory, folder + "/memory.max");
    lower(limits.swap, folder + "/memory.swap.max");
    if (auto numbers = numbersIn(folder + "/cpu.max"); numbers.size() == 2)
      lowerCores(limits.cores, numbers[0], numbers[1]);
    return;
  }
  if (contains(mount.controllers, "memory")) {
    lower(limits.memory, folder + "/memory.limit_in_bytes");
    lower(limits.memoryAndSwap, folder + "/memory.memsw.limit_in_bytes");
  }
  if (contains(mount.controllers, "cpu")) {
    auto quota = numbersIn(folder + "/cpu.cfs_quota_us");
    auto period = numbersIn(folder + "/cpu.cfs_period_us");
    if (quota.size() == 1 && period.size() == 1)
      lowerCores(limits.cores, quota[0], period[0]);
  }
}

/// The process's group in the tree of `mount`; `groups` is /proc/self/cgroup:
/// lines of number, controllers and group, of which version 2 has "0::".
static std::optional<std::string_view> groupIn(std::string_view groups,
                                               const Mount &mount) {
  for (std::string_view line : split(groups, '\n')) {
    size_t first = line.find(':');
    size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos)
      continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    bool isIt =
        mount.isVersion2
            ? line.substr(0, second + 1) == "0::"
            : !controllers.empty() &&
                  contains(mount.controllers,
                           controllers.substr(0, controllers.find(',')));
    if (isIt && line.substr(second + 1, 1) == "/")
      return line.substr(second + 1);
  }
  return std::nullopt;
}

GroupLimits effc::rt::readGroupLimits(const std::string &root) {
  GroupLimits limits;
  std::string groups = contentOf(root + "/proc/self/cgroup");
  std::string mounts = contentOf(root + "/proc/self/mountinfo");
  for (std::string_view line : split(mounts, '\n')) {
    std::optional<Mount> mount = mountIn(line);
    if (!mount)
      continue;
    std::optional<std::string_view> group = groupIn(groups, *mount);
    if (!group)
      continue;
    // The group, then those above it as far as they can be seen.
    std::string place = placeBelow(*mount, *group);
    while (true) {
      readGroup(root + mount->point + place, *mount, limits);
      if (place.empty())
        break;
      place.resize(place.rfind('/'));
    }
  }
  return limits;
}
