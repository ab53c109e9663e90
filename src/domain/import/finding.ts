/** A problem that prevents an import (`error`), or something to know about it. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Stable, for scripts. */
  readonly code: string;
  readonly message: string;
}
