import type { Check } from './health.ts';

/** What an instance knows of itself that decides whether it is ready. `serve` writes it, the health check reads it. */
export class InstanceState {
  /** Everything is up and said so. */
  isStarted = false;
  isDraining = false;
  /** The schema has what this program needs, and nothing that it cannot read. */
  isSchemaUsable = true;
  /** The clocks of this machine and of the database agree well enough to judge what has expired. */
  isClockRight = true;

  /** For the health check, by the word that it answers. */
  get checks(): Readonly<Record<'draining' | 'starting' | 'migrations' | 'clock', Check>> {
    return {
      draining: () => !this.isDraining,
      starting: () => this.isStarted,
      migrations: () => this.isSchemaUsable,
      clock: () => this.isClockRight,
    };
  }
}
