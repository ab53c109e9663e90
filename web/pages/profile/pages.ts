/** The first page of the area. */
export { Profile } from './profile.tsx';
