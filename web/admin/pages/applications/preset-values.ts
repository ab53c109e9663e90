import type { ClientConnection, ClientPreset } from '../../api/documents.ts';
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

/** Returns the values of the variables in the steps of a preset. The secret is not one of them. */
export function stepValues({ client }: ClientPreset, connection: ClientConnection): Readonly<Record<string, string>> {
  const url = urlOf(client.redirect_uris, connection.redirect_uris);
  return {
    ...(url !== undefined && { url }),
    issuer: connection.issuer,
    discovery: connection.discovery_url,
    authorize: connection.authorization_endpoint,
    token: connection.token_endpoint,
    userinfo: connection.userinfo_endpoint,
    keys: connection.jwks_uri,
    logout: connection.end_session_endpoint,
    client_id: connection.client_id,
  };
}

/** The URL of the program is not stored: a redirect URI shows it. */
function urlOf(templates: readonly string[], redirectUris: readonly string[]): string | undefined {
  for (const template of templates) {
    const path = template.startsWith('{url}') ? template.slice('{url}'.length) : undefined;
    const uri = path === undefined ? undefined : redirectUris.find((one) => one.endsWith(path));
    if (path !== undefined && uri !== undefined) return uri.slice(0, uri.length - path.length);
  }
  return undefined;
}

/** Variables without a value stay as they are. */
export function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (whole: string, name: string, encoding: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return encoding === '' ? value : encodeURIComponent(value);
  });
}
