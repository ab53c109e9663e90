/** What this process knows about itself that decides whether it is ready for requests. The health check reads it. */
export class InstanceState {
  /** The start is complete. */
  isStarted = false;
  isDraining = false;
  /** The schema has what this program needs, and nothing that it cannot read. */
  isSchemaUsable = true;
  /** The clocks of this machine and of the database agree well enough to judge what has expired. */
  isClockRight = true;
  /** The HTTP server refuses new requests, all of them or those that can wait. */
  isOverloaded: () => boolean = () => false;
}
