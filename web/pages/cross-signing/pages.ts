/** The steps of a reset, which follow one another. */
export { CrossSigningReset } from './reset.tsx';
export { CrossSigningResetAllowed, CrossSigningResetCancelled } from './reset-done.tsx';
