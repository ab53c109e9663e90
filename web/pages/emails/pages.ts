/** Verification of a new email address. */
export { ProveEmail } from './prove-email.tsx';
