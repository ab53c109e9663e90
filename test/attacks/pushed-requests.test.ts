/** Security 4.1: pushed authorization requests (RFC 9126). */
import { describe, expect, test } from 'vitest';
import { sha256 } from '#platform/base/secret.ts';
import type { Page } from '../support/browser.ts';
import { type AttackedClient, attackedService, basic, C1, C2, CHALLENGE, ISSUER, P1 } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const attacked = attackedService({
  rate_limiting: { par: { per_client: { burst: 100_000, per_second: 1000 } } },
});

async function push(asking: AttackedClient, fields: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
  const pkce = asking.secret === undefined ? { code_challenge: CHALLENGE, code_challenge_method: 'S256' } : {};
  const base = { client_id: asking.id, redirect_uri: asking.callback, response_type: 'code', scope: 'openid' };
  return await attacked.post('/oauth2/par', { ...base, ...pkce, ...fields }, basic(asking));
}

async function pushed(asking: AttackedClient, fields: Readonly<Record<string, string>> = {}): Promise<string> {
  const uri = textMember(await push(asking, fields), 'request_uri');
  attacked.secrets.add(uri.slice(-43));
  return uri;
}

function using(asking: AttackedClient, requestUri: string, fields: Readonly<Record<string, string>> = {}): string {
  return `/authorize?${new URLSearchParams({ client_id: asking.id, request_uri: requestUri, ...fields })}`;
}

function expectPage(page: Page): void {
  expect(page).toMatchObject({ status: 400, location: undefined });
  expect(page.text).toContain('invalid_request_uri');
}

describe('a pushed request (S-12)', () => {
  test('used 300 times at once on two instances starts one request; the others learn that it was used (S-12)', {
    timeout: 60_000,
  }, async () => {
    const uri = await pushed(C1);
    const before = await attacked.count('oauth2_authorization_grants');
    await attacked.withSecondInstance(async (second) => {
      const pages = await Promise.all(
        Array.from({ length: 300 }, async (_, index) => {
          const at = index % 2 === 0 ? attacked.service : second;
          return await attacked.browser({ at }).get(using(C1, uri));
        }),
      );
      const [winners, losers] = [
        pages.filter(({ status }) => status === 303),
        pages.filter((one) => one.status !== 303),
      ];
      expect(winners).toHaveLength(1);
      expect(new URL(winners[0]?.location ?? '').pathname).toBe('/login');
      for (const loser of losers) expectPage(loser);
    });
    expect(await attacked.count('oauth2_authorization_grants')).toBe(before + 1);
  });

  test('that another instance is using up starts no second request (S-12)', async () => {
    const uri = await pushed(C1);
    const before = await attacked.count('oauth2_authorization_grants');
    const held = await HeldChange.make(
      attacked.service.connectionString,
      'update oauth2_pushed_requests set consumed_at = created_at where request_uri_hash = $1',
      [sha256(uri.slice(-43))],
    );
    expectPage(await held.commitDuring(attacked.browser().get(using(C1, uri))));
    expect(await attacked.count('oauth2_authorization_grants')).toBe(before);
  });

  test("used by a second browser, even with the user's session: an error page, and no grant (S-12)", async () => {
    const uri = await pushed(C1);
    const first = await attacked.signedIn('amira');
    expect((await first.get(using(C1, uri))).status).toBe(303);
    const second = await attacked.signedIn('amira');
    await attacked.changingNothing(async () => expectPage(await second.get(using(C1, uri))));
  });

  test('reused after its response yields no second one, in the same browser or in others (S-12, S-25)', async () => {
    const uri = await pushed(C1);
    const browser = await attacked.signedIn('amira');
    await browser.open(using(C1, uri));
    if (browser.page.location === undefined) await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? expect.fail('no code');
    attacked.secrets.add(code);
    await attacked.changingNothing(async () => {
      await browser.open(using(C1, uri));
      expect(browser.page).toMatchObject({ status: 409, location: undefined });
      expect(browser.page.body).not.toContain(code);
      expectPage(await attacked.browser().get(using(C1, uri)));
      const [, query] = using(C1, uri).split('?');
      expectPage(await browser.post('/authorize', new URLSearchParams(query), { cookie: undefined }));
    });
    attacked.clock.advanceSeconds(90);
    await attacked.changingNothing(async () => expectPage(await browser.get(using(C1, uri))));
  });

  test('used by another client is refused without effect, and stays valid for its own client (S-12)', async () => {
    const uri = await pushed(C1);
    await attacked.changingNothing(async () => {
      expectPage(await attacked.browser().get(using(C2, uri)));
      const sent = await attacked.browser().get(using(C2, uri, { redirect_uri: C2.callback }));
      const { origin, searchParams } = new URL(sent.location ?? '');
      expect([origin, searchParams.get('error')]).toEqual(['https://other.example', 'invalid_request_uri']);
      expectPage(await attacked.browser().get(using(C2, uri, { redirect_uri: C1.callback })));
    });
    expect((await attacked.browser().get(using(C1, uri))).status).toBe(303);
  });

  test('used after its expiry is refused (S-12)', async () => {
    const uri = await pushed(C1);
    attacked.clock.advanceSeconds(90);
    await attacked.changingNothing(async () => expectPage(await attacked.browser().get(using(C1, uri))));
  });

  test('is not changed by parameters beside it, and returns iss to the client (S-12, S-23)', async () => {
    const uri = await pushed(C1, { state: 'inside', scope: 'openid' });
    const fields = { state: 'outside', scope: 'openid email', redirect_uri: 'https://evil.example/', nonce: 'n' };
    const browser = await attacked.signedIn('amira');
    await browser.open(using(C1, uri, { ...fields, response_mode: 'fragment', prompt: 'none' }));
    if (browser.page.location === undefined) await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const { origin, searchParams, hash } = new URL(browser.page.location ?? '');
    expect([origin, searchParams.get('state'), searchParams.get('iss'), hash]).toEqual([
      'https://app.example',
      'inside',
      ISSUER,
      '',
    ]);
    attacked.secrets.add(searchParams.get('code') ?? '');
    const response = await attacked.exchange(C1, searchParams.get('code') ?? '');
    expect(textMember(response, 'scope')).toBe('openid');
  });

  test('given twice is an error page, whatever else is valid (S-12)', async () => {
    const [one, other] = [await pushed(C1), await pushed(C1)];
    const url = `${using(C1, one, { redirect_uri: C1.callback })}&request_uri=${encodeURIComponent(other)}`;
    await attacked.changingNothing(async () => {
      expect(await attacked.browser().get(url)).toMatchObject({ status: 400, location: undefined });
    });
  });

  test.each([
    `urn:ietf:params:oauth:request_uri:${'A'.repeat(43)}`,
    'urn:ietf:params:oauth:request_uri:',
    "urn:ietf:params:oauth:request_uri:' or true --",
    `urn:ietf:params:oauth:request_uri:${'A'.repeat(4000)}`,
  ])('guessed as %j is not found (S-12)', async (uri) => {
    await attacked.changingNothing(async () => expectPage(await attacked.browser().get(using(C1, uri))));
  });

  test.each([
    ['without credentials', (form: Record<string, string>) => attacked.post('/oauth2/par', form)],
    ['as a public client', (form: Record<string, string>) => attacked.post('/oauth2/par', form, basic(P1))],
    ['by another client', (form: Record<string, string>) => attacked.post('/oauth2/par', form, basic(C2))],
  ])('cannot be pushed in the name of a client %s (S-12, S-28)', async (_, send) => {
    const form = { client_id: C1.id, redirect_uri: C1.callback, response_type: 'code', scope: 'openid' };
    await attacked.changingNothing(async () => {
      const response = await send(form);
      expect([400, 401]).toContain(response.status);
      expect(jsonOf(response)['request_uri']).toBeUndefined();
    });
  });

  test('refused by the limit of unfinished requests at one address is not used up (S-12, S-179)', async () => {
    const address = attacked.newAddress();
    for (let count = 0; count < 100; count += 1) {
      const page = await attacked.browser({ address }).get(attacked.authorizeUrl(C1));
      expect(page.status).toBe(303);
    }
    const uri = await pushed(C1);
    expect((await attacked.browser({ address }).get(using(C1, uri))).status).toBe(429);
    expect((await attacked.browser().get(using(C1, uri))).status).toBe(303);
  });
});
