export { Jobs } from './jobs.page.tsx';
