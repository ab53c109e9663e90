import type { ComponentChildren, VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { type AdminKey, useTexts } from '../i18n/translations.ts';
import { useConfig } from './config-context.ts';

/** The pages of the navigation, by path below the root. */
const PAGES: readonly { readonly path: string; readonly title: AdminKey }[] = [
  { path: '', title: 'admin.overview.title' },
  { path: 'users', title: 'admin.users.title' },
  { path: 'applications', title: 'admin.apps.title' },
  { path: 'groups', title: 'admin.groups.title' },
  { path: 'invitations', title: 'admin.invitations.title' },
  { path: 'providers', title: 'admin.providers.title' },
  { path: 'sessions', title: 'admin.sessions.title' },
  { path: 'audit', title: 'admin.audit.title' },
  { path: 'jobs', title: 'admin.jobs.title' },
  { path: 'settings', title: 'admin.settings.title' },
];

/** Navigation, page and footer of the area. */
export function Layout({ children }: { children: ComponentChildren }): VNode {
  const { t } = useTexts();
  const { base, root, version } = useConfig();
  const { path } = useLocation();
  const shown = path.slice(root.length).split('/', 1)[0];
  return (
    <div class="admin">
      <nav class="admin-nav" aria-label={t('admin.navigation')}>
        <p class="admin-name">{t('admin.title')}</p>
        <ul>
          {PAGES.map(({ path: page, title }) => (
            <li key={page}>
              <a href={root + page} aria-current={shown === page ? 'page' : undefined}>
                {t(title)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" class="admin-main" tabIndex={-1}>
        {children}
      </main>
      <footer class="foot admin-foot">
        {/* Outside of the area: the router must not handle it. */}
        <a href={`${base}account/`}>{t('admin.account')}</a>
        <span>{t('admin.version', { version })}</span>
      </footer>
    </div>
  );
}
