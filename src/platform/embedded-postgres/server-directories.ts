import type { Log } from '#platform/base/log.ts';

/** Locations of the server's files for one data directory. */
export interface ServerDirectories {
  readonly dataDir: string;
  /** The cluster's directory as configured. Defaults to `db` in the data directory. */
  readonly db: string;
  readonly serverUser: string | undefined;
  readonly binDir: string | undefined;
  /** Location for files that the server's account cannot reach in the data directory. */
  readonly stateDirectory: string;
  readonly log: Log;
}
