/** Linked accounts at other services. */
export { LinkedAccounts } from './linked-accounts.tsx';
