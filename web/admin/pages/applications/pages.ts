export { ApplicationView } from './application.page.tsx';
export { Applications } from './applications.page.tsx';
export { Connect } from './connect.page.tsx';
export { NewApplication } from './new-application.page.tsx';
