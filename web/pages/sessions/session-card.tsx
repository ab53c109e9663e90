import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ClientMark } from '../../components/client-mark.tsx';
import { DeviceIcon } from '../../components/empty-state.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { useTranslations } from '../../i18n/translations.ts';
import { type EndableSession, EndSessionDialog } from './end-session.tsx';
import { lastActiveText } from './last-active.ts';
import { appIcon, appSubtitle, appTitle, browserTitle, sessionIcon, webClientOf } from './session-text.ts';
import type { AppSessionCard, BrowserSessionCard } from './sessions.generated.ts';

/** A browser that the user is signed in with. */
export function BrowserSessionItem({ session }: { session: BrowserSessionCard }): VNode {
  const translations = useTranslations();
  return (
    <SessionItem
      session={session}
      mark={<DeviceIcon icon={sessionIcon(session.userAgent)} />}
      title={browserTitle(translations, session)}
      subtitle={translations.t('account.session.browser')}
    />
  );
}

/** An app or chat client that the user is signed in to. */
export function AppSessionItem({ session }: { session: AppSessionCard }): VNode {
  const translations = useTranslations();
  const title = appTitle(translations, session);
  return (
    <SessionItem
      session={session}
      mark={<AppMark session={session} />}
      title={title}
      subtitle={appSubtitle(session, title)}
      facts={
        session.deviceId !== null && (
          <span>{translations.rich('account.session.device', { id: <code>{session.deviceId}</code> })}</span>
        )
      }
    />
  );
}

/** One session of a list: its title, where and when it was last used, and a sign-out button. */
function SessionItem({
  session,
  mark,
  title,
  subtitle,
  facts,
}: {
  session: EndableSession & Pick<BrowserSessionCard, 'lastActiveAt' | 'lastActiveIp'>;
  /** Icon of the device, or logo of the client. */
  mark: VNode;
  title: string;
  subtitle: string | undefined;
  /** Further details, after the time of last use. */
  facts?: ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const [isEnding, setEnding] = useState(false);
  const isCurrent = session.__typename === 'BrowserSession' && session.isCurrent;
  return (
    <li class="session">
      {mark}
      <div class="session-facts">
        <p>
          <a class="session-title" href={pathTo(`sessions/${session.id}`)}>
            <bdi>{title}</bdi>
          </a>
          {isCurrent && <span class="badge">{t('account.session.this_browser')}</span>}
        </p>
        {subtitle !== undefined && (
          <p class="meta">
            <bdi>{subtitle}</bdi>
          </p>
        )}
        <p class="meta facts">
          {session.lastActiveIp !== null && <code>{session.lastActiveIp}</code>}
          {isCurrent && <span>{t('account.session.active_now')}</span>}
          {!isCurrent && session.lastActiveAt !== null && <LastActive at={session.lastActiveAt} />}
          {facts}
        </p>
      </div>
      <Button kind="quiet" label={t('account.session.sign_out_of', { name: title })} onClick={() => setEnding(true)}>
        {t('account.sign_out')}
      </Button>
      {isEnding && <EndSessionDialog session={session} name={title} onClose={() => setEnding(false)} />}
    </li>
  );
}

export function LastActive({ at }: { at: string }): VNode {
  const translations = useTranslations();
  const time = new Date(at);
  const exact = time.toLocaleString(translations.language, { dateStyle: 'long', timeStyle: 'short' });
  return (
    <time dateTime={at} title={exact}>
      {lastActiveText(translations, time, new Date())}
    </time>
  );
}

/** The logo of a web client, or else an icon of the device. */
export function AppMark({ session }: { session: AppSessionCard }): VNode {
  const client = webClientOf(session);
  return client === undefined ? <DeviceIcon icon={appIcon(session)} /> : <ClientMark client={client} />;
}
