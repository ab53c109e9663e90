import type { CaptchaConfig } from '#config/sections/captcha.ts';
import type { CaptchaAnswer, CaptchaForm, CaptchaRefusal } from '#domain/captcha/captcha.ts';
import { CAPTCHA_FIELDS, type CaptchaServiceName } from '#domain/captcha/services.ts';
import type { Core } from '#domain/core.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { FormProblem } from './components/form.tsx';
import type { Translations } from './i18n/translations.ts';
import type { OtherSources } from './page-headers.ts';

/** The puzzle of a form as a page shows it. */
export interface CaptchaWidget {
  readonly siteKey: string;
  /** Class of the element that the script of the service fills. */
  readonly elementClass: string;
  readonly scriptUrl: string;
  /** What the page may load for it. */
  readonly sources: OtherSources;
}

/** A puzzle as a form shows it, and whom to ask where it cannot be solved. */
export interface ShownCaptcha {
  readonly widget: CaptchaWidget;
  readonly serviceName: string;
  /** Who runs the service, in the operator's words. */
  readonly imprint: string | undefined;
}

interface ServicePages {
  readonly elementClass: string;
  readonly script: string;
  /** Parameter of the script that names the language; undefined: it goes by the document's. */
  readonly languageParameter?: string;
  readonly sources: OtherSources;
}

const TURNSTILE = ['https://challenges.cloudflare.com'];
const HCAPTCHA = ['https://hcaptcha.com', 'https://*.hcaptcha.com'];

/** Where each service has its script, and what that loads (browser-flows 5.4). */
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

/** The puzzle of a form for a caller from this address; undefined: it has none. */
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

/** Frames that pages may show when there are puzzles. */
export function captchaFrames(settings: CaptchaConfig | undefined): readonly string[] {
  return settings === undefined ? [] : (SERVICES[settings.service].sources.frames ?? []);
}

/** What the scripts of services put into a form. */
export function readCaptchaAnswer(form: FormParameters): CaptchaAnswer {
  return { fields: CAPTCHA_FIELDS.flatMap((field) => form.all(field).map((value) => [field, value] as const)) };
}

/** Why the puzzle let nobody pass, as a problem of the whole form (browser-flows 5.4). */
export function captchaProblem(
  translations: Translations,
  reason: Exclude<CaptchaRefusal['reason'], 'rate-limited'>,
): FormProblem {
  const message = translations.t(reason === 'captcha-unsolved' ? 'captcha.unsolved' : 'captcha.unavailable');
  return { code: 'captcha', message };
}
