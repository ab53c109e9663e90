/*
 * Preloaded into the processes of a database, keeps what a power loss would leave: only flushed data. Each fsync and
 * fdatasync of a file below SYNCED_OF copies the file into the folder SYNCED_TO; for a directory, its list of names. As
 * with common file systems, flushing a new file also keeps its name.
 *
 *   SYNCED_TO/files/KEY    content of a file, by its inode and creation time
 *   SYNCED_TO/tree/PATH    the same file by its name
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536

typedef char Path[PATH_MAX];

static int flush(const char *name, int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(descriptor);
}

/* The results of a run are meaningless without the recorded files. */
static void fail(const char *what) {
  dprintf(2, "synced-files: %s: %s\n", what, strerror(errno));
  abort();
}

static void file_path(Path to, const char *folder, int descriptor) {
  struct statx about;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &about) != 0) fail("statx");
  snprintf(to, sizeof(Path), "%s/files/%llu-%llu", folder, (unsigned long long)about.stx_ino,
           (unsigned long long)about.stx_btime.tv_sec * 1000000000ull + about.stx_btime.tv_nsec);
}

/* Returns true if it did not exist. Writable for all accounts, whatever the umask. */
static int make_directory(const char *path) {
  if (mkdir(path, 0777) != 0) {
    if (errno != EEXIST) fail(path);
    return 0;
  }
  if (chmod(path, 0777) != 0) fail(path);
  return 1;
}

static void make_parents(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    make_directory(path);
    *slash = '/';
  }
}

static int opened(const char *path) {
  int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor >= 0) {
    if (fchmod(descriptor, 0666) != 0) fail(path);
    return descriptor;
  }
  descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail(path);
  return descriptor;
}

static int locked(const char *path) {
  int descriptor = opened(path);
  if (flock(descriptor, LOCK_EX) != 0) fail("flock");
  return descriptor;
}

/* Links the file under this name. Requires the lock of all names. */
static void link_as(const char *file, const char *name) {
  struct stat one, other;
  if (stat(file, &one) != 0) fail(file);
  if (stat(name, &other) == 0 && one.st_ino == other.st_ino) return;
  Path next;
  snprintf(next, sizeof next, "%s.%d.linked", name, getpid());
  unlink(next);
  if (link(file, next) != 0) fail("link");
  if (rename(next, name) != 0) fail("rename");
}

static void copy_blocks(int from, int to) {
  /* On the heap, because threads of the service have small stacks. */
  char *ours = malloc(2 * BLOCK), *theirs = ours + BLOCK;
  if (ours == NULL) fail("malloc");
  off_t at = 0;
  for (;;) {
    ssize_t length = pread(from, ours, BLOCK, at);
    if (length < 0) fail("pread");
    if (length == 0) break;
    ssize_t known = pread(to, theirs, length, at);
    if (known != length || memcmp(ours, theirs, length) != 0) {
      if (pwrite(to, ours, length, at) != length) fail("pwrite");
    }
    at += length;
  }
  if (ftruncate(to, at) != 0) fail("ftruncate");
  free(ours);
}

/* Opens the file by the path of its descriptor, which may not be readable. */
static void keep_file(const char *folder, const char *descriptor, const char *below) {
  int source = open(descriptor, O_RDONLY | O_CLOEXEC);
  if (source < 0) fail(below);
  Path file, name, lock;
  file_path(file, folder, source);
  /* Of two concurrent flushes of a file, the later one must see what the other one wrote. */
  int kept = locked(file);
  copy_blocks(source, kept);
  close(kept);
  snprintf(name, sizeof name, "%s/tree%s", folder, below);
  snprintf(lock, sizeof lock, "%s/lock", folder);
  int names = locked(lock);
  make_parents(name);
  link_as(file, name);
  close(names);
  close(source);
}

static int is_own(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static void forget(const char *name) {
  if (unlink(name) == 0 || errno == ENOENT) return;
  /* A directory, whose entries were removed as well. */
  DIR *entries = opendir(name);
  if (entries == NULL) fail(name);
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (is_own(entry->d_name)) continue;
    Path inner;
    snprintf(inner, sizeof inner, "%s/%s", name, entry->d_name);
    forget(inner);
  }
  closedir(entries);
  if (rmdir(name) != 0) fail("rmdir");
}

/* Requires the lock of all names. */
static void keep_entries(const char *folder, const char *path, const char *tree) {
  DIR *entries = opendir(path);
  if (entries != NULL) {
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
      if (is_own(entry->d_name)) continue;
      Path live, name, file;
      snprintf(live, sizeof live, "%s/%s", path, entry->d_name);
      snprintf(name, sizeof name, "%s%s", tree, entry->d_name);
      struct stat about;
      if (lstat(live, &about) != 0) continue;
      if (S_ISDIR(about.st_mode)) {
        /* A renamed directory keeps its entries. */
        if (make_directory(name)) {
          strcat(name, "/");
          keep_entries(folder, live, name);
        }
      } else if (S_ISREG(about.st_mode)) {
        int source = open(live, O_RDONLY | O_CLOEXEC);
        if (source < 0) continue;
        file_path(file, folder, source);
        close(source);
        /* A name may be kept before its content, which is then empty. */
        close(opened(file));
        link_as(file, name);
      }
    }
    closedir(entries);
    DIR *kept = opendir(tree);
    if (kept == NULL) fail(tree);
    for (struct dirent *entry; (entry = readdir(kept)) != NULL;) {
      if (is_own(entry->d_name)) continue;
      Path live, name;
      struct stat about;
      snprintf(live, sizeof live, "%s/%s", path, entry->d_name);
      snprintf(name, sizeof name, "%s%s", tree, entry->d_name);
      if (lstat(live, &about) != 0 && errno == ENOENT) forget(name);
    }
    closedir(kept);
  }
}

static void keep_names(const char *folder, const char *path, const char *below) {
  Path tree, lock;
  snprintf(tree, sizeof tree, "%s/tree%s/", folder, below);
  snprintf(lock, sizeof lock, "%s/lock", folder);
  int names = locked(lock);
  make_parents(tree);
  keep_entries(folder, path, tree);
  close(names);
}

/* Returns true if it is a watched file. */
static int keep(int descriptor) {
  const char *of = getenv("SYNCED_OF"), *folder = getenv("SYNCED_TO");
  if (of == NULL || folder == NULL) return 0;
  char own[64];
  Path path;
  snprintf(own, sizeof own, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(own, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  size_t prefix = strlen(of);
  if (strncmp(path, of, prefix) != 0 || (path[prefix] != '/' && path[prefix] != 0)) return 0;
  struct stat about;
  int saved = errno;
  if (fstat(descriptor, &about) != 0 || about.st_nlink == 0) return 0;
  if (S_ISDIR(about.st_mode)) keep_names(folder, path, path + prefix);
  else if (S_ISREG(about.st_mode)) keep_file(folder, own, path + prefix);
  errno = saved;
  return 1;
}

/* Does not wait for the disk, because only the copy counts. */
int fsync(int descriptor) { return keep(descriptor) ? 0 : flush("fsync", descriptor); }

int fdatasync(int descriptor) { return keep(descriptor) ? 0 : flush("fdatasync", descriptor); }

/* Unsupported, because unrecorded data must not count as flushed. */
int syncfs(int descriptor) {
  (void)descriptor;
  errno = ENOSYS;
  return -1;
}
