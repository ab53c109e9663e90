/** What applications may do. */
export { Applications } from './applications.tsx';
