/** What the area opens with. */
export { Profile } from './profile.tsx';
