/** State of this process and its dependencies. Most of it determines readiness. */
export class InstanceState {
  /** Whether startup has finished. */
  isStarted = false;
  isDraining = false;
  /** Whether the schema has everything that this version needs, and nothing that it cannot read. */
  isSchemaUsable = true;
  /**
   * Whether the local clock and the database clock agree well enough to judge expiry. Also false after the local clock
   * was set, until both have been compared once more.
   */
  isClockRight: () => boolean = () => true;
  /** Whether mail is so late that no further mail is promised. This does not affect readiness. */
  areMailsLate = false;
  /** Whether the HTTP server rejects new requests: all of them, or those that can wait. */
  isOverloaded: () => boolean = () => false;
}
