export interface Protection {
  /** Identifies it on the command line. */
  readonly name: string;
  /** Describes the removed protection. */
  readonly what: string;
  /** Number of the attack, promise or fault. */
  readonly attack: number | `${'O' | 'F'}-${number}`;
  readonly removals: readonly Removal[];
  /** Path of the test file. */
  readonly test: string;
  /** Part of the name of one or more tests. */
  readonly testName: string;
  /** Whether the test runs the built program. */
  readonly isBuilt?: boolean;
}

export interface Removal {
  /** Text that appears exactly once in the source, in any file. */
  readonly text: string;
  /** Replacement, empty by default. */
  readonly instead?: string;
}

/** Returns other users' rows like the user's own. One condition in `owned-rows.ts` protects all lists of a user. */
export const OWNER_OF_ROWS: Removal = { text: '} = :owner::uuid)', instead: '} is not null)' };
