/** What happened in an account. */
export { Activity } from './activity.tsx';
