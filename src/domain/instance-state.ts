/** What this process knows about itself and what it depends on. Most of it decides whether it is ready for requests. */
export class InstanceState {
  /** The start is complete. */
  isStarted = false;
  isDraining = false;
  /** The schema has what this program needs, and nothing that it cannot read. */
  isSchemaUsable = true;
  /**
   * The clocks of this machine and of the database agree well enough to judge what has expired. False also from the
   * moment at which the clock of this machine was set until both were compared again.
   */
  isClockRight: () => boolean = () => true;
  /** Mails are so late that no further one is promised. It does not make an instance unready. */
  areMailsLate = false;
  /** The HTTP server refuses new requests, all of them or those that can wait. */
  isOverloaded: () => boolean = () => false;
}
