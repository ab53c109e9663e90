import type { Log } from '#platform/base/log.ts';

/** Where the server of one data directory has its files. */
export interface ServerDirectories {
  readonly dataDir: string;
  /** The cluster's directory as configured; `db` of the data directory by default. */
  readonly db: string;
  readonly serverUser: string | undefined;
  readonly binDir: string | undefined;
  /** Where files are kept that the server's account cannot reach in the data directory. */
  readonly stateDirectory: string;
  readonly log: Log;
}
