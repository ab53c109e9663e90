/** Fills in the templates of a preset. */
import { parseUrl } from '#platform/base/url.ts';
import type { JsonObject } from '#protocol/json-merge-patch.ts';
import { type Preset, type PresetStep, type StepVariable, URL_VARIABLE } from './programs/preset.ts';

/** Doubled braces belong to the program's own templates. */
const VARIABLE = /(?<!\{)\{([a-z_]+)(%?)\}(?!\})/g;
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

export type PresetApplication =
  /** `members`: in the notation of `clients` in the configuration. `url`: normalized; undefined if none is needed. */
  | { readonly ok: true; readonly members: JsonObject; readonly url: string | undefined }
  | { readonly ok: false; readonly reason: 'url-missing' | 'url-not-used' }
  | { readonly ok: false; readonly reason: 'url-invalid'; readonly problem: string };

/**
 * Returns the client that the program at this URL needs.
 * @param url base URL of the program
 */
export function applyPreset(preset: Preset, url: string | undefined): PresetApplication {
  if (preset.url === undefined && url !== undefined) return { ok: false, reason: 'url-not-used' };
  if (preset.url !== undefined && url === undefined) return { ok: false, reason: 'url-missing' };
  const normalized = url === undefined ? undefined : normalizedUrl(url);
  if (normalized?.problem !== undefined) return { ok: false, reason: 'url-invalid', problem: normalized.problem };
  const values = normalized === undefined ? {} : { [URL_VARIABLE]: normalized.url };
  const { redirect_uris, post_logout_redirect_uris, backchannel_logout_uri, ...others } = preset.client;
  return {
    ok: true,
    url: normalized?.url,
    members: {
      client_name: preset.name,
      grant_types: GRANT_TYPES,
      ...others,
      scope: preset.scopes.join(' '),
      redirect_uris: redirect_uris.map((template) => filled(template, values)),
      ...(post_logout_redirect_uris !== undefined && {
        post_logout_redirect_uris: post_logout_redirect_uris.map((template) => filled(template, values)),
      }),
      ...(backchannel_logout_uri !== undefined && { backchannel_logout_uri: filled(backchannel_logout_uri, values) }),
    },
  };
}

/**
 * Returns the URL of the program that a client belongs to. It is not stored: a redirect URI shows it. Undefined if no
 * redirect URI fits.
 */
export function programUrl({ client }: Preset, redirectUris: readonly string[]): string | undefined {
  const variable = `{${URL_VARIABLE}}`;
  for (const template of client.redirect_uris.filter((one) => one.startsWith(variable))) {
    const path = template.slice(variable.length);
    const uri = redirectUris.find((one) => one.endsWith(path) && one.length > path.length);
    if (uri !== undefined) return uri.slice(0, uri.length - path.length);
  }
  return undefined;
}

/** Values of the variables. Variables without a value stay as they are. */
export type StepValues = Readonly<Partial<Record<StepVariable | typeof URL_VARIABLE, string>>>;

/** Returns the steps with these values. */
export function filledSteps({ steps }: Preset, values: StepValues): readonly PresetStep[] {
  return steps.map((step) => filledStep(step, values));
}

function filledStep(step: PresetStep, values: StepValues): PresetStep {
  switch (step.kind) {
    case 'text':
      return { ...step, text: filled(step.text, values) };
    case 'fields':
      return { ...step, fields: step.fields.map(({ label, value }) => ({ label, value: filled(value, values) })) };
    case 'file':
    case 'command':
      return { ...step, content: filled(step.content, values) };
  }
}

/** Returns the addresses of the service, as values of variables. @param http of the configuration */
export function serviceValues({ issuer, publicBase }: { readonly issuer: string; readonly publicBase: string }) {
  const base = publicBase.replace(/\/$/, '');
  return {
    issuer,
    discovery: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    authorize: `${base}/authorize`,
    token: `${base}/oauth2/token`,
    userinfo: `${base}/oauth2/userinfo`,
    keys: `${base}/oauth2/keys.json`,
    logout: `${base}/oauth2/logout`,
  } as const;
}

function filled(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template.replace(VARIABLE, (whole: string, name: string, encoding: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return encoding === '' ? value : encodeURIComponent(value);
  });
}

function normalizedUrl(
  text: string,
): { readonly url: string; readonly problem?: undefined } | { readonly problem: string } {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return { problem: 'must start with https:// or http://' };
  if (url.username !== '' || url.password !== '') return { problem: 'must not contain user information' };
  if (url.search !== '' || url.hash !== '') return { problem: 'must not have a query or a fragment' };
  return { url: `${url.origin}${url.pathname}`.replace(/\/+$/, '') };
}
