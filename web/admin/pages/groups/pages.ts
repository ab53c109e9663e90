export { GroupView } from './group.page.tsx';
export { Groups } from './groups.page.tsx';
