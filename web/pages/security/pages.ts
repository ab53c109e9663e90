/** How an account is kept from others. */
export { Security } from './security.tsx';
export { TotpSetup } from './totp-setup.tsx';
