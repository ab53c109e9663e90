/** Pages that set a password. */
export { PasswordChange } from './password-change.tsx';
export { PasswordChanged } from './password-changed.tsx';
export { PasswordRecovery } from './password-recovery.tsx';
