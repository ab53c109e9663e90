import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { initialOf } from '../../src/browser/components/decision.tsx';
import { cleanName } from '../../src/browser/components/text.tsx';
import { usePageQuery } from '../api/page-query.ts';
import { Button } from '../components/button.tsx';
import { type AreaKey, useTranslations } from '../i18n/translations.ts';
import { EndSessionDialog } from '../pages/sessions/end-session.tsx';
import { chatIdOf } from './chat-id.ts';
import { useConfig, usePathTo } from './config-context.ts';
import { CurrentUserGreeting } from './frame.generated.ts';

/** The pages with tabs, by tab name. */
const TABS = {
  profile: { path: '', text: 'account.tab.profile' },
  security: { path: 'security', text: 'account.tab.security' },
  devices: { path: 'sessions', text: 'account.tab.devices' },
  applications: { path: 'applications', text: 'account.tab.applications' },
  activity: { path: 'activity', text: 'account.tab.activity' },
  plan: { path: 'plan', text: 'account.tab.plan' },
} as const satisfies Record<string, { path: string; text: AreaKey }>;

const NONE = {};

/** A page below the account name and the tabs. `tab`: the active tab. */
export function TabsPage({ tab, children }: { tab: keyof typeof TABS; children: ComponentChildren }): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const { hasPlanManagement } = useConfig();
  const nav = useRef<HTMLElement>(null);
  // On small screens, the tabs scroll sideways.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  const shown = Object.entries(TABS).filter(([name]) => name !== 'plan' || hasPlanManagement);
  return (
    <>
      <Greeting />
      <nav ref={nav} class="tabs" aria-label={t('account.tabs')}>
        {shown.map(([name, { path, text }]) => (
          <a key={name} href={pathTo(path)} aria-current={name === tab ? 'page' : undefined}>
            {t(text)}
          </a>
        ))}
      </nav>
      <main id="main" class="cards">
        {children}
      </main>
    </>
  );
}

/** A page without tabs: one question or answer. */
export function PlainPage({ children }: { children: ComponentChildren }): VNode {
  return (
    <main id="main" class="card">
      {children}
    </main>
  );
}

function Greeting(): VNode {
  const { t } = useTranslations();
  const { hasCrossSigning: hasHomeserver } = useConfig();
  const { data } = usePageQuery(CurrentUserGreeting, NONE);
  const [isLeaving, setLeaving] = useState(false);
  const user = data?.viewer.__typename === 'User' ? data.viewer : undefined;
  const shown = cleanName(user?.matrix.displayName ?? '');
  const name = shown === '' ? (user?.username ?? '') : shown;
  const identifier = chatIdOf(user?.username ?? '', data?.siteConfig.serverName ?? '', hasHomeserver) ?? user?.username;
  const session = data?.viewerSession.__typename === 'BrowserSession' ? data.viewerSession : undefined;
  return (
    <section class="greeting" aria-label={t('account.signed_in_as')}>
      {user !== undefined && (
        <>
          <span class="avatar" aria-hidden="true">
            {initialOf(name)}
          </span>
          <div class="account-name">
            <bdi class="name">{name}</bdi>
            {identifier !== name && <bdi class="meta">{identifier}</bdi>}
          </div>
          {session !== undefined && (
            <Button kind="secondary" onClick={() => setLeaving(true)}>
              {t('account.sign_out')}
            </Button>
          )}
        </>
      )}
      {isLeaving && session !== undefined && (
        <EndSessionDialog
          session={{ __typename: 'BrowserSession', id: session.id, isCurrent: true }}
          name={undefined}
          onClose={() => setLeaving(false)}
        />
      )}
    </section>
  );
}
