export interface Protection {
  /** For the command line. */
  readonly name: string;
  /** What is taken out. */
  readonly what: string;
  /** Number of the attack; or the promise or fault that it is about. */
  readonly attack: number | `${'O' | 'F'}-${number}`;
  readonly removals: readonly Removal[];
  /** File of the test. */
  readonly test: string;
  /** Part of the name of the test, or of several. */
  readonly testName: string;
  /** The test runs the built program. */
  readonly isBuilt?: boolean;
}

export interface Removal {
  /** Found exactly once in the source, in whatever file. */
  readonly text: string;
  /** What takes its place; nothing unless given. */
  readonly instead?: string;
}

/** Rows of others are found like one's own: one condition in `owned-rows.ts` stands for every list of a person. */
export const OWNER_OF_ROWS: Removal = { text: '} = :owner::uuid)', instead: '} is not null)' };
