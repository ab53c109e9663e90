import type { AreaTranslations } from '../../i18n/translations.ts';
import type { AppSessionCard, BrowserSessionCard, UserAgentParts } from './sessions.generated.ts';

type AppSession = Pick<Extract<AppSessionCard, { __typename: 'CompatSession' }>, 'humanName' | 'userAgent'>;

/** What a browser session is called (account-graphql 8.6). */
export function browserTitle({ t }: AreaTranslations, { userAgent }: Pick<BrowserSessionCard, 'userAgent'>): string {
  return userAgent?.model ?? userAgent?.name ?? t('account.session.unknown_browser');
}

/** Name and system of a browser, as far as they are known. */
export function browserSubtitle(translations: AreaTranslations, userAgent: UserAgentParts | null): string | undefined {
  return onSystem(translations, userAgent) ?? userAgent?.os ?? undefined;
}

/** What the session of an application is called. */
export function appTitle(translations: AreaTranslations, { humanName, userAgent }: AppSession): string {
  return (
    humanName ??
    userAgent?.model ??
    onSystem(translations, userAgent) ??
    userAgent?.name ??
    translations.t('account.session.unknown_device')
  );
}

function onSystem({ t }: AreaTranslations, userAgent: UserAgentParts | null): string | undefined {
  if (userAgent === null || userAgent.name === null) return undefined;
  return userAgent.os === null ? undefined : t('account.session.on', { name: userAgent.name, system: userAgent.os });
}

export type SessionIcon = 'desktop' | 'phone' | 'tablet' | 'unknown';

const ICONS = { PC: 'desktop', MOBILE: 'phone', TABLET: 'tablet', UNKNOWN: 'unknown' } as const;

/** @param applicationType what stands for the device while that is not known */
export function sessionIcon(userAgent: UserAgentParts | null, applicationType?: 'NATIVE' | 'WEB' | null): SessionIcon {
  const icon = userAgent === null ? 'unknown' : ICONS[userAgent.deviceType];
  if (icon !== 'unknown' || applicationType == null) return icon;
  return applicationType === 'WEB' ? 'desktop' : 'phone';
}

export function appIcon(session: AppSessionCard): SessionIcon {
  return sessionIcon(
    session.userAgent,
    session.__typename === 'Oauth2Session' ? session.client.applicationType : undefined,
  );
}

/** Whose session it is: the application, or the host that a chat client was sent back to. */
export function appSubtitle(session: AppSessionCard): string | undefined {
  if (session.__typename === 'Oauth2Session') return session.client.clientName ?? session.client.clientId;
  const target = session.ssoLogin?.redirectUri;
  // Of an address such as `app:/done`, the scheme is all that there is.
  return target === undefined ? undefined : new URL(target).host || new URL(target).protocol;
}
