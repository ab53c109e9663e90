import { describe, expect, test } from 'vitest';
import en from '../../../locales/en.json' with { type: 'json' };
import { Language } from '../../../src/browser/i18n/language.ts';
import { areaTranslations } from '../../i18n/translations.ts';
import { appSubtitle, appTitle, webClientOf } from './session-text.ts';
import type { AppSessionCard } from './sessions.generated.ts';

const english = areaTranslations(new Language('en', en, undefined));
const TIMES = { createdAt: '2026-05-20T12:00:00Z', lastActiveAt: null, lastActiveIp: null };
const CLIENT = {
  id: 'oauth2_client:1',
  clientId: '1',
  clientName: 'Harbour',
  applicationType: 'WEB',
  logoUri: null,
} as const;
const SERVER = { name: null, os: null, model: null, deviceType: 'UNKNOWN' } as const;
const FIREFOX = { name: 'Firefox', os: 'Linux', model: null, deviceType: 'PC' } as const;

type OAuth2 = Extract<AppSessionCard, { __typename: 'Oauth2Session' }>;
type Compat = Extract<AppSessionCard, { __typename: 'CompatSession' }>;

function oauth2(known: Partial<OAuth2> = {}): OAuth2 {
  const base = { id: 'oauth2_session:1', humanName: null, deviceId: null, userAgent: null, client: CLIENT, ...TIMES };
  return { __typename: 'Oauth2Session', ...base, ...known };
}

function compat(known: Partial<Compat> = {}): Compat {
  const base = {
    id: 'compat_session:1',
    humanName: null,
    deviceId: 'PHONE',
    userAgent: null,
    ssoLogin: null,
    ...TIMES,
  };
  return { __typename: 'CompatSession', ...base, ...known };
}

describe('the name of an application session is', () => {
  test.for([
    ['the application, where its server is what is known', oauth2({ userAgent: SERVER }), 'Harbour', undefined],
    ['the application, where nothing is known', oauth2(), 'Harbour', undefined],
    ['the application, whatever its server calls itself', oauth2({ userAgent: FIREFOX }), 'Harbour', undefined],
    ['what its user named it', oauth2({ humanName: 'Work' }), 'Work', 'Harbour'],
    ['by the device of a chat client', oauth2({ deviceId: 'A', userAgent: FIREFOX }), 'Firefox on Linux', 'Harbour'],
    ['the application on an unknown device', oauth2({ deviceId: 'A' }), 'Harbour', undefined],
    [
      'by the system of a native application',
      oauth2({ userAgent: FIREFOX, client: { ...CLIENT, applicationType: 'NATIVE' } }),
      'Firefox on Linux',
      'Harbour',
    ],
    ['its ID without a name', oauth2({ client: { ...CLIENT, clientName: null } }), '1', undefined],
    [
      'the application and the host that published it',
      oauth2({ client: { ...CLIENT, clientId: 'https://apps.example.org/client.json' } }),
      'Harbour (apps.example.org)',
      undefined,
    ],
    ['by the device of an older chat client', compat({ userAgent: FIREFOX }), 'Firefox on Linux', undefined],
    ['an unknown device, where it is one', compat(), 'Unknown device', undefined],
  ] as const)('%s', ([, session, title, subtitle]) => {
    expect(appTitle(english, session)).toBe(title);
    expect(appSubtitle(session, title)).toBe(subtitle);
  });
});

test('a web application without a device has its logo, all others a device icon', () => {
  expect([oauth2(), oauth2({ deviceId: 'A' }), compat()].map(webClientOf)).toEqual([CLIENT, undefined, undefined]);
});
