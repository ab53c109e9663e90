import type { ComponentType } from 'preact';
import { lazyPage } from './frame/lazy-page.tsx';

const overview = () => import('./pages/overview/pages.ts');
const applications = () => import('./pages/applications/pages.ts');
const invitations = () => import('./pages/invitations/pages.ts');
const groups = () => import('./pages/groups/pages.ts');
const providers = () => import('./pages/providers/pages.ts');
const users = () => import('./pages/users/pages.ts');
const sessions = () => import('./pages/sessions/pages.ts');
const audit = () => import('./pages/audit/pages.ts');
const settings = () => import('./pages/settings/pages.ts');
const jobs = () => import('./pages/jobs/pages.ts');

/** Pages by path below the root of the area. The pages of one `pages.ts` are loaded together on demand. */
export const ROUTES: readonly { readonly path: string; readonly page: ComponentType }[] = [
  { path: '', page: lazyPage(async () => (await overview()).Overview) },
  { path: 'users', page: lazyPage(async () => (await users()).Users) },
  { path: 'users/:id', page: lazyPage(async () => (await users()).UserView) },
  { path: 'applications', page: lazyPage(async () => (await applications()).Applications) },
  { path: 'applications/new', page: lazyPage(async () => (await applications()).NewApplication) },
  { path: 'applications/:id', page: lazyPage(async () => (await applications()).ApplicationView) },
  { path: 'applications/:id/connect', page: lazyPage(async () => (await applications()).Connect) },
  { path: 'invitations', page: lazyPage(async () => (await invitations()).Invitations) },
  { path: 'invitations/:id', page: lazyPage(async () => (await invitations()).InvitationView) },
  { path: 'groups', page: lazyPage(async () => (await groups()).Groups) },
  { path: 'groups/:id', page: lazyPage(async () => (await groups()).GroupView) },
  { path: 'providers', page: lazyPage(async () => (await providers()).Providers) },
  { path: 'providers/:id', page: lazyPage(async () => (await providers()).ProviderView) },
  { path: 'sessions', page: lazyPage(async () => (await sessions()).Sessions) },
  { path: 'audit', page: lazyPage(async () => (await audit()).Audit) },
  { path: 'audit/:id', page: lazyPage(async () => (await audit()).AuditEventView) },
  { path: 'jobs', page: lazyPage(async () => (await jobs()).Jobs) },
  { path: 'settings', page: lazyPage(async () => (await settings()).Settings) },
  { path: 'settings/policy-data', page: lazyPage(async () => (await settings()).PolicyData) },
];
