/** Steps of a cross-signing reset. */
export { CrossSigningReset } from './reset.tsx';
export { CrossSigningResetAllowed, CrossSigningResetCancelled } from './reset-done.tsx';
