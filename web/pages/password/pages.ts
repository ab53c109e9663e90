/** Pages on which a password is chosen. */
export { PasswordChange } from './password-change.tsx';
export { PasswordChanged } from './password-changed.tsx';
export { PasswordRecovery } from './password-recovery.tsx';
