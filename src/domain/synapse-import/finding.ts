/** What speaks against an import (`error`), or has to be known of it. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Fixed; for programs. */
  readonly code: string;
  readonly message: string;
}
