export { Sessions } from './sessions.page.tsx';
