//===- PartialFile.h - A file that gets its name when it is complete ------===//
//
// Shared by the runtime, the artifact writer and whoever else replaces files;
// depends on nothing but the system. Until it is complete the file is a sibling,
// "NAME.<16 hexadecimal digits>.partial", so that whatever ends the writing
// leaves what was there. Errors are numbers of errno, so that each side can put
// them into messages of its own.
//
// A sibling is locked (flock(2)) as long as its writer lives, and the next writer
// of the same name removes those that nobody holds: they are what a killed one
// left behind. Process numbers would not tell: a folder may be shared between
// machines, or between containers that count for themselves.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_PARTIALFILE_H
#define EFFC_RUNTIME_SRC_PARTIALFILE_H

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace effc::rt {

class PartialFile {
public:
  /// In place of an errno: something other than a regular file is there.
  static constexpr int kNotRegular = -1;

  PartialFile() = default;
  PartialFile(PartialFile &&other) noexcept
      : target(std::move(other.target)), sibling(std::move(other.sibling)),
        old(other.old), isNew(other.isNew),
        file(std::exchange(other.file, -1)) {}
  PartialFile &operator=(PartialFile &&) = delete;
  ~PartialFile() { abandon(); }

  /// Begins what will be `path`: where that is a link, what it leads to, which
  /// need not exist.
  int begin(const std::string &path) {
    if (int code = follow(path))
      return code;
    struct stat found;
    isNew = stat(target.c_str(), &found) != 0;
    if (isNew && errno != ENOENT)
      return errno;
    if (!isNew && !S_ISREG(found.st_mode))
      return kNotRegular;
    if (!isNew)
      old = {found.st_mode & 07777, found.st_uid, found.st_gid};
    removeStale();
    return create();
  }

  /// To write to, and the sibling's name; negative and "" when there is none.
  int descriptor() const { return file; }
  const std::string &name() const { return sibling; }

  /// Gives the file its name, and the mode and, where that is granted, the owner
  /// of the one that it replaces. `durable`: once this returns, a loss of power
  /// leaves the new file, and before that the old one. After a failure there is
  /// nothing left of it.
  int finish(bool durable) {
    if (!isNew) {
      // Who may not give files away keeps the group at least.
      if (fchown(file, old.user, old.group) != 0 &&
          fchown(file, static_cast<uid_t>(-1), old.group) != 0)
        old.mode &= ~mode_t(S_ISUID | S_ISGID);
      // A file system without modes has nothing to keep.
      if (fchmod(file, old.mode) != 0 && errno != EPERM && errno != ENOTSUP)
        return fail(errno);
    }
    if (durable && !synced(file))
      return fail(errno);
    if (std::rename(sibling.c_str(), target.c_str()) != 0)
      return fail(errno);
    sibling.clear();
    int code = close(std::exchange(file, -1)) != 0 ? errno : 0;
    return durable && !code ? syncFolder() : code;
  }

  /// Removes what has been written.
  void abandon() {
    if (file < 0)
      return;
    unlink(sibling.c_str());
    close(std::exchange(file, -1));
  }

private:
  struct Attributes {
    mode_t mode;
    uid_t user;
    gid_t group;
  };

  int fail(int code) {
    abandon();
    return code;
  }

  /// The folder of `target` with its slash, "" for the current one.
  std::string folder() const { return target.substr(0, target.rfind('/') + 1); }
  /// What the names of siblings begin with. Short enough for the rest of it.
  std::string stem() const {
    return target.substr(folder().size(), NAME_MAX - 25) + ".";
  }
  static constexpr std::string_view kEnd = ".partial";

  /// Sets `target`. The last link may lead to nothing, so realpath() would not do.
  int follow(std::string path) {
    constexpr int kMostLinks = 40; // as the kernel follows
    for (int i = 0; i < kMostLinks; ++i) {
      char to[PATH_MAX];
      ssize_t size = readlink(path.c_str(), to, sizeof to);
      if (size < 0) { // no link
        target = std::move(path);
        return 0;
      }
      if (static_cast<size_t>(size) == sizeof to)
        return ENAMETOOLONG;
      std::string next(to, static_cast<size_t>(size));
      if (next[0] != '/')
        next = path.substr(0, path.rfind('/') + 1) + next;
      path = std::move(next);
    }
    return ELOOP;
  }

  int create() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      uint64_t number = 0;
      if (getrandom(&number, sizeof number, 0) != sizeof number)
        return errno;
      char digits[17];
      std::snprintf(digits, sizeof digits, "%016llx",
                    static_cast<unsigned long long>(number));
      sibling = folder() + stem() + digits + std::string(kEnd);
      // Nobody reads what will be private before it is.
      file = open(sibling.c_str(),
                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  isNew ? 0666 : 0600);
      if (file < 0 && errno == EEXIST)
        continue;
      if (file < 0)
        return errno;
      // Another writer may have found it before it was locked, and removes it.
      struct stat info;
      bool isTaken =
          flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (!isTaken && fstat(file, &info) == 0 && info.st_nlink > 0)
        return 0;
      close(std::exchange(file, -1));
    }
    return EEXIST;
  }

  /// Whether `name` is one that this class gives to siblings of the target, or
  /// that earlier versions gave.
  bool isSibling(std::string_view name) const {
    std::string begin = stem();
    if (name.size() <= begin.size() + kEnd.size() ||
        name.substr(0, begin.size()) != begin ||
        name.substr(name.size() - kEnd.size()) != kEnd)
      return false;
    name.remove_prefix(begin.size());
    name.remove_suffix(kEnd.size());
    return name.find_first_not_of("0123456789abcdef-") == name.npos;
  }

  void removeStale() const {
    std::string place = folder();
    DIR *all = opendir(place.empty() ? "." : place.c_str());
    if (!all)
      return;
    while (const dirent *entry = readdir(all)) {
      if (!isSibling(entry->d_name))
        continue;
      int found = openat(dirfd(all), entry->d_name,
                         O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      struct stat info;
      if (found >= 0 && fstat(found, &info) == 0 && S_ISREG(info.st_mode) &&
          flock(found, LOCK_EX | LOCK_NB) == 0)
        unlinkat(dirfd(all), entry->d_name, 0);
      if (found >= 0)
        close(found);
    }
    closedir(all);
  }

  /// Some file systems know nothing to do.
  static bool synced(int descriptor) {
    return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ||
           errno == EROFS;
  }

  /// The name is on the disk when its folder is.
  int syncFolder() const {
    std::string place = folder();
    int descriptor = open(place.empty() ? "." : place.c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) // one that may be written to, but not read
      return errno == EACCES ? 0 : errno;
    int code = synced(descriptor) ? 0 : errno;
    close(descriptor);
    return code;
  }

  std::string target, sibling;
  Attributes old = {};
  bool isNew = true;
  int file = -1;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_PARTIALFILE_H
