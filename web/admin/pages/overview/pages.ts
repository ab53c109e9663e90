export { Overview } from './overview.page.tsx';
