import type { PolicyValidation, PolicyVersion, Resource } from '../../api/documents.ts';

/** Versions without their data, the newest first. */
export interface PolicyVersions {
  readonly data: readonly Resource<PolicyVersion>[];
}

export type PolicyWarning = PolicyValidation['data']['warnings'][number];

/** A stored version; without an ID, nothing has been stored yet. */
export interface BaseVersion {
  readonly id: string | undefined;
  /** Formatted. */
  readonly text: string;
}

/** The text of a former version. A new object each time, also for the same version. */
export interface Restored {
  readonly text: string;
}
