/** What follows after an address was asked to be added. */
export { ProveEmail } from './prove-email.tsx';
