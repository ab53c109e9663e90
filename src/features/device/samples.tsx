import { pageSample, type SampleContext, sampleId } from '#browser/sample.ts';
import { deviceProblem } from './decision.tsx';
import { DeviceForbiddenPage, DevicePage, DeviceResultPage, requestingDevice } from './device.page.tsx';
import { LinkPage, type LinkProblem, linkProblem } from './link.tsx';

const LINK_PROBLEMS = {
  required: { reason: 'required' },
  expired: { reason: 'csrf-expired' },
  rejected: { ok: false, reason: 'invalid-code' },
  limited: { ok: false, reason: 'rate-limited', retryAfterSeconds: 61 },
} as const satisfies Readonly<Record<string, LinkProblem>>;

export function decisionProps({ translations, text, token }: Pick<SampleContext, 'translations' | 'text' | 'token'>) {
  return {
    translations,
    client: { name: text, host: 'tv.example', isVerified: false },
    scopes: ['openid', text],
    resources: [text],
    account: {
      displayName: text,
      identifier: text,
      logoutPath: '/logout',
      action: { kind: 'continue_device_code_grant', id: sampleId<'device-code-grant'>() } as const,
    },
    form: { path: '/device/x', csrf: token },
  };
}

/** @param age age of the device's request, in milliseconds */
export function deviceSample(name: string, age: number, isUnconfirmed = false) {
  return pageSample(name, (context) => {
    const { translations, now, text } = context;
    const grant = { userCode: 'BCDFGHJK', userAgent: text, address: '192.0.2.1', createdAt: now - age };
    return {
      title: translations.t('device.title', { client: text }),
      isRejected: isUnconfirmed,
      content: (
        <DevicePage
          {...decisionProps(context)}
          device={requestingDevice(grant, now)}
          problems={isUnconfirmed ? [deviceProblem(translations, 'required')] : []}
        />
      ),
    };
  });
}

export const samples = [
  pageSample('link', ({ translations, token }) => ({
    title: translations.t('link.title'),
    content: <LinkPage translations={translations} path="/link" csrf={token} code="BCDF-GHJK" problems={[]} />,
  })),
  ...Object.entries(LINK_PROBLEMS).map(([name, problem]) =>
    pageSample(`link-${name}`, ({ translations, token, text }) => ({
      title: translations.t('link.title'),
      isRejected: true,
      content: (
        <LinkPage
          translations={translations}
          path="/link"
          csrf={token}
          code={text}
          problems={[linkProblem(translations, problem)]}
        />
      ),
    })),
  ),
  deviceSample('device', 0),
  deviceSample('device-unconfirmed', 600_000, true),
  pageSample('device-forbidden', (context) => ({
    title: context.translations.t('problem.refused.title'),
    content: (
      <DeviceForbiddenPage
        {...decisionProps(context)}
        violations={[{ code: 'admin-scope', scopes: ['urn:latchkey:admin'] }]}
        help={{ serviceName: context.text, contact: undefined }}
        retryPath="/device/1"
        sessionsPath="/account/sessions"
      />
    ),
  })),
  ...[true, false].map((isGranted) => {
    const name = isGranted ? 'granted' : 'rejected';
    return pageSample(`device-${name}`, ({ translations, text }) => ({
      title: translations.t(`device.${name}.title`),
      content: <DeviceResultPage translations={translations} isGranted={isGranted} clientName={text} />,
    }));
  }),
];
