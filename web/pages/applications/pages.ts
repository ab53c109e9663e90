/** Permissions of clients. */
export { Applications } from './applications.tsx';
