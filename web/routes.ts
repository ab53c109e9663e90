import type { ComponentType } from 'preact';
import { lazyPage } from './frame/lazy-page.tsx';

const applications = () => import('./pages/applications/pages.ts');
const activity = () => import('./pages/activity/pages.ts');
const crossSigning = () => import('./pages/cross-signing/pages.ts');
const linkedAccounts = () => import('./pages/linked-accounts/pages.ts');
const password = () => import('./pages/password/pages.ts');
const emails = () => import('./pages/emails/pages.ts');
const plan = () => import('./pages/plan/pages.ts');
const profile = () => import('./pages/profile/pages.ts');
const security = () => import('./pages/security/pages.ts');
const sessions = () => import('./pages/sessions/pages.ts');

/** Pages by path below the root of the area. The pages of one `pages.ts` are loaded together on demand. */
export const ROUTES: readonly { readonly path: string; readonly page: ComponentType }[] = [
  { path: '', page: lazyPage(async () => (await profile()).Profile) },
  { path: 'security', page: lazyPage(async () => (await security()).Security) },
  { path: 'secure', page: lazyPage(async () => (await security()).SecureAccount) },
  { path: 'security/totp', page: lazyPage(async () => (await security()).TotpSetup) },
  { path: 'linked-accounts', page: lazyPage(async () => (await linkedAccounts()).LinkedAccounts) },
  { path: 'sessions', page: lazyPage(async () => (await sessions()).Sessions) },
  { path: 'sessions/browsers', page: lazyPage(async () => (await sessions()).Sessions) },
  { path: 'sessions/*', page: lazyPage(async () => (await sessions()).SessionDetail) },
  { path: 'applications', page: lazyPage(async () => (await applications()).Applications) },
  { path: 'activity', page: lazyPage(async () => (await activity()).Activity) },
  { path: 'plan', page: lazyPage(async () => (await plan()).Plan) },
  { path: 'clients/*', page: lazyPage(async () => (await sessions()).ClientDetail) },
  { path: 'emails/*', page: lazyPage(async () => (await emails()).ProveEmail) },
  { path: 'reset-cross-signing', page: lazyPage(async () => (await crossSigning()).CrossSigningReset) },
  { path: 'reset-cross-signing/success', page: lazyPage(async () => (await crossSigning()).CrossSigningResetAllowed) },
  {
    path: 'reset-cross-signing/cancelled',
    page: lazyPage(async () => (await crossSigning()).CrossSigningResetCancelled),
  },
  { path: 'password/change', page: lazyPage(async () => (await password()).PasswordChange) },
  { path: 'password/change/success', page: lazyPage(async () => (await password()).PasswordChanged) },
  { path: 'password/recovery', page: lazyPage(async () => (await password()).PasswordRecovery) },
  { path: 'devices/*', page: lazyPage(async () => (await sessions()).DeviceRedirect) },
];

/** Paths that do not require a sign-in. */
export const ANONYMOUS_PATHS: readonly string[] = ['password/recovery'];
