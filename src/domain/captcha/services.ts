import type { CaptchaConfig } from '#config/sections/captcha.ts';

export type CaptchaServiceName = CaptchaConfig['service'];

/** Properties of a CAPTCHA service (browser-flows 5.4). */
export interface CaptchaService {
  /** Field that the service's script adds to a form. */
  readonly field: string;
  /** URL at which the server verifies the value of the field. */
  readonly verifyUrl: string;
}

export const CAPTCHA_SERVICES: Readonly<Record<CaptchaServiceName, CaptchaService>> = {
  recaptcha_v2: {
    field: 'g-recaptcha-response',
    verifyUrl: 'https://www.recaptcha.net/recaptcha/api/siteverify',
  },
  cloudflare_turnstile: {
    field: 'cf-turnstile-response',
    verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  },
  hcaptcha: {
    field: 'h-captcha-response',
    verifyUrl: 'https://api.hcaptcha.com/siteverify',
  },
};

/** Fields of all services, in no particular order. */
export const CAPTCHA_FIELDS: readonly string[] = Object.values(CAPTCHA_SERVICES).map(({ field }) => field);
