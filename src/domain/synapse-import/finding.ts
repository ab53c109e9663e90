/** A reason not to import (`error`), or something to know about the import. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Stable, for scripts. */
  readonly code: string;
  readonly message: string;
}
