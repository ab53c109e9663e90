import { describe, expect, test } from 'vitest';
import type { Client } from '#domain/clients/client.ts';
import { clientOfRow } from '#domain/clients/client.ts';
import { TEST_KEYS } from '#test/support/route-server.ts';
import { deviceName } from './device-name.ts';

const PHONE =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UQ1A) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36';

function called(client_name: Readonly<Record<string, string>>): Client {
  const metadata = {
    token_endpoint_auth_method: 'none',
    redirect_uris: [],
    grant_types: [],
    response_types: [],
    id_token_signed_response_alg: 'RS256',
    client_name,
  };
  const id = '01930000-0000-7000-8000-000000000000';
  return clientOfRow(
    {
      id,
      is_static: true,
      kind: null,
      former_secret_sealed: null,
      former_secret_expires_at: null,
      version: 1,
      client_secret_sealed: null,
      document_url: null,
      document_fresh_until: null,
      overrides: null,
      metadata,
    },
    TEST_KEYS,
  );
}

describe('device name sent to the homeserver', () => {
  test.each([
    [{ '': 'Harbour' }, PHONE, 'Harbour (Pixel 8, Chrome, Android)'],
    [{ '': 'Harbour' }, 'Harbour/1.2 (Linux)', 'Harbour (Linux)'],
    [{ '': 'Harbour', de: 'Hafen' }, 'curl/8.5.0', 'Hafen (curl)'],
    [{ '': 'Harbour' }, undefined, 'Harbour'],
    [{}, 'curl/8.5.0', 'curl'],
    [{}, undefined, undefined],
    [{ '': '\u202e\u200b ' }, 'curl/8.5.0', 'curl'],
    [{ '': 'Har\u0000bour\n\u202eX' }, undefined, 'Harbour X'],
  ])('%j with %s is %s', (name, userAgent, expected) => {
    expect(deviceName(called(name), 'de', userAgent)).toBe(expected);
  });

  test('is truncated to the 100 characters that a homeserver accepts', () => {
    const name = deviceName(
      called({ '': '\u{1F4F1}'.repeat(200) }),
      'en',
      `${'x'.repeat(40)}/1 (X11; Android 1; ${'y'.repeat(40)})`,
    );
    expect([...(name ?? '')]).toHaveLength(100);
    expect(name, 'no half of a character').not.toMatch(/\p{Cs}/u);
  });
});
