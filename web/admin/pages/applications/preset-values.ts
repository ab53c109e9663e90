import type { ClientPreset } from '../../api/documents.ts';
import type { FieldValues } from './application-form.tsx';

/** Doubled braces belong to the program's own templates. */
const VARIABLE = /(?<!\{)\{([a-z_]+)(%?)\}(?!\})/g;
const GRANT_TYPES = ['authorization_code', 'refresh_token'];

/** Returns the base URL of a program without a trailing slash; undefined if the text is none. */
export function normalizedUrl(text: string): string | undefined {
  const url = parsed(text.trim());
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') return undefined;
  return url.href.replace(/\/$/, '');
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns the values of the form for a program at this URL. */
export function presetValues({ client, name, scopes }: ClientPreset, url: string): Partial<FieldValues> {
  const lines = (templates: readonly string[] = []) => templates.map((one) => filled(one, { url })).join('\n');
  return {
    client_name: name,
    client_auth_method: client.client_auth_method,
    application_type: client.application_type ?? '',
    redirect_uris: lines(client.redirect_uris),
    post_logout_redirect_uris: lines(client.post_logout_redirect_uris),
    backchannel_logout_uri: filled(client.backchannel_logout_uri ?? '', { url }),
    grant_types: (client.grant_types ?? GRANT_TYPES).join('\n'),
    scope: scopes.join(' '),
  };
}

/** Variables without a value stay as they are. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (whole: string, name: string, encoding: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return encoding === '' ? value : encodeURIComponent(value);
  });
}
