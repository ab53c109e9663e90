import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { rule } from '#platform/config/rule.ts';
import { choice, type Immutable, list, mapping, secret, secretFile, text } from '#platform/config/values.ts';

export const captchaSection = rule(
  mapping({
    service: choice(['recaptcha_v2', 'cloudflare_turnstile', 'hcaptcha'])
      .nullable()
      .prefault(null)
      .describe('CAPTCHA provider, whose script is loaded by browsers. `null`: no CAPTCHA.'),
    site_key: text({ maximum: 255 }).optional().describe('Site key issued by the provider.'),
    secret_key: secret().optional().describe('Secret key for verifying solutions with the provider.'),
    secret_key_file: secretFile('secret_key'),
    on: list(choice(['register', 'recover', 'login']), { minimum: 1 })
      .prefault(['register'])
      .describe(
        'Forms with a CAPTCHA: registration with a password, password reset, and sign-in after three wrong ' +
          'passwords from one address. One wrong password is forgotten every 20 minutes.',
      ),
  }),
  ['service', 'site_key', 'secret_key'],
  ({ service, site_key, secret_key }, problem) => {
    if (service !== null && (site_key === undefined || secret_key === undefined))
      // Reported for the section rather than a key: if the secret file is unreadable, only that is reported.
      problem([], `the service "${service}" needs "site_key" and "secret_key"`);
    if (service !== null) return;
    if (site_key !== undefined) problem(['site_key'], 'has no effect without "service"');
    if (secret_key !== undefined) problem(['secret_key'], 'has no effect without "service"');
  },
);

export type CaptchaConfig = NonNullable<Immutable<ReturnType<typeof captchaConfig>>>;

/** Undefined: CAPTCHA is disabled. */
export function captchaConfig({ service, site_key, secret_key, on }: z.output<typeof captchaSection>) {
  if (service === null || site_key === undefined || secret_key === undefined) return undefined;
  return {
    service,
    siteKey: site_key,
    secretKey: new Secret(secret_key),
    /** Forms with a CAPTCHA. */
    forms: on,
  };
}
