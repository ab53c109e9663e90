/** Security settings of the account. */
export { SecureAccount } from './secure-account.tsx';
export { Security } from './security.tsx';
export { TotpSetup } from './totp-setup.tsx';
