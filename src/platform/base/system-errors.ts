/** Returns whether a thrown value is a system error with one of these codes (`ENOENT`, …). */
export function isErrno(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/** Returns whether a disk or a quota is full. */
export function isDiskFull(error: unknown): error is NodeJS.ErrnoException {
  return isErrno(error, 'ENOSPC', 'EDQUOT');
}

/** Returns the operating system's error message without the path, which callers add themselves. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'no such file';
    case 'EACCES':
      return 'permission denied';
    case 'EISDIR':
      return 'is a directory';
    case 'ENOTDIR':
      return 'its parent is not a directory';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'no space left on its disk';
    case 'EROFS':
      return 'its disk is read-only';
    default:
      return typeof code === 'string' ? code : 'unknown error';
  }
}
