/*
 * Preloaded into the processes of a machine, sets their clock ahead by the nanoseconds in the file SET_CLOCK_BY
 * (8 bytes, negative: behind), which may change at any time. Monotonic clocks are unaffected.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ll

static const volatile int64_t *ahead;
static int (*real)(clockid_t, struct timespec *);

/* The results of a run are meaningless if the clock is not set. */
static void fail(const char *what) {
  dprintf(2, "set-clock: %s: %s\n", what, strerror(errno));
  abort();
}

__attribute__((constructor)) static void prepare(void) {
  real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("SET_CLOCK_BY");
  if (path == NULL) return;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path);
  void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  close(descriptor);
  ahead = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *to) {
  if (real == NULL) prepare();
  if (real(clock, to) != 0) return -1;
  if (ahead == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return 0;
  int64_t now = to->tv_sec * SECOND + to->tv_nsec + *ahead;
  to->tv_sec = now / SECOND;
  to->tv_nsec = now % SECOND;
  return 0;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *to) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
