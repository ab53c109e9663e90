export { UserView } from './user.page.tsx';
export { Users } from './users.page.tsx';
