import type { CaptchaConfig } from '#config/sections/captcha.ts';
import type { CaptchaForm, CaptchaRefusal, CaptchaResponse } from '#domain/captcha/captcha.ts';
import { CAPTCHA_FIELDS, type CaptchaServiceName } from '#domain/captcha/services.ts';
import type { Core } from '#domain/core.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { FormProblem } from './components/form.tsx';
import type { Translations } from './i18n/translations.ts';
import type { OtherSources } from './page-headers.ts';

/** A form's CAPTCHA as a page shows it. */
export interface CaptchaWidget {
  readonly siteKey: string;
  /** Class of the element that the CAPTCHA service's script fills. */
  readonly elementClass: string;
  readonly scriptUrl: string;
  /** What the page may load for it. */
  readonly sources: OtherSources;
}

/** A form's CAPTCHA, and whom users can contact if they cannot solve it. */
export interface ShownCaptcha {
  readonly widget: CaptchaWidget;
  readonly serviceName: string;
  /** Information about the operator, in the operator's words. */
  readonly imprint: string | undefined;
}

interface ServicePages {
  readonly elementClass: string;
  readonly script: string;
  /** The script's parameter for the language. Undefined if the script uses the document's language. */
  readonly languageParameter?: string;
  readonly sources: OtherSources;
}

const TURNSTILE = ['https://challenges.cloudflare.com'];
const HCAPTCHA = ['https://hcaptcha.com', 'https://*.hcaptcha.com'];

/** Script URL of each service, and what the script loads (browser-flows 5.4). */
const SERVICES: Readonly<Record<CaptchaServiceName, ServicePages>> = {
  recaptcha_v2: {
    elementClass: 'g-recaptcha',
    script: 'https://www.recaptcha.net/recaptcha/api.js',
    languageParameter: 'hl',
    sources: {
      scripts: ['https://www.recaptcha.net', 'https://www.gstatic.com'],
      frames: ['https://www.recaptcha.net'],
    },
  },
  cloudflare_turnstile: {
    elementClass: 'cf-turnstile',
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    sources: { scripts: TURNSTILE, frames: TURNSTILE },
  },
  hcaptcha: {
    elementClass: 'h-captcha',
    script: 'https://js.hcaptcha.com/1/api.js?recaptchacompat=off',
    languageParameter: 'hl',
    sources: { scripts: HCAPTCHA, frames: HCAPTCHA, styles: HCAPTCHA, connections: HCAPTCHA },
  },
};

/** Returns a form's CAPTCHA for a caller from this address, or undefined if none is required. */
export async function shownCaptcha(
  { captcha, config }: Pick<Core, 'captcha' | 'config'>,
  form: CaptchaForm,
  address: string | undefined,
  { language }: Translations,
): Promise<ShownCaptcha | undefined> {
  if (config.captcha === undefined || !(await captcha.isAskedFor(form, address))) return undefined;
  const { service, siteKey } = config.captcha;
  const { elementClass, script, languageParameter, sources } = SERVICES[service];
  const url = new URL(script);
  if (languageParameter !== undefined) url.searchParams.set(languageParameter, language);
  const widget = { siteKey, elementClass, scriptUrl: url.href, sources };
  return { widget, serviceName: config.branding.serviceName, imprint: config.branding.imprint };
}

/** Frames that pages may show if CAPTCHAs are enabled. */
export function captchaFrames(settings: CaptchaConfig | undefined): readonly string[] {
  return settings === undefined ? [] : (SERVICES[settings.service].sources.frames ?? []);
}

/** Reads the fields that the services' scripts add to a form. */
export function readCaptchaResponse(form: FormParameters): CaptchaResponse {
  return { fields: CAPTCHA_FIELDS.flatMap((field) => form.all(field).map((value) => [field, value] as const)) };
}

/** Returns why the CAPTCHA failed, as a problem of the whole form (browser-flows 5.4). */
export function captchaProblem(
  translations: Translations,
  reason: Exclude<CaptchaRefusal['reason'], 'rate-limited'>,
): FormProblem {
  const message = translations.t(reason === 'captcha-unsolved' ? 'captcha.unsolved' : 'captcha.unavailable');
  return { code: 'captcha', message };
}
