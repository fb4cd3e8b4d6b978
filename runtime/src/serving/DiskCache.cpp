#include "runtime/src/serving/DiskCache.h"

#include "runtime/src/WholeFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace effc::rt;

/// More states than that wait for no disk: they would take memory.
static constexpr size_t kMostWaiting = 4;
/// A file is read where it saves so many tokens.
static constexpr uint64_t kLeastSaved = 16;
static constexpr std::string_view kEnd = ".effs";
static constexpr size_t kNameDigits = 32;

DiskCache::DiskCache(const Engine &engine, const Options &options)
    : model(engine.sharedModel()), layout(engine.copyLayout()),
      exactness(exactnessOf(engine.model().program(), engine.plan())),
      code(engine.isa()), options(options) {}

Result<std::unique_ptr<DiskCache>> DiskCache::open(const Engine &engine,
                                                   const Options &options) {
  std::unique_ptr<DiskCache> cache(new DiskCache(engine, options));
  if (mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(EFFC_IO_ERROR, "cannot make the folder '", options.folder,
                "': ", std::strerror(errno));
  if (Check error = cache->readFolder())
    return *error;
  cache->thread = std::thread([made = cache.get()] { made->loop(); });
  return cache;
}

DiskCache::~DiskCache() {
  if (!thread.joinable())
    return;
  if (!process.isThis()) { // a forked child has no such thread
    thread.detach();
    return;
  }
  {
    std::lock_guard guard(lock);
    stops = true;
  }
  news.notify_all();
  thread.join();
}

std::string DiskCache::pathOf(const std::string &name) const {
  return options.folder + "/" + name;
}

std::string DiskCache::nameOf(const StateOrigin &origin) const {
  std::vector<uint8_t> bytes(code.begin(), code.end());
  uint64_t ids[] = {modelIdOf(model->program()), model->program().layout_id()};
  const auto *raw = reinterpret_cast<const uint8_t *>(ids);
  bytes.insert(bytes.end(), raw, raw + sizeof ids);
  origin.append(bytes);
  return describeSha256(sha256(bytes)).substr(0, kNameDigits) +
         std::string(kEnd);
}

/// Whether `name` is one of nameOf(), or of a file that is being written to become
/// one.
static bool isOurs(std::string_view name, bool *isPartial) {
  *isPartial = name.size() > kNameDigits + kEnd.size();
  return name.size() >= kNameDigits + kEnd.size() &&
         name.substr(0, kNameDigits).find_first_not_of("0123456789abcdef") ==
             name.npos &&
         name.substr(kNameDigits, kEnd.size()) == kEnd &&
         (!*isPartial || name.ends_with(".partial"));
}

/// A file whose writer has been killed: nobody holds its lock (PartialFile.h).
static void removeIfLeft(const std::string &path) {
  int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat info;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
      flock(file, LOCK_EX | LOCK_NB) == 0)
    unlink(path.c_str());
  close(file);
}

Check DiskCache::readFolder() {
  DIR *all = opendir(options.folder.c_str());
  if (!all)
    return fail(EFFC_IO_ERROR, "cannot read the folder '", options.folder,
                "': ", std::strerror(errno));
  std::vector<std::pair<struct timespec, File>> found;
  while (const dirent *entry = readdir(all)) {
    bool isPartial = false;
    if (!isOurs(entry->d_name, &isPartial))
      continue;
    std::string path = pathOf(entry->d_name);
    struct stat info;
    if (isPartial) {
      removeIfLeft(path);
      continue;
    }
    Result<StateOrigin> origin = readStateOrigin(model->program(), path);
    if (!origin || stat(path.c_str(), &info) != 0 ||
        nameOf(*origin) != entry->d_name ||
        static_cast<uint64_t>(info.st_size) > options.mostOfFile) {
      ++counted.refused;
      continue;
    }
    found.push_back({info.st_mtim,
                     {entry->d_name, std::move(*origin),
                      static_cast<uint64_t>(info.st_size)}});
  }
  closedir(all);
  std::sort(found.begin(), found.end(), [](const auto &a, const auto &b) {
    return std::tie(a.first.tv_sec, a.first.tv_nsec, a.second.name) <
           std::tie(b.first.tv_sec, b.first.tv_nsec, b.second.name);
  });
  for (auto &[time, file] : found)
    addFile(std::move(file));
  return {};
}

/// Whether what finds `other` exact may have `one` for it.
bool DiskCache::isAsGood(const StateOrigin &one,
                         const StateOrigin &other) const {
  return exactness.kind == Exactness::Kind::Anywhere || one.byPrefill ||
         !other.byPrefill;
}

//===-- Files; the lock is held -------------------------------------------===//

/// Those go that the new one makes unnecessary, and that are too many bytes.
void DiskCache::addFile(File file) {
  // What memory gave up and got back while it waited here is written twice, to one
  // file: the earlier entry goes, and the file stays.
  std::erase_if(files, [&](const File &other) {
    bool isSame = other.name == file.name;
    counted.bytes -= isSame ? other.bytes : 0;
    counted.files -= isSame;
    return isSame;
  });
  counted.bytes += file.bytes;
  ++counted.files;
  files.push_front(std::move(file));
  const StateOrigin &added = files.front().origin;
  // Where any position of a text will do, a longer text has the shorter one.
  bool isAnywhere = !layout.hasFixed() && !layout.losesRows();
  for (auto at = std::next(files.begin()); at != files.end();) {
    auto each = at++;
    const std::vector<int32_t> &tokens = each->origin.tokens;
    if (isAnywhere && each->origin.salt == added.salt &&
        isAsGood(added, each->origin) && tokens.size() <= added.tokens.size() &&
        std::equal(tokens.begin(), tokens.end(), added.tokens.begin()))
      removeFile(each);
  }
  while (counted.bytes > options.bytes && !files.empty())
    removeFile(std::prev(files.end()));
}

void DiskCache::removeFile(std::list<File>::const_iterator file) {
  unlink(pathOf(file->name).c_str());
  counted.bytes -= file->bytes;
  --counted.files;
  files.erase(file);
}

/// How far a file takes a text.
uint64_t DiskCache::reachOf(const File &file, const Sha256Digest &salt,
                            std::span<const int32_t> tokens, uint64_t most,
                            bool takesInexact) const {
  const std::vector<int32_t> &kept = file.origin.tokens;
  if (file.origin.salt != salt)
    return 0;
  auto end =
      std::mismatch(kept.begin(), kept.end(), tokens.begin(), tokens.end());
  uint64_t reach = static_cast<uint64_t>(end.first - kept.begin());
  bool isAnywhere = !layout.hasFixed() && !layout.losesRows();
  if (!isAnywhere)
    reach = reach == kept.size() && reach <= most ? reach : 0;
  reach = std::min(reach, most);
  if (isAnywhere && !takesInexact)
    reach -= reach % exactness.grid;
  return takesInexact || exactness.holds(reach, file.origin.byPrefill) ? reach
                                                                       : 0;
}

std::list<DiskCache::File>::const_iterator
DiskCache::bestOf(const Sha256Digest &salt, std::span<const int32_t> tokens,
                  uint64_t from, uint64_t most, bool takesInexact,
                  uint64_t &reach) const {
  auto best = files.end();
  reach = from + kLeastSaved - 1;
  for (auto at = files.begin(); at != files.end() && !isOff; ++at)
    if (uint64_t each = reachOf(*at, salt, tokens, most, takesInexact);
        each > reach)
      best = at, reach = each;
  return best;
}

//===-- Reading -----------------------------------------------------------===//

uint64_t DiskCache::find(const Sha256Digest &salt,
                         std::span<const int32_t> tokens, uint64_t from,
                         uint64_t most, bool takesInexact) const {
  std::lock_guard guard(lock);
  uint64_t reach = 0;
  return bestOf(salt, tokens, from, most, takesInexact, reach) == files.end()
             ? 0
             : reach;
}

std::optional<DiskCache::Loaded>
DiskCache::load(const Sha256Digest &salt, std::span<const int32_t> tokens,
                uint64_t from, uint64_t most, bool takesInexact) {
  std::string name;
  {
    std::lock_guard guard(lock);
    uint64_t reach = 0;
    auto best = bestOf(salt, tokens, from, most, takesInexact, reach);
    if (best == files.end())
      return std::nullopt;
    files.splice(files.begin(), files, best);
    name = best->name;
  }
  std::string path = pathOf(name);
  std::optional<Loaded> loaded;
  auto bytes = readStateFile(model->program(), path);
  bool isGone = !bytes && bytes.error().code == EFFC_IO_ERROR;
  if (bytes) {
    auto state = decodeState(model->program(), *bytes);
    if (state && state->origin && nameOf(*state->origin) == name &&
        state->codes.text() == code)
      loaded = Loaded{std::move(*state->origin), std::move(*state)};
  }
  if (loaded)
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // used, for the next start
  std::lock_guard guard(lock);
  if (loaded) {
    ++counted.loaded;
    return loaded;
  }
  counted.refused += !isGone; // else another process has removed it
  for (auto at = files.begin(); at != files.end(); ++at)
    if (at->name == name) {
      removeFile(at);
      break;
    }
  return std::nullopt;
}

//===-- Writing -----------------------------------------------------------===//

void DiskCache::write(StateOrigin origin, CopiedStates states) {
  std::lock_guard guard(lock);
  bool isThere = std::any_of(files.begin(), files.end(), [&](const File &file) {
    return isAsGood(file.origin, origin) &&
           reachOf(file, origin.salt, origin.tokens, origin.tokens.size(),
                   true) == origin.tokens.size();
  });
  if (isOff || isThere)
    return;
  if (waiting.size() >= kMostWaiting) {
    waiting.pop_front();
    ++counted.dropped;
  }
  waiting.push_back({std::move(origin), std::move(states)});
  news.notify_all();
}

void DiskCache::writeFile(const Waiting &one) {
  const artifact::Program &program = model->program();
  Check error;
  std::string name = nameOf(one.origin);
  uint64_t size = 0;
  auto bytes = layout.encode(program, one.states, &one.origin);
  if (bytes) {
    size = bytes->size();
    if (size > options.bytes) {
      std::lock_guard guard(lock);
      ++counted.dropped;
      return;
    }
    // A loss of power may take it: it is a cache.
    error = writeWholeFile(pathOf(name), *bytes, /*durable=*/false);
  } else {
    error = bytes.error();
  }
  std::lock_guard guard(lock);
  if (error) {
    ++counted.failures;
    isOff = true;
    waiting.clear();
    return;
  }
  ++counted.written;
  addFile({std::move(name), one.origin, size});
}

void DiskCache::loop() {
  std::unique_lock guard(lock);
  while (true) {
    news.wait(guard, [&] { return stops || !waiting.empty(); });
    if (waiting.empty())
      return;
    Waiting one = std::move(waiting.front());
    waiting.pop_front();
    guard.unlock();
    try {
      writeFile(one);
    } catch (const std::bad_alloc &) {
      // One fewer; there may be memory for the next.
    }
    guard.lock();
  }
}

DiskCache::Numbers DiskCache::numbers() const {
  std::lock_guard guard(lock);
  return counted;
}
