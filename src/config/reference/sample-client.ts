import { stringify } from 'yaml';
import { newId } from '#platform/base/ids.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';

const EXAMPLE_URI = 'https://app.example.org/callback';

/**
 * What `config generate --client` writes: an entry for an application that keeps a secret, as most of them do.
 * @param now milliseconds since the epoch
 */
export function sampleClient(now: number, redirectUris: readonly string[]): string {
  const entry = {
    client_id: newId<'client'>(now),
    client_auth_method: 'client_secret_basic',
    client_secret: randomAlphanumeric(43),
    client_name: 'My application',
    redirect_uris: redirectUris.length === 0 ? [EXAMPLE_URI] : redirectUris,
  };
  const [first = '', ...others] = stringify(entry, { lineWidth: 0 }).trimEnd().split('\n');
  return [
    '# For the configuration file; where "clients:" is there already, paste what is below it.',
    '# The application is told client_id, client_secret and the issuer. One that can keep no secret (in a browser or on',
    '# a phone) gets client_auth_method: none and no client_secret. redirect_uris are compared character by character.',
    'clients:',
    `  - ${first}`,
    ...others.map((line) => `    ${line}`),
    '',
  ].join('\n');
}
