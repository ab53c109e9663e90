/** Progress or result of an import for one kind of data. */
export interface EntityProgress<Entity extends string = string, Reason extends string = string> {
  readonly entity: Entity;
  readonly done: number;
  /** Numbers of skipped rows by reason. */
  readonly skipped: Readonly<Partial<Record<Reason, number>>>;
  /** Number of source rows, as far as the server's statistics know it. */
  readonly estimate: number | undefined;
}
