/** Security events of the account. */
export { Activity } from './activity.tsx';
