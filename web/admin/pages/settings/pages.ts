export { PolicyData } from './policy-data.page.tsx';
export { Settings } from './settings.page.tsx';
