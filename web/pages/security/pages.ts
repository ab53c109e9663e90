/** Security settings of the account. */
export { Security } from './security.tsx';
export { TotpSetup } from './totp-setup.tsx';
