/** Pages with sample data, as `latchkey templates check` and the tests render them. */
import type { VNode } from 'preact';
import type { User } from '#domain/records/user.ts';
import { fromUuid, type Ulid } from '#platform/base/ids.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { ShownCaptcha } from './captcha.ts';
import type { FormProblem } from './components/form.tsx';
import type { Translations } from './i18n/translations.ts';
import { type PageFrame, renderPage, type Site } from './layout.tsx';

/** Input for rendering a sample. */
export interface SampleContext {
  readonly site: Site;
  readonly translations: Translations;
  /** The service's languages, for the footer. */
  readonly languages: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Used for every random value. */
  readonly token: string;
  /** Used for every text that users or applications chose. */
  readonly text: string;
}

export interface Sample {
  /** Name of its file: lower case, with hyphens. */
  readonly name: string;
  /** Renders the complete document. */
  render(context: SampleContext): string;
}

interface SamplePage extends Omit<PageFrame, 'site' | 'translations' | 'languageLinks'> {
  readonly content: VNode;
}

/** Returns a sample of a page in the frame of all pages. */
export function pageSample(name: string, page: (context: SampleContext) => SamplePage): Sample {
  return {
    name,
    render: (context) => {
      const { content, ...frame } = page(context);
      const { site, translations, languages } = context;
      const languageLinks = languages.map((language) => ({ language, href: `?ui_locales=${language}` }));
      return renderPage({ site, translations, languageLinks, ...frame }, content);
    },
  };
}

/** Returns the same ID every time. */
export function sampleId<Kind extends string>(): Ulid<Kind> {
  return fromUuid<Kind>('01929f5e-6a00-7000-8000-000000000001');
}

export function sampleUser(displayName: string): User {
  return {
    id: sampleId<'user'>(),
    username: 'amira',
    displayName,
    locale: undefined,
    canRequestAdmin: false,
    isLocked: false,
    isDeactivated: false,
  };
}

/** Where the user continues after any of these pages. */
export const SAMPLE_ACTION: PostAuthAction = { kind: 'change_password' };

/** A CAPTCHA as a form shows it. */
export function sampleCaptcha(text: string): ShownCaptcha {
  const scriptUrl = 'https://challenges.cloudflare.com/turnstile/v0/api.js';
  const widget = { siteKey: text, elementClass: 'cf-turnstile', scriptUrl, sources: {} };
  return { widget, serviceName: text, imprint: text };
}

/** The problem of a form that was open for too long. */
export function sampleExpiry(translations: Translations): readonly FormProblem[] {
  return [{ code: 'csrf_expired', message: translations.t('form.csrf_expired') }];
}
