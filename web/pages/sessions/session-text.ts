import { nameOfClient } from '../../components/client-mark.tsx';
import type { AreaTranslations } from '../../i18n/translations.ts';
import type { AppSessionCard, BrowserSessionCard, UserAgentParts } from './sessions.generated.ts';

/** Returns the title of a browser session: the browser name and operating system, as far as known. */
export function browserTitle(
  translations: AreaTranslations,
  { userAgent }: Pick<BrowserSessionCard, 'userAgent'>,
): string {
  const known = onSystem(translations, userAgent) ?? userAgent?.name ?? userAgent?.model ?? userAgent?.os;
  return known ?? translations.t('account.session.unknown_browser');
}

/** Returns the title of a client session: the device, or the client if it is not on a device. */
export function appTitle(translations: AreaTranslations, session: AppSessionCard): string {
  const { humanName, userAgent } = session;
  if (humanName !== null) return humanName;
  const webClient = webClientOf(session);
  if (webClient !== undefined) return nameOfClient(webClient);
  const device = userAgent?.model ?? onSystem(translations, userAgent) ?? userAgent?.name;
  if (device !== undefined && device !== null) return device;
  if (session.__typename === 'Oauth2Session') return nameOfClient(session.client);
  return translations.t('account.session.unknown_device');
}

type Client = Extract<AppSessionCard, { __typename: 'Oauth2Session' }>['client'];

/**
 * Returns the client of a session without a device: its server sent the requests, so the user agent does not identify a
 * device. Undefined for other sessions.
 */
export function webClientOf(session: AppSessionCard): Client | undefined {
  if (session.__typename !== 'Oauth2Session' || session.deviceId !== null) return undefined;
  return session.client.applicationType === 'NATIVE' ? undefined : session.client;
}

function onSystem({ t }: AreaTranslations, userAgent: UserAgentParts | null): string | undefined {
  if (userAgent === null || userAgent.name === null) return undefined;
  return userAgent.os === null ? undefined : t('account.session.on', { name: userAgent.name, system: userAgent.os });
}

export type SessionIcon = 'desktop' | 'phone' | 'tablet' | 'unknown';

const ICONS = { PC: 'desktop', MOBILE: 'phone', TABLET: 'tablet', UNKNOWN: 'unknown' } as const;

/** @param applicationType fallback if the device is unknown */
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

/**
 * Returns the client of the session, or the host that a chat client was redirected to.
 * @param title of the session, which is not repeated
 */
export function appSubtitle(session: AppSessionCard, title: string): string | undefined {
  if (session.__typename === 'Oauth2Session') {
    const name = nameOfClient(session.client);
    return name === title ? undefined : name;
  }
  const target = session.ssoLogin?.redirectUri;
  // A URL such as `app:/done` has only a scheme.
  return target === undefined ? undefined : new URL(target).host || new URL(target).protocol;
}
